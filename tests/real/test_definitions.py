"""Our kinds before every release that we claim: taken to the letter, without a warning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from contract.kubernetes.wire import Wire, wire_to
from stateward.kube.http.access import ClusterAccess

DEFINITIONS = sorted((Path(__file__).parents[2] / "deploy" / "crds").glob("*.yaml"))


@pytest.mark.parametrize("path", DEFINITIONS, ids=lambda path: path.stem)
async def test_a_definition_is_taken_by_every_release(release: ClusterAccess, path: Path) -> None:
    definition: dict[str, Any] = yaml.safe_load(path.read_text())
    name = definition["metadata"]["name"]
    async with wire_to(release) as wire:
        rehearsed = await wire.post(
            "customresourcedefinitions", definition, fieldValidation="Strict", dryRun="All"
        )
        made = await wire.post("customresourcedefinitions", definition, fieldValidation="Strict")
        try:
            assert (rehearsed.made().warnings, made.made().warnings) == ((), ())
            assert await wire.until(lambda: _stands(wire, name)) == {
                "NamesAccepted": "True",
                "Established": "True",
            }
        finally:
            await wire.delete(f"customresourcedefinitions/{name}")


async def _stands(wire: Wire, name: str) -> dict[str, str] | None:
    """Return what a definition says of itself once it is served."""
    found = (await wire.get(f"customresourcedefinitions/{name}"))["status.conditions"] or []
    said = {it["type"]: it["status"] for it in found}
    return said if said.get("Established") == "True" else None
