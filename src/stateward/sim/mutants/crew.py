"""Many hunts at once, each in a process of its own: a bug may hang, or leave something behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Final

from stateward.core.errors import HouseError, UsageError
from stateward.sim.lives import Ask
from stateward.sim.mutants import generated
from stateward.sim.mutants.clues import Clue
from stateward.sim.mutants.ground import Ground, Spot, Walk, calm_ground, ground, spot
from stateward.sim.mutants.hunt import Hunt, Mutant, Verdict
from stateward.sim.mutants.named import NAMED
from stateward.sim.mutants.planting import Named
from stateward.sim.products import ETCD, PRODUCTS, product

#: The law that a life must have an end.
HANGS: Final = "HANGS"
#: Seconds of a processor's time that one life may take; a life needs less than one.
PATIENCE: Final = 20.0
#: Lives for each bug of which somebody said why it lives.
_AGAIN: Final = 20


@dataclass(frozen=True, slots=True)
class Chase:
    """How is hunted."""

    #: Lives for each bug.
    budget: int = 60
    jobs: int = 1
    #: Where bugs were found before, by their ids.
    known: Mapping[str, Clue] = field(default_factory=dict)
    #: Those of which somebody said why they live: they get fewer lives to prove that wrong.
    explained: Collection[str] = ()
    #: Is told what takes long and brings no verdict.
    say: Callable[[str], None] = lambda _: None


def walk_together(jobs: int) -> Walk:
    """Return how several processes live the lives of a ground."""

    def walk(asks: Iterable[Ask]) -> Iterator[Spot]:
        crew = ProcessPoolExecutor(jobs, get_context("fork"), _be_led)
        try:
            yield from crew.map(spot, asks)
        except BrokenProcessPool:
            raise HouseError("a process that lived lives without bugs died") from None
        finally:
            crew.shutdown(cancel_futures=True)

    return walk


def _be_led() -> None:
    """Leave Ctrl-C to who sent us out, and who ends us."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def every() -> list[Mutant]:
    """Return all bugs that are planted when nobody says which."""
    return [*NAMED.values(), *generated.chosen()]


def find(identity: str) -> Mutant:
    """Return a bug by what it is called."""
    if identity in NAMED:
        return NAMED[identity]
    if identity.startswith("G-"):
        return generated.named(identity)
    raise UsageError(
        f"--mutant must be one of {', '.join(NAMED)}, or a generated one, as"
        f" G-etcd.decide.sizes.grow:drop-guard.2; got {identity!r}"
    )


def chase(mutants: Sequence[Mutant], how: Chase) -> Iterator[Verdict]:
    """Hunt them all; yield what became of each as soon as it is known.

    Who was found before is looked for there first: only for the others the whole ground is walked.
    """
    familiar = [it for it in mutants if it.id in how.known]
    others = [it for it in mutants if it.id not in how.known]
    if familiar:
        how.say("lives without bugs come first")
        asks = [how.known[it.id].calm for it in familiar]
        near = calm_ground(asks, walk_together(how.jobs))
        for mutant, verdict in hunts(familiar, replace(how, budget=1), near):
            if verdict.law:
                yield verdict
            else:
                others.append(mutant)
    if others:
        how.say(f"for {len(others)} that live or are new, lives of all kinds come first")
        there = ground(_scenarios(others), sample=1, walk=walk_together(how.jobs))
        for few, lives in ((False, how.budget), (True, min(how.budget, _AGAIN))):
            some = [it for it in others if (it.id in how.explained) is few]
            yield from (verdict for _, verdict in hunts(some, replace(how, budget=lives), there))


def _scenarios(mutants: Iterable[Mutant]) -> Iterator[str]:
    """Yield the scenarios in which some bugs can show: all of the products that they are about."""
    looks = [it.looks[0].scenario for it in mutants if isinstance(it, Named) and it.looks]
    about = {product(it).name for it in looks}
    if any(not isinstance(it, Named) for it in mutants):
        about.add(ETCD.name)
    return (name for it in PRODUCTS if it.name in about for name in it.scenarios)


def hunts(mutants: Sequence[Mutant], how: Chase, where: Ground) -> Iterator[tuple[Mutant, Verdict]]:
    """Hunt on one ground, so many at once; whoever stops listening ends them all."""
    left = list(reversed(mutants))
    running: dict[Connection, tuple[Mutant, BaseProcess]] = {}
    try:
        while left or running:
            while left and len(running) < how.jobs:
                pipe, process = _sent_out(left[-1], how, where)
                running[pipe] = left.pop(), process
            yield from (_brought(it, running.pop(it)[0]) for it in _ready(running))
    finally:
        for _, process in running.values():
            process.kill()


def _ready(running: Iterable[Connection]) -> list[Connection]:
    """Wait until somebody has something to say."""
    return [it for it in wait(list(running)) if isinstance(it, Connection)]


def _sent_out(mutant: Mutant, how: Chase, where: Ground) -> tuple[Connection, BaseProcess]:
    """Start a hunt; return the end of the pipe at which its verdict arrives, and its process."""
    # Forked: a bug is planted in functions that are loaded, and the ground is known.
    context = get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    known = how.known.get(mutant.id)
    hunt = Hunt(mutant, where, how.budget, (known,) if known is not None else ())
    process = context.Process(target=_hunt, args=(hunt, theirs), daemon=True)
    process.start()
    theirs.close()
    return ours, process


def _brought(pipe: Connection, mutant: Mutant) -> tuple[Mutant, Verdict]:
    """Return a verdict. A hunt that failed has none, and must not pass for one that found."""
    try:
        found: Verdict | str = pipe.recv()
    except EOFError:
        found = "its process died"
    pipe.close()
    if isinstance(found, str):
        raise HouseError(f"the hunt for {mutant.id} failed: {found}")
    return mutant, found


def _hunt(hunt: Hunt, pipe: Connection) -> None:
    """Hunt, and give up with the verdict that it hangs when a life does not end."""

    def give_up(*_: object) -> None:
        pipe.send(hunt.verdict(HANGS, f"a life took more than {PATIENCE:g} s"))
        os._exit(0)

    _be_led()
    signal.signal(signal.SIGPROF, give_up)
    hunt.before_each = _clock
    try:
        pipe.send(hunt.run())
    except Exception as error:  # noqa: BLE001 - told where it is raised again
        pipe.send(f"{type(error).__name__}: {error}")


def _clock() -> None:
    """Begin to count the time that this process works."""
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
