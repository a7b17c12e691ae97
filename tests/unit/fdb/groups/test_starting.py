"""Why a pod does not run is told within seconds, by what Kubernetes says of it."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.core.moments import to_rfc3339
from stateward.core.outcome import Retry
from stateward.kube.resources import PODS
from unit.fdb.groups.desks import STORAGE, Desk, wrong


def waits(reason: str, message: str = "", name: str = "foundationdb") -> dict[str, Any]:
    state = {"waiting": {"reason": reason, "message": message}}
    return {
        "name": name,
        "ready": False,
        "restartCount": 0,
        "state": state,
        "image": "fdb:7.9",
        "imageID": "",
    }


NO_NODE = [
    {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/3 nodes are available",
    }
]
#: What Kubernetes says of a pod that never started; after how many seconds what is told.
NEVER_STARTED: dict[str, tuple[dict[str, Any], float, str]] = {
    "no node": ({"conditions": NO_NODE}, 0, "no node takes it: 0/3 nodes are available"),
    "no image": ({"containerStatuses": [waits("ErrImagePull", "not found")]}, 0, "container foundationdb: image foundationdb/fdb-kubernetes-monitor:7.3.63 cannot be pulled"),
    "no image for a while": ({"containerStatuses": [waits("ImagePullBackOff", "Back-off")]}, 0, "container foundationdb: image foundationdb/fdb-kubernetes-monitor:7.3.63 cannot be pulled"),
    "no secret": ({"containerStatuses": [waits("CreateContainerConfigError", "secret x not found")]}, 0, "container foundationdb: CreateContainerConfigError: secret x not found"),
    "the first one ends": ({"initContainerStatuses": [waits("CrashLoopBackOff", "back-off 20s", "init")]}, 0, "container init: it is not ready"),
    "no volume": ({"containerStatuses": [waits("ContainerCreating")]}, 25, "node node-a has yet to mount its volumes, or to pull and start its images (`kubectl describe pod shop-storage-1` says more)"),
}  # fmt: skip


@pytest.mark.parametrize("name", NEVER_STARTED)
async def test_a_pod_that_never_started_is_told_of_within_seconds(name: str) -> None:
    said, after, why = NEVER_STARTED[name]
    desk = Desk()
    await desk.cluster()
    await desk.group()
    await desk.passes()
    if "conditions" not in said:
        await desk.user.bind(STORAGE, "node-a", uid=(await desk.there(PODS, STORAGE)).metadata.uid)
    await desk.say(phase="Pending", **said)
    if after:
        outcome = await desk.passes()
        assert not desk.wrote("patch"), "most pods start within moments"
        assert isinstance(outcome, Retry)
        assert outcome.after <= after
        desk.clock.advance(after)
    await desk.passes()
    status = (await desk.now()).status
    assert status.doing == f"its pod has not started: {why}"
    ready = status.conditions[-1]
    assert (ready.type, ready.status, ready.reason) == ("Ready", "False", "PodPending")
    assert ready.message == status.doing


async def test_that_a_pod_starts_at_last_is_told_at_once() -> None:
    desk = Desk()
    await desk.cluster()
    await desk.config()
    await desk.group()
    await desk.passes()
    await desk.say(phase="Pending", containerStatuses=[waits("ImagePullBackOff")])
    await desk.passes()
    assert wrong(await desk.now()) == ["PodPending"]
    await desk.say(phase="Pending", containerStatuses=[waits("ErrImagePull", "again")])
    desk.doorman.writes.clear()
    await desk.passes()
    assert not desk.wrote("patch"), "both words mean the same"
    await desk.run_pod()
    await desk.say(phase="Running", containerStatuses=[])
    await desk.passes()
    assert "PodPending" not in wrong(await desk.now())


def broken(code: int, now: str) -> dict[str, dict[str, Any]]:
    """Return what is told of a container that ended: then, while it waits, and when it is back."""
    ended = {"terminated": {"exitCode": code}}
    again = {"restartCount": 1, "lastState": ended}
    return {
        "it ended": waits("") | {"state": ended},
        "it waits": waits("CrashLoopBackOff", "back-off 10s") | again,
        "it starts": waits("") | again | {"state": {"running": {"startedAt": now}}},
        "it is ready": waits("") | again | {"state": {"running": {"startedAt": now}}, "ready": True},
    }  # fmt: skip


async def test_why_a_pod_fails_is_told_in_the_same_words_for_as_long_as_it_does() -> None:
    desk = Desk()
    await desk.settled()
    wells = waits("", name="sidecar") | {"ready": True, "state": {"running": {}}}
    for number, it in enumerate(broken(3, to_rfc3339(desk.clock.now())).values()):
        await desk.say(phase="Running", containerStatuses=[wells, it])
        await desk.passes()
        doing = (await desk.now()).status.doing
        assert doing == "its pod fails: container foundationdb: it ended with exit code 3"
        assert len(desk.wrote("patch")) == (0 if number else 1)
        desk.doorman.writes.clear()
