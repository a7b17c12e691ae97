"""Everything that is wrong with what a backup asks of its drills."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stateward.core.quantity import Quantity
from stateward.fdb.api.backups.drill import BackupDrill, Resources
from stateward.fdb.api.backups.kinds import FoundationDBBackup
from stateward.fdb.model.names import LONGEST_DRILLED, drill_name
from stateward.kube.crd.findings import Problem
from stateward.kube.overlays import overlay_problems

_RESOURCES: Final = "io.k8s.api.core.v1.ResourceRequirements"
_WHERE: Final = "spec.drill"


def drill_problems(backup: FoundationDBBackup) -> Iterator[Problem]:
    """Yield all that must be otherwise before a drill can be begun; times are asked elsewhere."""
    asked = backup.spec.drill
    if asked is None:
        return
    if backup.spec.backup_type == "unmanaged":
        hint = "say it of the object that makes the backup"
        yield Problem(_WHERE, "must not be given with backupType: unmanaged", hint)
    yield from _name_problems(backup.metadata.name)
    yield from _size_problems(asked)
    if asked.resources is not None:
        yield from _resource_problems(asked.resources)


def _name_problems(name: str) -> Iterator[Problem]:
    hint = f"pods and services of its throw-away cluster are named after {drill_name(name)}"
    if len(name) > LONGEST_DRILLED:
        words = f"must be at most {LONGEST_DRILLED} characters long with spec.drill"
        yield Problem("metadata.name", f"{words}, got {len(name)}", hint)
    elif name[:1].isdigit():
        words = "must begin with a letter with spec.drill, as services do"
        yield Problem("metadata.name", f"{words}, got {name!r}", hint)


def _size_problems(asked: BackupDrill) -> Iterator[Problem]:
    where = f"{_WHERE}.storage"
    if asked.storage is None:
        return
    try:
        size = Quantity.parse(str(asked.storage))
    except ValueError as error:
        yield Problem(where, str(error), "as in 100Gi")
        return
    if size.nano <= 0:
        yield Problem(where, f"must be more than nothing, got {asked.storage}", "as in 100Gi")


def _resource_problems(asked: Resources) -> Iterator[Problem]:
    where = f"{_WHERE}.resources"
    found = list(overlay_problems(asked, _RESOURCES, where))
    yield from (Problem(it.path, it.message) for it in found)
    if asked.get("claims"):
        yield Problem(f"{where}.claims", "must not be given: a throw-away pod has no such claims")
    if found:
        return
    requests, limits = _amounts(asked, "requests"), _amounts(asked, "limits")
    for name in sorted(requests.keys() & limits.keys()):
        if requests[name] > limits[name]:
            words = f"must not be below requests, got {asked['limits'][name]}"
            yield Problem(f"{where}.limits.{name}", words)


def _amounts(asked: Resources, field: str) -> dict[str, Quantity]:
    said: dict[str, Any] = asked.get(field) or {}
    return {name: Quantity.parse(str(it)) for name, it in said.items()}
