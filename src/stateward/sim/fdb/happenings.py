"""What befalls FoundationDB's pods, nodes, volumes and links, and what people do; by name.

It is written ``act:NAME``, ``act:NAME:TARGET``, ``act:NAME:SECONDS`` or, with both,
``act:NAME:TARGET:SECONDS``. A target is the number of a pod of the first cluster in the order of
names, the first of a class, or ``coordinator``; of nodes it is their number. An act whose target is
not there changes nothing, and all of it ends by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from stateward.core.errors import PeerConfused, UsageError
from stateward.emulate.fdb.asking.clogs import Silence
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.model.exclusions import of_instance
from stateward.fdb.model.names import CLASS_LABEL, INSTANCE_LABEL
from stateward.kube.client import Change, MergePatch
from stateward.kube.codec import Json, decode_json
from stateward.kube.errors import ApiError
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import LEASES, PODS, VOLUME_CLAIMS
from stateward.local.api import Api
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.local.store import Stored, StoreEvent
from stateward.sim.faults import is_number
from stateward.sim.kube.lodgers import Lodger
from stateward.sim.world import Slot

if TYPE_CHECKING:
    from stateward.sim.fdb.world import FdbWorld

_USER: Final = Author("user")
_LEAVING: Final = b'"deletionTimestamp"'
#: Seconds in which a cluster that is deleted is gone.
_LONGEST_FAREWELL: Final = 600.0
#: Seconds after which a clock that was set wrong is right again.
_SET_RIGHT: Final = 120.0


@dataclass(frozen=True, slots=True)
class At:
    """Where an act happens."""

    it: FdbWorld
    #: The operator at whose call it happens, if it does at a call.
    slot: Slot | None
    target: str = ""
    seconds: float = 0.0

    def for_a_while(self, undo: Callable[[], object], seconds: float | None = None) -> None:
        """Undo something after the seconds of the act; until then the world is in trouble."""
        over = self.it.world.weather.trouble()

        def end() -> None:
            undo()
            over()

        self.it.world.later(self.seconds if seconds is None else seconds, end)

    @property
    def api(self) -> Api:
        """Kubernetes."""
        return self.it.world.api

    @property
    def cluster(self) -> Stored | None:
        """The first cluster."""
        return next(iter(self.api.store.all(CLUSTERS.name)), None)

    @property
    def pod(self) -> Stored | None:
        """The pod that is meant."""
        cluster = self.cluster
        name = cluster.key.name if cluster is not None else ""
        every = [
            it for it in self.api.store.all(PODS.name) if it.labels.get(INSTANCE_LABEL) == name
        ]
        every.sort(key=lambda it: it.key)
        if self.target.isdecimal():
            return every[int(self.target)] if int(self.target) < len(every) else None
        if self.target == "coordinator":
            every = [it for it in every if coordinates(self.it, it.key)]
        elif self.target.startswith(f"{name}-"):
            every = [it for it in every if it.key.name == self.target]
        else:
            every = [it for it in every if it.labels.get(CLASS_LABEL) == self.target]
        return every[0] if every else None

    @property
    def lodger(self) -> Lodger | None:
        """The pod that is meant, if it has a node."""
        pod = self.pod
        return self.it.nodes.lodger(pod.key) if pod is not None else None

    @property
    def claim(self) -> Stored | None:
        """The claim of the pod that is meant."""
        pod = self.pod
        if pod is None:
            return None
        key = ObjectKey(pod.key.namespace, f"{pod.key.name}-data")
        return self.api.store.get(VOLUME_CLAIMS.name, key)


def coordinates(it: FdbWorld, pod: ObjectKey) -> bool:
    """Tell whether a database is found by the first process of a pod."""
    process = it.process(pod)
    database = process.database if process is not None else None
    if process is None or database is None:
        return False
    return any(map(process.server.listens_at, database.string.coordinators))


@dataclass(frozen=True, slots=True)
class Act:
    """Something that can befall: whether it has a target, and how long it takes by itself."""

    do: Callable[[At], None]
    targeted: bool = True
    seconds: float = 0.0


# -------------------------------------------------------------------------- pods and processes


def _kill_process(at: At) -> None:
    pod = at.pod
    process = at.it.process(pod.key) if pod is not None else None
    if process is not None:
        at.it.realm.end(process, -1)


def _kill_pod(at: At) -> None:
    if at.lodger is not None:
        at.it.nodes.kill(at.lodger)


def _kill_all(at: At) -> None:
    for it in tuple(at.it.nodes.lodgers.values()):
        at.it.nodes.kill(it)


def _delete_pod(at: At) -> None:
    if at.pod is not None:
        at.api.delete(PODS, at.pod.key, DeleteOptions(uid=at.pod.uid))


def _force_pod(at: At) -> None:
    """Delete a pod as impatient people do: without waiting for its node."""
    if at.pod is not None:
        at.api.delete(PODS, at.pod.key, DeleteOptions(uid=at.pod.uid, grace_seconds=0))


def _stuck_pod(at: At) -> None:
    if at.lodger is not None:
        at.lodger.stuck_until = at.it.world.loop.time() + at.seconds
        at.for_a_while(lambda: None)


def _no_room(at: At) -> None:
    at.it.nodes.closed += 1

    def reopen() -> None:
        at.it.nodes.closed -= 1

    at.for_a_while(reopen)


def _slow_pods(at: At) -> None:
    at.it.nodes.hindrance.slow += 20.0

    def hurry() -> None:
        at.it.nodes.hindrance.slow -= 20.0

    at.for_a_while(hurry)


def _no_image(at: At) -> None:
    at.it.nodes.hindrance.no_image += 1

    def bring() -> None:
        at.it.nodes.hindrance.no_image -= 1

    at.for_a_while(bring)


# -------------------------------------------------------------------------- nodes and volumes


def _lose_node(at: At) -> None:
    _lose(at, dark=False)


def _power(at: At) -> None:
    _lose(at, dark=True)


def _lose(at: At, *, dark: bool) -> None:
    name = f"node-{at.target}"
    node = next((it for it in at.it.nodes.nodes if it.name == name), None)
    if node is None or node.lost:
        return
    at.it.nodes.lose(name, dark=dark)
    at.for_a_while(lambda: at.it.nodes.find(name))


def _claim_stuck(at: At) -> None:
    if at.claim is not None:
        at.it.volumes.stuck[at.claim.key] = at.it.world.loop.time() + at.seconds
        at.for_a_while(lambda: None)


# -------------------------------------------------------------------------- links and answers


def _cut(at: At) -> None:
    if at.pod is not None:
        _unreach(at, at.pod.key.name)


def _cut_all(at: At) -> None:
    _unreach(at, "")


def _unreach(at: At, name: str) -> None:
    at.it.unreachable[name] += 1

    def mend() -> None:
        at.it.unreachable[name] -= 1

    at.for_a_while(mend)


def _silence(at: At) -> None:
    """Have databases tell nothing of themselves for a while, though they work."""
    for it in at.it.realm.databases:
        it.clog.silence = Silence.TIMEOUT

    def end() -> None:
        for it in at.it.realm.databases:
            it.clog.silence = None

    at.for_a_while(end)


def _partial(at: At) -> None:
    """Have a section of every status be missing for a while."""
    for it in at.it.realm.databases:
        it.clog.lose((at.target,))

    def end() -> None:
        for it in at.it.realm.databases:
            it.clog.missing.discard(at.target)

    at.for_a_while(end)


def _unasked(at: At) -> None:
    """Have a process not answer when a status is put together, though it is listed."""
    pod = at.pod
    process = at.it.process(pod.key) if pod is not None else None
    if process is None or process.database is None:
        return
    clog, name = process.database.clog, process.server.disk.process_id
    clog.unasked.add(name)
    at.for_a_while(lambda: clog.unasked.discard(name))


def _stays(at: At) -> None:
    """Have data stay where it is for a while: somebody turned its distribution off."""
    for it in at.it.realm.databases:
        it.stays = True

    def end() -> None:
        for it in at.it.realm.databases:
            it.stays = False

    at.for_a_while(end)


def _skew(at: At) -> None:
    """Set the clock of the operator wrong, and right again after two minutes."""
    if at.slot is None:
        return
    clock, by = at.slot.clock, at.seconds
    clock.skew += by

    def back() -> None:
        clock.skew -= by

    at.for_a_while(back, _SET_RIGHT)


# -------------------------------------------------------------------------- people


def _edit(at: At) -> None:
    """Change what a cluster asks for: ``version=7.3.69``; with seconds, taken back after them."""
    cluster = at.cluster
    path, equals, text = at.target.partition("=")
    if not equals:
        raise UsageError(f"an edit must be written as FIELD=VALUE; got {at.target!r}")
    if cluster is None:
        return
    before: Any = cluster.document()["spec"]
    for part in path.split("."):
        before = before.get(part) if isinstance(before, dict) else None
    _write_spec(at, cluster, path, _value(text))
    if at.seconds:
        at.for_a_while(lambda: _write_spec(at, cluster, path, before))


def _write_spec(at: At, cluster: Stored, path: str, value: Any) -> None:
    body: Any = value
    for part in reversed(path.split(".")):
        body = {part: body}
    try:
        at.api.patch(CLUSTERS, cluster.key, MergePatch({"spec": body}), _USER)
    except ApiError as error:
        at.it.world.trace.note(f"the edit of {cluster.key} is refused: {error.reason}")


def _value(text: str) -> Any:
    try:
        return decode_json(text.encode())
    except PeerConfused:
        return text


def _recreate_cr(at: At) -> None:
    """Delete a cluster, and make one like it as soon as it is gone."""
    cluster = at.cluster
    if cluster is None or _LEAVING in cluster.text:
        return
    world = at.it.world
    body: Json = {"metadata": {"name": cluster.key.name}, "spec": cluster.document()["spec"]}
    over = world.weather.trouble()
    world.later(_LONGEST_FAREWELL, over)

    def make() -> None:
        over()
        try:
            world.api.create(CLUSTERS, cluster.key.namespace, body, _USER)
        except ApiError:
            return  # somebody else was first

    def look(event: StoreEvent) -> None:
        if event.change is Change.DELETED and event.now.uid == cluster.uid:
            leave()
            world.later(1.0, make)

    leave = world.api.store.listen(look, CLUSTERS.name)
    world.api.delete(CLUSTERS, cluster.key, DeleteOptions(uid=cluster.uid))


def _delete_object(at: At) -> None:
    """Delete all objects of a kind that belong to the first cluster; of leases, all."""
    resource, cluster = at.it.world.kinds.get(at.target), at.cluster
    if resource is None:
        raise UsageError(f"no kind is called {at.target!r}")
    for it in at.api.store.all(resource.name):
        ours = cluster is not None and cluster.uid in it.owners
        if ours or resource.kind == LEASES.kind:
            at.api.delete(resource, it.key, DeleteOptions(uid=it.uid))


def _delete_group(at: At) -> None:
    """Delete the object of a process group by hand, which asks for its replacement."""
    pod = at.pod
    if pod is not None:
        group = at.api.store.get(PROCESS_GROUPS.name, pod.key)
        if group is not None:
            at.api.delete(PROCESS_GROUPS, group.key, DeleteOptions(uid=group.uid))


def _exclude_other(at: At) -> None:
    """Exclude somebody who is not there, as people do; nobody but they may take that back."""
    for it in at.it.realm.databases:
        if it.settings is not None:
            it.exclude([of_instance(FOREIGN)])


def _include_all(at: At) -> None:
    """Include everybody, as people do who do not know that a group is about to go."""
    for it in at.it.realm.databases:
        it.include([*it.excluded])


#: Whom people exclude.
FOREIGN: Final = "storage-99998"

ALL: Final[dict[str, Act]] = {
    "kill-process": Act(_kill_process),
    "kill-pod": Act(_kill_pod),
    "kill-all": Act(_kill_all, targeted=False),
    "delete-pod": Act(_delete_pod),
    "force-pod": Act(_force_pod),
    "stuck-pod": Act(_stuck_pod, seconds=60),
    "no-room": Act(_no_room, targeted=False, seconds=60),
    "slow-pods": Act(_slow_pods, targeted=False, seconds=60),
    "no-image": Act(_no_image, targeted=False, seconds=60),
    "lose-node": Act(_lose_node, seconds=60),
    "power": Act(_power, seconds=60),
    "claim-stuck": Act(_claim_stuck, seconds=60),
    "cut": Act(_cut, seconds=30),
    "cut-all": Act(_cut_all, targeted=False, seconds=30),
    "silence": Act(_silence, targeted=False, seconds=60),
    "partial": Act(_partial, seconds=60),
    "unasked": Act(_unasked, seconds=60),
    "stays": Act(_stays, targeted=False, seconds=60),
    "skew": Act(_skew, targeted=False, seconds=20),
    "edit": Act(_edit),
    "recreate-cr": Act(_recreate_cr, targeted=False),
    "delete-object": Act(_delete_object),
    "delete-group": Act(_delete_group),
    "exclude-other": Act(_exclude_other, targeted=False),
    "include-all": Act(_include_all, targeted=False),
}

#: What is tried at every call: each act, with the targets and the seconds that matter.
TYPICAL: Final[tuple[tuple[str, ...], ...]] = tuple(
    tuple(it.split(":"))
    for it in (
        *("kill-process:storage", "kill-process:log", "kill-process:coordinator"),
        *("kill-pod:storage", "kill-pod:stateless", "kill-all"),
        *("delete-pod:storage", "delete-pod:log", "delete-pod:coordinator", "force-pod:storage"),
        *("stuck-pod:storage:60", "no-room:60", "slow-pods:60", "no-image:60"),
        *("lose-node:0:60", "lose-node:1:400", "power:0:60", "power:2:60"),
        *("claim-stuck:storage:60",),
        *("cut:storage:30", "cut:coordinator:60", "cut-all:30"),
        *("silence:30", "silence:120", "partial:data:60", "partial:processes:60"),
        *("partial:processes:200",),
        *("partial:logs:60", "partial:configuration:60", "unasked:storage:60", "unasked:log:60"),
        *("stays:60", "skew:20", "skew:-20"),
        *("edit:processCounts.storage=4", "edit:version=7.3.69", "edit:skip=true:60"),
        *('edit:processes.general.customParameters=["knob_y=2"]:120',),
        *("recreate-cr", "delete-object:ConfigMap", "delete-object:Service", "delete-object:Lease"),
        *("delete-group:storage", "delete-group:log", "exclude-other", "include-all"),
    )
)


def happen(it: FdbWorld, slot: Slot | None, name: str, *details: str) -> None:
    """Let something begin; ``slot`` is the operator at whose call it does."""
    if name not in ALL:
        raise UsageError(f"an act must be one of {', '.join(ALL)}; got {name!r}")
    found, given = ALL[name], list(details)
    whole = ":".join(("act", name, *details))
    if found.targeted and not (given and given[0]):
        raise UsageError(f"{name} must have a target, as in act:{name}:storage; got {whole}")
    target = given.pop(0) if found.targeted else ""
    if len(given) > 1 or not all(map(is_number, given)):
        raise UsageError(f"after {name} there may be a number of seconds, no more; got {whole}")
    found.do(At(it, slot, target, float(given[0]) if given else found.seconds))
