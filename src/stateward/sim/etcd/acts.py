"""What befalls pods, nodes, volumes and links. All of it ends by itself, but for ``inf`` seconds.

A target is the number of a pod of the first cluster, the name of any pod, or ``leader``; of nodes
it is their number. An act whose target is not there changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isinf
from typing import TYPE_CHECKING, Final

from stateward.emulate.etcd.state import History
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.etcd.model.members import AlarmKind, quorum
from stateward.etcd.model.names import CLUSTER_UID_LABEL
from stateward.kube.errors import ApiError
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, VOLUME_CLAIMS
from stateward.local.api import Api
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.store import Stored
from stateward.sim.kube.lodgers import Lodger
from stateward.sim.world import Slot

if TYPE_CHECKING:
    from stateward.sim.etcd.world import EtcdWorld

#: Seconds after which the liveness probe of a frozen etcd has failed often enough.
_NOT_ALIVE = 45.0
#: Seconds in which an etcd takes more memory than it may.
_GREEDY = 5.0


@dataclass(frozen=True, slots=True)
class Scene:
    """Where an act happens."""

    it: EtcdWorld
    #: The operator at whose call it happens, if it does at a call.
    slot: Slot | None
    target: str = ""
    seconds: float = 0.0

    def for_a_while(self, undo: Callable[[], object], *struck: str) -> None:
        """Undo something after the seconds of the act; without end, note which pods it strikes."""
        if isinf(self.seconds):
            self.it.lasting.update(struck or (self.pod_key.name,))
        else:
            self.soon(self.seconds, undo)

    def soon(self, seconds: float, do: Callable[[], object]) -> None:
        """Do something after a while; until then the world is in trouble."""
        over = self.it.world.weather.trouble()

        def end() -> None:
            do()
            over()

        self.it.world.later(seconds, end)

    @property
    def cluster(self) -> Stored | None:
        """The first cluster."""
        return next(iter(self.it.world.api.store.all(ETCD_CLUSTERS.name)), None)

    @property
    def api(self) -> Api:
        """Kubernetes."""
        return self.it.world.api

    @property
    def pod_key(self) -> ObjectKey:
        """The name of the pod that is meant."""
        cluster = self.cluster
        if self.target == "leader":
            led = [it for it in self.it.nodes.lodgers.values() if self._leads(it)]
            return led[0].key if led else ObjectKey("", "")
        if cluster is None:
            return ObjectKey("", "")
        name = f"{cluster.key.name}-{self.target}" if self.target.isdecimal() else self.target
        return ObjectKey(cluster.key.namespace, name)

    def _leads(self, lodger: Lodger) -> bool:
        server = self.it.universe.at(lodger.address)
        return server is not None and bool(server.leader) and server.leader == server.member_id

    @property
    def lodger(self) -> Lodger | None:
        """The pod that is meant, if it has a node."""
        return self.it.nodes.lodger(self.pod_key)

    @property
    def pod(self) -> Stored | None:
        """The pod that is meant."""
        return self.it.world.api.store.get(PODS.name, self.pod_key)

    @property
    def claim(self) -> Stored | None:
        """The claim of the pod that is meant."""
        pod = self.pod_key
        claims = self.it.world.api.store.all(VOLUME_CLAIMS.name, pod.namespace)
        return next((it for it in claims if it.key.name.endswith(f"-{pod.name}")), None)


Do = Callable[[Scene], None]


@dataclass(frozen=True, slots=True)
class Act:
    """Something that can befall: whether it has a target, and how long it takes by itself."""

    do: Do
    targeted: bool = True
    seconds: float = 0.0


# -------------------------------------------------------------------------- pods


def _kill_pod(at: Scene) -> None:
    if at.lodger is not None:
        at.it.nodes.kill(at.lodger)


def _oom_pod(at: Scene) -> None:
    """Kill an etcd for the memory that it takes, again and again for a while."""
    lodger = at.lodger
    if lodger is None:
        return
    at.it.nodes.kill(lodger, "OOMKilled")
    if at.seconds > 0:
        again = replace(at, target=lodger.key.name, seconds=at.seconds - _GREEDY)
        at.soon(_GREEDY, lambda: _oom_pod(again))


def _kill_all(at: Scene) -> None:
    for it in tuple(at.it.nodes.lodgers.values()):
        at.it.nodes.kill(it)


def _delete_pod(at: Scene) -> None:
    _delete(at, DeleteOptions())


def _force_pod(at: Scene) -> None:
    """Delete a pod as impatient people do: without waiting for its node."""
    _delete(at, DeleteOptions(grace_seconds=0))


def _delete(at: Scene, options: DeleteOptions) -> None:
    pod = at.pod
    if pod is not None:
        at.api.delete(PODS, pod.key, replace(options, uid=pod.uid))
        count_scratch(at, pod.uid)


def count_scratch(at: Scene, pod: str) -> None:
    """Find out what a majority lost when a pod goes that kept its data in itself."""
    _count_losses(at, at.it.pods.lose_scratch(pod))


def _evict_pod(at: Scene) -> None:
    """Ask a pod to leave, as a drain does: its budget may say no, and it is asked again."""
    pod = at.pod
    if pod is None:
        return
    try:
        at.api.evict(pod.key, DeleteOptions(uid=pod.uid))
        count_scratch(at, pod.uid)
    except ApiError as error:
        at.it.world.trace.note(f"eviction of {pod.key} is refused: {error.reason}")
        if at.seconds > 0:
            again = replace(at, target=pod.key.name, seconds=at.seconds - 5)
            at.soon(5.0, lambda: _evict_pod(again))


def _stuck_pod(at: Scene) -> None:
    """Let a pod not end: of one that is deleted nothing runs, and it stays."""
    lodger = at.lodger
    if lodger is not None:
        lodger.stuck_until = at.it.world.loop.time() + at.seconds
        at.for_a_while(lambda: None)


def _no_room(at: Scene) -> None:
    at.it.nodes.closed += 1
    at.for_a_while(lambda: _reopen(at))


def _reopen(at: Scene) -> None:
    at.it.nodes.closed -= 1


def _slow_pods(at: Scene) -> None:
    at.it.nodes.hindrance.slow += 20.0
    at.for_a_while(lambda: _hurry(at))


def _hurry(at: Scene) -> None:
    at.it.nodes.hindrance.slow -= 20.0


def _no_image(at: Scene) -> None:
    at.it.nodes.hindrance.no_image += 1
    at.for_a_while(lambda: _bring_image(at))


def _bring_image(at: Scene) -> None:
    at.it.nodes.hindrance.no_image -= 1


def _hang(at: Scene) -> None:
    """Freeze an etcd; its probe fails after a while, and then it is killed and starts anew."""
    server, lodger = at.it.server(at.pod_key), at.lodger
    if server is None or lodger is None:
        return
    at.it.universe.hang(server)
    if at.seconds > _NOT_ALIVE:
        at.soon(_NOT_ALIVE, lambda: None if server.ended else at.it.nodes.kill(lodger))
    at.for_a_while(lambda: at.it.universe.hang(server, hung=False))


# -------------------------------------------------------------------------- nodes


def _lose_node(at: Scene) -> None:
    _lose(at, dark=False)


def _power(at: Scene) -> None:
    _lose(at, dark=True)


def _lose(at: Scene, *, dark: bool) -> None:
    name = f"node-{at.target}"
    node = next((it for it in at.it.nodes.nodes if it.name == name), None)
    if node is None or node.lost:
        return
    struck = [it.key.name for it in at.it.nodes.lodgers.values() if it.node is node]
    at.it.nodes.lose(name, dark=dark)
    at.for_a_while(lambda: at.it.nodes.find(name), *struck)


# -------------------------------------------------------------------------- volumes


def _wipe(at: Scene) -> None:
    """Lose what is on a volume, and the process that wrote it."""
    pod = at.pod
    disk = at.it.pods.disk(pod.document()) if pod is not None else None
    if disk is not None:
        history = disk.history
        _kill_pod(at)
        disk.wipe()
        _count_losses(at, history)


def _damage(at: Scene) -> None:
    """Damage what is on a volume: no etcd can start on it any more."""
    pod = at.pod
    disk = at.it.pods.disk(pod.document()) if pod is not None else None
    if disk is not None:
        at.it.pods.damaged.append(disk)
        _kill_pod(at)
        _count_losses(at, disk.history)


def _count_losses(at: Scene, history: History | None) -> None:
    """Find out whether a majority has lost its data: no operator may help there by itself."""
    if history is None or _is_of_the_gone(at):
        return
    sound = {
        it.member_id
        for it in at.it.pods.sound_disks()
        if it.history is not None and it.history.cluster_id == history.cluster_id
    }
    voters = history.states[-1].voters
    if len(sound.intersection(voters)) < quorum(len(voters)):
        at.it.lost = True
        # What a scenario does itself, it also knows how to go on from.
        at.it.hopeless = at.it.hopeless or at.slot is not None
        at.it.world.trace.note("a majority has lost its data: only a person can help")


def _is_of_the_gone(at: Scene) -> bool:
    """Tell whether a volume was that of a cluster that is gone, and goes with it."""
    claim, there = at.claim, at.api.store.all(ETCD_CLUSTERS.name)
    owner = claim.labels.get(CLUSTER_UID_LABEL) if claim is not None else None
    return owner is not None and owner not in {it.uid for it in there}


def _lose_claim(at: Scene) -> None:
    """Delete a claim by mistake; whoever did it does after a while what the operator advises."""
    claim, store = at.claim, at.api.store
    if claim is None:
        return
    disk = at.it.volumes.of(claim.key)
    at.api.delete(VOLUME_CLAIMS, claim.key, DeleteOptions(uid=claim.uid))
    _count_losses(at, disk.history if disk is not None else None)

    def heed() -> None:
        there = store.get(VOLUME_CLAIMS.name, claim.key)
        if there is not None and there.uid == claim.uid:
            _count_losses(at, disk.history if disk is not None else None)
            _delete_pod(at)

    at.for_a_while(heed)


def _claim_stuck(at: Scene) -> None:
    if at.claim is not None:
        at.it.volumes.stuck[at.claim.key] = at.it.world.loop.time() + at.seconds
        at.for_a_while(lambda: None)


def _full(at: Scene) -> None:
    """Fill the database up to its quota with what nobody reads any more."""
    server = at.it.server(at.pod_key)
    if server is not None:
        at.it.universe.fill(server)


def _corrupt(at: Scene) -> None:
    """Have an etcd find that its data is not that of the others."""
    server = at.it.server(at.pod_key)
    if server is not None and at.it.universe.raise_alarm(server, AlarmKind.CORRUPT):
        at.it.pods.corrupt.append(server.disk)
        _count_losses(at, server.disk.history)


# -------------------------------------------------------------------------- links


def _cut(at: Scene) -> None:
    _wish(at, at.it.unreachable, at.pod_key.name, lambda: None)


def _cut_all(at: Scene) -> None:
    _wish(at, at.it.unreachable, "", lambda: None)


def _split(at: Scene) -> None:
    name = at.pod_key.name
    _wish(at, at.it.apart, name, lambda: at.it.split(name))


def _unaware(at: Scene) -> None:
    """Have a member take the others for lost, though they talk, until one of them starts anew."""
    one = at.it.server(at.pod_key)
    if one is None:
        return
    others = [it for it in at.it.universe.servers if it.history is one.history and it is not one]
    at.it.universe.links.mistaken |= {(one.start.address, it.start.address) for it in others}


def _wish(at: Scene, wishes: dict[str, int], name: str, follow: Callable[[], None]) -> None:
    """Wish for something for a while; it is so as long as anybody wishes for it."""
    wishes[name] = wishes.get(name, 0) + 1
    follow()

    def end() -> None:
        wishes[name] -= 1
        if not wishes[name]:
            del wishes[name]
        follow()

    at.for_a_while(end)


def _skew(at: Scene) -> None:
    """Set the clock of the operator wrong, and right again after two minutes."""
    if at.slot is None:
        return
    clock, by = at.slot.clock, at.seconds
    clock.skew += by

    def back() -> None:
        clock.skew -= by

    at.soon(120.0, back)


ACTS: Final[dict[str, Act]] = {
    "kill-pod": Act(_kill_pod),
    "oom-pod": Act(_oom_pod),
    "kill-all": Act(_kill_all, targeted=False),
    "delete-pod": Act(_delete_pod),
    "force-pod": Act(_force_pod),
    "evict-pod": Act(_evict_pod, seconds=30),
    "stuck-pod": Act(_stuck_pod, seconds=60),
    "no-room": Act(_no_room, targeted=False, seconds=60),
    "slow-pods": Act(_slow_pods, targeted=False, seconds=60),
    "no-image": Act(_no_image, targeted=False, seconds=60),
    "hang": Act(_hang, seconds=30),
    "lose-node": Act(_lose_node, seconds=60),
    "power": Act(_power, seconds=60),
    "wipe": Act(_wipe),
    "damage": Act(_damage),
    "full": Act(_full),
    "corrupt": Act(_corrupt),
    "lose-claim": Act(_lose_claim, seconds=60),
    "claim-stuck": Act(_claim_stuck, seconds=60),
    "cut": Act(_cut, seconds=30),
    "cut-all": Act(_cut_all, targeted=False, seconds=30),
    "split": Act(_split, seconds=30),
    "unaware": Act(_unaware),
    "skew": Act(_skew, targeted=False, seconds=20),
}
