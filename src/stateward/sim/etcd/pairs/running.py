"""All pairs on several processors, counted; and one of them again, from its name.

``run`` makes the base, asks every case of it, and then goes from every state to every other: a
branch for each first state, ``jobs`` of them at a time, and in it a branch for each second one.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, zip_longest

from stateward.core.errors import HouseError, UsageError
from stateward.kube.codec import Json
from stateward.sim.etcd.pairs.bases import BASES
from stateward.sim.etcd.pairs.cases import SAME
from stateward.sim.etcd.pairs.coverage import Coverage, coverage
from stateward.sim.etcd.pairs.midway import midway
from stateward.sim.etcd.pairs.pairs import Book, learn, live_case, live_pair, open_book, pairs_from
from stateward.sim.etcd.pairs.samples import cases_of
from stateward.sim.etcd.pairs.stage import Branch, branch, lived, staged
from stateward.sim.etcd.pairs.steps import settle
from stateward.sim.etcd.pairs.tables import DOOR, HEAVY
from stateward.sim.etcd.pairs.trials import idle, seen_at_rest


@dataclass(frozen=True, slots=True)
class Broken:
    """A law that did not hold, and the name under which it is lived again."""

    name: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.name}: {self.sentence}"


@dataclass(slots=True)
class Report:
    """What was lived, and what came of it."""

    bases: int = 0
    cases: int = 0
    #: Cases that are worth going to and coming from.
    states: int = 0
    #: Ordered pairs of cases, all of them, and those that were lived.
    pairs: int = 0
    lived: int = 0
    #: Pairs whose first is refused at the door: nothing is written, so they are the second alone.
    vacuous: int = 0
    #: Edits in the middle of another one's work.
    midway: int = 0
    #: Virtual seconds.
    seconds: float = 0.0
    broken: list[Broken] = field(default_factory=list)
    #: Properties that matter nowhere, and are not declared to be inert.
    idle: list[str] = field(default_factory=list)
    coverage: Coverage | None = None

    def add(self, told: Json) -> None:
        """Count a way that was lived."""
        self.seconds += told["seconds"]
        self.broken += [Broken(told["pair"], it) for it in told["broken"]]
        if "@" in told["pair"]:
            self.midway += 1
        else:
            self.lived += 1


#: Is told of a base, of the report as it grows, and of how many ways are still to be lived; says
#: whether that is enough of the base.
Heard = Callable[[str, Report, int], bool]


def run(
    *,
    bases: tuple[str, ...] = tuple(BASES),
    jobs: int = 1,
    only: tuple[str, ...] = (),
    stride: int = 1,
    turns: int = 1,
    calls: int = 0,
    matters: bool = True,
    heard: Heard = lambda *_: False,
) -> Report:
    """Live every ``stride``-th pair of some bases, or of some cases only.

    After a first turn come others with the next ones; ``stride`` turns are all pairs, and a few are
    an even sample, if there is not time enough. With ``calls``, edits are also made at every so
    many calls of each state's way. ``matters`` asks of every property whether anything depends on
    it. What takes a minute is only asked when it is named.

    Who calls this must have no other threads: the process is copied again and again.
    """
    report, seen, all_asked = Report(), set[str](), True
    how = _How(report, jobs, heard)
    for base in bases:
        with staged(BASES[base]) as stage:
            settle(stage)
            book = open_book(base, stage)
            chosen = dict.fromkeys(
                (SAME.name, *(only or (it for it in book.cases if it not in HEAVY)))
            )
            book.cases = {it: book.cases[it] for it in chosen}
            _ask_all(book, how)
            seen.update(seen_at_rest(book))
            first, *others = ([*_plans(book, stride, turn)] for turn in range(turns))
            edits = [*_midways(book, calls)] if calls else []
            both = chain.from_iterable(zip_longest(first, edits))
            _live_all(book, [it for it in (*both, *chain(*others)) if it is not None], how)
            all_asked &= len(book.known) == len(chosen)
            if matters and base == "S0" and all_asked:
                report.idle = lived(lambda book=book: {"idle": idle(book, seen)})["idle"]  # type: ignore[misc]
    report.coverage = coverage(bases)
    # What another base shows was perhaps not asked for, for want of time.
    report.idle = [it for it in report.idle if it not in seen and all_asked]
    return report


def replay(name: str) -> Json:
    """Live one pair again, from its name: ``S0:paused.on:replicas.1``, or with ``@17`` a call."""
    base, first, second, call = _parsed(name)
    with staged(BASES[base]) as stage:
        settle(stage)
        book = open_book(base, stage)
        for it in dict.fromkeys((SAME.name, first, second)):
            learn(book, lived(lambda it=it: live_case(book, it)))  # type: ignore[misc]
        if call:
            return _nth(midway(book, first, second, only=call), name)
        book.ask(first, stage)
        return live_pair(book, first, second)


def _nth(lives: Iterator[Json], name: str) -> Json:
    found = next(lives, None)
    if found is None:
        raise UsageError(f"{name}: the work of the first case has fewer calls, or is refused")
    return found


def _parsed(name: str) -> tuple[str, str, str, int]:
    base, *rest = name.split(":")
    first, at, call = rest[0].partition("@") if rest else ("", "", "")
    shaped = len(rest) == 2 and base in BASES and (not at or call.isdecimal())
    if not shaped or {first, rest[1]} - set(cases_of(base)):
        raise UsageError(
            f"a pair must be written as BASE:CASE:CASE or BASE:CASE@CALL:CASE, got {name!r}"
        )
    return base, first, rest[1], int(call or 0)


# -------------------------------------------------------------------------- living


@dataclass(frozen=True, slots=True)
class _How:
    """Where it is counted, how many branches there are at a time, and who hears of it."""

    report: Report
    jobs: int
    heard: Heard


@dataclass(frozen=True, slots=True)
class _Plan:
    """A branch: a first state, and what follows it."""

    first: str
    seconds: tuple[str, ...]
    #: Every how many calls the second comes in the middle; 0: when the first is done.
    calls: int = 0

    def live(self, book: Book) -> Iterator[Json]:
        if self.calls:
            for second in self.seconds:
                # Each begins where the book is: at the base.
                yield from _apart(lambda second=second: self._midway(book, second))  # type: ignore[misc]
        else:
            yield from pairs_from(book, self.first, self.seconds)

    def _midway(self, book: Book, second: str) -> Iterator[Json]:
        return midway(book, self.first, second, stride=self.calls)


def _plans(book: Book, stride: int, turn: int) -> Iterator[_Plan]:
    states = book.states
    for number, first in enumerate(states):
        mine = tuple(it for at, it in enumerate(states) if (at + number) % stride == turn)
        if mine:
            yield _Plan(first, mine)


def _midways(book: Book, calls: int) -> Iterator[_Plan]:
    states = book.states
    for number, first in enumerate(states):
        # The way back, and one other that changes with the first.
        seconds = dict.fromkeys((SAME.name, states[(number * 7 + 3) % len(states)]))
        yield _Plan(first, tuple(it for it in seconds if it != first), calls)


def _ask_all(book: Book, how: _How) -> None:
    names, report = list(book.cases), how.report
    # The base itself first: what the others cost is measured by it.
    learned = {}
    lives: list[Callable[[], Iterator[Json]]] = [partial(_of_case, book, it) for it in names]
    with closing(_crew(lives, how.jobs)) as crew:
        for told in crew:
            learned[told["case"]] = told
            if how.heard(book.base, report, len(names) - len(learned)) and SAME.name in learned:
                break
    book.cases = {name: book.cases[name] for name in names if name in learned}
    for name in book.cases:
        told = learned[name]
        report.seconds += told["step"]["seconds"]
        report.broken += [Broken(f"{book.base}:{SAME.name}:{name}", it) for it in learn(book, told)]
    report.bases += 1
    report.cases += len(book.cases)
    report.states += len(book.states)
    report.pairs += len(book.cases) ** 2
    doors = sum(it.step.verdict == DOOR for it in book.known.values())
    report.vacuous += doors * len(book.cases)


def _of_case(book: Book, name: str) -> Iterator[Json]:
    yield live_case(book, name)


def _live_all(book: Book, plans: list[_Plan], how: _How) -> None:
    left = sum(len(it.seconds) for it in plans)
    crew = _crew([lambda it=it: it.live(book) for it in plans], how.jobs)  # type: ignore[misc]
    with closing(crew):
        for told in crew:
            how.report.add(told)
            left -= "@" not in told["pair"]
            if how.heard(book.base, how.report, left):
                return


def _crew(lives: list[Callable[[], Iterator[Json]]], jobs: int) -> Generator[Json, None, None]:
    """Live several branches at a time; yield what they tell as it comes."""
    waiting, busy = list(reversed(lives)), dict[int, Branch]()
    try:
        while waiting or busy:
            while waiting and len(busy) < jobs:
                new = branch(waiting.pop())
                busy[new.pipe] = new
            ready, _, _ = select.select(list(busy), (), ())
            yield from map(_sound, chain.from_iterable(_read(busy, it) for it in ready))
    finally:
        for it in busy.values():  # nobody hears the others any more
            it.end()


def _read(busy: dict[int, Branch], pipe: int) -> list[Json]:
    one = busy.pop(pipe)  # one that ended by itself is not to be ended once more
    said, over = one.read()
    if not over:
        busy[pipe] = one
    return said


def _sound(told: Json) -> Json:
    """Return what a branch tells; raise what ended it."""
    if "fell" in told:
        raise HouseError(told["fell"])
    return told


def _apart(live: Callable[[], Iterator[Json]]) -> Iterator[Json]:
    return _crew([live], 1)
