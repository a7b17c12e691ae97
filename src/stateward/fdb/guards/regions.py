"""What must be true before regions change: data is copied before anybody relies on the copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stateward.core.facts import Known, Unknown
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.model.configuration import Redundancy
from stateward.fdb.status import configuration as told
from stateward.fdb.status import movement, regions
from stateward.fdb.status.regions import Copies
from stateward.fdb.views import ClusterView

#: Seconds by which a region may be behind that is about to be allowed to write.
MOST_BEHIND: Final = 30.0


def first_region_is_whole(view: ClusterView) -> Refusal | None:
    """Refuse while the region that is written to has not all copies: it may soon be the only one.

    What other regions have does not matter, so that one that is lost can be given up.
    """
    return _whole(view, "first_region_is_whole", first_only=True)


def all_regions_are_whole(view: ClusterView) -> Refusal | None:
    """Refuse while a region has not all data: whoever may write must have what it writes to."""
    return _whole(view, "all_regions_are_whole", first_only=False)


def regions_keep_up(view: ClusterView) -> Refusal | None:
    """Refuse while the other region is far behind: what it lacks would have to be waited for."""
    name, found = "regions_keep_up", regions.lag(view.database)
    if isinstance(found, Unknown):
        return Refusal(name, f"nobody knows: {found.reason}")
    if found.value <= MOST_BEHIND:
        return None
    return Refusal(
        name,
        f"the other region is {found.value:.0f} s behind, and may be {MOST_BEHIND:.0f} s",
        "see that the data centers reach each other",
    )


def _whole(view: ClusterView, name: str, *, first_only: bool) -> Refusal | None:
    live, found = told.configuration(view.database), regions.copies(view.database)
    if isinstance(live, Unknown):
        return Refusal(name, f"nobody knows: {live.reason}")
    if isinstance(found, Unknown):
        return Refusal(name, f"nobody knows what regions have: {found.reason}")
    every = [it for it in found.value if it.is_first or not first_only]
    many = 1 if first_only else max(1, live.value.usable_regions)
    if len(every) < many:
        return Refusal(
            name, f"{many} regions must have all data, and the status tells of {len(every)}"
        )
    wrong = _lacking(every, _replicas(live.value.redundancy))
    return Refusal(name, f"{wrong}{_moving(view)}") if wrong else None


def _replicas(redundancy: str) -> int:
    try:
        return Redundancy(redundancy).storage_replicas
    except ValueError:
        return 1


def _lacking(every: Sequence[Copies], needed: int) -> str:
    for it in every:
        which = "the region that is written to" if it.is_first else "the other region"
        if it.fewest < needed:
            return f"{which} has {it.fewest} of {needed} copies of some data"
        if not it.is_healthy:
            return f"{which} has yet to move some data"
    return ""


def _moving(view: ClusterView) -> str:
    left = movement.moving_bytes(view.database)
    if not isinstance(left, Known) or not left.value:
        return ""
    return f"; {left.value} bytes are on their way"
