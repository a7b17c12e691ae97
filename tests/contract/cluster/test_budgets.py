"""Disruption budgets: what they count, and how many pods may go."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.wire import Wire

LABELS = {"app": "web"}
POD = {"containers": [{"name": "main", "image": "none"}], "terminationGracePeriodSeconds": 0}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": POD}
FIGURES = ("expectedPods", "desiredHealthy", "currentHealthy", "disruptionsAllowed")


def workload(replicas: int, **more: Any) -> dict[str, Any]:
    spec = {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": TEMPLATE}
    return {"metadata": {"name": "web"}, "spec": spec | more}


async def pods_of(wire: Wire, kind: str, replicas: int, ready: int) -> list[str]:
    """Create pods, by a controller or bare, and have the first of them be ready."""
    if kind == "pods":
        for number in range(replicas):
            body = {"metadata": {"name": f"web-{number}", "labels": LABELS}, "spec": POD}
            (await wire.post("pods", body)).made()
    else:
        more = {"podManagementPolicy": "Parallel"} if kind == "statefulsets" else {}
        (await wire.post(kind, workload(replicas, **more))).made()

    async def all_there() -> list[str] | None:
        names = (await wire.get("pods")).names
        return sorted(names) if len(names) == replicas else None

    names: list[str] = await wire.until(all_there)
    for name in names[:ready]:
        await get_ready(wire, name)
    return names


async def get_ready(wire: Wire, name: str, status: str = "True") -> None:
    said = {"type": "Ready", "status": status}
    body = {"status": {"phase": "Running", "conditions": [said]}}
    (await wire.patch(f"pods/{name}/status", body, "strategic")).ok()


async def budget(wire: Wire, **spec: Any) -> None:
    body = {"metadata": {"name": "b"}, "spec": {"selector": {"matchLabels": LABELS}, **spec}}
    (await wire.post("poddisruptionbudgets", body)).made()


async def figures(wire: Wire, expected: str) -> None:
    """Wait until a budget says this: expected, desired, healthy and allowed pods."""
    last = ""

    async def same() -> bool:
        nonlocal last
        status = (await wire.get("poddisruptionbudgets/b"))["status"] or {}
        last = " ".join(str(status.get(name)) for name in FIGURES)
        return last == expected

    try:
        await wire.until(same)
    except TimeoutError:
        assert last == expected, last


async def condition(wire: Wire) -> dict[str, Any]:
    async def said() -> Any:
        return (await wire.get("poddisruptionbudgets/b"))["status.conditions.0"]

    found: dict[str, Any] = await wire.until(said)
    return found


@pytest.mark.parametrize(
    ("kind", "spec", "ready", "says"),
    [
        ("statefulsets", {"minAvailable": 2}, 3, "3 2 3 1"),
        ("statefulsets", {"minAvailable": 2}, 1, "3 2 1 0"),
        ("statefulsets", {"minAvailable": "50%"}, 3, "3 2 3 1"),
        ("statefulsets", {"maxUnavailable": 1}, 3, "3 2 3 1"),
        ("statefulsets", {"maxUnavailable": 1}, 2, "3 2 2 0"),
        ("statefulsets", {"maxUnavailable": "50%"}, 3, "3 1 3 2"),
        ("statefulsets", {"maxUnavailable": 0}, 3, "3 3 3 0"),
        ("statefulsets", {"maxUnavailable": 5}, 0, "3 0 0 0"),
        ("statefulsets", {"minAvailable": 5}, 3, "3 5 3 0"),
        ("replicasets", {"minAvailable": "50%"}, 3, "3 2 3 1"),
        ("replicasets", {"maxUnavailable": 1}, 3, "3 2 3 1"),
        ("deployments", {"minAvailable": "50%"}, 3, "3 2 3 1"),
        ("deployments", {"maxUnavailable": "50%"}, 3, "3 1 3 2"),
    ],
)
async def test_what_a_budget_counts(
    wire: Wire, kind: str, spec: dict[str, Any], ready: int, says: str
) -> None:
    await pods_of(wire, kind, 3, ready)

    await budget(wire, **spec)

    await figures(wire, says)


@pytest.mark.parametrize(
    ("spec", "says"), [({"minAvailable": 1}, "2 1 2 1"), ({"minAvailable": 3}, "2 3 2 0")]
)
async def test_bare_pods_are_counted_by_number(wire: Wire, spec: dict[str, Any], says: str) -> None:
    await pods_of(wire, "pods", 2, 2)

    await budget(wire, **spec)

    await figures(wire, says)


@pytest.mark.parametrize("spec", [{"minAvailable": "50%"}, {"maxUnavailable": 1}])
async def test_bare_pods_have_no_owner_who_says_how_many(wire: Wire, spec: dict[str, Any]) -> None:
    await pods_of(wire, "pods", 2, 2)

    await budget(wire, **spec)

    await figures(wire, "0 0 2 0")
    assert (await condition(wire))["reason"] == "InsufficientPods"


async def test_no_pods(wire: Wire) -> None:
    await budget(wire, minAvailable=1)

    await figures(wire, "0 1 0 0")


async def test_a_budget_says_what_it_has_seen(wire: Wire) -> None:
    await pods_of(wire, "statefulsets", 2, 2)
    await budget(wire, minAvailable=1)
    await figures(wire, "2 1 2 1")

    said = await condition(wire)
    found = await wire.get("poddisruptionbudgets/b")
    assert found["status.observedGeneration"] == 1
    assert (said["type"], said["status"], said["reason"]) == (
        "DisruptionAllowed",
        "True",
        "SufficientPods",
    )
    assert said["observedGeneration"] == 1

    (await wire.patch("poddisruptionbudgets/b", {"spec": {"minAvailable": 2}})).ok()
    await figures(wire, "2 2 2 0")
    assert (await wire.get("poddisruptionbudgets/b"))["status.observedGeneration"] == 2
    said = await condition(wire)
    assert (said["status"], said["reason"]) == ("False", "InsufficientPods")


async def test_a_budget_follows_its_pods(wire: Wire) -> None:
    names = await pods_of(wire, "statefulsets", 2, 2)
    await budget(wire, maxUnavailable=1)
    await figures(wire, "2 1 2 1")

    await get_ready(wire, names[0], "False")

    await figures(wire, "2 1 1 0")


async def test_a_budget_follows_the_scale(wire: Wire) -> None:
    await pods_of(wire, "statefulsets", 3, 3)
    await budget(wire, maxUnavailable=1)
    await figures(wire, "3 2 3 1")

    (await wire.patch("statefulsets/web", {"spec": {"replicas": 5}})).ok()

    await figures(wire, "5 4 3 0")


async def test_an_evicted_pod_counts_as_gone(wire: Wire) -> None:
    names = await pods_of(wire, "pods", 2, 2)
    held = {"metadata": {"finalizers": ["example.com/hold"]}}
    (await wire.patch(f"pods/{names[0]}", held)).ok()
    await budget(wire, minAvailable=1)
    await figures(wire, "2 1 2 1")

    (await wire.post(f"pods/{names[0]}/eviction", {"metadata": {"name": names[0]}})).made()

    await figures(wire, "2 1 1 0")
    refused = await wire.post(f"pods/{names[1]}/eviction", {"metadata": {"name": names[1]}})
    refused.refused(429, "TooManyRequests", says="would violate the pod's disruption budget")
    (await wire.patch(f"pods/{names[0]}", {"metadata": {"finalizers": None}})).ok()
    await wire.gone(f"pods/{names[0]}")
    await figures(wire, "1 1 1 0")


async def test_a_pod_that_is_not_ready_may_go(wire: Wire) -> None:
    names = await pods_of(wire, "pods", 2, 1)
    await budget(wire, minAvailable=1)
    await figures(wire, "2 1 1 0")
    (await wire.patch(f"pods/{names[1]}/status", {"status": {"phase": "Running"}})).ok()

    (await wire.post(f"pods/{names[1]}/eviction", {"metadata": {"name": names[1]}})).made()

    await wire.gone(f"pods/{names[1]}")
