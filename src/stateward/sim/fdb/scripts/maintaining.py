"""Zones under maintenance while pods are made anew, and images that become the other type."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Final

from stateward.fdb.api.kind import CLUSTERS
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import NotFound
from stateward.sim.fdb.scripts.kit import (
    KEY,
    KNOB,
    Script,
    Step,
    cluster,
    create,
    edit,
    groups,
    is_settled,
)
from stateward.sim.fdb.world import FdbWorld

#: Longer than it takes: who does not end it waits in vain.
_ON: Final[Json] = {
    "maintenanceModeOptions": {
        "UseMaintenanceModeChecker": True,
        "maintenanceModeTimeSeconds": 3600,
    }
}
_OFF: Final[Json] = {"maintenanceModeOptions": {"UseMaintenanceModeChecker": False}}
_IMAGE: Final = "7.3.69"
_FOREIGN: Final = 900.0


def _is_let_go(it: FdbWorld) -> bool:
    """Tell whether all is as asked, and no zone is on record any more."""
    found = cluster(it)
    return is_settled(it) and found is not None and found.status.maintenance_mode_info is None


def _is_noted(it: FdbWorld) -> bool:
    found = cluster(it)
    return found is not None and found.status.maintenance_mode_info is not None


def _while_others_work() -> Step:
    """Have a person put a zone under maintenance, and another one ask for another image."""

    async def do(it: FdbWorld) -> None:
        zones = [one.status.fault_domain for one in groups(it) if one.status.fault_domain]
        it.notes["zone"] = zone = max(zones, default="nowhere")
        for database in it.realm.databases:
            database.begin_maintenance(zone, _FOREIGN)
        with suppress(NotFound):
            await it.world.client.patch(CLUSTERS, KEY, MergePatch({"spec": {"version": _IMAGE}}))

    return Step(f"others work in a zone, and version {_IMAGE}", do, _is_let_go, quick=3600.0)


SCENARIOS: Final[dict[str, Script]] = {
    "fdb-maintenance": (
        create(automationOptions=_ON),
        replace(edit(version=_IMAGE, until=_is_let_go), quick=2400.0),
    ),
    "fdb-maintenance-others": (create(automationOptions=_ON), _while_others_work()),
    "fdb-maintenance-off": (
        create(automationOptions=_ON),
        edit(version=_IMAGE, until=_is_noted),
        replace(edit(automationOptions=_OFF, until=_is_let_go), quick=2400.0),
    ),
    "fdb-to-unified": (
        create(imageType="split", automationOptions={"maxConcurrentReplacements": 2}),
        replace(edit(imageType="unified"), quick=3600.0),
    ),
    "fdb-to-split": (
        create(imageType="unified"),
        replace(edit(imageType="split", processes=KNOB), quick=3600.0),
    ),
}
