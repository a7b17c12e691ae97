"""Laws about what operators write and say: pictures in which they are broken, or hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.etcd_hand import NAME, Stage, played
from stateward.emulate.etcd.servers import Server
from stateward.emulate.etcd.state import Disk
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.etcd.operator import LEASE
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import (
    CONFIG_MAPS,
    DISRUPTION_BUDGETS,
    EVENTS,
    LEASES,
    PODS,
    SERVICES,
    STATEFUL_SETS,
    VOLUME_CLAIMS,
)
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.sim.etcd.happenings import happen
from stateward.sim.etcd.scenarios import KEY, OTHER, create, is_ready
from stateward.sim.etcd.wire import EtcdCall
from stateward.sim.immediate import at_once

CONFIG = "shop-cluster-state"
FOREIGN: Json = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "theirs", "namespace": "ns"},
}


# -------------------------------------------------------------------------- K1, K3: what is meant


def _no_uid(at: Stage) -> None:
    at.look()
    at.delete(PODS, "shop-2", uid="")


def _invented_uid(at: Stage) -> None:
    at.look()
    at.delete(PODS, "shop-2", uid="11111111-0000-0000-0000-000000000000")


def _changed_blindly(at: Stage) -> None:
    at.patch_blindly(CONFIG_MAPS, CONFIG, {"data": {"a": "b"}})


def _changed_by_uid_only(at: Stage) -> None:
    uid = at.uid(CONFIG_MAPS, CONFIG)
    at.patch_blindly(CONFIG_MAPS, CONFIG, {"metadata": {"uid": uid}, "data": {"a": "b"}})


def _led_by_another(at: Stage) -> None:
    for holder in (NAME, "another"):
        _hold_lease(at, holder)
    at.say({"doing": "something"})


def _never_led(at: Stage) -> None:
    at.look()
    call = EtcdCall("defragment", at.server(1).start.address, writes=True)
    at.send(call, who="standby")


def _led_too_soon(at: Stage) -> None:
    _hold_lease(at, "another")
    found = at.it.world.api.store.get(LEASES.name, LEASE)
    assert found is not None
    at.it.world.api.delete(LEASES, LEASE, DeleteOptions(uid=found.uid))
    _hold_lease(at, NAME)
    at.say({"doing": "something"})


def _hold_lease(at: Stage, holder: str) -> None:
    metadata = {"namespace": LEASE.namespace, "name": LEASE.name}
    lease = {"metadata": metadata, "spec": {"holderIdentity": holder, "leaseDurationSeconds": 15}}
    api, user = at.it.world.api, Author("user")
    if api.store.get(LEASES.name, LEASE) is None:
        api.create(LEASES, LEASE.namespace, lease, user)
    else:
        api.patch(LEASES, LEASE, MergePatch({"spec": lease["spec"]}), user)


def _changed_off_the_record(at: Stage) -> None:
    at.want(replicas=2)
    for it in at.it.world.api.store.all(ETCD_CLUSTERS.name):
        nobody = MergePatch({"status": {"lastKnownMembers": []}})
        at.it.world.api.patch(ETCD_CLUSTERS, it.key, nobody, Author("user"), subresource="status")


async def _removed_off_the_record(at: Stage) -> None:
    _changed_off_the_record(at)
    await at.pass_time(11)
    at.look()
    at.remove(2)


def _somebody_elses(at: Stage) -> None:
    at.it.world.api.create(CONFIG_MAPS, "ns", FOREIGN, Author("user"))
    at.patch(CONFIG_MAPS, "theirs", {"data": {"a": "b"}})


async def _another_clusters(at: Stage) -> None:
    at.it.operate()
    await create(OTHER, replicas=1).do(at.it)
    await at.it.world.until("ready", lambda: is_ready(at.it, OTHER), within=120)
    at.look()
    at.delete(PODS, "till-0")


# -------------------------------------------------------------------------- K5 to K10: what is said


def _from_the_future(at: Stage) -> None:
    at.say({"observedGeneration": 9})


def _from_the_past(at: Stage) -> None:
    at.want(paused=True)
    at.say({"observedGeneration": 2})
    at.say({"observedGeneration": 1})


async def _ready_of_two(at: Stage) -> None:
    at.say({"conditions": [_condition("Ready", "False")]})
    at.it.universe.hang(at.server(1))
    await at.pass_time(1)
    at.look()
    at.say({"conditions": [_condition("Ready", "True")]})


def _writes_the_spec(at: Stage) -> None:
    at.patch(ETCD_CLUSTERS, "shop", {"spec": {"replicas": 5}})


def _endless_status(at: Stage) -> None:
    at.say({"doing": "x" * 70_000})


def _endless_events(at: Stage) -> None:
    for number in range(400):
        at.apply(EVENTS, _event(number))


def _a_bug(at: Stage) -> None:
    at.say({"blockers": [{"guard": "InternalError"}], "doing": "it fell over"})


def _again_and_again(at: Stage) -> None:
    for _ in range(301):
        at.say({"doing": "something"})


async def _for_the_dead(at: Stage) -> None:
    at.delete(ETCD_CLUSTERS, "shop")
    uid = at.watch.family.uids(at.about)[-1]
    await at.pass_time(20)
    owner = {"apiVersion": "v1", "kind": "EtcdCluster", "name": "shop", "uid": uid}
    metadata = {"name": "late", "namespace": "ns", "ownerReferences": [owner]}
    at.apply(SERVICES, {"apiVersion": "v1", "kind": "Service", "metadata": metadata})


# -------------------------------------------------------------------------- E: what members need


def _begins_anew(at: Stage) -> None:
    elsewhere = {"ETCD_INITIAL_CLUSTER": "shop-0=http://elsewhere:2380"}
    at.patch(CONFIG_MAPS, CONFIG, {"data": {"ETCD_INITIAL_CLUSTER_STATE": "new", **elsewhere}})


def _nameless_token(at: Stage) -> None:
    at.patch(CONFIG_MAPS, CONFIG, {"data": {"ETCD_INITIAL_CLUSTER_TOKEN": "etcd"}})


def _forced(at: Stage) -> None:
    at.patch(CONFIG_MAPS, CONFIG, {"data": {"ETCD_FORCE_NEW_CLUSTER": "true"}})


def _relative_budget(at: Stage) -> None:
    at.patch(DISRUPTION_BUDGETS, "shop", {"spec": {"minAvailable": "50%"}})


def _low_budget(at: Stage) -> None:
    at.patch(DISRUPTION_BUDGETS, "shop", {"spec": {"minAvailable": 1}})


async def _open_template(at: Stage) -> None:
    at.want(security={"tls": {"serverSecret": "certificate"}})
    await at.pass_time(11)
    at.look()
    at.patch(STATEFUL_SETS, "shop", {"metadata": {"labels": {"a": "b"}}})


def _two_give_space_back(at: Stage) -> None:
    at.look()
    for ordinal in (1, 2):
        at.send(EtcdCall("defragment", at.server(ordinal).start.address, writes=True))


def _leader_gives_space_back_first(at: Stage) -> None:
    at.leads(0)
    at.look()
    at.server(1).disk.slack = 4096
    at.send(EtcdCall("defragment", at.server(0).start.address, writes=True))


def _anothers_data(at: Stage) -> None:
    """The claim of one holds the data of another."""
    content = at.it.volumes.content
    mine, other = (at.uid(VOLUME_CLAIMS, f"data-shop-{it}") for it in (2, 1))
    content[mine] = content[other]
    at.look()
    at.delete_claim(2)


def _nobodys_claim(at: Stage) -> None:
    at.about = OTHER
    at.delete_claim(2)


async def _a_volume_that_shall_stay_goes(at: Stage) -> None:
    """The operator says that it has seen the wish, and the claims are tied as they were."""
    at.want(retainVolumesOnDelete=True)
    at.say({"observedGeneration": 2})
    uid = at.uid(ETCD_CLUSTERS, KEY.name)
    at_once(at.it.world.client.delete(ETCD_CLUSTERS, KEY, uid=uid))
    await at.pass_time(60)


async def _asks_a_stranger(at: Stage) -> None:
    address = at.server(1).start.address
    happen(at.it, None, "stranger", "1", "60")
    await at.pass_time(1)
    at.look()
    at.send(EtcdCall("promote", address, writes=True))


async def _joins_on_anothers_claim(at: Stage) -> None:
    happen(at.it, None, "foreign-claim", "3", "60")
    await at.pass_time(2)
    at.look()
    at.add(3)


async def _replaces_the_hungry(at: Stage) -> None:
    at.leads(0)
    happen(at.it, None, "oom-pod", "2", "200")
    await at.pass_time(150)
    at.look()
    at.remove_listed(2)


async def _split(at: Stage) -> None:
    """Two members go on, and the third, which does not reach them, does so by itself."""
    server = at.server(2)
    for other in (0, 1):
        at.it.universe.cut(server.start.address, at.server(other).start.address)
    history = server.history
    assert history is not None
    fork = history.fork(history.last)
    alone = {server.member_id: server.state.members[server.member_id]}
    fork.append(replace(fork.states[-1], members=alone))
    server.disk.history, server.disk.index = fork, fork.last
    at.it.universe.settle()
    await at.pass_time(5)
    at.look()
    at.delete_pod(1)


def _asks_for_the_end_of_a_quorum(at: Stage) -> None:
    at.it.universe.stop(at.server(0), gently=False)
    at.look()
    at.send(_asked_to_remove(at, 2))


def _asked_to_remove(at: Stage, ordinal: int) -> EtcdCall:
    member = at.server(ordinal).member_id
    return EtcdCall("remove", at.server(1).start.address, writes=True, about=f"{member:x}")


# -------------------------------------------------------------------------- E: how members start


def _on_anothers_volume(at: Stage) -> None:
    _start(at, 1, at.server(2).disk)


def _begins_twice(at: Stage) -> None:
    """A member whose disk was emptied is told that there is no cluster yet."""
    told = MergePatch({"data": {"ETCD_INITIAL_CLUSTER_STATE": "new"}})
    at.it.world.api.patch(CONFIG_MAPS, ObjectKey("ns", CONFIG), told, Author("user"))
    _start(at, 1, Disk(), existing=False)


def _forced_by_nobody(at: Stage) -> None:
    disk, start = at.server(1).disk, replace(at.server(1).start, force=True)
    for ordinal in range(3):
        at.it.universe.stop(at.server(ordinal), gently=False)
    at.it.universe.launch(start, disk, lambda _: None, lambda: None)


def _forced_beside_others(at: Stage) -> None:
    _start(at, 1, at.server(1).disk, force=True)


def _skips_a_version(at: Stage) -> None:
    _start(at, 1, at.server(1).disk, version=(3, 3, 1))


def _speaks_in_the_open(at: Stage) -> None:
    _start(at, 1, at.server(1).disk, peer_url="http://shop-1.shop-headless.ns.svc:2380")


def _start(at: Stage, ordinal: int, disk: Disk, **flags: object) -> Server:
    """Start another process in a pod."""
    start = replace(at.server(ordinal).start, **flags)  # type: ignore[arg-type]
    return at.it.universe.launch(start, disk, lambda _: None, lambda: None)


BROKEN = {
    "K1": (_no_uid, _invented_uid, _changed_blindly),
    "K3": (_somebody_elses, _another_clusters),
    "K5": (_from_the_future, _from_the_past, _ready_of_two),
    "K6": (_writes_the_spec, _changed_by_uid_only),
    "K7": (_endless_status, _endless_events),
    "K8": (_a_bug,),
    "K9": (_again_and_again,),
    "K10": (_for_the_dead,),
    "LEAD": (_led_by_another, _never_led, _led_too_soon),
    "RECORD": (_removed_off_the_record,),
    "E-S1": (_asks_for_the_end_of_a_quorum,),
    "E-S4": (_a_volume_that_shall_stay_goes,),
    "E-S5": (_anothers_data, _nobodys_claim, _asks_a_stranger),
    "E-S6": (_on_anothers_volume, _joins_on_anothers_claim),
    "E-S7": (_begins_anew, _nameless_token, _begins_twice),
    "E-S8": (_forced, _forced_by_nobody, _forced_beside_others),
    "E-S9": (_split,),
    "E-S12": (_skips_a_version,),
    "E-S13": (_relative_budget, _low_budget),
    "E-S14": (_replaces_the_hungry,),
    "E-S15": (_two_give_space_back, _leader_gives_space_back_first),
    "E-S16": (_open_template, _speaks_in_the_open),
}


@pytest.mark.parametrize(
    ("law", "play"),
    [(law, play) for law, plays in BROKEN.items() for play in plays],
    ids=lambda it: it if isinstance(it, str) else it.__name__.strip("_"),
)
def test_what_breaks_a_law_is_seen(law: str, play: object):
    assert law in played(play)  # type: ignore[arg-type]


# -------------------------------------------------------------------------- what is right


def _all_that_is_right(at: Stage) -> None:
    at.look()
    at.say({"doing": "working"})
    at.patch(DISRUPTION_BUDGETS, "shop", {"spec": {"minAvailable": 2}})
    at.patch(CONFIG_MAPS, CONFIG, {"data": {"ETCD_INITIAL_CLUSTER_STATE": "existing"}})
    at.send(EtcdCall("defragment", at.server(1).start.address, writes=True))
    _start(at, 1, at.server(1).disk)
    at.delete(PODS, "shop-2")


def _one_without_the_lease_gives_space_back_beside(at: Stage) -> None:
    at.look()
    at.send(EtcdCall("defragment", at.server(1).start.address, writes=True))
    at.send(EtcdCall("defragment", at.server(2).start.address, writes=True), who="twin1.1")


@pytest.mark.parametrize(
    "play", [_all_that_is_right, _one_without_the_lease_gives_space_back_beside]
)
def test_what_is_right_breaks_none(play: object):
    assert played(play) == set()  # type: ignore[arg-type]


def _condition(kind: str, status: str) -> Json:
    now = "2026-01-01T00:00:00Z"
    told = {"reason": "Told", "message": "", "lastTransitionTime": now}
    return {"type": kind, "status": status} | told


def _event(number: int) -> Json:
    about = {"kind": "EtcdCluster", "name": "shop", "namespace": "ns"}
    metadata = {"name": f"shop.{number}", "namespace": "ns"}
    return {"apiVersion": "v1", "kind": "Event", "metadata": metadata, "involvedObject": about}
