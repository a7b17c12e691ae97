"""Living a plan and saying in a few words what came of it: small enough to travel far."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from stateward.sim.explore.scenes import Scene, place
from stateward.sim.faults import CALM, Fault, Kind
from stateward.sim.laws.violations import Violation
from stateward.sim.lives import Ask, Life
from stateward.sim.products import differences, live

#: The law that the same seed gives the same life.
DETERMINISM: Final = "DETERMINISM"

#: The law that a life has an end of which the laws can be asked.
BROKEN: Final = "BROKEN"

#: The law that a life has an end at all.
ENDLESS: Final = "ENDLESS"

#: The law that no life ends the process that lives it.
FATAL: Final = "FATAL"


@dataclass(frozen=True, slots=True)
class Met:
    """A fault that came to pass: where in the code, and what kind it was."""

    place: str
    what: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a plan."""

    ask: Ask
    violations: tuple[Violation, ...] = ()
    #: The faults that came to pass; the others had their calls after the end of the life.
    met: tuple[Met, ...] = ()
    digest: str = ""
    #: Virtual seconds.
    seconds: float = 0.0
    steps: int = 0


def what(fault: Fault) -> str:
    """Return what kind of fault this is; of what happens to the world each act is one.

    >>> what(Fault.parse("crash-after:16")), what(Fault.parse("act:kill-pod:1"))
    ('crash-after', 'act:kill-pod')
    """
    return ":".join((fault.kind.text, *fault.details[: 1 if fault.kind is Kind.ACT else 0]))


def judged(ask: Ask, scene: Scene | None = None) -> Outcome:
    """Live a plan and hold it against the laws, and against the calm life if it is known."""
    try:
        # Until the first fault all goes as in calm, and so its place is known.
        life = live(ask, record=not _is_calm_of(scene, ask) or len(ask.plan.hits) > 1)
        return weighed(life, scene)
    except Exception as error:  # noqa: BLE001 - whatever breaks a life is what we look for
        return fell(ask, scene, error)


def weighed(life: Life, scene: Scene | None) -> Outcome:
    """Hold a life against the laws, and against the calm life if it is known."""
    violations, met = broken(life, scene), tuple(_met(life.ask, life, scene))
    return Outcome(life.ask, violations, met, _digest(life), life.seconds, life.steps)


def fell(ask: Ask, scene: Scene | None, error: Exception) -> Outcome:
    """Return the outcome of a life that an error ended."""
    return failed(ask, scene, BROKEN, f"{type(error).__name__}: {error}")


def endless(ask: Ask, scene: Scene | None, seconds: float) -> Outcome:
    """Return the outcome of a life that was ended after so many seconds of this machine."""
    return failed(ask, scene, ENDLESS, f"no end after {seconds:g} s of this machine")


def failed(ask: Ask, scene: Scene | None, law: str, sentence: str) -> Outcome:
    """Return the outcome of a life of which there is nothing but that it failed."""
    blame = (Violation(law, "nobody", 0.0, sentence),)
    return Outcome(ask, blame, tuple(_met(ask, scene.calm, scene) if scene is not None else ()))


def of_calm(scene: Scene) -> Outcome:
    """Return what came of a calm life."""
    life = scene.calm
    return Outcome(life.ask, life.violations, (), _digest(life), life.seconds, life.steps)


def _digest(life: Life) -> str:
    return f"{life.digest}.{life.steps}"


def broken(life: Life, scene: Scene | None) -> tuple[Violation, ...]:
    """Return the laws that a life broke, those included that say how it may differ from calm."""
    if scene is None or life.ask.plan == CALM:
        return life.violations
    found = differences(scene.calm, life)
    if found and not _is_calm_of(scene, life.ask):  # it may be chance: its own calm life decides
        found = differences(live(_calm(life.ask)), life)
    return (*life.violations, *found)


def _calm(ask: Ask) -> Ask:
    return replace(ask, plan=CALM)


def _is_calm_of(scene: Scene | None, ask: Ask) -> bool:
    return scene is not None and scene.ask == _calm(ask)


def _met(ask: Ask, life: Life, scene: Scene | None) -> Iterator[Met]:
    for number, hit in enumerate(ask.plan.hits):
        site = None
        if scene is not None and _is_calm_of(scene, ask) and not number:
            site = scene.site(hit.call)
        elif hit.call <= len(life.calls):
            site = life.calls[hit.call - 1]
        if site is not None:
            yield Met(place(site), what(hit.fault))
