"""How a Deployment replaces and sizes its ReplicaSets: pure, one step at a time.

A step never takes away what must stay available, and never asks for more than the surge allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any, TypeAlias

from stateward.core.errors import SpecInvalid
from stateward.kube.codec import Json
from stateward.local.controllers.workloads.deployments.crews import Crew
from stateward.local.controllers.workloads.pods import number

_HISTORY = 10
_QUARTER = "25%"


@dataclass(frozen=True, slots=True)
class Rules:
    """What a deployment asks for."""

    replicas: int = 1
    surge: int = 0
    unavailable: int = 0
    recreate: bool = False
    paused: bool = False
    history: int = _HISTORY

    @classmethod
    def of(cls, spec: Json) -> Rules:
        """Read the spec of a deployment."""
        replicas = number(spec, "replicas", 1)
        strategy = spec.get("strategy") or {}
        recreate = strategy.get("type") == "Recreate"
        rolling = strategy.get("rollingUpdate") or {}
        surge = share(rolling.get("maxSurge"), replicas, up=True)
        unavailable = share(rolling.get("maxUnavailable"), replicas, up=False)
        if not surge and not unavailable:
            unavailable = 1  # or no step could ever be made
        return cls(
            replicas=replicas,
            surge=0 if recreate else surge,
            unavailable=0 if recreate else min(unavailable, replicas),
            recreate=recreate,
            paused=bool(spec.get("paused")),
            history=number(spec, "revisionHistoryLimit", _HISTORY),
        )

    @property
    def most(self) -> int:
        """How many pods there may be at once."""
        return self.replicas + self.surge if self.replicas else 0

    @property
    def least(self) -> int:
        """How many pods must stay available."""
        return self.replicas - self.unavailable


@dataclass(frozen=True, slots=True)
class View:
    """All that a decision depends on; the old crews from the oldest on."""

    rules: Rules
    new: Crew | None = None
    olds: tuple[Crew, ...] = ()
    #: Whether a pod of an old crew may still run.
    old_pods_run: bool = False

    @property
    def crews(self) -> tuple[Crew, ...]:
        """All of them, the new one last."""
        return (*self.olds, self.new) if self.new is not None else self.olds


@dataclass(frozen=True, slots=True)
class Hire:
    """Make the ReplicaSet of the new template."""

    replicas: int


@dataclass(frozen=True, slots=True)
class Resize:
    """Give a ReplicaSet another size (or the same one, with a note of the deployment's)."""

    crew: Crew
    replicas: int


@dataclass(frozen=True, slots=True)
class Dismiss:
    """Forget an old ReplicaSet."""

    crew: Crew


Move: TypeAlias = Hire | Resize | Dismiss


def share(value: Any, of: int, *, up: bool) -> int:
    """Return a number or a percentage of a size, rounded; a quarter when nothing is said.

    >>> share("25%", 10, up=True), share("25%", 10, up=False), share(3, 10, up=True)
    (3, 2, 3)
    """
    said = _QUARTER if value is None else value
    if isinstance(said, int):
        return max(0, said)
    text = str(said)
    if not text.endswith("%") or not text[:-1].isdecimal():
        raise SpecInvalid("spec.strategy", f"must have a number or a percentage, got {said!r}")
    part = Fraction(int(text[:-1]) * of, 100)
    return ceil(part) if up else floor(part)


def decide(view: View) -> tuple[Move, ...]:
    """Return the next moves; none when there is nothing to do but wait."""
    if view.rules.paused or _was_resized(view):
        return _resized(view)
    if view.rules.recreate:
        return _recreate(view) or _forget(view)
    return _roll(view) or _forget(view)


def _was_resized(view: View) -> bool:
    """Tell whether somebody changed the size since the crews were last sized."""
    active = [it for it in view.crews if it.replicas]
    if view.rules.recreate and len(active) > 1:
        return False
    return any(it.desired not in {None, view.rules.replicas} for it in active)


def _resized(view: View) -> tuple[Move, ...]:
    """Bring crews to a new size without going on with a rollout."""
    rules = view.rules
    active = [it for it in view.crews if it.replicas]
    if len(active) <= 1:
        sole = active or view.crews[-1:]
        return tuple(Resize(it, rules.replicas) for it in sole if not _is_sized(it, rules))
    new = view.new
    if new is not None and new.replicas == new.settled == rules.replicas == new.desired:
        return tuple(Resize(it, 0) for it in active if it is not new)
    return proportional(active, rules)


def proportional(crews: Sequence[Crew], rules: Rules) -> tuple[Resize, ...]:
    """Share a change of size among crews by their sizes; what is left over is the largest's."""
    rest = rules.most - sum(it.replicas for it in crews)
    grows = rest > 0
    newest_first = sorted(
        crews, key=lambda it: (it.metadata.creation_timestamp, it.name), reverse=grows
    )
    sizes: dict[str, int] = {}
    largest_first = sorted(newest_first, key=lambda it: -it.replicas)
    for crew in largest_first:
        change = _fraction(crew, rules)
        change = max(0, min(change, rest)) if grows else min(0, max(change, rest))
        rest -= change
        sizes[crew.name] = crew.replicas + change
    first = largest_first[0]
    sizes[first.name] = max(0, sizes[first.name] + rest)
    return tuple(
        Resize(it, sizes[it.name])
        for it in crews
        if sizes[it.name] != it.replicas or it.desired != rules.replicas
    )


def _is_sized(crew: Crew, rules: Rules) -> bool:
    """Tell whether a crew has the whole size, and notes that it was given it."""
    return crew.replicas == crew.desired == rules.replicas


def _fraction(crew: Crew, rules: Rules) -> int:
    if not rules.replicas:
        return -crew.replicas
    before = crew.most or rules.most
    return round(Fraction(crew.replicas * rules.most, before)) - crew.replicas


def _recreate(view: View) -> tuple[Move, ...]:
    if ending := tuple(Resize(it, 0) for it in view.olds if it.replicas):
        return ending
    if view.old_pods_run:
        return ()
    if view.new is None:
        return (Hire(view.rules.replicas),)
    return _to_size(view.new, view.rules.replicas)


def _roll(view: View) -> tuple[Move, ...]:
    if view.new is None:
        return (Hire(min(_room(view), view.rules.replicas)),)
    return _grow(view, view.new) or _shrink(view, view.new)


def _grow(view: View, new: Crew) -> tuple[Move, ...]:
    wanted = view.rules.replicas
    if new.replicas >= wanted:
        return _to_size(new, wanted)
    return _to_size(new, new.replicas + min(_room(view), wanted - new.replicas))


def _room(view: View) -> int:
    return max(0, view.rules.most - sum(it.takes for it in view.crews))


def _shrink(view: View, new: Crew) -> tuple[Move, ...]:
    """Take away old pods: first those that do not serve anyway, then what can be spared."""
    rules = view.rules
    spare = sum(it.replicas for it in view.crews) - rules.least - (new.replicas - new.settled)
    if spare <= 0:
        return ()
    sizes = {it.name: it.replicas for it in view.olds}
    for crew in view.olds:
        idle = min(spare, sizes[crew.name] - crew.settled)
        sizes[crew.name] -= idle
        spare -= idle
    free = sum(it.settled for it in view.crews) - rules.least
    for crew in view.olds:
        given = max(0, min(free, sizes[crew.name], spare))
        sizes[crew.name] -= given
        free -= given
        spare -= given
    return tuple(Resize(it, sizes[it.name]) for it in view.olds if sizes[it.name] < it.replicas)


def _forget(view: View) -> tuple[Move, ...]:
    """Dismiss the crews of the oldest revisions, once the newest is complete."""
    if not is_complete(view):
        return ()
    idle = [it for it in view.olds if not it.takes and not it.metadata.deleting]
    idle.sort(key=lambda it: (it.revision, it.metadata.creation_timestamp))
    return tuple(Dismiss(it) for it in idle[: max(0, len(idle) - view.rules.history)])


def is_complete(view: View) -> bool:
    """Tell whether everything is as asked for, and nothing else is there."""
    new, wanted = view.new, view.rules.replicas
    return (
        new is not None
        and new.has == new.available == wanted
        and sum(it.has for it in view.olds) == 0
    )


def _to_size(crew: Crew, replicas: int) -> tuple[Move, ...]:
    return () if crew.replicas == replicas else (Resize(crew, replicas),)
