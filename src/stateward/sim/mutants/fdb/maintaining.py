"""Bugs about zones under maintenance: what is told of them, and what is forgotten."""

from __future__ import annotations

from typing import Any

from stateward.fdb.admin import commands
from stateward.fdb.cluster.hands import maintaining
from stateward.fdb.cluster.steps.removing import update_pods
from stateward.fdb.decide.groups import maintenance
from stateward.fdb.decide.groups.maintenance import Begin, End, Hold, Move, Note, Noted
from stateward.fdb.decide.groups.pod_updates import PodUpdatePlan
from stateward.fdb.status.maintenance import Maintenance
from stateward.fdb.views import ClusterView
from stateward.sim.mutants.planting import Patch, bug


@bug(
    "M55",
    "maintenance of a zone is never ended: it is left to its own time",
    "FoundationDB/fdb-kubernetes-operator: reset maintenance zone",
    *("fdb-maintenance",),
)
def never_ended(patch: Patch) -> None:
    """Wait where it should be ended."""
    inner = maintenance.check

    def check(view: ClusterView, *, wants: str) -> Move | None:
        found = inner(view, wants=wants)
        return Hold(30.0, "ZoneMaintained", "later") if isinstance(found, End) else found

    patch.put(maintenance, "check", check)


@bug(
    "M56",
    "maintenance is ended as soon as pods were told to go, before their processes are back",
    "FoundationDB/fdb-kubernetes-operator: failure during maintenance",
    *("fdb-maintenance",),
)
def ended_too_soon(patch: Patch) -> None:
    """Take everybody for back."""
    patch.put(maintenance, "away", lambda _view, _noted: ())


@bug(
    "M57",
    "whatever maintenance is on is taken for one's own, and ended",
    "FoundationDB/fdb-kubernetes-operator: the checker ends what it did not begin",
    *("fdb-maintenance-others",),
)
def ends_others(patch: Patch) -> None:
    """Do not ask whose it is: not on record, and not past the cache."""

    def of_others(view: ClusterView, _: object, active: Maintenance | None) -> Move | None:
        if active is None:
            return None
        return End(Noted(active.zone, view.now, frozenset(), 600), "a bug")

    patch.put(maintenance, "_of_others", of_others)
    _look_away(patch)


@bug(
    "M58",
    "the database is told of a machine, and not of its zone",
    "the manual of FoundationDB: maintenance does not ask whether there is such a zone",
    *("fdb-maintenance",),
)
def another_zone(patch: Patch) -> None:
    """Tell of something that looks like a zone."""

    def told(zone: str, seconds: int) -> str:
        return commands.words("maintenance", "on", f"{zone}.local", str(seconds))

    patch.put(commands, "maintenance", told)


@bug(
    "M59",
    "the database is told before it is on record whose maintenance it is",
    "a rule of this house: intent before act",
    *("fdb-maintenance",),
)
def told_before_noted(patch: Patch) -> None:
    """Begin at once."""
    inner = maintenance.before_taking

    def before_taking(view: ClusterView, plan: PodUpdatePlan) -> Move | None:
        found = inner(view, plan)
        return Begin(found.noted, "a bug") if isinstance(found, Note) else found

    patch.put(update_pods, "before_taking", before_taking)
    _look_away(patch)


def _look_away(patch: Patch) -> None:
    async def nothing(*_: Any) -> None:
        return None

    patch.put(maintaining, "_found_otherwise", nothing)


BUGS = (never_ended, ended_too_soon, ends_others, another_zone, told_before_noted)
