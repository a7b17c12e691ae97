"""Our kinds before every release that we claim: taken to the letter, without a warning."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from contract.kubernetes.wire import Wire, wire_to
from stateward.app.kinds import definitions
from stateward.kube.crd.text import to_yaml
from stateward.kube.http.access import ClusterAccess

DEFINITIONS: dict[str, dict[str, Any]] = {
    name.removesuffix(".yaml"): yaml.safe_load(to_yaml(definition))
    for name, definition in definitions().items()
}


def test_there_are_some() -> None:
    assert DEFINITIONS


@pytest.mark.parametrize("name", DEFINITIONS)
async def test_a_definition_is_taken_by_every_release(release: ClusterAccess, name: str) -> None:
    definition = DEFINITIONS[name]
    assert definition["metadata"]["name"] == name
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
