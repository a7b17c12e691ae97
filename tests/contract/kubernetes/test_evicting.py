"""Eviction: deletion that asks a budget first."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.shapes import LABELS, NODE, SELECTOR, pod, thing
from contract.kubernetes.wire import Wire

REFUSAL = "Cannot evict pod as it would violate the pod's disruption budget."


def eviction(name: str = "a", **options: Any) -> Any:
    return {"metadata": {"name": name}, "deleteOptions": options}


async def runs(
    wire: Wire, name: str = "a", *, phase: str = "Running", ready: bool = True, **spec: Any
) -> None:
    """Make a pod and say of it what a node would."""
    (await wire.post("pods", pod(name, labels=LABELS, **spec))).made()
    await say(wire, name, phase=phase, ready=ready)


async def say(wire: Wire, name: str = "a", *, phase: str = "Running", ready: bool) -> None:
    condition = {"type": "Ready", "status": "True" if ready else "False"}
    status = {"status": {"phase": phase, "conditions": [condition]}}
    (await wire.patch(f"pods/{name}/status", status)).ok()


async def guarded(wire: Wire, name: str = "guard", pods: int = 1, **spec: Any) -> None:
    """Make a budget that keeps one pod, and wait until it counts them."""
    body = thing(name, spec={"minAvailable": 1, "selector": SELECTOR, **spec})
    (await wire.post("poddisruptionbudgets", body)).made()
    await counted(wire, name, expectedPods=pods)


async def counted(wire: Wire, name: str = "guard", **status: int) -> None:
    async def counts() -> bool:
        found = await wire.get(f"poddisruptionbudgets/{name}")
        seen = found["status.observedGeneration"] == found["metadata.generation"]
        return seen and all(found[f"status.{key}"] == value for key, value in status.items())

    await wire.until(counts)


async def test_without_a_budget_it_is_a_deletion(wire: Wire) -> None:
    await runs(wire)

    done = (await wire.post("pods/a/eviction", eviction())).made()

    assert (done["kind"], done["status"], done["code"]) == ("Status", "Success", 201)
    (await wire.get("pods/a")).refused(404, "NotFound")


async def test_a_pod_on_a_node_is_told_why_and_gets_its_time(wire: Wire) -> None:
    await runs(wire, nodeName=NODE)

    (await wire.post("pods/a/eviction", eviction(gracePeriodSeconds=15))).made()

    found = (await wire.get("pods/a")).ok()
    assert found["metadata.deletionGracePeriodSeconds"] == 15
    (why,) = (it for it in found["status.conditions"] if it["type"] == "DisruptionTarget")
    assert (why["status"], why["reason"]) == ("True", "EvictionByEvictionAPI")
    assert why["message"] == "Eviction API: evicting"
    (await wire.delete("pods/a", gracePeriodSeconds=0)).ok()


@pytest.mark.parametrize("query", [{}, {"dryRun": "All"}], ids=["in its options", "in the query"])
async def test_an_eviction_can_be_rehearsed(wire: Wire, query: Any) -> None:
    await runs(wire)
    options = {} if query else {"dryRun": ["All"]}

    (await wire.post("pods/a/eviction", eviction(**options), **query)).made()

    assert (await wire.get("pods/a")).ok()["metadata.deletionTimestamp"] is None


async def test_a_spent_budget_refuses(wire: Wire) -> None:
    await runs(wire)
    await guarded(wire)

    answer = await wire.post("pods/a/eviction", eviction())

    answer.refused(429, "TooManyRequests", "DisruptionBudget", says=REFUSAL)
    (cause,) = answer["details.causes"]
    assert (
        cause["message"] == "The disruption budget guard needs 1 healthy pods and has 1 currently"
    )
    assert "Retry-After" not in answer.headers
    (await wire.get("pods/a")).ok()


async def test_also_when_it_is_rehearsed(wire: Wire) -> None:
    await runs(wire)
    await guarded(wire)

    answer = await wire.post("pods/a/eviction", eviction(dryRun=["All"]))

    answer.refused(429, "TooManyRequests", "DisruptionBudget", says=REFUSAL)


async def test_a_budget_with_room_pays(wire: Wire) -> None:
    for name in "ab":
        await runs(wire, name, nodeName=NODE)
    await guarded(wire, pods=2)
    await counted(wire, disruptionsAllowed=1)

    (await wire.post("pods/a/eviction", eviction())).made()
    second = await wire.post("pods/b/eviction", eviction("b"))

    second.refused(429, "TooManyRequests", "DisruptionBudget", says=REFUSAL)
    for name in "ab":
        (await wire.delete(f"pods/{name}", gracePeriodSeconds=0)).ok()


async def test_two_budgets_are_one_too_many(wire: Wire) -> None:
    await runs(wire)
    await guarded(wire, "one")
    await guarded(wire, "two")

    answer = await wire.post("pods/a/eviction", eviction())

    assert answer.code == 500
    why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    assert answer["message"] == why


@pytest.mark.parametrize(("policy", "code"), [("IfHealthyBudget", 429), ("AlwaysAllow", 201)])
async def test_who_is_not_ready_may_go_if_the_budget_says_so(
    wire: Wire, policy: str, code: int
) -> None:
    await runs(wire, ready=False)
    await guarded(wire, unhealthyPodEvictionPolicy=policy)
    await counted(wire, currentHealthy=0)

    answer = await wire.post("pods/a/eviction", eviction())

    assert answer.code == code, answer.body
    says = "The disruption budget guard needs 1 healthy pods and has 0 currently"
    assert code == 201 or answer["details.causes.0.message"] == says


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
async def test_who_does_not_run_goes(wire: Wire, phase: str) -> None:
    await runs(wire, phase=phase, ready=False)
    body = thing("guard", spec={"minAvailable": 1, "selector": SELECTOR})
    (await wire.post("poddisruptionbudgets", body)).made()

    (await wire.post("pods/a/eviction", eviction())).made()

    (await wire.get("pods/a")).refused(404, "NotFound")


@pytest.mark.parametrize("name", ["b", ""], ids=["another", "none"])
async def test_the_name_must_be_the_same(wire: Wire, name: str) -> None:
    await runs(wire)

    answer = await wire.post("pods/a/eviction", {"metadata": {"name": name} if name else {}})

    answer.refused(400, "BadRequest", says="name in URL does not match name in Eviction object")


async def test_an_eviction_may_insist_on_a_pod(wire: Wire) -> None:
    await runs(wire)

    answer = await wire.post("pods/a/eviction", eviction(preconditions={"uid": "x"}))

    says = (
        'Operation cannot be fulfilled on Pod "a": the UID in the precondition (x) does not match'
    )
    answer.refused(409, "Conflict", says=says)


async def test_nobody_cannot_be_evicted(wire: Wire) -> None:
    answer = await wire.post("pods/none/eviction", eviction("none"))

    answer.refused(404, "NotFound", says='pods "none" not found')


async def test_an_eviction_cannot_be_read(wire: Wire) -> None:
    await runs(wire)

    (await wire.get("pods/a/eviction")).refused(405, "MethodNotAllowed")


@pytest.mark.parametrize(
    ("spec", "cause"),
    [
        ({"minAvailable": 1, "maxUnavailable": 1}, "FieldValueInvalid spec"),
        ({"minAvailable": -1}, "FieldValueInvalid spec.minAvailable"),
        ({"minAvailable": "150%"}, "FieldValueInvalid spec.minAvailable"),
        ({"maxUnavailable": "many"}, "FieldValueInvalid spec.maxUnavailable"),
        (
            {"unhealthyPodEvictionPolicy": "Never"},
            "FieldValueNotSupported spec.unhealthyPodEvictionPolicy",
        ),
    ],
    ids=str,
)
async def test_a_budget_must_make_sense(wire: Wire, spec: Any, cause: str) -> None:
    answer = await wire.post("poddisruptionbudgets", thing(spec={"selector": SELECTOR, **spec}))

    answer.refused(422, "Invalid", cause)
