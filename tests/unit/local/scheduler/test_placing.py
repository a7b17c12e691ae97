"""Pods get nodes: worlds in virtual time, with everything that decides."""

from __future__ import annotations

import asyncio

import pytest

from fakes.bench import running, until
from stateward.kube.resources import EVENTS, NODES, PODS, VOLUME_CLAIMS
from stateward.local.catalog import STORAGE_CLASSES
from stateward.local.controllers.desk import Desk
from stateward.local.scheduler import scheduler
from stateward.runtime.telling.metrics import Metrics
from unit.local.controllers.cluster.cluster import Cluster, pod, settled

pytestmark = pytest.mark.virtual

WEB = {"app": "web"}
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": WEB}}
        ]
    }
}
EVENLY = [
    {
        "topologyKey": "topology.kubernetes.io/zone",
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": WEB},
    }
]


async def three() -> Cluster:
    cluster = Cluster()
    for number in "123":
        await cluster.node(f"n{number}", f"z{number}")
    return cluster


async def test_three_pods_lie_in_three_zones():
    cluster = await three()
    async with cluster.works():
        for name in "abc":
            await cluster.pod(name, labels=WEB, topologySpreadConstraints=EVENLY)
        await until(lambda: cluster.placed() == "a:n1 b:n2 c:n3")


async def test_two_pods_placed_in_a_row_see_each_other():
    cluster = await three()
    for name in "abcdef":
        await cluster.pod(name, cpu="1")
    async with cluster.works():
        await settled()
        nodes = sorted(it.split(":")[1] for it in cluster.placed().split())
        assert nodes == ["n1", "n1", "n2", "n2", "n3", "n3"]


async def test_one_too_many_says_why_and_goes_to_the_node_that_joins():
    cluster = await three()
    async with cluster.works():
        for name in "abcd":
            await cluster.pod(name, labels=WEB, affinity=APART)
        await until(lambda: cluster.condition(PODS, "d", "PodScheduled"))
        condition = cluster.condition(PODS, "d", "PodScheduled")
        assert (condition["status"], condition["reason"]) == ("False", "Unschedulable")
        why = "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules. "
        assert condition["message"].startswith(why)
        told = [it.document() for it in cluster.api.store.all(EVENTS.name)]
        assert [it["message"] for it in told if it["reason"] == "FailedScheduling"] == [
            condition["message"]
        ]

        await cluster.node("n4", "z1")
        await until(lambda: "d:n4" in cluster.placed())
        assert cluster.condition(PODS, "d", "PodScheduled").get("status") == "True"
        assert "reason" not in cluster.condition(PODS, "d", "PodScheduled")


async def test_a_pod_that_goes_makes_room():
    cluster = Cluster()
    await cluster.node("n1")
    async with cluster.works():
        await cluster.pod("a", cpu="2")
        await until(lambda: cluster.placed() == "a:n1")
        await cluster.pod("b", cpu="1")
        await until(lambda: cluster.condition(PODS, "b", "PodScheduled"))
        message = cluster.condition(PODS, "b", "PodScheduled")["message"]
        assert message.startswith("0/1 nodes are available: 1 Insufficient cpu. ")
        await cluster.delete(PODS, "a")
        await until(lambda: cluster.placed() == "b:n1")


async def test_a_cordoned_node_is_left_out_until_it_is_not():
    cluster = Cluster()
    await cluster.node("n1", unschedulable=True)
    async with cluster.works():
        await cluster.pod("a")
        await until(lambda: cluster.condition(PODS, "a", "PodScheduled"))
        assert (
            "1 node(s) were unschedulable"
            in cluster.condition(PODS, "a", "PodScheduled")["message"]
        )
        taint = cluster.see(NODES, "n1")["spec"]["taints"][0]
        assert (taint["key"], taint["effect"]) == ("node.kubernetes.io/unschedulable", "NoSchedule")

        await cluster.patch(NODES, "n1", {"spec": {"unschedulable": None}})
        await until(lambda: cluster.placed() == "a:n1")
        assert not cluster.see(NODES, "n1")["spec"].get("taints")


async def test_a_gated_pod_waits_and_somebody_elses_is_left_alone():
    cluster = Cluster()
    await cluster.node("n1")
    async with cluster.works():
        await cluster.pod("gated", schedulingGates=[{"name": "example.com/wait"}])
        await cluster.pod("other", schedulerName="mine")
        await settled()
        assert cluster.placed() == "gated:- other:-"
        assert cluster.condition(PODS, "gated", "PodScheduled")["reason"] == "SchedulingGated"
        assert not cluster.condition(PODS, "other", "PodScheduled")


async def test_without_nodes_it_waits_for_the_first():
    cluster = Cluster()
    async with cluster.works():
        await cluster.pod("a")
        await until(lambda: cluster.condition(PODS, "a", "PodScheduled"))
        assert (
            cluster.condition(PODS, "a", "PodScheduled")["message"]
            == "no nodes available to schedule pods"
        )
        await cluster.node("n1")
        await until(lambda: cluster.placed() == "a:n1")


async def test_a_restarted_scheduler_goes_on():
    cluster = await three()
    for number in range(30):
        await cluster.pod(f"p{number:02}", cpu="100m")
    async with running(cluster.desk.run()):
        while cluster.placed().count(":n") < 10:  # noqa: ASYNC110 - one turn of the loop at a time
            await asyncio.sleep(0)
    assert cluster.placed().count(":n") < 30
    cluster.desk = cluster.new_desk()
    async with cluster.works():
        await until(lambda: cluster.placed().count(":n") == 30)
        counts = [cluster.placed().count(f":n{number}") for number in "123"]
        assert max(counts) - min(counts) <= 1


async def test_a_pod_nobody_can_place_costs_nothing_while_nothing_happens():
    cluster = Cluster()
    await cluster.node("n1", taints=[{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}])
    await cluster.pod("a")
    async with running(cluster.desk.run()):
        await settled(5)
        before = cluster.api.store.revision
        message = cluster.condition(PODS, "a", "PodScheduled")["message"]
        assert message.startswith("0/1 nodes are available: 1 node(s) had untolerated taint(s). ")
        await settled(10)
        assert cluster.api.store.revision == before


async def test_a_pod_that_makes_no_sense_is_told_so_and_holds_up_nobody():
    cluster = Cluster()
    await cluster.node("n1")
    odd = pod("odd", topologySpreadConstraints=[{"maxSkew": 1}])
    odd["metadata"]["uid"] = "odd"
    cluster.api.store.put(
        PODS.name, odd | {"apiVersion": "v1", "kind": "Pod", "status": {"phase": "Pending"}}
    )
    await cluster.pod("sound")
    async with cluster.works():
        await until(lambda: cluster.placed() == "odd:- sound:n1")
        await until(lambda: cluster.condition(PODS, "odd", "PodScheduled"))
        assert (
            "must say where it may run" in cluster.condition(PODS, "odd", "PodScheduled")["message"]
        )


async def test_a_pod_goes_where_its_volume_was_made():
    """A volume that can be reached from everywhere ties nobody: the choice itself has to be kept."""
    cluster = Cluster()
    desk = Desk(cluster.user, cluster.ports, Metrics(cluster.clock))
    scheduler.employ(desk)
    for name in ("n1", "n2"):
        await cluster.node(name)
    await claims(cluster, "data")

    def chosen() -> str:
        notes = cluster.see(VOLUME_CLAIMS, "data")["metadata"].get("annotations", {})
        return str(notes.get("volume.kubernetes.io/selected-node", ""))

    async with running(desk.run()):
        volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
        await cluster.pod("a", volumes=volumes)
        await until(chosen)
        # Meanwhile the chosen node became the worse one, then the volume is there.
        await cluster.pod("b", cpu="1", nodeName=chosen())
        await settled()
        await cluster.patch(VOLUME_CLAIMS, "data", {"spec": {"volumeName": "v"}})
        await cluster.say(VOLUME_CLAIMS, "data", {"status": {"phase": "Bound"}})
        await until(lambda: cluster.see(PODS, "a")["spec"].get("nodeName"))
        assert cluster.see(PODS, "a")["spec"]["nodeName"] == chosen()


async def claims(cluster: Cluster, *names: str) -> None:
    """Make claims whose volumes wait for the first pod."""
    late = {"provisioner": "stateward.dev/local", "volumeBindingMode": "WaitForFirstConsumer"}
    await cluster.user.create(STORAGE_CLASSES, {"metadata": {"name": "fast"}, **late})
    wanted = {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"]}
    size = {"resources": {"requests": {"storage": "1Gi"}}}
    for name in names:
        meta = {"namespace": "shop", "name": name}
        await cluster.user.create(VOLUME_CLAIMS, {"metadata": meta, "spec": wanted | size})


async def test_pods_that_wait_for_their_volumes_see_each_other():
    cluster = await three()
    desk = Desk(cluster.user, cluster.ports, Metrics(cluster.clock))
    scheduler.employ(desk)
    await claims(cluster, *"abc")

    def chosen() -> set[str]:
        notes = [cluster.see(VOLUME_CLAIMS, it)["metadata"].get("annotations", {}) for it in "abc"]
        return {str(it.get("volume.kubernetes.io/selected-node", "")) for it in notes}

    async with running(desk.run()):
        for name in "abc":
            volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]
            await cluster.pod(name, labels=WEB, affinity=APART, volumes=volumes)
        await settled()
        assert chosen() == {"n1", "n2", "n3"}
