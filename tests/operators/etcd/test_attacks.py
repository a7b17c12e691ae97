"""Stories that fail today: what bad input, careless people and races did to clusters."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace

import msgspec
import pytest

from fakes.etcd_views import picture
from operators.etcd.worlds import told, world
from stateward.core.errors import UsageError
from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.api.settings import settings_of
from stateward.etcd.api.status import KnownMember
from stateward.etcd.api.validation import problems
from stateward.etcd.build.kept import kept_problems
from stateward.etcd.decide.chart import judge
from stateward.etcd.decide.moves import WriteConfig, WriteWorkload
from stateward.etcd.tell.status import status_of
from stateward.kube.client import MergePatch, Propagation
from stateward.kube.codec import plain
from stateward.kube.errors import Forbidden
from stateward.kube.interception import InterceptedClient, PassThrough


# ------------------------------------------------------------ pure
def test_sleeper_without_a_status_is_not_begun_anew():
    """C1: a claim of ours and a config that says existing prove that there was a cluster."""
    awake = picture("1: L")
    view = picture("3: c . .", replicas=0, latched=False, last_known=(), config=awake.config)
    assert view.config is not None and view.config.existing
    move = judge(view).move
    assert not (isinstance(move, WriteConfig) and not move.config.existing), move
    view = picture("3: c . .", replicas=0, latched=False, last_known=(), config=None)
    move = judge(view).move
    assert not (isinstance(move, WriteConfig) and not move.config.existing), move


def test_nothing_is_latched_from_the_pods_of_an_earlier_cluster():
    """C2: the StatefulSet is another's and leaves; who answers is not this cluster."""
    view = picture("3: L f f", latched=False, last_known=())
    view = replace(view, workload=replace(view.workload, owner_uid="earlier", deleting=True))
    status = status_of(view, [], judge(view).refusals)
    assert (status.cluster_id, status.last_known_members) == ("", ())


@pytest.mark.parametrize("names", [["shop-0", "shop-400"], ["shop-999999"]])
def test_a_written_status_makes_no_hundreds_of_pods(names):
    view = picture("3: d d d", quorum=False)
    status = msgspec.structs.replace(
        view.cluster.status, last_known_members=tuple(KnownMember(name=it) for it in names)
    )
    view = replace(view, cluster=msgspec.structs.replace(view.cluster, status=status))
    move = judge(view).move
    assert not (isinstance(move, WriteWorkload) and move.replicas > 31), move


ETCD = {"name": "etcd"}
SCRATCH = [{"name": "scratch", "emptyDir": {}}]
HOME = "/var/run/etcd"


@pytest.mark.parametrize(
    "pod",
    [
        {"containers": [ETCD | {"envFrom": [{"secretRef": {"name": "mine"}}]}]},
        {"containers": [ETCD | {"envFrom": []}]},
        {"containers": [ETCD | {"args": []}]},
        {"containers": [ETCD | {"args": None}]},
        {"containers": [ETCD | {"env": None}]},
        {"containers": [ETCD | {"env": [{"name": "POD_NAME", "value": "x"}]}]},
        {"containers": [ETCD | {"volumeMounts": None}]},
        {"containers": [ETCD | {"volumeMounts": [{"$patch": "replace"}]}]},
        {"containers": [ETCD | {"volumeMounts": [{"$patch": "delete", "mountPath": HOME}]}]},
        {"volumes": SCRATCH,
         "containers": [ETCD | {"volumeMounts": [{"name": "scratch", "mountPath": HOME}]}]},
        {"volumes": SCRATCH,
         "containers": [ETCD | {"volumeMounts": [
             {"name": "scratch", "mountPath": f"{HOME}/default.etcd"}]}]},
        {"containers": [{"name": "etcd", "$patch": "replace", "image": "x"}]},
        {"containers": [ETCD | {"$retainKeys": ["name"]}]},
        {"$retainKeys": ["volumes"]},
    ],
    ids=str,
)  # fmt: skip
def test_a_pod_template_cannot_take_a_members_data_or_variables(pod):
    body = {"metadata": {"name": "shop"}, "spec": {"podTemplate": {"spec": pod}}}
    found = msgspec.convert(body, EtcdCluster)
    assert problems(found) or kept_problems(found, settings_of(found))


# ------------------------------------------------------------ on real etcd
async def _forget(it):
    cluster = await it.get("shop")
    nothing = dict.fromkeys(plain(cluster.status))
    body = MergePatch({"status": nothing})
    await it.client.patch(ETCD_CLUSTERS, it.key("shop"), body, subresource="status")


async def test_sleeper_without_a_status_keeps_its_data(plane):
    """C1: asleep after 3; status emptied; shop-0 starts late: its only copy is wiped today."""
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3)
        await it.ready("shop")
        await it.edit("shop", replicas=0)
        await it.ready("shop")
        before = {c.metadata.name: c.metadata.uid for c in await it.claims("shop")}
        known = (await it.get("shop")).status.last_known_members
        await _forget(it)
        await it.edit("shop", replicas=3)
        for _ in range(1200):
            with suppress(UsageError):
                it.cluster.agent.faults.kill(it.key("shop-0"))
            await asyncio.sleep(0.02)
        await it.ready("shop")
        after = {c.metadata.name: c.metadata.uid for c in await it.claims("shop")}
        ids = {m.id for m in (await it.get("shop")).status.last_known_members}
        assert after["data-shop-0"] == before["data-shop-0"]
        assert known[0].id in ids


async def test_deleted_and_made_again_at_once(plane):
    """C2: fails on the real plane, where the garbage is collected some seconds later."""
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3)
        old = (await it.ready("shop")).status.cluster_id
        await it.delete("shop")
        await it.create("shop", replicas=3)
        assert (await it.ready("shop", within=90)).status.cluster_id != old


async def test_orphaned_and_made_again_grows(plane):
    """C3: claims of the old StatefulSet's template belong to a cluster that is gone."""
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=1)
        await it.ready("shop")
        found = await it.get("shop")
        await it.client.delete(
            ETCD_CLUSTERS, it.key("shop"), uid=found.metadata.uid, propagation=Propagation.ORPHAN
        )
        async with asyncio.timeout(30):
            with suppress(Exception):
                while True:
                    await it.get("shop")
                    await asyncio.sleep(0.1)
        await it.create("shop", replicas=3)
        await it.ready("shop", within=60)


class _NoServices(PassThrough):
    is_on = False

    async def around(self, call, perform):
        if self.is_on and call.writes and call.resource.plural == "services":
            raise Forbidden("admission webhook denied the request: no LoadBalancer here")
        return await perform()


async def test_a_forbidden_service_does_not_stop_repair(plane):
    """C4: a refused Service ends the pass: nothing is healed and the status still says Ready."""
    rule = _NoServices()
    async with world(plane) as it, it.operating(wrap=lambda to: InterceptedClient(to, rule)):
        await it.create("shop", replicas=3, unhealthyMemberGracePeriod="3s")
        await it.ready("shop")
        rule.is_on = True
        await it.edit("shop", serviceTemplate={"spec": {"type": "LoadBalancer"}})
        await it.cluster.agent.faults.wipe(it.key("data-shop-2"))
        it.cluster.agent.faults.kill(it.key("shop-2"))
        before = {m.id for m in (await it.get("shop")).status.last_known_members}
        cluster = await it.until(
            "shop", lambda c: {m.id for m in c.status.last_known_members} != before, within=40
        )
        assert "Forbidden" in told(cluster) or "denied" in told(cluster)


async def test_two_halves_of_the_same_id_are_a_split_brain(plane):
    """C5: each member leads itself, under one cluster id; one's volume is wiped today."""
    from stateward.etcd.objects import WHOLE_CONFIG_MAPS  # noqa: PLC0415

    async with world(plane) as it:
        async with it.operating():
            await it.create("shop", replicas=2, unhealthyMemberGracePeriod="5s")
            await it.ready("shop")
        before = {c.metadata.name: c.metadata.uid for c in await it.claims("shop")}
        force = MergePatch({"data": {"ETCD_FORCE_NEW_CLUSTER": "true"}})
        await it.client.patch(WHOLE_CONFIG_MAPS, it.key("shop-cluster-state"), force)
        for ordinal in (0, 1):
            it.cluster.agent.faults.kill(it.key(f"shop-{ordinal}"))
        await asyncio.sleep(8)
        async with it.operating():
            await asyncio.sleep(12)
            after = {c.metadata.name: c.metadata.uid for c in await it.claims("shop")}
            assert after == before, told(await it.get("shop"))
            assert "SplitBrain" in told(await it.get("shop"))
