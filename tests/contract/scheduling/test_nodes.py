"""Nodes that a pod asks for, nodes that keep it out, and nodes that are full."""

from __future__ import annotations

from typing import Any

import pytest

from contract.scheduling.stage import ZONE, Stage, nobody, node, nodes_where, on_node

pytestmark = pytest.mark.xdist_group("scheduling")

TAINTED = "node(s) had untolerated taint(s)"
NOT_MEANT = "node(s) didn't match Pod's node affinity/selector"
NOT_NAMED = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
SSD = {"labels": {"disk": "ssd"}}
HDD = {"labels": {"disk": "hdd"}}


def where(key: str, operator: str, *values: str) -> dict[str, Any]:
    expression: dict[str, Any] = {"key": key, "operator": operator}
    return expression | ({"values": list(values)} if values else {})


def rather(*wishes: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    said = [{"weight": it, "preference": {"matchExpressions": [what]}} for it, what in wishes]
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": said}}


def bears(**parts: Any) -> dict[str, Any]:
    return {"tolerations": [parts]}


# ------------------------------------------------------------------ nodes that are asked for
@pytest.mark.parametrize(
    ("wants", "goes"),
    [
        ({"nodeSelector": {"disk": "ssd"}}, "b"),
        ({"nodeSelector": {"disk": "ssd", ZONE: "z2"}}, "b"),
        ({"affinity": nodes_where(where("disk", "In", "ssd", "nvme"))}, "b"),
        ({"affinity": nodes_where(where("disk", "NotIn", "hdd"), where(ZONE, "Exists"))}, "b"),
        ({"affinity": nodes_where(where("disk", "DoesNotExist"))}, "c"),
        ({"affinity": nodes_where(where("size", "Gt", "5"))}, "c"),
        ({"affinity": nodes_where(where("size", "Lt", "5"))}, "a"),
        ({"affinity": on_node("c")}, "c"),
        ({"affinity": rather((1, where("disk", "In", "hdd")))}, "a"),
        ({"affinity": rather((1, where("disk", "Exists")), (9, where("size", "Gt", "5")))}, "c"),
    ],
)
async def test_a_pod_goes_to_the_node_that_it_asks_for(
    stage: Stage, wants: dict[str, Any], goes: str
) -> None:
    await stage.nodes(
        node("a", "z1", labels={"disk": "hdd", "size": "3"}),
        node("b", "z2", labels={"disk": "ssd"}),
        node("c", labels={"size": "10"}),
    )

    await stage.pod(**wants)

    assert await stage.placed() == goes


@pytest.mark.parametrize(
    ("wants", "why"),
    [
        ({"nodeSelector": {"disk": "nvme"}}, f"2 {NOT_MEANT}"),
        ({"affinity": nodes_where(where("disk", "In", "nvme"))}, f"2 {NOT_MEANT}"),
        ({"affinity": nodes_where(where("size", "Gt", "many"))}, f"2 {NOT_MEANT}"),
        ({"affinity": on_node("z")}, f"2 {NOT_NAMED}"),
        (
            {"affinity": on_node("a"), "wants": {"cpu": "5"}},
            f"1 Insufficient cpu, 1 {NOT_NAMED}",
        ),
    ],
)
async def test_nodes_that_are_not_asked_for(stage: Stage, wants: dict[str, Any], why: str) -> None:
    await stage.nodes(node("a", **SSD), node("b", **HDD))

    await stage.pod(**wants)

    assert await stage.refusal() == nobody(2, why, hopeless=2)


async def test_terms_of_an_affinity_are_alternatives(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b", **SSD))
    terms = [
        {"matchExpressions": [where("disk", "In", "nvme")]},
        {"matchExpressions": [where("disk", "In", "ssd")]},
    ]
    required = {"nodeSelectorTerms": terms}

    await stage.pod(
        affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    )

    assert await stage.placed() == "b"


async def test_a_pod_that_names_its_node_asks_nobody(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b", taints=("only=db:NoSchedule",), unschedulable=True))

    await stage.pod(nodeName="b", wants={"cpu": "100"})

    assert await stage.placed() == "b"


# ------------------------------------------------------------------ nodes that keep pods out
@pytest.mark.parametrize(
    ("taint", "wants"),
    [
        ("only=db:NoSchedule", bears(key="only", value="db", effect="NoSchedule")),
        ("only=db:NoSchedule", bears(key="only", operator="Equal", value="db")),
        ("only=db:NoSchedule", bears(key="only", operator="Exists")),
        ("only=db:NoSchedule", bears(operator="Exists")),
        ("only=db:NoExecute", bears(key="only", operator="Exists", effect="NoExecute")),
        ("only:NoSchedule", bears(key="only", operator="Equal")),
        ("only=db:PreferNoSchedule", {}),
    ],
)
async def test_a_taint_that_a_pod_bears(stage: Stage, taint: str, wants: dict[str, Any]) -> None:
    await stage.nodes(node("a", taints=(taint,)))

    await stage.pod(**wants)

    assert await stage.placed() == "a"


@pytest.mark.parametrize(
    ("taint", "wants"),
    [
        ("only=db:NoSchedule", {}),
        ("only=db:NoSchedule", bears(key="only", value="web")),
        ("only=db:NoSchedule", bears(key="other", operator="Exists")),
        ("only=db:NoSchedule", bears(key="only", operator="Exists", effect="NoExecute")),
        ("only=db:NoExecute", {}),
    ],
)
async def test_a_taint_that_keeps_a_pod_out(
    stage: Stage, taint: str, wants: dict[str, Any]
) -> None:
    await stage.nodes(node("a", taints=(taint,)))

    await stage.pod(**wants)

    assert await stage.refusal() == nobody(1, f"1 {TAINTED}", hopeless=1)


async def test_a_node_that_would_rather_not_is_taken_last(stage: Stage) -> None:
    await stage.nodes(
        node("a", taints=("busy:PreferNoSchedule",)),
        node("b"),
        node("c", taints=("busy:PreferNoSchedule",)),
    )

    await stage.pod()

    assert await stage.placed() == "b"


async def test_taints_are_counted_without_their_names(stage: Stage) -> None:
    await stage.nodes(
        node("a", taints=("only=db:NoSchedule", "more=so:NoExecute")),
        node("b", taints=("other=x:NoSchedule",)),
        node("c"),
    )

    await stage.pod(wants={"memory": "9Gi"})

    why = f"1 Insufficient memory, 2 {TAINTED}"
    assert await stage.refusal() == nobody(3, why, hopeless=3)


async def test_a_cordoned_node_takes_nobody(stage: Stage) -> None:
    await stage.nodes(node("a", unschedulable=True), node("b", unschedulable=True))

    await stage.pod()

    assert await stage.refusal() == nobody(2, "2 node(s) were unschedulable", hopeless=2)


async def test_a_pod_may_bear_a_cordon(stage: Stage) -> None:
    await stage.nodes(node("a", unschedulable=True))

    await stage.pod(**bears(key="node.kubernetes.io/unschedulable", operator="Exists"))

    assert await stage.placed() == "a"


# ------------------------------------------------------------------ nodes that are full
INIT = [{"name": "first", "image": "none", "resources": {"requests": {"cpu": "3"}}}]
SIDECAR = [{**INIT[0], "restartPolicy": "Always"}]
GPU = {"resources": {"limits": {"example.com/gpu": "1"}}}
LIMITED = {"resources": {"limits": {"cpu": "3"}}}


@pytest.mark.parametrize(
    ("wants", "why"),
    [
        ({"wants": {"cpu": "3"}}, "1 Insufficient cpu"),
        ({"wants": {"cpu": "2001m"}}, "1 Insufficient cpu"),
        ({"wants": {"memory": "7Gi"}}, "1 Insufficient memory"),
        ({"wants": {"cpu": "3", "memory": "7Gi"}}, "1 Insufficient cpu, 1 Insufficient memory"),
        ({"wants": {"ephemeral-storage": "15Gi"}}, "1 Insufficient ephemeral-storage"),
        ({"main": LIMITED}, "1 Insufficient cpu"),
        ({"initContainers": INIT}, "1 Insufficient cpu"),
        ({"initContainers": SIDECAR, "wants": {"cpu": "1"}}, "1 Insufficient cpu"),
        ({"main": GPU}, "1 Insufficient example.com/gpu"),
    ],
)
async def test_a_node_that_has_not_enough_left(
    stage: Stage, wants: dict[str, Any], why: str
) -> None:
    await stage.nodes(node("a", has={"example.com/gpu": "1"}))
    await stage.there(
        "other", "a", wants={"cpu": "2", "memory": "3Gi", "ephemeral-storage": "10Gi"}
    )
    await stage.there("gpu", "a", main=GPU)

    await stage.pod(**wants)

    assert await stage.refusal() == nobody(1, why, full=1)


async def test_what_exactly_is_left_is_enough(stage: Stage) -> None:
    await stage.nodes(node("a"))
    await stage.there("other", "a", wants={"cpu": "2"})

    await stage.pod(
        wants={"cpu": "2"}, initContainers=[{**INIT[0], "resources": {"requests": {"cpu": "2"}}}]
    )

    assert await stage.placed() == "a"


@pytest.mark.parametrize("resource", ["cpu", "memory", "ephemeral-storage", "example.com/gpu"])
async def test_more_than_a_node_has(stage: Stage, resource: str) -> None:
    await stage.nodes(node("a"))
    many = {resource: "100Gi"}

    await stage.pod(main={"resources": {"requests": many, "limits": many}})

    assert await stage.refusal() == nobody(1, f"1 Insufficient {resource}", hopeless=1)


async def test_a_node_takes_so_many_pods(stage: Stage) -> None:
    await stage.nodes(node("a", has={"pods": "1"}))
    await stage.there("other", "a")

    await stage.pod()

    assert await stage.refusal() == nobody(1, "1 Too many pods", full=1)


async def test_a_finished_pod_uses_nothing(stage: Stage) -> None:
    await stage.nodes(node("a"))
    await stage.there("other", "a", wants={"cpu": "4"})
    (await stage.wire.patch("pods/other/status", {"status": {"phase": "Succeeded"}})).ok()

    await stage.pod(wants={"cpu": "4"})

    assert await stage.placed() == "a"


def listens(port: int, **more: Any) -> dict[str, Any]:
    return {"main": {"ports": [{"containerPort": 80, "hostPort": port, **more}]}}


@pytest.mark.parametrize(
    ("there", "wants"),
    [
        (listens(8080), listens(8080)),
        (listens(8080, hostIP="127.0.0.1"), listens(8080)),
        (listens(8080), listens(8080, hostIP="127.0.0.1")),
        (listens(80), {"main": {"ports": [{"containerPort": 80}]}, "hostNetwork": True}),
    ],
)
async def test_a_port_of_a_node_is_taken_once(
    stage: Stage, there: dict[str, Any], wants: dict[str, Any]
) -> None:
    await stage.nodes(node("a"))
    await stage.there("other", "a", **there)

    await stage.pod(**wants)

    why = "1 node(s) didn't have free ports for the requested pod ports"
    assert await stage.refusal() == nobody(1, why, full=1)


@pytest.mark.parametrize(
    "wants",
    [
        listens(8081),
        listens(8080, protocol="UDP"),
        listens(8080, hostIP="127.0.0.2"),
        {"main": {"ports": [{"containerPort": 8080}]}},
    ],
)
async def test_ports_that_do_not_collide(stage: Stage, wants: dict[str, Any]) -> None:
    await stage.nodes(node("a"))
    await stage.there("other", "a", **listens(8080, hostIP="127.0.0.1"))

    await stage.pod(**wants)

    assert await stage.placed() == "a"


async def test_the_emptier_node_is_better(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b"), node("c"))
    await stage.there("one", "a", wants={"cpu": "2", "memory": "4Gi"})
    await stage.there("two", "c", wants={"cpu": "1", "memory": "2Gi"})

    await stage.pod(wants={"cpu": "1", "memory": "2Gi"})

    assert await stage.placed() == "b"
