"""What is told of an object, as its status has it: all that holds it back, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.app.views.finding import Found
from stateward.app.views.story import Story, story_of
from stateward.app.views.told import Told
from stateward.kube.codec import decode, encode

READY = {"type": "Ready", "status": "True", "reason": "Reconciled"}
HELD = {"step": "ExcludeProcesses", "guard": "turn_is_ours", "message": "dc2 has the lock"}


def story(*, generation: int = 2, deleted: str | None = None, **status: Any) -> Story:
    """Return what is told of a cluster whose status that is."""
    metadata = {"name": "shop", "namespace": "trade", "generation": generation}
    if deleted:
        metadata["deletionTimestamp"] = deleted
    status = {"observedGeneration": 2, "conditions": [READY], **status}
    body = {"metadata": metadata, "spec": {"version": "7.3.63"}, "status": status}
    return story_of(Found("FoundationDBCluster", decode(encode(body), Told)))


def test_of_one_at_rest_nothing_is_told() -> None:
    at_rest = [
        READY,
        *({"type": it, "status": "True"} for it in ("Available", "FullyReplicated", "Quorate")),
        *({"type": it, "status": "False"} for it in ("Progressing", "Degraded", "Paused")),
    ]
    told = story(conditions=at_rest, doing="nothing to do", locks={}, synchronization={})
    assert told == Story(
        kind="FoundationDBCluster",
        namespace="trade",
        name="shop",
        complete=True,
        doing="nothing to do",
    )


@pytest.mark.parametrize(
    ("what", "caveat"),
    [
        ({"conditions": []}, "no operator has told of it yet: one must run, and watch this"),
        ({"generation": 3}, "its operator has yet to see generation 3: this is of 2"),
        ({"deleted": "2026-03-01T12:00:00Z"}, "it is being deleted, since 2026-03-01T12:00:00Z"),
    ],
)
def test_what_is_told_may_not_be_the_whole_story(what: dict[str, Any], caveat: str) -> None:
    told = story(**what)
    assert told.caveat.startswith(caveat)
    assert not told.complete


@pytest.mark.parametrize(
    ("conditions", "told"),
    [
        ([{"type": "Ready", "status": "False"}], ["Ready"]),
        ([{"type": "Ready", "status": "Unknown"}], ["Ready"]),
        ([READY, {"type": "Degraded", "status": "True"}], ["Degraded"]),
        ([READY, {"type": "Quorate", "status": "False"}], ["Quorate"]),
        ([READY, {"type": "MissingPod", "status": "True"}], ["MissingPod"]),
        ([READY, {"type": "Restorable", "status": "Unknown"}], ["Restorable"]),
    ],
)
def test_conditions_that_are_not_as_at_rest_are_told(conditions: list, told: list[str]) -> None:
    found = story(conditions=conditions)
    assert [it.type for it in found.conditions] == told
    assert found.complete is (READY in conditions)


def test_whatever_is_held_back_is_told_though_it_is_ready() -> None:
    found = story(blockers=[HELD, {**HELD, "guard": "database_is_available"}])
    assert [it.guard for it in found.blockers] == ["turn_is_ours", "database_is_available"]
    assert not found.complete


def test_who_has_the_lock_and_who_is_waited_for_is_told() -> None:
    found = story(locks={"holder": "dc2", "until": "2026-03-01T12:00:00Z"})
    assert found.lock is not None
    assert found.lock.holder == "dc2"
    assert story(locks={"lockDenyList": ["dc3"]}).lock is not None
    assert story(locks={"denyListWritten": ["dc3"]}).lock is None
    assert story(synchronization={"name": "dc1"}).operators is None
    found = story(synchronization={"name": "dc1", "waitingFor": ["dc2-log-1"]})
    assert found.operators is not None
    assert found.operators.waiting_for == ("dc2-log-1",)
