"""What becomes of what a deleted object owned: it goes after it, before it, or stays."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.shapes import HOLD, owner, thing
from contract.kubernetes.wire import Wire

RELEASE: Any = {"metadata": {"finalizers": None}}


async def family(wire: Wire, *finalizers: str, **reference: Any) -> None:
    """Make an owner and what it owns."""
    made = (await wire.post("configmaps", thing("owner"))).made()
    owned = thing("owned", ownerReferences=[owner(made, **reference)], finalizers=list(finalizers))
    (await wire.post("configmaps", owned)).made()


async def is_going(wire: Wire, name: str) -> Any:
    return (await wire.get(f"configmaps/{name}"))["metadata.deletionTimestamp"]


@pytest.mark.parametrize(
    "options", [None, {"propagationPolicy": "Background"}, {"orphanDependents": False}], ids=str
)
async def test_in_the_background_the_owner_goes_first(wire: Wire, options: Any) -> None:
    await family(wire, HOLD)

    gone = (await wire.delete("configmaps/owner", options)).ok()

    assert (gone["kind"], gone["status"]) == ("Status", "Success")
    (await wire.get("configmaps/owner")).refused(404, "NotFound")
    await wire.until(lambda: is_going(wire, "owned"))
    (await wire.patch("configmaps/owned", RELEASE)).ok()
    await wire.gone("configmaps/owned")


async def test_in_the_foreground_the_owner_waits(wire: Wire) -> None:
    await family(wire, HOLD, blockOwnerDeletion=True)

    waiting = (await wire.delete("configmaps/owner", {"propagationPolicy": "Foreground"})).ok()

    assert waiting["metadata.finalizers"] == ["foregroundDeletion"]
    await wire.until(lambda: is_going(wire, "owned"))
    (await wire.get("configmaps/owner")).ok()
    (await wire.patch("configmaps/owned", RELEASE)).ok()
    await wire.gone("configmaps/owner")


async def test_it_waits_only_for_those_who_block(wire: Wire) -> None:
    await family(wire, HOLD)

    (await wire.delete("configmaps/owner", {"propagationPolicy": "Foreground"})).ok()

    await wire.gone("configmaps/owner")
    await wire.until(lambda: is_going(wire, "owned"))
    (await wire.patch("configmaps/owned", RELEASE)).ok()


async def test_who_waits_in_the_foreground_can_be_let_go(wire: Wire) -> None:
    await family(wire, HOLD, blockOwnerDeletion=True)
    (await wire.delete("configmaps/owner", {"propagationPolicy": "Foreground"})).ok()
    await wire.until(lambda: is_going(wire, "owned"))

    (await wire.delete("configmaps/owner", {"propagationPolicy": "Background"})).ok()

    (await wire.get("configmaps/owner")).refused(404, "NotFound")
    (await wire.patch("configmaps/owned", RELEASE)).ok()


@pytest.mark.parametrize(
    "options", [{"propagationPolicy": "Orphan"}, {"orphanDependents": True}], ids=str
)
async def test_orphans_stay_and_forget(wire: Wire, options: Any) -> None:
    await family(wire)

    going = (await wire.delete("configmaps/owner", options)).ok()

    assert going["metadata.finalizers"] == ["orphan"]
    await wire.gone("configmaps/owner")
    assert (await wire.get("configmaps/owned")).ok()["metadata.ownerReferences"] is None


async def test_the_policy_may_be_in_the_query(wire: Wire) -> None:
    await family(wire)

    (await wire.delete("configmaps/owner", propagationPolicy="Orphan")).ok()

    await wire.gone("configmaps/owner")
    (await wire.get("configmaps/owned")).ok()
