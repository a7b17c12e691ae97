"""What befalls FoundationDB's pods, nodes, volumes and links, and what people do; by name.

It is written ``act:NAME``, ``act:NAME:TARGET``, ``act:NAME:SECONDS`` or, with both,
``act:NAME:TARGET:SECONDS``. A target is the number of a pod of the first cluster in the order of
names, the first of a class, or ``coordinator``; of nodes it is their number. An act whose target is
not there changes nothing, and all of it ends by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stateward.core.errors import UsageError
from stateward.emulate.fdb.asking.clogs import Silence
from stateward.kube.resources import PODS
from stateward.local.rules.deletion import DeleteOptions
from stateward.sim.faults import is_number
from stateward.sim.fdb.acts import people
from stateward.sim.fdb.acts.targets import Act, At
from stateward.sim.world import Slot

if TYPE_CHECKING:
    from stateward.sim.fdb.world import FdbWorld

#: Seconds after which a clock that was set wrong is right again.
_SET_RIGHT: Final = 120.0
#: What people taint nodes with.
_WORK: Final = "example.org/work"


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


def _taint(at: At) -> None:
    """Taint a node as people do who want it to be left; it takes no pods meanwhile."""
    name = f"node-{at.target}"
    if not any(it.name == name and not it.taints for it in at.it.nodes.nodes):
        return
    at.it.machines.taint(name, _WORK)
    at.for_a_while(lambda: at.it.machines.taint(name))


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
    "taint": Act(_taint, seconds=60),
    "claim-stuck": Act(_claim_stuck, seconds=60),
    "cut": Act(_cut, seconds=30),
    "cut-all": Act(_cut_all, targeted=False, seconds=30),
    "silence": Act(_silence, targeted=False, seconds=60),
    "partial": Act(_partial, seconds=60),
    "unasked": Act(_unasked, seconds=60),
    "stays": Act(_stays, targeted=False, seconds=60),
    "skew": Act(_skew, targeted=False, seconds=20),
    "edit": Act(people.edit),
    "recreate-cr": Act(people.recreate_cr, targeted=False),
    "delete-object": Act(people.delete_object),
    "delete-group": Act(people.delete_group),
    "exclude-other": Act(people.exclude_other, targeted=False),
    "include-all": Act(people.include_all, targeted=False),
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
        *("claim-stuck:storage:60", "taint:0:60", "taint:1:300"),
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
