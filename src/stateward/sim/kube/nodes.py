"""Nodes: they take pods, and may be lost, go dark and come back.

Of a lost node nothing is heard: pods that are deleted stay, and their programs run on. A node that
lost its power runs nothing. What Kubernetes makes of it comes late: after a while its pods are not
ready, and after five minutes they are deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stateward.core.chance import Chance
from stateward.core.moments import to_rfc3339
from stateward.kube.client import Change
from stateward.kube.codec import Json
from stateward.kube.errors import ApiError
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, VOLUME_CLAIMS
from stateward.local.api import Api
from stateward.local.rules.binding import Target
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.store import StoreEvent
from stateward.sim.kube.kubelet import Hindrance, Kubelet, pod_of, tell_status
from stateward.sim.kube.lodgers import Lodger, Node, Runner
from stateward.sim.kube.volumes import claims_of
from stateward.sim.loop import SimClock, SimLoop

#: Seconds until a pod has a node, until the next try, until a pod without a node is gone.
_SCHEDULING = (0.02, 0.3)
_AGAIN = (1.0, 3.0)
_LEAVING = (0.01, 0.3)
#: Seconds until Kubernetes notices that a node is silent, until it deletes the pods there, until it
#: gives the volume of a pod that somebody deleted by force to another node.
_NOTICED = (40.0, 50.0)
_TOLERATED = 300.0
_DETACHED = 360.0


class Nodes:
    """All nodes of a cluster, its scheduler included."""

    def __init__(
        self,
        loop: SimLoop,
        api: Api,
        chance: Chance,
        runner: Runner,
        *,
        nodes: Sequence[Node] = (),
        main: str = "etcd",
    ) -> None:
        self._loop = loop
        self._api = api
        self._chance = chance
        self._kubelet = Kubelet(loop, api, runner)
        self.nodes = list(nodes) or [Node(f"node-{n}") for n in range(3)]
        #: The container whose program is run.
        self._main = main
        #: How unwelcome a pod is on a node: where it is least so, it goes; and whether it may.
        self.crowding: Callable[[Json, Node], int] = lambda _pod, _node: 0
        self.fits: Callable[[Json, Node], bool] = lambda _pod, _node: True
        #: Told when Kubernetes notices that it hears nothing of a node, and when it does again.
        self.on_heard: Callable[[Node], None] | None = None
        #: How many wishes there are that no pod finds a place.
        self.closed = 0
        self.network = self._addresses = 0  # no cluster beside it has the same network
        #: Addresses that pods had who are gone, with their names, and whether others get them.
        self._freed: list[tuple[str, str]] = []
        self.reuses = False
        #: Told of every address that is given once more.
        self.on_reuse: Callable[[str], None] = lambda _address: None
        self._lives: dict[ObjectKey, int] = {}
        #: The luck of every pod, by UID: what befalls one does not shift what befalls another.
        self._luck: dict[str, Chance] = {}
        api.store.listen(self._on_pod, PODS.name)

    @property
    def lodgers(self) -> dict[str, Lodger]:
        """The pods on nodes, by UID; also those that only their lost node remembers."""
        return self._kubelet.lodgers

    @property
    def hindrance(self) -> Hindrance:
        """What keeps containers from starting."""
        return self._kubelet.hindrance

    def lodger(self, key: ObjectKey) -> Lodger | None:
        """Return the pod of a name that Kubernetes knows, if it has a node."""
        stored = self._api.store.get(PODS.name, key)
        return self.lodgers.get(stored.uid) if stored is not None else None

    # ------------------------------------------------------------------ what befalls them

    def lose(self, name: str, *, dark: bool = False) -> None:
        """Cut a node off from Kubernetes; its programs run on, unless it goes dark."""
        node = self._node(name)
        node.lost, node.dark, node.losses = True, node.dark or dark, node.losses + 1
        loss = node.losses
        if dark:
            for it in self._on(node):
                self._kubelet.switch_off(it)
        noticed = self._chance.stream(f"{name} {loss}").between(*_NOTICED)
        self._while_lost(node, loss, noticed, self._kubelet.tell_unheard)
        if (tell := self.on_heard) is not None:
            self._loop.call_outside(noticed, lambda: tell(node))
        self._while_lost(node, loss, noticed + _TOLERATED, self._drive_out)

    def find(self, name: str) -> None:
        """Bring a node back."""
        node = self._node(name)
        was_dark, node.lost, node.dark = node.dark, False, False
        if self.on_heard is not None:
            self.on_heard(node)
        for it in self._on(node):
            self._kubelet.catch_up(it, was_dark=was_dark)

    def kill(self, lodger: Lodger, why: str = "Error") -> None:
        """Kill the program of a pod; the reason is what is told of it."""
        self._kubelet.kill(lodger, why)

    def _while_lost(
        self, node: Node, loss: int, after: float, act: Callable[[Lodger], None]
    ) -> None:
        def do() -> None:
            if node.lost and node.losses == loss:
                for it in self._on(node):
                    act(it)

        self._loop.call_outside(after, do)

    def _drive_out(self, lodger: Lodger) -> None:
        """Delete a pod as Kubernetes does when its node was lost for too long."""
        try:
            self._api.delete(PODS, lodger.key, DeleteOptions(uid=lodger.uid))
        except ApiError:
            return

    def _node(self, name: str) -> Node:
        return next(it for it in self.nodes if it.name == name)

    def _on(self, node: Node) -> list[Lodger]:
        return [it for it in self.lodgers.values() if it.node is node]

    # ------------------------------------------------------------------ pods come and go

    def _on_pod(self, event: StoreEvent) -> None:
        key, uid = event.now.key, event.now.uid
        lodger = self.lodgers.get(uid)
        if event.change is Change.ADDED:
            life = self._lives[key] = self._lives.get(key, 0) + 1
            self._luck[uid] = self._chance.stream(f"{key} {life}")
            self._later(uid, _SCHEDULING, lambda: self._schedule(key, uid))
        elif event.change is Change.DELETED:
            self._luck.pop(uid, None)
            if lodger is not None:
                self._gone(lodger)
        elif b'"deletionTimestamp"' in event.now.text:
            if lodger is None:
                self._later(uid, _LEAVING, lambda: self._kubelet.remove(key, uid))
            elif not lodger.leaving:
                self._kubelet.let_go(lodger)

    def _gone(self, lodger: Lodger) -> None:
        self._kubelet.forget(lodger)
        if lodger.node.lost:
            self._loop.call_outside(_DETACHED, lambda: self._kubelet.detach(lodger))
        else:
            self._freed.append((lodger.key.name, lodger.address))

    def _schedule(self, key: ObjectKey, uid: str) -> None:
        pod = pod_of(self._api, key, uid)
        if pod is None or pod["spec"].get("nodeName") or "deletionTimestamp" in pod["metadata"]:
            return
        node = self._room(pod)
        if node is None:
            self._say_homeless(key, pod)
            self._later(uid, _AGAIN, lambda: self._schedule(key, uid))
            return
        self._api.bind(key, Target(node.name))
        address = self._used(key.name) or self._unused()
        named = sorted((it["name"] for it in pod["spec"]["containers"]), key=self._main.__ne__)
        self._kubelet.take_in(Lodger(key, uid, node, address, self._luck[uid], tuple(named)))

    def _used(self, name: str) -> str:
        """Return an address that a pod of another name had, if those are given once more."""
        if not self.reuses:
            return ""
        found = next((it for it in self._freed if it[0] != name), None)
        if found is None:
            return ""
        self._freed.remove(found)
        self.on_reuse(found[1])
        return found[1]

    def _unused(self) -> str:
        self._addresses += 1
        return f"10.{self.network}.{self._addresses // 250}.{self._addresses % 250 + 1}"

    def _room(self, pod: Json) -> Node | None:
        """Return a node for a pod: where the fewest are, of those that take any."""
        if self.closed or not self._claims_bound(pod):
            return None
        # Kubernetes sends pods to a node until it has noticed that it is lost; they would wait
        # there. It is enough that those wait that were there.
        taking = [it for it in self.nodes if not it.lost and not it.taints and self.fits(pod, it)]
        return min(
            taking,
            key=lambda it: (self.crowding(pod, it), len(self._on(it)), it.name),
            default=None,
        )

    def _claims_bound(self, pod: Json) -> bool:
        for name in claims_of(pod):
            key = ObjectKey(pod["metadata"]["namespace"], name)
            found = self._api.store.get(VOLUME_CLAIMS.name, key)
            if found is None or b'"deletionTimestamp"' in found.text:
                return False
            if found.document().get("status", {}).get("phase") != "Bound":
                return False
        return True

    def _say_homeless(self, key: ObjectKey, pod: Json) -> None:
        said = pod.get("status", {}).get("conditions") or ()
        if any(it.get("reason") == "Unschedulable" for it in said):
            return
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": f"0/{len(self.nodes)} nodes are available",
            "lastTransitionTime": to_rfc3339(SimClock(self._loop).now()),
        }
        tell_status(self._api, key, {"phase": "Pending", "conditions": [condition]})

    def _later(self, uid: str, within: tuple[float, float], act: Callable[[], None]) -> None:
        chance = self._luck.get(uid)
        if chance is not None:  # else the pod is gone, and with it all that it waited for
            self._loop.call_outside(chance.between(*within), act)
