"""Odd documents are refused with a documented error, and nothing that is kept can be stuck for ever."""

from __future__ import annotations

import asyncio

import pytest

from stateward.core.chance import Chance
from stateward.core.errors import StatewardError
from stateward.core.ports import Ports
from stateward.kube.client import JsonPatch, MergePatch
from stateward.kube.errors import BadRequest, Invalid, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, DISRUPTION_BUDGETS, PODS
from stateward.local.api import Api
from stateward.local.client import MemoryClient
from stateward.sim.loop import SimClock

pytestmark = pytest.mark.virtual

POD = ObjectKey("n", "p")
ON_A_NODE = {"nodeName": "x"}
REFUSALS = (BadRequest, Invalid)


def client() -> MemoryClient:
    return MemoryClient(Api(Ports(SimClock(asyncio.get_running_loop()), Chance(0))))


def pod(**parts: object) -> dict[str, object]:
    return {"metadata": {"namespace": "n", "name": "p"}, **parts}


@pytest.mark.parametrize(
    "odd",
    [
        pod(spec=[1]),
        pod(spec={"nodeName": "x", "terminationGracePeriodSeconds": "9"}),
        pod(spec={"nodeName": "x", "terminationGracePeriodSeconds": 10**12}),
        {"metadata": 5},
        {"metadata": []},
        {"metadata": {"namespace": "n", "name": "p", "ownerReferences": [{"uid": {}}]}},
        {"metadata": {"namespace": "n", "name": "p", "labels": {"a": 1}}},
        pod(spec={"text": "\ud800"}),
    ],
    ids=repr,
)
async def test_odd_pods_are_refused(odd):
    kube = client()
    with pytest.raises(REFUSALS):
        await kube.create(PODS, odd)
    assert (await kube.list(PODS)).items == ()


@pytest.mark.parametrize(
    "status", ["x", {"phase": ["a"]}, {"conditions": [{}]}, {"conditions": [1]}], ids=repr
)
async def test_odd_statuses_are_refused_and_the_pod_can_still_go(status):
    kube = client()
    made = await kube.create(PODS, pod(spec=ON_A_NODE))
    with pytest.raises(REFUSALS):
        await kube.patch(PODS, POD, MergePatch({"status": status}), subresource="status")
    await kube.evict(POD, uid=made.metadata.uid)
    await kube.delete(PODS, POD, uid=made.metadata.uid, grace_seconds=0)
    with pytest.raises(NotFound):
        await kube.get(PODS, POD)


@pytest.mark.parametrize(
    "parts", [{}, {"spec": None}, {"status": None}, {"spec": ON_A_NODE}], ids=repr
)
async def test_what_is_null_is_not_there(parts):
    kube = client()
    made = await kube.create(PODS, pod(**parts))
    await kube.delete(PODS, POD, uid=made.metadata.uid, grace_seconds=10**15)


@pytest.mark.parametrize(
    "spec",
    [
        {"selector": "x"},
        {"selector": {"matchLabels": 3}},
        {"selector": {"matchExpressions": [{}]}},
        "s",
    ],
    ids=repr,
)
async def test_an_odd_budget_is_refused_and_blocks_nobody(spec):
    kube = client()
    made = await kube.create(PODS, pod(spec=ON_A_NODE))
    budget = {"metadata": {"namespace": "n", "name": "b"}, "spec": spec}
    with pytest.raises(REFUSALS):
        await kube.create(DISRUPTION_BUDGETS, budget)
    await kube.evict(POD, uid=made.metadata.uid)


@pytest.mark.parametrize(
    "operation", ["x", None, {"op": ["a"], "path": ""}, {"op": "add"}], ids=repr
)
async def test_odd_patches_are_refused(operation):
    kube = client()
    await kube.create(PODS, pod())
    with pytest.raises(StatewardError):
        await kube.patch(PODS, POD, JsonPatch((operation,)))


async def test_nesting_without_end_is_refused():
    deep: dict[str, object] = {}
    for _ in range(200_000):
        deep = {"a": deep}
    with pytest.raises(BadRequest):
        await client().create(
            CONFIG_MAPS, {"metadata": {"namespace": "n", "name": "x"}, "data": deep}
        )
