"""How a namespace ends: nothing comes in, everything goes out, and what is held holds it."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.shapes import HOLD, thing
from contract.kubernetes.wire import Answer, Wire


class Third:
    """A namespace that the story itself ends."""

    def __init__(self, wire: Wire) -> None:
        self.name = f"{wire.namespace}-c"
        self.path = f"namespaces/{self.name}"
        self.maps = f"/api/v1/namespaces/{self.name}/configmaps"


async def held(wire: Wire) -> Third:
    """Make a namespace with one thing in it that stays until it is let go."""
    third = Third(wire)
    (await wire.post("namespaces", thing(third.name))).made()
    (await wire.post(third.maps, thing("held", finalizers=[HOLD]))).made()
    return third


async def release(wire: Wire, third: Third) -> None:
    (await wire.patch(f"{third.maps}/held", {"metadata": {"finalizers": None}})).ok()
    await wire.gone(third.path)


async def conditions(wire: Wire, third: Third) -> dict[str, Any]:
    """Wait until it is said what holds a namespace."""

    async def said() -> Any:
        found = {it["type"]: it for it in (await wire.get(third.path))["status.conditions"] or ()}
        remaining = found.get("NamespaceFinalizersRemaining", {})
        return found if remaining.get("status") == "True" else None

    found: dict[str, Any] = await wire.until(said)
    return found


async def test_a_namespace_begins_to_end(wire: Wire) -> None:
    third = await held(wire)

    going = (await wire.delete(third.path)).ok()

    assert going["kind"] == "Namespace"
    assert going["metadata.deletionTimestamp"]
    assert going["metadata.deletionGracePeriodSeconds"] is None
    assert (going["spec.finalizers"], going["status.phase"]) == (["kubernetes"], "Terminating")
    await release(wire, third)


async def test_nothing_comes_into_it(wire: Wire) -> None:
    third = await held(wire)
    (await wire.delete(third.path)).ok()

    late = await wire.post(third.maps, thing("late"))

    says = (
        f'configmaps "late" is forbidden: unable to create new content in namespace {third.name}'
        " because it is being terminated"
    )
    late.refused(403, "Forbidden", "NamespaceTerminating metadata.namespace", says=says)
    assert late["details.causes.0.message"] == f"namespace {third.name} is being terminated"
    await release(wire, third)


async def test_what_is_in_it_goes(wire: Wire) -> None:
    third = await held(wire)
    (await wire.post(third.maps, thing("free"))).made()

    (await wire.delete(third.path)).ok()

    await wire.gone(f"{third.maps}/free")
    assert (await wire.get(f"{third.maps}/held")).ok()["metadata.deletionTimestamp"]
    await release(wire, third)
    (await wire.post(third.maps, thing())).refused(
        404, "NotFound", says=f'namespaces "{third.name}" not found'
    )


async def test_what_is_going_can_still_be_changed(wire: Wire) -> None:
    third = await held(wire)
    (await wire.delete(third.path)).ok()

    (await wire.patch(f"{third.maps}/held", {"data": {"x": "y"}})).ok()

    await release(wire, third)


async def test_it_is_said_what_holds_it(wire: Wire) -> None:
    third = await held(wire)
    (await wire.delete(third.path)).ok()

    found = await conditions(wire, third)

    said = {kind: (it["status"], it["reason"], it["message"]) for kind, it in found.items()}
    assert said == {
        "NamespaceDeletionDiscoveryFailure": (
            "False",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        "NamespaceDeletionGroupVersionParsingFailure": (
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        "NamespaceDeletionContentFailure": (
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        "NamespaceContentRemaining": (
            "True",
            "SomeResourcesRemain",
            "Some resources are remaining: configmaps. has 1 resource instances",
        ),
        "NamespaceFinalizersRemaining": (
            "True",
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {HOLD} in 1 resource instances",
        ),
    }
    await release(wire, third)


async def test_asking_again_changes_nothing(wire: Wire) -> None:
    third = await held(wire)
    first = (await wire.delete(third.path)).ok()

    again = (await wire.delete(third.path)).ok()

    assert again["metadata.deletionTimestamp"] == first["metadata.deletionTimestamp"]
    await release(wire, third)


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
async def test_some_stay_for_ever(wire: Wire, name: str) -> None:
    answer = await wire.delete(f"namespaces/{name}")

    answer.refused(
        403,
        "Forbidden",
        says=f'namespaces "{name}" is forbidden: this namespace may not be deleted',
    )


async def test_only_finalize_changes_who_holds_a_namespace(wire: Wire) -> None:
    third = Third(wire)
    kept = ["kubernetes", HOLD]
    (await wire.post("namespaces", thing(third.name, spec={"finalizers": kept}))).made()

    same = (await wire.put(third.path, thing(third.name, spec={"finalizers": []}))).ok()

    assert same["spec.finalizers"] == kept
    (await wire.delete(third.path)).ok()

    async def is_empty() -> bool:
        return (await wire.get(third.path))["spec.finalizers"] == [HOLD]

    await wire.until(is_empty)
    done = await finalized(wire, third)
    assert done.ok()["spec"] == {}
    await wire.gone(third.path)
    (await finalized(wire, third)).refused(404, "NotFound")


async def finalized(wire: Wire, third: Third) -> Answer:
    return await wire.put(f"{third.path}/finalize", thing(third.name, spec={"finalizers": []}))
