"""What can wait is how far things are; whatever somebody acts by is told at once."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from stateward.fdb.api.status import (
    FoundationDBClusterStatus,
    Generations,
    GroupMirror,
    Health,
    LockStatus,
    Progress,
)
from stateward.fdb.tell.haste import can_wait
from stateward.kube.crd.blockers import Blocker
from stateward.kube.meta import Condition

READY = Condition(type="Ready", status="False", reason="PodsMissing", message="3 of 9")
HELD = Blocker(step="UpdatePods", guard="enough", message="for 3 s", hint="", since="x")
LOCK = LockStatus(holder="dc1", since="x", until="y")
STATUS = FoundationDBClusterStatus(conditions=(READY,), blockers=(HELD,), locks=LOCK)
edited = msgspec.structs.replace

WAITS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "what is done": {"doing": "pods are made"},
    "how far it is": {"progress": Progress(step="MovingData", done=1, of=2)},
    "groups": {"process_groups": (GroupMirror(process_group_id="log-1", process_class="log"),)},
    "how many are as asked": {"reconciled_process_groups": 3},
    "the words of a condition": {"conditions": (edited(READY, message="4 of 9"),)},
    "that a lock is extended": {"locks": edited(LOCK, until="z")},
    "the words of a blocker": {"blockers": (edited(HELD, message="for 4 s"),)},
}
AT_ONCE: dict[str, dict[str, Any]] = {
    "how it is found": {"connection_string": "a:b@1.1.1.1:4501"},
    "that it is there": {"configured": True},
    "what runs": {"running_version": "7.3.79"},
    "generations": {"generations": Generations(reconciled=1)},
    "health": {"health": Health(available=True)},
    "why": {"conditions": (edited(READY, reason="Blocked"),)},
    "whether": {"conditions": (edited(READY, status="True"),)},
    "who has the lock": {"locks": edited(LOCK, holder="dc2")},
    "a blocker more": {"blockers": (HELD, edited(HELD, guard="another"))},
    "a blocker less": {"blockers": ()},
}


@pytest.mark.parametrize("change", WAITS.values(), ids=WAITS)
def test_how_far_things_are_can_wait(change: dict[str, Any]) -> None:
    assert can_wait(STATUS, edited(STATUS, **change))


@pytest.mark.parametrize("change", AT_ONCE.values(), ids=AT_ONCE)
def test_what_somebody_acts_by_is_told_at_once(change: dict[str, Any]) -> None:
    assert not can_wait(STATUS, edited(STATUS, **change))
