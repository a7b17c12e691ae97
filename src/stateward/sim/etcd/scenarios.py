"""What users do to etcd clusters, as scripts: each step is done, and its end is awaited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import yaml

from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.kube import conditions
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json, decode
from stateward.kube.errors import AlreadyExists, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import VOLUME_CLAIMS
from stateward.sim.etcd import errands, happenings, mistakes
from stateward.sim.etcd.certificates import TLS
from stateward.sim.etcd.world import EtcdWorld

KEY: Final = ObjectKey("ns", "shop")
OTHER: Final = ObjectKey("ns", "till")

Do = Callable[[EtcdWorld], Awaitable[None]]
Holds = Callable[[EtcdWorld], bool]


@dataclass(frozen=True, slots=True)
class Step:
    """Something that somebody does, and what must come of it."""

    text: str
    do: Do
    until: Holds
    #: Seconds that Kubernetes may need first, to end what was there before.
    leaving: float = 0.0
    #: Seconds that an operator may let pass before it tries once more.
    pause: float = 0.0


Script = tuple[Step, ...]


# -------------------------------------------------------------------------- looking


def cluster(it: EtcdWorld, key: ObjectKey = KEY) -> EtcdCluster | None:
    """Return a cluster as Kubernetes has it now."""
    stored = it.world.api.store.get(ETCD_CLUSTERS.name, key)
    return decode(stored.text, EtcdCluster) if stored is not None else None


def is_ready(it: EtcdWorld, key: ObjectKey = KEY) -> bool:
    """Tell whether a cluster says that it is as asked for, and has as many members as that."""
    found = cluster(it, key)
    if found is None or found.status.observed_generation != found.metadata.generation:
        return False
    members = len(found.status.members)
    return conditions.is_true(found.status.conditions, "Ready") and members == max(
        found.spec.replicas, 1
    )


def is_heard(it: EtcdWorld, key: ObjectKey = KEY) -> bool:
    """Tell whether a cluster says that it was seen as it is asked for."""
    found = cluster(it, key)
    return found is not None and found.status.observed_generation == found.metadata.generation


def is_asleep(it: EtcdWorld, key: ObjectKey = KEY) -> bool:
    """Tell whether a cluster of no members has none that runs, and says so."""
    found = cluster(it, key)
    if found is None or found.status.observed_generation != found.metadata.generation:
        return False
    return found.spec.replicas == 0 and not it.nodes.lodgers


def is_mended(it: EtcdWorld) -> bool:
    """Tell whether all that went wrong is over, every etcd serves, and the cluster says so."""
    programs = [lodger.program for lodger in it.nodes.lodgers.values()]
    serves = all(program is not None and program.ready for program in programs)
    return not it.troubled and serves and is_ready(it)


def has_begun_to_grow(it: EtcdWorld) -> bool:
    """Tell whether there is a volume for a fourth member, or there is no need for it.

    Any sooner, what there is to take back would be chance, and no life like the calm one.
    """
    return is_ready(it) or len(list(it.world.api.store.all(VOLUME_CLAIMS.name))) > 3


def member_id(it: EtcdWorld, name: str) -> str:
    """Return the id that a cluster says a member has."""
    found = cluster(it)
    reports = found.status.members if found is not None else ()
    return next((report.id for report in reports if report.name == name), "")


# -------------------------------------------------------------------------- doing


def manifest(key: ObjectKey = KEY, **spec: object) -> Json:
    """Return a cluster as a user writes it."""
    storage = {
        "volumeClaimTemplate": {
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            }
        }
    }
    return {
        "metadata": {"namespace": key.namespace, "name": key.name},
        "spec": {"replicas": 3, "version": "3.5.35", "storage": storage} | spec,
    }


def create(key: ObjectKey = KEY, **spec: object) -> Step:
    """Have somebody create a cluster."""

    async def do(it: EtcdWorld) -> None:
        try:
            await it.world.client.create(ETCD_CLUSTERS, manifest(key, **spec))
        except AlreadyExists:
            return

    return Step(f"create {key.name} {_in_a_line(spec)}".strip(), do, lambda it: is_ready(it, key))


def edit(key: ObjectKey = KEY, until: Holds | None = None, **spec: object) -> Step:
    """Have somebody change what a cluster asks for."""

    async def do(it: EtcdWorld) -> None:
        try:
            await it.world.client.patch(ETCD_CLUSTERS, key, MergePatch({"spec": spec}))
        except NotFound:
            return

    return Step(f"edit {key.name} {_in_a_line(spec)}", do, until or (lambda it: is_ready(it, key)))


def _in_a_line(spec: Mapping[str, object]) -> str:
    """Return a spec in one line, as one would write it in a manifest."""
    if not spec:
        return ""
    return yaml.safe_dump(spec, default_flow_style=True, width=2**16, sort_keys=False).strip()


def remove(key: ObjectKey = KEY) -> Step:
    """Have somebody delete a cluster."""

    async def do(it: EtcdWorld) -> None:
        try:
            found = await it.world.client.get(ETCD_CLUSTERS, key)
            await it.world.client.delete(ETCD_CLUSTERS, key, uid=found.metadata.uid)
        except NotFound:
            return

    return Step(f"delete {key.name}", do, lambda it: cluster(it, key) is None)


def befall(*texts: str, until: Holds = is_mended) -> Step:
    """Have something befall the world, written as in plans: ``kill-pod:1``."""

    async def do(it: EtcdWorld) -> None:
        for text in texts:
            happenings.happen(it, None, *text.split(":"))

    return Step(" and ".join(texts), do, until)


def lose(text: str, name: str) -> Step:
    """Have something befall a member for which another one must come: the id tells them apart."""

    async def do(it: EtcdWorld) -> None:
        it.notes[text] = member_id(it, name)
        happenings.happen(it, None, *text.split(":"))

    def replaced(it: EtcdWorld) -> bool:
        lost = it.notes[text]
        return is_mended(it) and (not lost or member_id(it, name) != lost)

    return Step(text, do, replaced)


def join(count: int) -> Step:
    """Have more operators stand by."""

    async def do(it: EtcdWorld) -> None:
        it.operate(count)

    return Step(f"{count} more operators", do, _at_once)


def _full() -> Step:
    """Have every database be full of what nobody reads any more."""

    async def do(it: EtcdWorld) -> None:
        errands.fill_up(it)

    # Who fills one just when history was forgotten waits for the next time.
    return Step("databases are full", do, _has_room, pause=600.0)


def _cram() -> Step:
    """Have every database be full of what is in use, and somebody be told so."""

    async def do(it: EtcdWorld) -> None:
        mistakes.allow(it, "NoSpace")
        errands.cram(it)

    def told(it: EtcdWorld) -> bool:
        return mistakes.is_told(it, "NoSpace") or errands.has_room(it)

    return Step("databases are full of what is in use", do, told)


def err(guard: str, **spec: object) -> Step:
    """Have somebody write something wrong, and be told so."""

    async def do(it: EtcdWorld) -> None:
        await mistakes.err(it, KEY, guard, spec)

    return Step(f"err {_in_a_line(spec)}", do, lambda it: mistakes.is_told(it, guard))


def people(text: str, what: Callable[[EtcdWorld, ObjectKey], Awaitable[None]]) -> Step:
    """Have people do something beside a cluster."""

    async def do(it: EtcdWorld) -> None:
        await what(it, KEY)

    return Step(text, do, _at_once)


def _and_ready(holds: Holds) -> Holds:
    return lambda it: is_ready(it) and holds(it)


def _told(guard: str) -> Holds:
    """Return that it is told, or over: it may be before anybody met it."""
    return lambda it: mistakes.is_told(it, guard) or (is_ready(it) and not it.troubled)


def _is_unhindered(it: EtcdWorld) -> bool:
    return is_ready(it) and not mistakes.is_told(it, "ObjectRefused") and not it.troubled


def _has_five(it: EtcdWorld) -> bool:
    found = cluster(it)
    return found is not None and len(found.status.members) == 5


def _has_room(it: EtcdWorld) -> bool:
    return is_mended(it) and errands.has_room(it)


def _at_once(_: EtcdWorld) -> bool:
    return True


SCENARIOS: Final[dict[str, Script]] = {
    "bootstrap": (create(),),
    "one": (create(replicas=1),),
    "grow": (create(replicas=1), edit(replicas=3)),
    "3to5": (create(), edit(replicas=5)),
    "5to3": (create(replicas=5), edit(replicas=3)),
    "sleep": (create(), edit(until=is_asleep, replicas=0), edit(replicas=3)),
    "roll": (create(), edit(options={"snapshot-count": "5000"})),
    "upgrade": (create(), edit(version="3.6.16")),
    "edit": (create(), edit(until=has_begun_to_grow, replicas=5), edit(replicas=3)),
    "recreate": (create(), remove(), replace(create(), leaving=40.0)),
    "two": (create(), create(OTHER), edit(replicas=1), edit(OTHER, replicas=1)),
    "replace": (create(unhealthyMemberGracePeriod="10s"), lose("damage:1", "shop-1")),
    "lost-disk": (create(unhealthyMemberGracePeriod="10s"), lose("wipe:1", "shop-1")),
    "quorum-loss": (create(), befall("power:1:60", "power:2:75")),
    "three": (join(2), create(), edit(replicas=1)),
    "larger": (
        create(),
        edit(until=_and_ready(errands.has_larger_volumes), storage=errands.LARGER),
    ),
    "full": (create(), _full()),
    "kept": (
        create(),
        edit(retainVolumesOnDelete=True),
        remove(),
        replace(create(), leaving=40.0),
    ),
    "scratch": (create(storage={"emptyDir": {}}), edit(options={"snapshot-count": "5000"})),
    "recover": (
        create(),
        befall("wipe:1", "wipe:2", until=errands.says_lost),
        edit(until=_and_ready(errands.is_recovered), quorumRecovery={"acceptDataLoss": True}),
        edit(quorumRecovery=None),
    ),
    "behind": (
        create(),
        befall("hang:1:40", until=errands.is_long_ill),
        edit(until=is_heard, unhealthyMemberGracePeriod="2m"),
        befall("wipe:0", "wipe:2", until=errands.says_lost),
        edit(until=_and_ready(errands.is_recovered), quorumRecovery={"acceptDataLoss": True}),
        edit(quorumRecovery=None),
    ),
    "mistake": (
        create(),
        err("SpecInvalid", options=mistakes.UNKNOWN),
        edit(options=None),
        err("UpgradeRefused", version="3.7.0", replicas=5),
        replace(people("it grows all the same", mistakes.leave), until=_has_five),
        edit(version="3.5.35"),
    ),
    "typo": (
        create(),
        edit(until=mistakes.lacks_image, version=None, podTemplate=mistakes.TYPO),
        edit(version="3.5.35", podTemplate=None),
    ),
    "taken": (
        people("a name is taken", mistakes.take_name),
        replace(create(), until=_told("NameTaken")),
        replace(people("it is given back", mistakes.give_way), until=is_ready),
        people("a volume is taken", mistakes.take_volume),
        edit(until=_told("VolumeTaken"), replicas=5),
        replace(people("it is given back", mistakes.give_way), until=is_ready),
    ),
    "quota": (
        people("a quota is used up", mistakes.run_short),
        replace(create(), until=_told("ObjectRefused")),
        replace(people("the quota goes", mistakes.leave), until=_is_unhindered),
        replace(
            people("a ConfigMap goes", mistakes.run_short_of_config), until=_told("ObjectRefused")
        ),
        replace(people("the quota goes", mistakes.leave), until=_is_unhindered),
        people("pods are guarded", mistakes.guard_pods),
        edit(until=_told("ObjectRefused"), options={"snapshot-count": "5000"}),
        replace(people("the guard goes", mistakes.leave), until=_is_unhindered),
    ),
    "asleep": (
        replace(create(replicas=0), until=is_asleep),
        edit(replicas=1),
        edit(until=is_asleep, replicas=0),
        err("UpgradeRefused", version="3.7.0"),
        edit(until=is_asleep, version="3.5.35"),
    ),
    "bare": (
        create(),
        replace(people("labels are gone", mistakes.take_labels), until=mistakes.has_labels),
    ),
    "waiting": (
        create(unhealthyMemberGracePeriod="10s"),
        befall("no-image:60", "delete-pod:1"),
        befall("no-room:60", "delete-pod:2"),
    ),
    "outage": (create(), people("nobody answers", mistakes.break_off), edit(replicas=5)),
    "silent": (
        create(unhealthyMemberGracePeriod="10s"),
        befall("hang:1:60", "hang:2:60", until=_at_once),
        edit(options={"snapshot-count": "5000"}),
        befall("hang:1:90", until=_at_once),
        edit(options={"snapshot-count": "6000"}),
    ),
    "budget": (
        replace(
            create(podDisruptionBudgetTemplate={"spec": {"maxUnavailable": 1}}),
            until=_and_ready(partial(mistakes.has_budget, maxUnavailable=1)),
        ),
        edit(
            until=_and_ready(partial(mistakes.has_budget, minAvailable=1)),
            podDisruptionBudgetTemplate={"spec": {"minAvailable": 1, "maxUnavailable": None}},
        ),
    ),
    "secured": (
        people("secrets are there", mistakes.make_secrets),
        create(security={"tls": TLS}),
        edit(until=_and_ready(mistakes.asks_who), security={"enableAuth": True}),
        edit(until=_and_ready(mistakes.asks_nobody), security={"enableAuth": False}),
    ),
    "crammed": (
        create(),
        _cram(),
        replace(edit(until=_has_room, storage=errands.LARGER), pause=600.0),
    ),
}
