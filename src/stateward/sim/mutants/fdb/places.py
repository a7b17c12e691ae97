"""Bugs about a database in several places: what is relied on before it is there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stateward.fdb.decide import coordinating, making, regions
from stateward.fdb.decide.coordinators import rule_of
from stateward.fdb.decide.layouts import steps
from stateward.fdb.decide.regions import Layout
from stateward.fdb.guards import acts
from stateward.fdb.guards.database import database_is_available
from stateward.sim.mutants.planting import Patch, bug


@bug(
    "M50",
    "another region may write before all data was copied there; that the database must have been"
    " recovered for a while is taken away too",
    "reliability of staged region changes: priorities are switched as soon as it is configured",
    *("fdb-regions",),
)
def writes_without_data(patch: Patch) -> None:
    """Go on as soon as a command was taken."""
    patch.put(acts, "LET_WRITE", (database_is_available,))
    patch.put(acts, "MOVE_REGIONS", (database_is_available,))


@bug(
    "M51",
    "regions and how many of them are usable are set together, as the spec has them",
    "FoundationDB's manual: regions change in several commands",
    *("fdb-regions",),
)
def all_at_once(patch: Patch) -> None:
    """Ask for the end, and not for the next step."""

    def next_move(live: Layout, wanted: Layout) -> Layout | None:
        return None if live == wanted else wanted

    patch.put(regions, "next_move", next_move)
    patch.put(steps, "enough_places", _nothing)


@bug(
    "M52",
    "coordinators of a database in several data centers may all be in one",
    "FoundationDB/fdb-kubernetes-operator, coordinators of multi-region clusters",
    *("fdb-regions", "fdb-two-centers"),
)
def all_in_one_center(patch: Patch) -> None:
    """Keep them apart by zones alone."""

    def loose(*args: Any) -> Any:
        found = rule_of(*args)
        return replace(found, in_a_data_center=found.count, in_a_data_hall=found.count)

    patch.put(coordinating, "rule_of", loose)


@bug(
    "M53",
    "copies are asked for in places where nobody is",
    "the real one takes three_data_hall without halls, and is away at once",
    *("fdb-halls", "fdb-regions"),
)
def nobody_there(patch: Patch) -> None:
    """Let the database judge."""
    patch.put(steps, "enough_places", _nothing)
    patch.put(making, "enough_zones", _nothing)


@bug(
    "M54",
    "a database is made for data halls and data centers that are not there yet",
    "the real one takes three_data_hall without halls, and is away at once",
    *("fdb-halls", "fdb-two-centers"),
)
def made_for_nobody(patch: Patch) -> None:
    """Make it as it shall be in the end."""
    patch.put(steps, "first", lambda _view, wanted: wanted)


def _nothing(*_: object) -> None:
    return None


BUGS = (writes_without_data, all_at_once, all_in_one_center, nobody_there, made_for_nobody)
