"""No field of a cluster is passed over in silence: it does something, or it is said that it does not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fakes.fdb_views import cluster, spec
from stateward.fdb.api import automation, database, options, processes
from stateward.fdb.api import spec as whole
from stateward.fdb.api.unheeded import unheeded
from stateward.fdb.tell.conditions import conditions_of
from stateward.kube.codec import Part

SOURCES = Path(__file__).parents[4] / "src/stateward/fdb"
#: Whoever declares fields, folds older words, or only asks whether they are well said.
DECLARING = {
    "automation.py", "database.py", "defaults.py", "options.py", "processes.py", "rules.py",
    "spec.py", "validation.py",
}  # fmt: skip
#: Fields that nobody asks, and why that is well.
SAID_OTHERWISE = {
    # Folded into today's words before anybody asks.
    "cancel_replacements_for_instance", "crash_loop", "headless", "instance_id_prefix",
    "instances_to_remove", "instances_to_remove_without_exclusion", "synronization_mode",
    "tester", "use_management_api", "use_unified_image", "services",
    # Their own descriptions say that they change nothing.
    "cache_database_status_for_reconciliation", "filter_on_owner_reference", "immutable",
    "use_explicit_listen_address", "use_non_blocking_excludes", "api_version", "kind",
    # Go with a field of which it is told that it does nothing yet.
    "allow",
}  # fmt: skip


def fields() -> set[str]:
    modules = (automation, database, options, processes, whole)
    kinds = {
        it
        for module in modules
        for it in vars(module).values()
        if isinstance(it, type) and issubclass(it, Part) and it.__module__ == module.__name__
    }
    counts = {*processes.ProcessCounts.__struct_fields__}  # a table by class, asked as a whole
    return {name for kind in kinds for name in kind.__struct_fields__} - counts


def test_no_field_is_passed_over_in_silence() -> None:
    texts = [
        it.read_text()
        for it in SOURCES.rglob("*.py")
        if it.parent.name != "checks" and not (it.parent.name == "api" and it.name in DECLARING)
    ]
    said = {word for text in texts for word in re.findall(r"\.([a-z][a-z_]+)\b", text)}
    assert fields() - said - SAID_OTHERWISE == set()


#: What is asked for, and which field is named.
LATER: dict[str, tuple[dict[str, Any], str]] = {
    "the management API": ({"automationOptions": {"databaseInteractionMode": "managementapi"}}, "databaseInteractionMode"),
    "an older word for it": ({"automationOptions": {"useManagementAPI": True}}, "databaseInteractionMode"),
    "maintenance of all zones at once": ({"automationOptions": {"deletionMode": "All", "maintenanceModeOptions": {"UseMaintenanceModeChecker": True}}}, "UseMaintenanceModeChecker"),
    "a job, and nothing is replaced": ({"automationOptions": {"replacements": {"cronJob": {}}}}, "cronJob"),
    "where locks are": ({"lockOptions": {"lockKeyPrefix": "/locks"}}, "lockKeyPrefix"),
    "for how long": ({"lockOptions": {"lockDurationMinutes": 20}}, "lockDurationMinutes"),
    "who must not act": ({"lockOptions": {"denyList": [{"id": "dc2"}]}}, "denyList"),
    "a probe of fdbmonitor": ({"imageType": "split", "mainContainer": {"enableLivenessProbe": True}}, "mainContainer"),
    "TLS of a sidecar that answers nobody": ({"sidecarContainer": {"enableTls": True}}, "sidecarContainer"),
}  # fmt: skip


@pytest.mark.parametrize("name", LATER)
def test_what_comes_later_is_told(name: str) -> None:
    said, field = LATER[name]
    (found,) = unheeded(spec(**said))
    assert field in found
    told = {it.type: it for it in conditions_of(cluster("s1", **said), [], reconciled=True)}
    assert (told["Heeded"].status, told["Heeded"].reason) == ("False", "ComesLater")
    assert field in told["Heeded"].message
    assert told["Ready"].status == "True"


def test_a_plain_spec_is_heeded_whole() -> None:
    assert unheeded(spec()) == ()
    assert unheeded(spec(imageType="split", sidecarContainer={"enableTls": True})) == ()
    (told,) = (
        it for it in conditions_of(cluster("s1"), [], reconciled=True) if it.type == "Heeded"
    )
    assert told.status == "True"
    assert msgspec.to_builtins(told)["reason"] == "AllHeeded"
