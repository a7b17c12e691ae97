"""Whose maintenance it is, and what becomes of it. Zones are a and b; what is on record is of a."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, structs

from fakes.fdb_groups import NOW, SILENT, cluster, group, pod, process
from fakes.fdb_statuses import recorded
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.status import FoundationDBClusterStatus, MaintenanceModeInfo
from stateward.fdb.decide.groups import pod_updates
from stateward.fdb.decide.groups.maintenance import (
    LONGEST,
    SETTLED,
    Begin,
    End,
    Forget,
    Hold,
    Move,
    Note,
    Noted,
    before_taking,
    check,
    noted_of,
)
from stateward.fdb.status.reading import Status
from stateward.fdb.views import ClusterView, GroupView

SECONDS = 600
ON = {"UseMaintenanceModeChecker": True}
RESET = {"resetMaintenanceMode": True}
OURS = Noted("a", NOW - 10, frozenset({"storage-1"}), SECONDS)
THEIRS = replace(OURS, ours=False)


def database(zone: str = "", seconds: float = 500.0) -> Status:
    """Return what a database says in which a zone is under maintenance, or none is."""
    said = recorded("healthy")
    assert said.document.cluster is not UNSET
    active: dict[str, Any] = {"maintenance_zone": zone, "maintenance_seconds_remaining": seconds}
    inner = structs.replace(said.document.cluster, **(active if zone else {}))
    return Status(NOW, structs.replace(said.document, cluster=inner))


def seen(
    *groups: GroupView,
    said: Status | None = None,
    record: Noted | None = None,
    options: dict[str, Any] = ON,
    **automation: Any,
) -> ClusterView:
    words = {"automationOptions": {"maintenanceModeOptions": options, **automation}}
    info = None if record is None else record.info
    return cluster(
        *groups,
        spec=words,
        database=said or database(),
        status=FoundationDBClusterStatus(maintenance_mode_info=info),
    )


def old(text: str, **said: Any) -> GroupView:
    """Return a group whose pod is not as asked: ``storage-1@a``, with its zone."""
    return fine(text, Kind.INCORRECT_POD_SPEC, **said)


def fine(text: str, *kinds: Kind, **said: Any) -> GroupView:
    name, _, zone = text.partition("@")
    return group(name, *kinds, **{"zone": zone, **said})


def gone(text: str, **said: Any) -> GroupView:
    """Return a group whose pod is made, and whose process is not back."""
    name = text.partition("@")[0]
    new = pod(f"shop-{name}", created=NOW - 8)
    return fine(text, **{"pod": new, "processes": (), **said})


def name_of(move: Move | None) -> str:
    return "" if move is None else type(move).__name__


# ------------------------------------------------------------------ before pods go
def before(view: ClusterView) -> Move | None:
    return before_taking(view, pod_updates.plan(view))


ONE = old("storage-1@a")
#: What there is, and what is done first; nothing: pods go.
FIRST: dict[str, tuple[ClusterView, str]] = {
    "nobody asks for it": (seen(ONE, options={}), ""),
    "no storage goes": (seen(old("log-1@a"), old("stateless-2@a")), ""),
    "storage goes with others": (seen(ONE, old("log-2@a")), "Note"),
    "of a zone that nobody knows": (seen(old("storage-1@")), ""),
    "of several zones": (seen(ONE, old("storage-2@b"), deletionMode="All"), ""),
    "nobody has begun": (seen(ONE), "Note"),
    "it is on record": (seen(ONE, record=OURS), "Begin"),
    "it is on record for less time": (seen(ONE, record=replace(OURS, seconds=60)), "Note"),
    "it is on record for others": (seen(old("storage-2@a"), record=OURS), "Note"),
    "it is on record for another zone": (seen(old("storage-1@b"), record=OURS), "Hold"),
    "it was, long ago": (seen(old("storage-1@b"), record=replace(OURS, since=NOW - 99)), "Note"),
    "it is on": (seen(ONE, record=OURS, said=database("a")), ""),
    "it is on for others": (seen(old("storage-2@a"), record=OURS, said=database("a")), "Note"),
    "it is on for a moment": (seen(ONE, record=OURS, said=database("a", 20.0)), "Begin"),
    "others are at work there": (seen(ONE, said=database("a")), ""),
    "others were seen there": (seen(ONE, record=THEIRS, said=database("a")), ""),
    "others were seen and left": (seen(ONE, record=THEIRS), "Note"),
    "nobody knows": (seen(ONE, record=OURS, said=SILENT), "Hold"),
}


@pytest.mark.parametrize("name", FIRST)
def test_what_comes_before_pods_go(name: str) -> None:
    view, wanted = FIRST[name]
    assert name_of(before(view)) == wanted


def test_elsewhere_nothing_goes_at_all() -> None:
    assert pod_updates.plan(seen(ONE, said=database("b"))).obsolete == ()


def test_what_is_noted_is_the_zone_of_those_who_go_and_no_other() -> None:
    found = before(seen(ONE, old("storage-2@a"), old("storage-3@b"), fine("storage-4@a")))
    assert isinstance(found, Note)
    assert found.noted == Noted("a", NOW, frozenset({"storage-1", "storage-2"}), SECONDS)


# ------------------------------------------------------------------ afterwards
BACK = fine("storage-1@a")
GONE = gone("storage-1@a")
LATE = replace(OURS, since=NOW - (LONGEST - 1) * SECONDS)
#: What there is, which zone is wanted now, and what is done.
AFTER: dict[str, tuple[ClusterView, str, str]] = {
    "nothing": (seen(BACK), "", ""),
    "its processes are back": (seen(BACK, record=OURS, said=database("a")), "", "End"),
    "and the option is off": (seen(BACK, record=OURS, said=database("a"), options={}), "", "End"),
    "others of the zone are next": (seen(BACK, record=OURS, said=database("a")), "a", ""),
    "others are next elsewhere": (seen(BACK, record=OURS, said=database("a")), "b", "End"),
    "they are away": (seen(GONE, record=OURS, said=database("a")), "", "Hold"),
    "they are away, and the option is off": (seen(GONE, record=OURS, said=database("a"), options={}), "", "Hold"),
    "no pod is there": (seen(fine("storage-1@a", pod=None), record=OURS, said=database("a")), "", "Hold"),
    "its pod terminates": (seen(fine("storage-1@a", pod=pod("p", terminating_since=NOW)), record=OURS, said=database("a")), "", "Hold"),
    "its pod is to go": (seen(fine("storage-1@a", obsolete_pod="uid-shop-storage-1"), record=OURS, said=database("a")), "", "Hold"),
    "one before it reports": (seen(gone("storage-1@a", processes=(process(),)), record=OURS, said=database("a")), "", "Hold"),
    "one of two reports": (seen(gone("storage-1@a", servers=2, processes=(process(uptime_seconds=1.0),)), record=OURS, said=database("a")), "", "Hold"),
    "it reports": (seen(gone("storage-1@a", processes=(process(uptime_seconds=1.0),)), record=OURS, said=database("a")), "", "End"),
    "it shall go": (seen(gone("storage-1@a", marked=True), record=OURS, said=database("a")), "", "End"),
    "another is away": (seen(BACK, gone("storage-2@b"), record=OURS, said=database("a")), "", "End"),
    "time runs out": (seen(GONE, record=OURS, said=database("a", 59.0)), "", "Begin"),
    "time runs out, and the option is off": (seen(GONE, record=OURS, said=database("a", 59.0), options={}), "", "Hold"),
    "time runs out for the last time": (seen(GONE, record=LATE, said=database("a", 59.0)), "", "Hold"),
    "it has yet to begin": (seen(ONE, record=OURS), "a", ""),
    "it shall not begin": (seen(BACK, record=OURS), "", "Hold"),
    "it never began": (seen(BACK, record=replace(OURS, since=NOW - SETTLED)), "", "Forget"),
    "it ended too soon": (seen(GONE, record=replace(OURS, since=NOW - SETTLED)), "", "Forget"),
    "others took over": (seen(GONE, record=OURS, said=database("b")), "", "Forget"),
    "others made it longer": (seen(BACK, record=OURS, said=database("a", 700.0)), "", "Forget"),
    "nobody knows": (seen(BACK, record=OURS, said=SILENT), "", "Hold"),
    "nobody knows, and there is none": (seen(BACK, said=SILENT), "", ""),
    "others are at work": (seen(BACK, said=database("a")), "", "Hold"),
    "others are at work elsewhere": (seen(BACK, said=database("b"), options=RESET), "", "Hold"),
    "others shall be ended": (seen(BACK, said=database("a"), options=RESET), "", "Note"),
    "nobody started anew": (seen(BACK, record=THEIRS, said=database("a"), options=RESET), "", "Hold"),
    "all started anew": (seen(fine("storage-1@a", processes=(process(uptime_seconds=5.0),)), record=THEIRS, said=database("a"), options=RESET), "", "End"),
    "but that is asked no more": (seen(BACK, record=THEIRS, said=database("a")), "", "Forget"),
    "others are gone": (seen(BACK, record=THEIRS, options=RESET), "", "Forget"),
    "others went elsewhere": (seen(BACK, record=replace(THEIRS, zone="b"), said=database("a"), options=RESET), "", "Note"),
}  # fmt: skip


@pytest.mark.parametrize("name", AFTER)
def test_what_becomes_of_it(name: str) -> None:
    view, zone, wanted = AFTER[name]
    found = check(view, wants=zone)
    assert name_of(found) == wanted


def test_words_name_the_zone_the_time_and_who_is_awaited() -> None:
    held = check(seen(GONE, record=OURS, said=database("a")), wants="")
    assert isinstance(held, Hold)
    assert held.why == (
        "zone a is under maintenance for at most 540 s more: waiting for storage-1 to be back"
    )
    late = check(seen(GONE, record=LATE, said=database("a", 59.0)), wants="")
    assert isinstance(late, Hold)
    assert "it is not renewed" in late.why
    theirs = check(seen(BACK, said=database("a")), wants="")
    assert isinstance(theirs, Hold)
    assert "nothing that keeps data is taken from any other" in theirs.why


@pytest.mark.parametrize(
    "info",
    [
        None,
        MaintenanceModeInfo(),
        MaintenanceModeInfo(zone_id="a", start_timestamp="2026-01-01T00:00:00Z"),
        MaintenanceModeInfo(zone_id="a", start_timestamp="soon", by="operator"),
        MaintenanceModeInfo(start_timestamp="2026-01-01T00:00:00Z", by="operator"),
    ],
)
def test_what_nobody_of_us_wrote_is_nothing(info: MaintenanceModeInfo | None) -> None:
    assert noted_of(info) is None


def test_what_is_written_can_be_read() -> None:
    for it in (OURS, THEIRS):
        assert noted_of(it.info) == it


# ------------------------------------------------------------------ laws
states = st.builds(
    dict,
    zone=st.sampled_from(["", "a", "b"]),
    seconds=st.floats(0.0, 2000.0),
    record=st.sampled_from([None, OURS, THEIRS, LATE, replace(OURS, since=NOW - 100)]),
    back=st.booleans(),
    wants=st.sampled_from(["", "a", "b"]),
    options=st.sampled_from([{}, ON, RESET, ON | RESET]),
)


@given(states)
def test_a_foreign_one_is_ended_only_where_that_is_asked_for(it: dict[str, Any]) -> None:
    view = seen(
        BACK if it["back"] else GONE,
        said=database(it["zone"], it["seconds"]),
        record=it["record"],
        options=it["options"],
    )
    found = check(view, wants=it["wants"])
    if isinstance(found, End):
        assert it["back"], "never before they are back"
        assert it["zone"] == found.noted.zone == "a"
        assert found.noted.ours or "resetMaintenanceMode" in it["options"]
    if isinstance(found, Begin):
        assert found.noted.ours
        assert it["zone"] == found.noted.zone, "renewed while it is on, and no other zone"
        assert not it["back"]
    if isinstance(found, Forget):
        ours = it["record"].ours
        assert it["zone"] != "a" or it["seconds"] > SECONDS or not ours, "not while it is ours"
