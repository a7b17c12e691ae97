"""How pods get their nodes and how they end: with grace if a node has to be asked, and by eviction only if a
budget allows it.
"""

from __future__ import annotations

from typing import Any

import pytest

from contract.backends import Kube
from contract.words import Whole, budget, key, names, picture, pod, revision, shown, told, whole
from stateward.core.moments import from_rfc3339
from stateward.kube.client import MergePatch, Propagation
from stateward.kube.codec import Json
from stateward.kube.errors import Conflict, EvictionRefused, Invalid, NotFound, ServerFailed
from stateward.kube.resources import DISRUPTION_BUDGETS, PODS

ALL = whole(PODS)
HOLD = ["example.com/hold"]
LABELS = {"app": "shop"}


async def born(kube: Kube, name: str = "a", *, node: str = "", **metadata: Any) -> Whole:
    return await kube.client.create(ALL, pod(kube, name, node=node, **metadata))


async def delete(kube: Kube, it: Whole, grace: int | None = None, **options: Any) -> None:
    await kube.client.delete(
        PODS, it.metadata.key, uid=it.metadata.uid, grace_seconds=grace, **options
    )


async def runs(kube: Kube, it: Whole, *, phase: str = "Running", ready: bool = True) -> Whole:
    """Say of a pod what a node would."""
    is_it = "True" if ready else "False"
    since = "2026-01-01T00:00:00Z"
    condition = {"type": "Ready", "status": is_it, "lastTransitionTime": since}
    status = MergePatch({"status": {"phase": phase, "conditions": [condition]}})
    return await kube.client.patch(ALL, it.metadata.key, status, subresource="status")


async def grace(kube: Kube, name: str = "a") -> int | None:
    return (await kube.client.get(ALL, key(kube, name))).metadata.deletion_grace_period_seconds


def counted(made: Whole, generation: int) -> int:
    """Return a generation of a pod; before 1.33 pods had none."""
    return generation if made.metadata.generation else 0


# ------------------------------------------------------------------ grace
async def test_a_pod_on_no_node_goes_at_once(kube: Kube) -> None:
    await delete(kube, await born(kube))

    assert await names(kube, PODS) == []


async def test_but_it_is_seen_going(kube: Kube) -> None:
    since = await revision(kube, PODS)
    await delete(kube, await born(kube))
    await delete(kube, await born(kube, "z"))

    events = await told(kube, since, resource=PODS, last="z")

    assert picture(events) == ["ADDED a", "MODIFIED a", "DELETED a"]
    assert [it.object.metadata.deleting for it in events] == [False, True, True]


async def test_a_pod_on_a_node_gets_time(kube: Kube) -> None:
    made = await born(kube, node="n1")

    await delete(kube, made, 20)

    going = (await kube.client.get(ALL, key(kube, "a"))).metadata
    assert going.deletion_grace_period_seconds == 20
    assert going.deletion_timestamp is not None
    # The time at which it should be gone, not the time of the request.
    left = from_rfc3339(going.deletion_timestamp) - from_rfc3339(made.metadata.creation_timestamp)
    assert 20 <= left < 80
    assert going.generation == counted(made, 2)


async def test_who_does_not_say_how_much_gives_what_the_pod_wants(kube: Kube) -> None:
    body = pod(kube, "a", node="n1")
    body["spec"]["terminationGracePeriodSeconds"] = 7
    made = await kube.client.create(ALL, body)

    await delete(kube, made)

    assert await grace(kube) == 7


async def test_and_pods_want_half_a_minute(kube: Kube) -> None:
    await delete(kube, await born(kube, node="n1"))

    assert await grace(kube) == 30


async def test_a_negative_grace_is_a_second(kube: Kube) -> None:
    await delete(kube, await born(kube, node="n1"), -5)

    assert await grace(kube) == 1


async def test_no_grace_ends_a_pod_whatever_its_node_does(kube: Kube) -> None:
    await delete(kube, await born(kube, node="n1"), 0)

    assert await names(kube, PODS) == []


async def test_when_the_node_has_ended_it_it_goes(kube: Kube) -> None:
    made = await born(kube, node="n1")
    await delete(kube, made)

    await delete(kube, made, 0)

    assert await names(kube, PODS) == []


@pytest.mark.parametrize(("second", "left"), [(5, 5), (30, 20), (20, 20), (None, 20)], ids=shown)
async def test_grace_can_only_be_shortened(kube: Kube, second: int | None, left: int) -> None:
    made = await born(kube, node="n1")
    await delete(kube, made, 20)
    before = await kube.client.get(ALL, key(kube, "a"))

    await delete(kube, made, second)

    now = await kube.client.get(ALL, key(kube, "a"))
    assert now.metadata.deletion_grace_period_seconds == left
    assert now.metadata.generation == before.metadata.generation == counted(made, 2)
    earlier = from_rfc3339(before.metadata.deletion_timestamp or "") - (20 - left)
    assert from_rfc3339(now.metadata.deletion_timestamp or "") == earlier


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
async def test_a_pod_that_has_ended_goes_at_once(kube: Kube, phase: str) -> None:
    made = await runs(kube, await born(kube, node="n1"), phase=phase)

    await delete(kube, made)

    assert await names(kube, PODS) == []


async def test_a_finalizer_outlasts_grace(kube: Kube) -> None:
    made = await born(kube, node="n1", finalizers=HOLD)
    await delete(kube, made)
    await delete(kube, made, 0)

    assert await grace(kube) == 0
    await kube.client.patch(PODS, made.metadata.key, MergePatch({"metadata": {"finalizers": None}}))
    assert await names(kube, PODS) == []


async def test_grace_outlasts_a_finalizer(kube: Kube) -> None:
    made = await born(kube, node="n1", finalizers=HOLD)
    await delete(kube, made)

    now = await kube.client.patch(
        PODS, made.metadata.key, MergePatch({"metadata": {"finalizers": None}})
    )

    assert now.metadata.deleting
    assert await names(kube, PODS) == ["a"]


async def test_how_dependents_go_is_said_once(kube: Kube) -> None:
    made = await born(kube, node="n1")
    await delete(kube, made)

    await delete(kube, made, propagation=Propagation.FOREGROUND)

    assert (await kube.client.get(PODS, key(kube, "a"))).metadata.finalizers == ()


# ------------------------------------------------------------------ binding
async def test_a_pod_gets_its_node(kube: Kube) -> None:
    made = await born(kube)

    await kube.client.bind(made.metadata.key, "n1", uid=made.metadata.uid)

    bound = await kube.client.get(ALL, key(kube, "a"))
    assert bound.spec["nodeName"] == "n1"
    assert [(it["type"], it["status"]) for it in bound.status["conditions"]] == [
        ("PodScheduled", "True")
    ]
    assert bound.metadata.generation == made.metadata.generation


async def test_a_pod_stays_on_its_node(kube: Kube) -> None:
    made = await born(kube)
    await kube.client.bind(made.metadata.key, "n1", uid=made.metadata.uid)

    for node in ("n1", "n2"):
        with pytest.raises(Conflict, match='already assigned to node "n1"'):
            await kube.client.bind(made.metadata.key, node, uid=made.metadata.uid)


async def test_a_successor_is_not_bound(kube: Kube) -> None:
    await born(kube)

    with pytest.raises(Conflict):
        await kube.client.bind(key(kube, "a"), "n1", uid="the-one-of-yesterday")

    assert "nodeName" not in (await kube.client.get(ALL, key(kube, "a"))).spec


async def test_a_leaving_pod_gets_no_node(kube: Kube) -> None:
    made = await born(kube, finalizers=HOLD)
    await delete(kube, made)

    with pytest.raises(Conflict, match="is being deleted"):
        await kube.client.bind(made.metadata.key, "n1", uid=made.metadata.uid)
    await kube.client.patch(PODS, made.metadata.key, MergePatch({"metadata": {"finalizers": None}}))


async def test_nobody_gets_no_node(kube: Kube) -> None:
    with pytest.raises(NotFound):
        await kube.client.bind(key(kube, "none"), "n1", uid="any")


async def test_a_node_is_not_written(kube: Kube) -> None:
    await born(kube)

    with pytest.raises(Invalid, match="pod updates may not change fields other than"):
        await kube.client.patch(PODS, key(kube, "a"), MergePatch({"spec": {"nodeName": "n1"}}))


# ------------------------------------------------------------------ eviction
async def guard(kube: Kube, name: str = "guard", *, healthy: int, allowed: int) -> None:
    """Make a budget for one pod of the shop, and say of it what the cluster's controller would."""
    body = budget(kube, name, LABELS, least=healthy - allowed)
    made = await kube.client.create(whole(DISRUPTION_BUDGETS), body)
    status = {
        "observedGeneration": 1,
        "currentHealthy": healthy,
        "desiredHealthy": healthy - allowed,
        "disruptionsAllowed": allowed,
        "expectedPods": healthy,
    }
    await kube.client.patch(
        DISRUPTION_BUDGETS, made.metadata.key, MergePatch({"status": status}), subresource="status"
    )


async def evict(kube: Kube, it: Whole) -> None:
    await kube.client.evict(it.metadata.key, uid=it.metadata.uid)


async def test_without_a_budget_eviction_is_deletion(kube: Kube) -> None:
    await evict(kube, await runs(kube, await born(kube)))

    assert await names(kube, PODS) == []


async def test_an_evicted_pod_on_a_node_gets_its_time_and_knows_why(kube: Kube) -> None:
    made = await runs(kube, await born(kube, node="n1"))

    await evict(kube, made)

    going = await kube.client.get(ALL, key(kube, "a"))
    assert going.metadata.deletion_grace_period_seconds == 30
    why = {it["type"]: it.get("reason") for it in going.status["conditions"]}
    assert why["DisruptionTarget"] == "EvictionByEvictionAPI"


async def test_a_spent_budget_keeps_a_pod(kube: Kube) -> None:
    made = await runs(kube, await born(kube, labels=LABELS))
    await guard(kube, healthy=1, allowed=0)

    with pytest.raises(EvictionRefused) as refusal:
        await evict(kube, made)

    assert refusal.value.code == 429
    assert [cause.reason for cause in refusal.value.causes] == ["DisruptionBudget"]
    assert not (await kube.client.get(PODS, key(kube, "a"))).metadata.deleting


async def test_a_budget_with_room_pays_for_one(kube: Kube) -> None:
    made = await runs(kube, await born(kube, labels=LABELS))
    await guard(kube, healthy=1, allowed=1)

    await evict(kube, made)

    assert await names(kube, PODS) == []


async def test_a_budget_of_other_pods_does_not_matter(kube: Kube) -> None:
    made = await runs(kube, await born(kube, labels={"app": "another"}))
    await guard(kube, healthy=1, allowed=0)

    await evict(kube, made)

    assert await names(kube, PODS) == []


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
async def test_a_pod_that_does_not_run_needs_no_budget(kube: Kube, phase: str) -> None:
    made = await runs(kube, await born(kube, labels=LABELS), phase=phase, ready=False)
    await guard(kube, healthy=1, allowed=0)

    await evict(kube, made)

    assert await names(kube, PODS) == []


async def test_a_leaving_pod_needs_no_budget(kube: Kube) -> None:
    made = await runs(kube, await born(kube, node="n1", labels=LABELS))
    await guard(kube, healthy=1, allowed=0)
    await delete(kube, made)

    await evict(kube, made)

    assert await grace(kube) == 30


async def test_two_budgets_are_one_too_many(kube: Kube) -> None:
    made = await runs(kube, await born(kube, labels=LABELS))
    await guard(kube, "one", healthy=1, allowed=1)
    await guard(kube, "two", healthy=1, allowed=1)

    with pytest.raises(ServerFailed):
        await evict(kube, made)

    assert await names(kube, PODS) == ["a"]


async def test_nobody_cannot_be_evicted(kube: Kube) -> None:
    with pytest.raises(NotFound):
        await kube.client.evict(key(kube, "none"), uid="any")


async def test_a_successor_is_not_evicted(kube: Kube) -> None:
    await runs(kube, await born(kube))

    with pytest.raises(Conflict):
        await kube.client.evict(key(kube, "a"), uid="the-one-of-yesterday")

    assert await names(kube, PODS) == ["a"]


@pytest.mark.parametrize("labels", [{"app": "shop"}, {}], ids=["its own", "everybody's"])
async def test_whom_a_selector_guards(kube: Kube, labels: Json) -> None:
    made = await runs(kube, await born(kube, labels=LABELS))
    await kube.client.create(DISRUPTION_BUDGETS, budget(kube, "guard", labels))
    status = {"observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    await kube.client.patch(
        DISRUPTION_BUDGETS,
        key(kube, "guard"),
        MergePatch({"status": status | {"disruptionsAllowed": 0}}),
        subresource="status",
    )

    with pytest.raises(EvictionRefused):
        await evict(kube, made)
