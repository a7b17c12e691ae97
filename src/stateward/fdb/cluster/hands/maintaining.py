"""Telling a database that a zone may be away, and that it no longer may: on record before."""

from __future__ import annotations

from typing import Final, assert_never

from stateward.core.errors import PeerError
from stateward.core.outcome import Outcome, Retry
from stateward.fdb.admin.ports import Admin
from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.api.status import MaintenanceModeInfo
from stateward.fdb.cluster.hands.asking import allowed, failed
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.groups.maintenance import (
    OVER,
    Begin,
    End,
    Forget,
    Hold,
    Move,
    Note,
    Noted,
    noted_of,
)
from stateward.fdb.guards import acts
from stateward.fdb.guards.guard import Refusal
from stateward.kube.errors import NotFound

_SOON: Final = 1.0
#: What takes a record off a status.
NOTHING: Final = MaintenanceModeInfo()


async def maintain(tools: Tools, seen: Seen, step: str, move: Move) -> Outcome:
    """Do what was decided, and say so."""
    match move:
        case Note():
            return _note(seen, move.noted)
        case Forget():
            seen.book.maintenance = NOTHING
            return done("MaintenanceOver", move.why)
        case Hold():
            return _hold(seen, step, move)
        case Begin():
            return await _begin(tools, seen, step, move)
        case End():
            return await _end(tools, seen, step, move)
        case _:
            assert_never(move)


def _note(seen: Seen, noted: Noted) -> Outcome:
    """Have it written with the status, at the end of the pass: nobody is told before."""
    seen.book.maintenance = noted.info
    whose = "is to be" if noted.ours else "was by others"
    return done("MaintenanceNoted", f"zone {noted.zone} {whose} put under maintenance", _SOON)


def _hold(seen: Seen, step: str, move: Hold) -> Outcome:
    """Say why nothing is done, and what a person may do: nothing must be, since it passes."""
    if move.hint:
        seen.book.refuse(step, [Refusal(move.reason, move.why, move.hint)])
    return Retry(move.after, move.reason, move.why)


async def _begin(tools: Tools, seen: Seen, step: str, move: Begin) -> Outcome:
    noted, what = move.noted, f"maintenance of zone {move.noted.zone}"
    held = await allowed(tools, seen, step, acts.BEGIN_MAINTENANCE, what)
    if held is not None:
        return held
    try:
        if (found := await _found_otherwise(tools, seen, step, noted)) is not None:
            return found
        await tools.fence.change(_admin(seen).begin_maintenance, noted.zone, noted.seconds)
    except PeerError as error:
        return await failed(tools, seen, what, error)
    words = f"zone {noted.zone} is under maintenance for {noted.seconds} s: {move.why}"
    return done("MaintenanceBegun", words, _SOON, zone=noted.zone, groups=sorted(noted.groups))


async def _end(tools: Tools, seen: Seen, step: str, move: End) -> Outcome:
    what = f"ending maintenance of zone {move.noted.zone}"
    held = await allowed(tools, seen, step, acts.END_MAINTENANCE, what)
    if held is not None:
        return held
    try:
        if (found := await _found_otherwise(tools, seen, step, move.noted)) is not None:
            return found
        await tools.fence.change(_admin(seen).end_maintenance)
    except PeerError as error:
        return await failed(tools, seen, what, error)
    seen.book.maintenance = NOTHING
    words = f"zone {move.noted.zone} is no longer under maintenance: {move.why}"
    return done("MaintenanceEnded", words, _SOON)


async def _found_otherwise(tools: Tools, seen: Seen, step: str, noted: Noted) -> Outcome | None:
    """Look once more, past the cache, right before the database is told; None: it is as judged.

    It keeps one zone: whoever tells it of another ends what somebody else has just said.
    """
    try:
        live = await tools.client.get(CLUSTERS, seen.cluster.metadata.key)
    except NotFound:
        return Retry(_SOON, "MaintenanceUnsettled", "the cluster is gone")
    if noted_of(live.status.maintenance_mode_info) != noted_of(noted.info):
        words = f"that zone {noted.zone} is to be under maintenance is no longer on record"
        return Retry(_SOON, "MaintenanceUnsettled", words)
    active = await _admin(seen).maintenance()
    if active is not None and active.zone != noted.zone:
        return _hold(seen, step, Hold(_SOON, "ZoneUnderMaintenance", str(active), OVER))
    return None


def _admin(seen: Seen) -> Admin:
    assert seen.admin is not None, "who has a maintenance has a database"  # noqa: S101
    return seen.admin
