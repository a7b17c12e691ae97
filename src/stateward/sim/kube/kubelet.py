"""Who runs the programs of pods, starts them again, ends them, and reports what becomes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isinf
from typing import Any

from stateward.core.moments import to_rfc3339
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import ApiError
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS
from stateward.local.api import Api
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.sim.kube.lodgers import Launch, Lodger, Runner, status_of, unheard
from stateward.sim.loop import SimClock, SimLoop

_SELF = Author("kubelet")
#: Seconds that things take: until a container starts, until one that was asked to stop has, until
#: a node has told what changed, until what could not start is tried again.
_STARTING = (0.3, 2.0)
_STOPPING = (0.05, 1.0)
_TELLING = (0.01, 0.3)
_AGAIN = (1.0, 3.0)
#: Seconds until a container that ended is started again: at once, then ever later.
_AT_ONCE = (0.2, 1.0)
_BACK_OFF = (10.0, 300.0)
#: Seconds after which a container that ran so long is forgiven all earlier ends.
_FORGIVEN = 600.0


@dataclass(slots=True)
class Hindrance:
    """What keeps containers from starting: how many wishes that they be slow, or fail."""

    #: Seconds by which starts are late, while there are any.
    slow: float = 0.0
    no_image: int = 0


@dataclass(slots=True)
class Kubelet:
    """The agents of all nodes."""

    loop: SimLoop
    api: Api
    runner: Runner
    #: The pods on nodes by UID; on a lost node also those that Kubernetes has forgotten.
    lodgers: dict[str, Lodger] = field(default_factory=dict)
    hindrance: Hindrance = field(default_factory=Hindrance)

    @property
    def _now(self) -> float:
        return SimClock(self.loop).now()

    def take_in(self, lodger: Lodger) -> None:
        """Take a pod, and start it soon."""
        self.lodgers[lodger.uid] = lodger
        slow = self.hindrance.slow
        self.later(lodger, (_STARTING[0] + slow, _STARTING[1] + 2 * slow), self._start)

    def let_go(self, lodger: Lodger) -> None:
        """End a pod that is deleted."""
        lodger.leaving = True
        self.later(lodger, _STOPPING, self._bury)

    def forget(self, lodger: Lodger) -> None:
        """Stop what ran in a pod that is gone; on a lost node it runs on."""
        if lodger.node.lost:
            return
        self._stop(lodger, gently=False)
        del self.lodgers[lodger.uid]

    def kill(self, lodger: Lodger, why: str = "Error") -> None:
        """Kill the program of a pod; the reason is what is told of it."""
        if lodger.program is not None:
            lodger.program.stop(gently=False)
            self._ended(lodger, 137, "", why)

    def switch_off(self, lodger: Lodger) -> None:
        """Take its power: it ends, and nobody is told."""
        self._stop(lodger, gently=False)
        lodger.waiting = "ContainerCreating"

    def detach(self, lodger: Lodger) -> None:
        """Take the volume of a pod that Kubernetes has forgotten: its program ends on it."""
        if lodger.node.lost and pod_of(self.api, lodger.key, lodger.uid) is None:
            self._stop(lodger, gently=False)

    def catch_up(self, lodger: Lodger, *, was_dark: bool) -> None:
        """Do what was asked for while the node was lost, and tell how it is."""
        if pod_of(self.api, lodger.key, lodger.uid) is None:
            self.forget(lodger)
            return
        lodger.reported = {}
        if lodger.leaving:
            self.let_go(lodger)
        elif was_dark:
            lodger.restarts += 1
            self.later(lodger, _STARTING, self._start)
        self.tell(lodger)

    def _start(self, lodger: Lodger) -> None:
        known = self.lodgers.get(lodger.uid) is lodger and not lodger.leaving
        if not known or lodger.program is not None or lodger.node.dark:
            return
        pod = pod_of(self.api, lodger.key, lodger.uid)
        if pod is None:
            return
        launch = Launch(
            pod,
            lodger.address,
            lambda code, words: self._ended(lodger, code, words),
            lambda: self.tell(lodger),
        )
        found = "ErrImagePull" if self.hindrance.no_image else self.runner(launch)
        if isinstance(found, str):
            lodger.waiting = found
            self.later(lodger, _AGAIN, self._start)
        else:
            lodger.program, lodger.waiting = found, ""
            lodger.started_at = self._now
        self.tell(lodger)

    def _ended(self, lodger: Lodger, code: int, words: str, why: str = "Error") -> None:
        lodger.program = None
        lodger.last_end = {
            "exitCode": code,
            "reason": "Completed" if code == 0 else why,
            "message": words,
            "startedAt": to_rfc3339(lodger.started_at),
            "finishedAt": to_rfc3339(self._now),
        }
        lodger.restarts += 1
        long_ago = self._now - lodger.started_at > _FORGIVEN
        lodger.failures = 1 if long_ago else lodger.failures + 1
        first, longest = _BACK_OFF
        lodger.waiting = "CrashLoopBackOff" if lodger.failures > 1 else "ContainerCreating"
        pause = min(first * 2 ** min(lodger.failures - 2, 9), longest)
        wait = (pause, pause * 1.1) if lodger.failures > 1 else _AT_ONCE
        self.later(lodger, wait, self._start)
        self.tell(lodger)

    def _bury(self, lodger: Lodger) -> None:
        if lodger.node.lost or lodger.uid not in self.lodgers:
            return
        self._stop(lodger, gently=True)
        left = lodger.stuck_until - self.loop.time()
        if left > 0:
            lodger.waiting = "Stuck"
            self.tell(lodger)
            if not isinf(left):
                self.later(lodger, (left, left), self._bury)
        else:
            self.remove(lodger.key, lodger.uid)

    def _stop(self, lodger: Lodger, *, gently: bool) -> None:
        if lodger.program is not None:
            lodger.program.stop(gently=gently)
            lodger.program = None

    def remove(self, key: ObjectKey, uid: str) -> None:
        """Tell Kubernetes that a pod has ended."""
        try:
            self.api.delete(PODS, key, DeleteOptions(uid=uid, grace_seconds=0))
        except ApiError:
            return

    # ------------------------------------------------------------------ telling

    def tell(self, lodger: Lodger) -> None:
        """Report a pod soon, once however much changed."""
        if not lodger.telling:
            lodger.telling = True
            self.later(lodger, _TELLING, self._report)

    def tell_unheard(self, lodger: Lodger) -> None:
        """Say of a pod on a lost node that nobody hears of it."""
        if lodger.reported and pod_of(self.api, lodger.key, lodger.uid) is not None:
            lodger.reported = unheard(lodger, self._now)
            tell_status(self.api, lodger.key, lodger.reported)

    def _report(self, lodger: Lodger) -> None:
        lodger.telling = False
        if lodger.node.lost or lodger.uid not in self.lodgers:
            return
        if pod_of(self.api, lodger.key, lodger.uid) is None:
            return
        status = status_of(lodger, self._now)
        if status != lodger.reported:
            lodger.reported = status
            tell_status(self.api, lodger.key, status)

    def later(
        self, lodger: Lodger, within: tuple[float, float], act: Callable[[Lodger], Any]
    ) -> None:
        """Do something for a pod after a while."""
        self.loop.call_outside(lodger.chance.between(*within), lambda: act(lodger))


def pod_of(api: Api, key: ObjectKey, uid: str) -> Json | None:
    """Return a pod as Kubernetes has it."""
    stored = api.store.get(PODS.name, key)
    return stored.document() if stored is not None and stored.uid == uid else None


def tell_status(api: Api, key: ObjectKey, status: Json) -> None:
    """Write what is told of a pod."""
    api.patch(PODS, key, MergePatch({"status": status}), _SELF, subresource="status")
