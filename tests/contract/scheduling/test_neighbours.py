"""Pods beside pods: near some, far from others, and evenly over zones."""

from __future__ import annotations

from typing import Any

import pytest

from contract.scheduling.stage import HOST, ZONE, Stage, nobody, node

pytestmark = pytest.mark.xdist_group("scheduling")

NOT_NEAR = "node(s) didn't match pod affinity rules"
TOO_NEAR = "node(s) didn't match pod anti-affinity rules"
KEPT_AWAY = "node(s) didn't satisfy existing pods anti-affinity rules"
UNEVEN = "node(s) didn't match pod topology spread constraints"


def term(app: str, key: str = ZONE, **more: Any) -> dict[str, Any]:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **more}


def near(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def far(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def rather(kind: str, wished: dict[str, Any], weight: int = 100) -> dict[str, Any]:
    said = [{"weight": weight, "podAffinityTerm": wished}]
    return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": said}}


def evenly(app: str = "web", key: str = ZONE, **more: Any) -> list[dict[str, Any]]:
    said = {"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    return [said | {"labelSelector": {"matchLabels": {"app": app}}} | more]


async def three_zones(stage: Stage) -> None:
    """Two nodes in the first zone, one in the second one, and one without."""
    await stage.nodes(node("a", "z1"), node("b", "z1"), node("c", "z2"), node("d"))


# ------------------------------------------------------------------ near
async def test_near_by_host(stage: Stage) -> None:
    await three_zones(stage)
    await stage.there("web", "b", app="web")

    await stage.pod(affinity=near(term("web", HOST)))

    assert await stage.placed() == "b"


async def test_near_by_zone(stage: Stage) -> None:
    await stage.nodes(node("a", "z1", has={"pods": "1"}), node("b", "z1"), node("c", "z2"))
    await stage.there("web", "a", app="web")

    await stage.pod(affinity=near(term("web")))

    assert await stage.placed() == "b"


async def test_near_nobody(stage: Stage) -> None:
    await three_zones(stage)

    await stage.pod(affinity=near(term("web")))

    assert await stage.refusal() == nobody(4, f"4 {NOT_NEAR}", hopeless=4)


async def test_the_first_of_a_kind_is_near_itself_where_there_is_a_zone(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b", "z1"))

    await stage.pod(app="web", affinity=near(term("web")))

    assert await stage.placed() == "b"


async def test_near_two_that_are_not_together(stage: Stage) -> None:
    await stage.nodes(node("a", "z1"), node("b", "z2"))
    await stage.there("web", "a", app="web")
    await stage.there("db", "b", app="db")

    await stage.pod(affinity=near(term("web"), term("db")))

    assert await stage.refusal() == nobody(2, f"2 {NOT_NEAR}", hopeless=2)


async def test_near_means_pods_of_ones_own_namespace(stage: Stage) -> None:
    await stage.nodes(node("a", "z1"))
    await stage.there("other", "a", app="db")
    (await stage.wire.post("elsewhere:pods", _elsewhere("a"))).made()

    await stage.pod(affinity=near(term("web")))

    assert await stage.refusal() == nobody(1, f"1 {NOT_NEAR}", hopeless=1)


def _elsewhere(on: str) -> dict[str, Any]:
    spec = {"nodeName": on, "containers": [{"name": "main", "image": "none"}]}
    return {"metadata": {"name": "web", "labels": {"app": "web"}}, "spec": spec}


@pytest.mark.parametrize("how", ["by name", "by label", "all"])
async def test_near_pods_of_another_namespace(stage: Stage, how: str) -> None:
    other = stage.wire.elsewhere
    chosen = {
        "by name": {"namespaces": [other]},
        "by label": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": other}}},
        "all": {"namespaceSelector": {}},
    }
    await stage.nodes(node("a", "z1"), node("b", "z2"))
    (await stage.wire.post("elsewhere:pods", _elsewhere("b"))).made()

    await stage.pod(affinity=near(term("web", **chosen[how])))

    assert await stage.placed() == "b"


async def test_rather_near(stage: Stage) -> None:
    await stage.nodes(node("a", "z1"), node("b", "z2"), node("c", "z3"))
    await stage.there("web", "b", app="web")

    await stage.pod(affinity=rather("podAffinity", term("web")))

    assert await stage.placed() == "b"


async def test_one_who_is_there_may_wish_for_company(stage: Stage) -> None:
    await stage.nodes(node("a", "z1"), node("b", "z2"), node("c", "z3"))
    await stage.there("web", "c", affinity=rather("podAffinity", term("db")))

    await stage.pod(app="db")

    assert await stage.placed() == "c"


# ------------------------------------------------------------------ far
async def test_far_by_host(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b"))
    await stage.there("web", "a", app="web")

    await stage.pod(affinity=far(term("web", HOST)))

    assert await stage.placed() == "b"


async def test_a_node_without_the_label_is_far_from_all(stage: Stage) -> None:
    await three_zones(stage)
    await stage.there("one", "a", app="web")
    await stage.there("two", "c", app="web")

    await stage.pod(affinity=far(term("web")))

    assert await stage.placed() == "d"


async def test_no_node_is_far_enough(stage: Stage) -> None:
    await stage.nodes(node("a", "z1"), node("b", "z1"))
    await stage.there("web", "a", app="web")

    await stage.pod(affinity=far(term("web")))

    assert await stage.refusal() == nobody(2, f"2 {TOO_NEAR}", full=2)


async def test_one_who_is_there_keeps_others_away(stage: Stage) -> None:
    await stage.nodes(node("a", "z1"), node("b", "z1"))
    await stage.there("web", "a", affinity=far(term("db")))

    await stage.pod(app="db")

    assert await stage.refusal() == nobody(2, f"2 {KEPT_AWAY}", full=2)


async def test_two_of_a_kind_that_keep_apart(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b"))
    apart = {"app": "web", "affinity": far(term("web", HOST))}
    await stage.there("one", "a", **apart)
    await stage.pod("two", **apart)

    await stage.pod("three", **apart)

    assert await stage.placed("two") == "b"
    assert await stage.refusal("three") == nobody(2, f"2 {TOO_NEAR}", full=2)


async def test_several_reasons_are_counted_apart(stage: Stage) -> None:
    await stage.nodes(
        node("a", "z1"),
        node("b", "z2", taints=("only=db:NoSchedule",)),
        node("c", "z3", unschedulable=True),
        node("d", "z4", has={"cpu": "1"}),
    )
    await stage.there("web", "a", app="web")

    await stage.pod(affinity=far(term("web")), wants={"cpu": "2"})

    parts = [
        "1 Insufficient cpu",
        f"1 {TOO_NEAR}",
        "1 node(s) had untolerated taint(s)",
        "1 node(s) were unschedulable",
    ]
    assert await stage.refusal() == nobody(4, ", ".join(parts), full=1, hopeless=3)


async def test_rather_far(stage: Stage) -> None:
    await stage.nodes(node("a", "z1"), node("b", "z2"), node("c", "z3"))
    await stage.there("one", "a", app="web")
    await stage.there("two", "c", app="web")

    await stage.pod(affinity=rather("podAntiAffinity", term("web")))

    assert await stage.placed() == "b"


async def test_a_finished_pod_keeps_nobody_away(stage: Stage) -> None:
    await stage.nodes(node("a"))
    await stage.there("web", "a", app="web", affinity=far(term("web", HOST)))
    (await stage.wire.patch("pods/web/status", {"status": {"phase": "Failed"}})).ok()

    await stage.pod(app="web", affinity=far(term("web", HOST)))

    assert await stage.placed() == "a"


# ------------------------------------------------------------------ evenly
@pytest.mark.parametrize(
    ("there", "wants", "goes"),
    [
        ("a", {"topologySpreadConstraints": evenly()}, "c"),
        ("a c", {"topologySpreadConstraints": evenly(key=HOST)}, "b"),
        ("a b", {"topologySpreadConstraints": evenly(maxSkew=2)}, "c"),
        ("a", {"topologySpreadConstraints": evenly(whenUnsatisfiable="ScheduleAnyway")}, "c"),
        (
            "c",
            {"topologySpreadConstraints": evenly(maxSkew=1), "nodeSelector": {ZONE: "z2"}},
            "c",
        ),
    ],
)
async def test_evenly_over_zones(
    stage: Stage, there: str, wants: dict[str, Any], goes: str
) -> None:
    await stage.nodes(node("a", "z1"), node("b", "z1"), node("c", "z2"))
    for number, name in enumerate(there.split()):
        await stage.there(f"web-{number}", name, app="web")

    await stage.pod(app="web", **wants)

    assert await stage.placed() == goes


async def test_as_even_as_it_can_be(stage: Stage) -> None:
    await stage.nodes(node("a", "z1"), node("b", "z2", taints=("only=db:NoSchedule",)))
    await stage.there("web", "a", app="web")

    await stage.pod(app="web", topologySpreadConstraints=evenly())

    why = f"1 {UNEVEN}, 1 node(s) had untolerated taint(s)"
    assert await stage.refusal() == nobody(2, why, full=1, hopeless=1)


async def test_taints_may_count_when_pods_are_spread(stage: Stage) -> None:
    await stage.nodes(node("a", "z1"), node("b", "z2", taints=("only=db:NoSchedule",)))
    await stage.there("web", "a", app="web")

    await stage.pod(app="web", topologySpreadConstraints=evenly(nodeTaintsPolicy="Honor"))

    assert await stage.placed() == "a"


async def test_fewer_zones_than_asked_for(stage: Stage) -> None:
    await stage.nodes(node("a", "z1"), node("b", "z2"))
    await stage.there("one", "a", app="web")
    await stage.there("two", "b", app="web")

    await stage.pod(app="web", topologySpreadConstraints=evenly(minDomains=3))

    assert await stage.refusal() == nobody(2, f"2 {UNEVEN}", full=2)


async def test_a_node_without_the_label_is_no_place_to_be_even(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b"))

    await stage.pod(app="web", topologySpreadConstraints=evenly())

    why = f"2 {UNEVEN} (missing required label)"
    assert await stage.refusal() == nobody(2, why, hopeless=2)


async def test_pods_of_one_owner_are_spread_as_a_matter_of_course(stage: Stage) -> None:
    await stage.nodes(node("a", "z1"), node("b", "z2"), node("c", "z3"))
    labels = {"app": "web"}
    spec = {
        "replicas": 3,
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "main", "image": "none"}]},
        },
    }
    (await stage.wire.post("replicasets", {"metadata": {"name": "web"}, "spec": spec})).made()

    async def nodes() -> set[str] | None:
        pods = (await stage.wire.get("pods")).body["items"]
        found = [it["spec"].get("nodeName") for it in pods]
        return set(found) if len(found) == 3 and all(found) else None

    assert await stage.wire.until(nodes) == {"a", "b", "c"}
