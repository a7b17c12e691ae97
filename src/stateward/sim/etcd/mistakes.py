"""What people write by mistake or put in the way, and what they are told then."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.model.names import CLUSTER_UID_LABEL, config_key, labels
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json, decode
from stateward.kube.errors import AlreadyExists, Forbidden, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import (
    CONFIG_MAPS,
    DISRUPTION_BUDGETS,
    PODS,
    SECRETS,
    SERVICES,
    STATEFUL_SETS,
    VOLUME_CLAIMS,
    Resource,
)
from stateward.local.kinds import Kind as LocalKind
from stateward.local.store import Stored
from stateward.sim.etcd import happenings
from stateward.sim.etcd.certificates import secrets
from stateward.sim.faults import Kind, fault
from stateward.sim.laws.watchman import leaves
from stateward.sim.network import CALM, Mix

if TYPE_CHECKING:
    from stateward.sim.etcd.world import EtcdWorld

#: An image that nobody published.
TYPO: Final[Json] = {
    "spec": {"containers": [{"name": "etcd", "image": "quay.io/coreos/etcd:v3.5.36-typo"}]}
}
_LABELLED: Final = (VOLUME_CLAIMS, CONFIG_MAPS, SERVICES, STATEFUL_SETS)
_OWNED: Final = (CONFIG_MAPS, STATEFUL_SETS)
#: The UID of a cluster that is long gone.
_ANOTHER: Final = "22222222-0000-0000-0000-000000000000"
#: The note that nobody could be asked for a while, and for how many seconds.
OUTAGE: Final = "Outage"
_OUTAGE: Final = 8.0
#: The note of what may be told.
_MET: Final = "may be told"
#: Seconds for which a policy guards pods.
_GUARDED: Final = 20.0
#: The note that logins are on by somebody who did not lead (see oracles/logins.py).
STRAY_LOGINS: Final = "StrayLogins"
#: What etcd does not know.
UNKNOWN: Final[Json] = {"no-such-flag": "1"}


def may_be_told(it: EtcdWorld, guard: str) -> bool:
    """Tell whether somebody made the mistake that a blocker of a status speaks of."""
    return guard in it.notes


def untold(it: EtcdWorld, told: Collection[str]) -> str:
    """Return what is in the way of people, by all that they did, and was never told."""
    met = (guard for guard, why in it.notes.items() if why == _MET and guard != OUTAGE)
    return ", ".join(guard for guard in met if guard not in told)


def is_told(it: EtcdWorld, guard: str) -> bool:
    """Tell whether a status says what is in the way."""
    found = (decode(it.text, EtcdCluster) for it in it.world.api.store.all(ETCD_CLUSTERS.name))
    return any(blocker.guard == guard for cluster in found for blocker in cluster.status.blockers)


def lacks_image(it: EtcdWorld) -> bool:
    """Tell whether a pod waits for an image that it will never get."""
    return any(b"ErrImagePull" in it.text for it in it.world.api.store.all(PODS.name))


def allow(it: EtcdWorld, guard: str) -> None:
    """Say that a status may tell of something that people did."""
    it.notes[guard] = _MET


async def err(it: EtcdWorld, key: ObjectKey, guard: str, spec: Json) -> None:
    """Write something wrong into a spec."""
    allow(it, guard)
    try:
        await it.world.client.patch(ETCD_CLUSTERS, key, MergePatch({"spec": spec}))
    except NotFound:
        return


async def take_name(it: EtcdWorld, key: ObjectKey) -> None:
    """Have a ConfigMap of the name that a cluster would need for its members."""
    await _put_in_the_way(it, "NameTaken", CONFIG_MAPS, config_key(key))


async def take_volume(it: EtcdWorld, key: ObjectKey) -> None:
    """Have a claim of the name that the fourth member would need."""
    resources = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": resources}
    where = ObjectKey(key.namespace, f"data-{key.name}-3")
    theirs = {**labels(key.name), CLUSTER_UID_LABEL: _ANOTHER}
    await _put_in_the_way(it, "VolumeTaken", VOLUME_CLAIMS, where, theirs, spec=spec)


async def _put_in_the_way(
    it: EtcdWorld,
    guard: str,
    resource: Resource[Any],
    key: ObjectKey,
    marks: Mapping[str, str] = MappingProxyType({}),
    **rest: object,
) -> None:
    allow(it, guard)
    metadata = {"namespace": key.namespace, "name": key.name, "labels": dict(marks)}
    try:
        await it.world.client.create(resource, {"metadata": metadata, **rest})
    except AlreadyExists:
        return


async def give_way(it: EtcdWorld, _: ObjectKey) -> None:
    """Take all that away again that people put in the way."""
    for resource in (CONFIG_MAPS, VOLUME_CLAIMS):
        for stored in it.world.api.store.all(resource.name):
            if not stored.owners and stored.labels.get(CLUSTER_UID_LABEL, _ANOTHER) == _ANOTHER:
                await it.world.client.delete(resource, stored.key, uid=stored.uid)


async def run_short(it: EtcdWorld, _: ObjectKey) -> None:
    """Have a quota that is used up for a while."""
    allow(it, "ObjectRefused")
    happenings.happen(it, None, "quota", "40")


async def run_short_of_config(it: EtcdWorld, key: ObjectKey) -> None:
    """Delete what members start with, while a quota allows no other."""
    await run_short(it, key)
    happenings.happen(it, None, "delete-object", "ConfigMap")


async def guard_pods(it: EtcdWorld, _: ObjectKey) -> None:
    """Have a policy by which no operator deletes pods, for a while."""
    allow(it, "ObjectRefused")
    deletion: Any = it.world.api._deletion  # noqa: SLF001 - the server has no door for policies
    former, over = deletion._admission, it.world.weather.trouble()  # noqa: SLF001

    class Policy:
        """An admission that says no to operators."""

        def check_deletion(self, kind: LocalKind, old: Json) -> None:
            if kind.resource.name == PODS.name and it.world.weather.acting is not None:
                raise Forbidden(f"pods {old['metadata']['name']!r} is forbidden: a policy says no")
            former.check_deletion(kind, old)

    def end() -> None:
        deletion._admission = former  # noqa: SLF001
        over()

    deletion._admission = Policy()  # noqa: SLF001
    it.world.later(_GUARDED, end)


async def break_off(it: EtcdWorld, _: ObjectKey) -> None:
    """Have Kubernetes answer nobody for a while but that it cannot, and etcd neither."""
    allow(it, OUTAGE)
    weather = it.world.weather
    over = weather.trouble()

    def clear() -> None:
        weather.mix = CALM
        over()

    weather.mix = Mix(call=1.0, faults=(fault(Kind.UNAVAILABLE),))
    it.world.later(_OUTAGE, clear)


async def leave(_: EtcdWorld, __: ObjectKey) -> None:
    """Leave things as they are."""


async def make_secrets(it: EtcdWorld, _: ObjectKey) -> None:
    """Make every secret that a cluster with TLS names."""
    for body in secrets():
        try:
            await it.world.client.create(SECRETS, body)
        except AlreadyExists:
            continue


async def take_labels(it: EtcdWorld, key: ObjectKey) -> None:
    """Take the labels of volumes and of what an operator writes for a cluster, and owners, too."""
    for resource, stored in _labelled(it):
        bare = dict.fromkeys(stored.labels)
        if bare and key.name in stored.key.name:
            owners = {"ownerReferences": None} if resource in _OWNED else {}
            patch = MergePatch({"metadata": {"labels": bare, **owners}})
            await it.world.client.patch(resource, stored.key, patch)


def has_labels(it: EtcdWorld) -> bool:
    """Tell whether all that belongs to clusters says so again, but for what is on its way out."""
    staying = [stored for _, stored in _labelled(it) if not leaves(stored)]
    return all(CLUSTER_UID_LABEL in stored.labels for stored in staying)


def _labelled(it: EtcdWorld) -> list[tuple[Resource[Any], Stored]]:
    store = it.world.api.store
    return [(kind, stored) for kind in _LABELLED for stored in store.all(kind.name)]


def has_budget(it: EtcdWorld, **share: object) -> bool:
    """Tell whether disruption budgets leave what a user wants."""
    budgets = [it.document()["spec"] for it in it.world.api.store.all(DISRUPTION_BUDGETS.name)]
    asked = ("minAvailable", "maxUnavailable")
    return all({name: it[name] for name in asked if name in it} == share for it in budgets)


def asks_who(it: EtcdWorld) -> bool:
    """Tell whether etcd wants to know of everybody who they are."""
    return any(server.state.auth for server in it.universe.servers)


def asks_nobody(it: EtcdWorld) -> bool:
    """Tell whether etcd serves everybody, unless one who no longer led saw to the contrary."""
    return not asks_who(it) or STRAY_LOGINS in it.notes
