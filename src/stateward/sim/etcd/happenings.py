"""Everything that can befall the world of etcd, by name, and what is tried of it.

It is written ``act:NAME``, ``act:NAME:TARGET``, ``act:NAME:SECONDS`` or, with both,
``act:NAME:TARGET:SECONDS``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stateward.core.errors import UsageError
from stateward.sim.etcd.acts import ACTS, Act, Scene
from stateward.sim.etcd.humans import HUMANS
from stateward.sim.etcd.strangers import STRANGERS
from stateward.sim.faults import is_number
from stateward.sim.world import Slot

if TYPE_CHECKING:
    from stateward.sim.etcd.world import EtcdWorld

ALL: Final[dict[str, Act]] = {**ACTS, **HUMANS, **STRANGERS}

#: What is tried at every call: each act, with the targets and the seconds that matter.
TYPICAL: Final[tuple[tuple[str, ...], ...]] = tuple(
    tuple(it.split(":"))
    for it in (
        *("kill-pod:0", "kill-pod:1", "kill-pod:leader", "kill-all"),
        *("delete-pod:0", "delete-pod:1", "delete-pod:leader", "force-pod:1", "evict-pod:0"),
        *("stuck-pod:1:60", "no-room:60", "slow-pods:60", "no-image:60"),
        *("hang:1:30", "hang:leader:30", "hang:leader:90"),
        *("lose-node:0:60", "lose-node:1:60", "lose-node:2:400", "power:0:60", "power:1:60"),
        *("wipe:0", "wipe:1", "wipe:leader", "damage:1", "damage:leader"),
        *("full:1", "corrupt:1", "corrupt:leader"),
        *("lose-claim:0", "lose-claim:1", "claim-stuck:1:60"),
        *("cut:0:30", "cut:1:30", "cut:leader:30", "cut-all:30", "split:1:30", "split:leader:30"),
        *("unaware:0", "unaware:leader"),
        *("skew:20", "skew:-20", "quota:30"),
        *("edit:replicas=1", "edit:replicas=5", "edit:replicas=0:30", "edit:version=3.6.16"),
        *("edit:options.snapshot-count=5000", "edit:paused=true:30"),
        *("delete-cr:30", "recreate-cr", "delete-object:ConfigMap", "delete-object:Service"),
        *("delete-object:PodDisruptionBudget", "delete-object:StatefulSet"),
        *("orphan-object:StatefulSet", "delete-object:Lease"),
        *("edit-object:StatefulSet", "edit-object:StatefulSet:5", "edit-object:ConfigMap"),
        *("oom-pod:1:60", "oom-pod:leader:30", "stranger:1:30", "stranger:leader:90"),
        *("foreign-claim:3:60", "reuse"),
        *("lose-node:0:inf", "stuck-pod:1:inf"),
        *("relabel:1:30", "relabel:ConfigMap:30", "relabel:StatefulSet:30"),
    )
)


#: What may take ``inf`` seconds. It strikes one pod, and all others must go on beside it.
_ENDLESS: Final = frozenset({"cut", "lose-node", "stuck-pod"})


def happen(it: EtcdWorld, slot: Slot | None, name: str, *details: str) -> None:
    """Let something begin; ``slot`` is the operator at whose call it does."""
    if name not in ALL:
        raise UsageError(f"an act must be one of {', '.join(ALL)}; got {name!r}")
    found, given = ALL[name], list(details)
    whole = ":".join(("act", name, *details))
    if found.targeted and not (given and given[0]):
        raise UsageError(f"{name} must have a target, as in act:{name}:1; got {whole}")
    target = given.pop(0) if found.targeted else ""
    if len(given) > 1 or not all(_is_time(name, text) for text in given):
        raise UsageError(f"after {name} there may be a number of seconds, no more; got {whole}")
    found.do(Scene(it, slot, target, float(given[0]) if given else found.seconds))


def _is_time(name: str, text: str) -> bool:
    return is_number(text) or (text == "inf" and name in _ENDLESS)
