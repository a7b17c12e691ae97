"""Degraded is what broke: not what the operator does to pods, for as long as that may last."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fakes.fdb_views import NOW, cluster, healthy
from stateward.core.outcome import DONE, Outcome, Retry
from stateward.fdb.api.group import GroupConditionType as Is
from stateward.fdb.tell.status import Told, status_of
from stateward.fdb.views import GroupView, PodSeen

WHOLE = "s1 s2 s3 l1 x1"
#: For how long an order counts, and a pod may be pending: 60 s and 5 min.
ORDERED, PENDING = 60.0, 300.0
YOUNG, FRESH = PodSeen("new", NOW - 20), {"created": NOW - 20}
STUCK = PodSeen("new", NOW - 20, "Pending", ready=False, trouble="image none:typo cannot be pulled")


def ordered(ago: float) -> float:
    """Return until when an order counts that was given so long ago."""
    return NOW - ago + ORDERED


#: What is true of storage-1, since how long ago; what else is known; whether that is a degradation.
CASES: dict[str, tuple[dict[Is, float], dict[str, Any], bool]] = {
    "nothing is wrong": ({Is.READY: 900}, {}, False),
    # nobody did anything
    "it does not report": ({Is.MISSING_PROCESSES: 5}, {}, True),
    "its pod is another, by somebody's hand": ({Is.MISSING_PROCESSES: 5}, {"pod": YOUNG}, True),
    # its pod is made anew by our order
    "its pod goes": ({Is.MISSING_PROCESSES: 5}, {"ordered_until": ordered(10)}, False),
    "its pod is gone": (
        {Is.MISSING_PROCESSES: 20, Is.MISSING_POD: 5},
        {"ordered_until": ordered(30), "pod": None},
        False,
    ),
    "its pod comes": (
        {Is.MISSING_PROCESSES: 40, Is.POD_PENDING: 10},
        {"ordered_until": ordered(50), "pod": YOUNG},
        False,
    ),
    "its pod comes slowly": (
        {Is.MISSING_PROCESSES: 290},
        {"ordered_until": ordered(300), "pod": YOUNG},
        False,
    ),
    # ... and is not back
    "its pod does not come": (
        {Is.MISSING_PROCESSES: 355},
        {"ordered_until": ordered(ORDERED + PENDING), "pod": YOUNG},
        True,
    ),
    "its pod cannot come": (
        {Is.MISSING_PROCESSES: 15, Is.POD_PENDING: 10},
        {"ordered_until": ordered(20), "pod": STUCK},
        True,
    ),
    "its pod fails": (
        {Is.MISSING_PROCESSES: 15, Is.POD_FAILING: 1},
        {"ordered_until": ordered(20), "pod": YOUNG},
        True,
    ),
    "its disk fails": (
        {Is.PROCESS_HAS_IO_ERROR: 1},
        {"ordered_until": ordered(20), "pod": YOUNG},
        True,
    ),
    # the order has nothing to do with it
    "it was away before": ({Is.MISSING_PROCESSES: 90}, {"ordered_until": ordered(20)}, True),
    "it went long after": ({Is.MISSING_PROCESSES: 5}, {"ordered_until": ordered(9000)}, True),
    # it was just added, for another one or for more
    "it is new": ({Is.MISSING_PROCESSES: 15}, FRESH, False),
    "it is new, and cannot come": ({Is.MISSING_PROCESSES: 15}, {**FRESH, "pod": STUCK}, True),
    "it is new, and was there": ({Is.MISSING_PROCESSES: 5}, {**FRESH, "reported": True}, True),
    "it never came": ({Is.MISSING_PROCESSES: 300}, {"created": NOW - PENDING}, True),
}


def told(name: str, outcomes: tuple[Outcome, ...] = (DONE,), **over: Any) -> dict[str, Any]:
    """Return the conditions of a cluster in which that is so."""
    conditions, more, _ = CASES[name]

    def change(it: GroupView) -> GroupView:
        if str(it.id) != "storage-1":
            return replace(it, conditions={Is.READY: NOW - 900})
        return replace(it, conditions={kind: NOW - at for kind, at in conditions.items()}, **more)

    view = cluster(WHOLE, change=change, counts={"s": 3, "l": 1, "x": 1}, **over)
    said = [(f"Step{number}", it) for number, it in enumerate(outcomes)]
    return {it.type: it for it in status_of(view, Told(said=said)).conditions}


@pytest.mark.parametrize("name", CASES)
def test_what_is_a_degradation(name: str) -> None:
    found = told(name)["Degraded"]
    assert (found.status == "True") is CASES[name][2]
    if found.status == "True":
        assert "storage-1" in found.message


@pytest.mark.parametrize("name", [name for name, it in CASES.items() if not it[2]][1:])
def test_what_is_none_is_told_as_progress(name: str) -> None:
    found = told(name)["Progressing"]
    assert (found.status, found.reason) == ("True", "PodsComing")
    assert "storage-1" in found.message


def test_a_step_that_waits_has_its_own_words() -> None:
    waits = Retry(15.0, "PodUpdateHeld", "storage-1: its pod terminates")
    assert told("its pod goes", (waits,))["Progressing"].reason == "PodUpdateHeld"


def test_a_database_that_is_away_is_told_whatever_we_do() -> None:
    tree = healthy(database_available=False)
    found = told("its pod goes", tree=tree)["Degraded"]
    assert (found.status, found.reason) == ("True", "DatabaseUnavailable")
