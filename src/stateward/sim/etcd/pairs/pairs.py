"""Two edits and a way back, and what must be true of them.

From a base to Di, to Dj, and back to Di:

answer   each edit is answered as it is declared: at the door, in the status, or by making it so
history  what is made so ends alike, whatever was before
held     what is not even tried changes nothing
mixed    what is stuck halfway is, object by object, as before or as asked
gentle   what is invalid disrupts nothing
quorum   no edit costs a quorum that three members or more can keep
back     the way back ends where it began
law      no K- or E-law is broken on the way
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from stateward.kube.codec import Json
from stateward.kube.resources import CONFIG_MAPS
from stateward.sim.etcd.pairs import tables
from stateward.sim.etcd.pairs.bases import BASES
from stateward.sim.etcd.pairs.cases import SAME, Case, Class
from stateward.sim.etcd.pairs.ends import End, differences, end_of, without_status
from stateward.sim.etcd.pairs.samples import cases_of
from stateward.sim.etcd.pairs.stage import Stage, lived
from stateward.sim.etcd.pairs.steps import Step, take
from stateward.sim.etcd.pairs.tables import DOOR, HELD, MADE, answer, latches

#: Members from which on one may be away.
_SPARES_ONE = 3
#: What members are told as they start is written before they can, and waits for them.
_IN_FLIGHT = f"{CONFIG_MAPS.plural}/"
#: What Kubernetes itself counts follows from the rest.
_COUNTED = " status."
_OPEN = re.compile("|".join(tables.OPEN))
#: A hash of what was applied; it tells nothing that is not told beside it.
_SEAL = "[stateward.dev/applied]"
#: Differences that are told of at most.
_TOLD = 8


@dataclass(frozen=True, slots=True)
class Known:
    """What became of one case, asked of its base."""

    step: Step
    #: The spec as the server had it then, defaults included.
    spec: Json
    end: End


@dataclass(slots=True)
class Book:
    """A base that has settled, and what became of every case that was asked of it."""

    base: str
    stage: Stage
    cases: Mapping[str, Case]
    known: dict[str, Known] = field(default_factory=dict)

    def ask(self, name: str, stage: Stage) -> Step:
        """Ask for the spec of a case."""
        return take(stage, self.cases[name].spec(BASES[self.base].spec))

    def answer(self, name: str) -> str:
        """Return how a case must be answered."""
        return answer(self.base, name)

    @property
    def states(self) -> tuple[str, ...]:
        """The cases that are worth going to and coming from: accepted, and not the base again."""
        return tuple(name for name in self.known if self._is_state(name))

    def _is_state(self, name: str) -> bool:
        found = self.known[name]
        if found.step.verdict == DOOR or name in tables.HEAVY:
            return False
        folded = self.cases[name].kind in {Class.EMPTY, Class.DELETE}
        return name == SAME.name or not (folded and self.is_base_again(name))

    def is_base_again(self, name: str) -> bool:
        """Tell whether a case changes nothing but the words of the spec."""
        base, found = self.known[SAME.name], self.known[name]
        asked = "etcdclusters/shop spec"
        changed = differences(base.end, found.end)
        return all(it.startswith(asked) for it in changed)

    @property
    def refused(self) -> tuple[str, ...]:
        """The cases that are refused at the door of the base."""
        return tuple(name for name, it in self.known.items() if it.step.verdict == DOOR)


def open_book(base: str, stage: Stage) -> Book:
    """Begin a book about a base that has settled; nothing is known yet."""
    return Book(base, stage, cases_of(base))


# -------------------------------------------------------------------------- one case


def live_case(book: Book, name: str) -> Json:
    """Ask for a case in this very world, and return what became of it as plain values."""
    stage = book.stage
    step = book.ask(name, stage)
    return {
        "case": name,
        "step": _plain(step),
        "spec": stage.spec(),
        "end": end_of(stage.it),
    }


def learn(book: Book, told: Json) -> list[str]:
    """Write down what became of a case; return which laws that broke."""
    step, name = _step(told["step"]), told["case"]
    book.known[name] = found = Known(step, told["spec"], told["end"])
    broken = [*step.broken, *_answered(book, name, step, ())]
    case = book.cases[name]
    may = tables.TRIED.get(name)
    if case.kind is Class.INVALID and step.acts != (may or {}):
        broken.append(f"gentle: an invalid spec cost {dict(step.acts)}")
    if SAME.name in book.known:
        broken += _costs(book.known[SAME.name], found, step)
    return broken


# -------------------------------------------------------------------------- pairs


def pairs_from(book: Book, first: str, seconds: tuple[str, ...]) -> Iterator[Json]:
    """Go to a state for good, and from there to others and back; tell of each as it ends."""
    step = book.ask(first, book.stage)
    if step != book.known[first].step:
        yield _told(book, first, SAME.name, [f"a branch went another way: {step}"], step)
    for name in book.refused:
        accepted = not book.stage.ask(book.cases[name].spec(BASES[book.base].spec), dry_run=True)
        if accepted:
            yield lived(lambda name=name: live_pair(book, first, name))  # type: ignore[misc]
    for name in seconds:
        yield lived(lambda name=name: live_pair(book, first, name))  # type: ignore[misc]


def live_pair(book: Book, first: str, second: str) -> Json:
    """Go from where the first led to the second and back, in this very world."""
    before, there = book.known[first], book.known[second]
    step = book.ask(second, book.stage)
    now = Known(step, book.stage.spec(), end_of(book.stage.it))
    broken = [*judged(book, first, second, now), *_costs(before, now, step)]
    back = book.ask(first, book.stage)
    again = Known(back, book.stage.spec(), end_of(book.stage.it))
    origin = now if step.verdict != DOOR else before
    kept = tuple(it.name for it in latches(origin.spec, before.spec))
    broken += [f"back: {it}" for it in _returned(book, first, again, kept, there)]
    broken += [*step.broken, *back.broken]
    return _told(book, first, second, broken, step, back)


def judged(book: Book, first: str, second: str, now: Known) -> Iterator[str]:
    """Yield what is wrong with where a second edit has led to, once the first was done."""
    before, there = book.known[first], book.known[second]
    yield from answered(book, first, second, now.step)
    if second in tables.TRIED:
        return
    if now.step.verdict == DOOR or now.step.verdict in HELD:
        yield from _held(before, now)
    elif there.step.verdict == DOOR or _is_unruled(book, first):
        return  # the base could not be asked for it, so nothing is known of it
    elif kept_by(book, first, second) or now.step.verdict not in MADE:
        yield from _mixed(before, there, now)
    else:
        yield from alike(there, now)


def _is_unruled(book: Book, first: str) -> bool:
    """Tell whether no rule about the past guards what follows: see the latch."""
    return not book.known[first].spec["storage"]


def kept_by(book: Book, first: str, second: str) -> tuple[tables.Latch, ...]:
    """Return what may keep the way between two states from ending at the second."""
    there = book.known[second]
    asked = book.cases[second].spec(BASES[book.base].spec)
    wanted = asked if there.step.verdict == DOOR else there.spec
    return latches(book.known[first].spec, wanted)


def answered(book: Book, first: str, second: str, step: Step) -> Iterator[str]:
    """Yield that a second edit was not answered as is declared."""
    if second not in tables.TRIED:
        also = (it for one in kept_by(book, first, second) for it in one.answers)
        yield from _answered(book, second, step, tuple(also))
    elif step.verdict in MADE:
        yield f"answer: {step.verdict}, and nobody can have made that so"


def alike(there: Known, now: Known) -> Iterator[str]:
    """Yield where an end is not what it would be without what was before."""
    lines = differences(there.end, now.end)
    found = [it for it in lines if not _OPEN.search(it.partition(": ")[0])]
    if any(_SEAL not in it for it in found):
        yield from (f"history: {it}" for it in _few(found))


def _returned(
    book: Book, first: str, again: Known, kept: tuple[str, ...], between: Known
) -> Iterator[str]:
    """Yield what is wrong with the way back."""
    before = book.known[first]
    if kept or first in tables.TRIED:
        return
    if again.step.verdict != before.step.verdict:
        yield f"answer: {again.step.verdict}: {again.step.words}"
    elif again.step.verdict in MADE:
        yield from alike(before, again)
    elif again.step.verdict not in HELD:
        yield from _mixed(before, between, again)


# -------------------------------------------------------------------------- laws


def _answered(book: Book, name: str, step: Step, also: tuple[str, ...]) -> Iterator[str]:
    wanted = book.answer(name)
    if step.verdict != wanted and step.verdict not in also:
        yield f"answer: {step.verdict} instead of {wanted}: {step.words}"


def _held(before: Known, now: Known) -> Iterator[str]:
    lines = differences(without_status(before.end), without_status(now.end))
    yield from (f"held: {it}" for it in _few(lines))
    if now.step.acts:
        yield f"held: it cost {dict(now.step.acts)}"


def _mixed(before: Known, there: Known, now: Known) -> Iterator[str]:
    """Yield objects that are neither as they were nor as they are when only this is asked for."""
    old, new, is_ = (_objects(it.end) for it in (before, there, now))
    for place in sorted(is_):
        if place.startswith(_IN_FLIGHT):
            continue
        if is_[place] not in (old.get(place), new.get(place)):
            one = _few(differences(new.get(place, {}), is_[place]))
            other = _few(differences(old.get(place, {}), is_[place]))
            yield from (f"mixed: {it}" for it in min(one, other, key=len))


def _objects(end: End) -> dict[str, End]:
    """Return what objects are asked to be, and what etcd is, each by its own name."""
    found: dict[str, dict[str, str]] = {}
    for place, value in without_status(end).items():
        if _COUNTED in place:
            continue
        found.setdefault(place.partition(" ")[0], {})[place] = value
    return dict(found)


def _costs(before: Known, now: Known, step: Step) -> list[str]:
    sizes = [int(it.spec.get("replicas", 0)) for it in (before, now)]
    if step.quorum_lost and min(sizes) >= _SPARES_ONE:
        return ["quorum: it was lost on the way"]
    return []


def _few(lines: list[str]) -> list[str]:
    more = [f"... and {len(lines) - _TOLD} more"] if len(lines) > _TOLD else []
    return lines[:_TOLD] + more


# -------------------------------------------------------------------------- plain values


def _told(book: Book, first: str, second: str, broken: list[str], *steps: Step) -> Json:
    return {
        "pair": f"{book.base}:{first}:{second}",
        "broken": broken,
        "answers": [it.verdict for it in steps],
        "seconds": sum(it.seconds for it in steps),
    }


def _plain(step: Step) -> Json:
    return {
        "verdict": step.verdict,
        "words": step.words,
        "acts": step.acts,
        "seconds": step.seconds,
        "quorum_lost": step.quorum_lost,
        "broken": step.broken,
    }


def _step(told: Json) -> Step:
    return Step(**told | {"broken": tuple(told["broken"])})
