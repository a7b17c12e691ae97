"""All nodes of a cluster in one: pods run, become ready, end as told, and leave when asked.

It looks at the store a few times a second, while anything is under way, and does what is due. What a pod does is said by the
image of its first container.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from stateward.core.clock import Clock
from stateward.core.moments import to_rfc3339
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS
from stateward.local.api import Api
from stateward.local.rules.binding import Target
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.local.store import Stored

_SELF = Author("kubelet")
_ENDED = {"Succeeded": 0, "Failed": 1}
#: Decides how a pod that can end does: Succeeded, Failed, or nothing while it goes on.
Verdict = Callable[[Json], str]


class Kubelet:
    """``bad`` never becomes ready; pods that may end do so as ``verdict`` says."""

    def __init__(self, api: Api, clock: Clock, *, start: float = 1.0, end: float = 1.0) -> None:
        self._api = api
        self._clock = clock
        self._start = start
        self._end = end
        self.work = 5.0
        self.verdict: Verdict = lambda _pod: "Succeeded"
        self._began: dict[str, float] = {}
        self._asked: dict[str, float] = {}

    async def run(self) -> None:
        changed = asyncio.Event()
        end_listening = self._api.store.listen(
            lambda event: changed.set() if event.resource == PODS.name else None
        )
        try:
            while True:
                await asyncio.sleep(0.25)
                pods = [(stored, stored.document()) for stored in self._api.store.all(PODS.name)]
                if not any(map(_is_under_way, (pod for _, pod in pods))):
                    changed.clear()
                    await changed.wait()
                    continue
                for stored, pod in pods:
                    self._tend(stored, pod)
        finally:
            end_listening()

    def end(self, name: str, phase: str) -> None:
        """Have a pod end by itself now."""
        stored = self._api.store.get(PODS.name, ObjectKey("ns", name))
        assert stored is not None
        self._report(stored, _ended(stored.document(), phase, self._clock.now()))

    def _tend(self, stored: Stored, pod: Json) -> None:
        now = self._clock.monotonic()
        phase = pod["status"].get("phase")
        if "deletionTimestamp" in pod["metadata"]:
            if now - self._asked.setdefault(stored.uid, now) >= self._end:
                self._finish(stored, pod)
        elif not pod["spec"].get("nodeName"):
            self._api.bind(stored.key, Target(f"node-{len(self._began) % 3}"))
            self._began[stored.uid] = now
        elif phase == "Pending" and now - self._began[stored.uid] >= self._start:
            self._report(stored, _running(pod, self._clock.now()))
        elif phase == "Running" and pod["spec"].get("restartPolicy") in {"Never", "OnFailure"}:
            self._work(stored, pod, now)

    def _work(self, stored: Stored, pod: Json, now: float) -> None:
        if now - self._began[stored.uid] >= self._start + self.work and (how := self.verdict(pod)):
            self._report(stored, _ended(pod, how, self._clock.now()))

    def _finish(self, stored: Stored, pod: Json) -> None:
        if pod["status"].get("phase") not in _ENDED and pod["metadata"].get("finalizers"):
            self._report(stored, _ended(pod, "Failed", self._clock.now()))
            return
        if pod["metadata"].get("deletionGracePeriodSeconds"):
            self._api.delete(PODS, stored.key, DeleteOptions(uid=stored.uid, grace_seconds=0))

    def _report(self, stored: Stored, status: Json) -> None:
        patch = MergePatch({"status": status})
        self._api.patch(PODS, stored.key, patch, _SELF, subresource="status")


def _is_under_way(pod: Json) -> bool:
    """Tell whether anything is to be done about a pod, now or soon."""
    phase = pod["status"].get("phase")
    ends = pod["spec"].get("restartPolicy") in {"Never", "OnFailure"}
    leaving = "deletionTimestamp" in pod["metadata"]
    return leaving or phase == "Pending" or (phase == "Running" and ends)


def _image(pod: Json) -> str:
    image: str = pod["spec"]["containers"][0]["image"]
    return image


def _running(pod: Json, now: float) -> Json:
    if _image(pod) == "bad":
        waiting = {"waiting": {"reason": "ErrImagePull"}}
        return {"containerStatuses": [{"name": "main", "ready": False, "state": waiting}]}
    return {"phase": "Running", "conditions": [_ready("True", now)]}


def _ended(pod: Json, phase: str, now: float) -> Json:
    ended = {"exitCode": _ENDED[phase], "finishedAt": to_rfc3339(now)}
    state = {"name": "main", "ready": False, "state": {"terminated": ended}}
    return {
        "phase": phase,
        "conditions": [_ready("False", now)],
        "containerStatuses": [state],
    }


def _ready(holds: str, now: float) -> Json:
    return {"type": "Ready", "status": holds, "lastTransitionTime": to_rfc3339(now)}
