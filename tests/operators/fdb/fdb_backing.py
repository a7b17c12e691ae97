"""Backups and restores of a cluster, as somebody with kubectl asks for them and sees them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from local.clusters import processes_with
from operators.fdb.fdb_hands import CLUSTER
from operators.fdb.fdb_person import Person
from operators.fdb.fdb_worlds import PACE, PACE_VARIABLE, PATIENCE, VERSION
from stateward.fdb.backups import assembling, controller, telling
from stateward.fdb.backups.restores import controller as restores
from stateward.fdb.backups.steps import drill_backup, leave_backup
from stateward.fdb.decide.backups import backing, drilling, restoring
from stateward.kube.codec import Json

#: Where it stands for how many seconds nobody looks again, or tells again.
_LOOKS: Final = (
    (assembling, "_LOOK_AGAIN"),
    (controller, "TOLD_EVERY"),
    (restores, "TOLD_EVERY"),
    (telling, "_BLOCKED_AGAIN"),
    (leave_backup, "_AGAIN"),
    (backing, "_AGAIN"),
    (backing, "_ENDING"),
    (restoring, "_AGAIN"),
    (restoring, "_FOLLOWED"),
    (restoring, "_LATE"),
    (drilling, "_FOLLOWED"),
    (drilling, "_AGAIN"),
    (drilling, "_SURELY"),
    (drill_backup, "_AGAIN"),
)
#: A database of one process of each kind: it is about backups here.
SMALL: Final[Json] = {
    "databaseConfiguration": {"redundancy_mode": "single"},
    "faultDomain": {"key": "foundationdb.org/none"},
    "processCounts": {"stateless": 1, "storage": 1, "log": 1},
}
_KINDS: Final = {"fdbbackup": "FoundationDBBackup", "fdbrestore": "FoundationDBRestore"}


def looking_often(patch: pytest.MonkeyPatch) -> None:
    """Have an operator look as often as the stand-in lives faster than the world."""
    for module, name in _LOOKS:
        patch.setattr(module, name, getattr(module, name) / min(int(PACE), 15))


@dataclass(frozen=True, slots=True)
class Backer:
    """Somebody with kubectl who has backups made, below a folder that agents share."""

    person: Person
    folder: Path

    # ------------------------------------------------------------------ asking
    async def back_up(self, name: str, place: str = "", **over: Any) -> None:
        """Ask for a backup that is whole soon."""
        await self.apply("fdbbackup", name, self.backup(place or name, **over))

    def backup(self, place: str, **over: Any) -> Json:
        """Return what to ask for: agents see our folder where we see it."""
        folder = str(self.folder)
        container = {
            "name": "foundationdb",
            "env": [{"name": PACE_VARIABLE, "value": PACE}],
            "volumeMounts": [{"name": "shared", "mountPath": folder}],
            "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}},
        }
        shared = {"name": "shared", "hostPath": {"path": folder}}
        pod = {
            "terminationGracePeriodSeconds": 2,
            "containers": [container],
            "volumes": [shared],
        }
        usual = {
            "version": VERSION,
            "clusterName": CLUSTER,
            "agentCount": 1,
            "fileURL": f"file://{self.folder / place}",
            "snapshotPeriodSeconds": 60,
            "podTemplateSpec": {"spec": pod},
        }
        return usual | over

    async def restore(self, name: str, **over: Any) -> None:
        """Ask for a restore."""
        await self.apply("fdbrestore", name, {"destinationClusterName": CLUSTER} | over)

    async def apply(self, kind: str, name: str, spec: Json) -> str:
        """Apply a manifest; what is None in it is not said."""
        return await self.person("apply", "-f", "-", stdin=_manifest(kind, name, spec))

    async def refused(self, kind: str, name: str, spec: Json) -> str:
        """Apply a manifest that the server must refuse; return why."""
        with pytest.raises(AssertionError) as caught:
            await self.person("apply", "-f", "-", stdin=_manifest(kind, name, spec))
        return str(caught.value)

    async def patch(self, name: str, kind: str = "fdbbackup", **spec: Any) -> None:
        """Change a spec."""
        body = json.dumps({"spec": spec})
        await self.person("patch", kind, name, "--type=merge", "-p", body)

    async def delete(self, *named: str) -> None:
        """Delete objects, as in fdbbackup/nightly; they need not be gone then."""
        await self.person("delete", *named, "--wait=false")

    # ------------------------------------------------------------------ looking
    async def get(self, kind: str, name: str) -> Json:
        """Return an object; nothing: it is gone."""
        text = await self.person("get", kind, name, "-o", "json", "--ignore-not-found")
        found: Json = json.loads(text) if text.strip() else {}
        return found

    async def until(self, kind: str, name: str, what: str, holds: Callable[[Json], object]) -> Json:
        """Wait until something is true of an object; say how it stands when it does not come."""
        found: Json = {}
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    found = await self.get(kind, name)
                    if holds(found):
                        return found
                    await asyncio.sleep(0.5)
        except TimeoutError:
            stands = yaml.safe_dump(found.get("status"), sort_keys=False)
            raise AssertionError(f"{name} {what}: not within {PATIENCE:g} s:\n{stands}") from None

    async def said(self, kind: str, name: str, type_: str, reason: str) -> str:
        """Wait until a condition has a reason; return its sentence."""
        found = await self.until(
            kind, name, f"{type_} {reason}", lambda it: of(it, type_)[1] == reason
        )
        return of(found, type_)[2]

    async def told_of(self, *kinds: str) -> str:
        """Return all that is told of objects, without what was asked for."""
        found = json.loads(await self.person("get", ",".join(kinds), "-o", "json"))["items"]
        return json.dumps([{**it, "spec": None, "metadata": None} for it in found])

    async def gone(self, kind: str, name: str) -> None:
        """Wait until there is no such object."""
        await self.until(kind, name, "gone", lambda it: not it)

    async def restorable(self, name: str, version: int = 0) -> Json:
        """Wait until a backup can be restored to a version; return its details."""
        found = await self.until(
            "fdbbackup", name, f"restorable to {version}", lambda it: _reaches(it, version)
        )
        return details(found)

    async def typed(self, line: str) -> str:
        """Return what fdbcli answers."""
        return await self.person.it.typed(CLUSTER, line)

    async def write(self, line: str) -> int:
        """Write something; return at which version it was committed."""
        said = await self.typed(f"writemode on; {line}")
        assert "Committed" in said, said
        return int(said.rpartition("(")[2].rpartition(")")[0])

    async def keys(self) -> dict[str, str]:
        """Return all keys with their values."""
        rows = (
            it.split("' is `") for it in (await self.typed('getrange "" \\xff 1000')).splitlines()
        )
        return {it[0][1:]: it[1][:-1] for it in rows if len(it) == 2}

    def files(self, place: str) -> list[Path]:
        """Return the files of a backup."""
        return [it for it in (self.folder / place).rglob("*") if it.is_file()]

    def agents(self, name: str) -> set[int]:
        """Return the processes of the agents of a backup."""
        found = processes_with(str(self.person.it.cluster.kubeconfig.parent))
        return {it for it in found if _is_agent(it, name)}


def _manifest(kind: str, name: str, spec: Json) -> str:
    document = {
        "apiVersion": "apps.foundationdb.org/v1beta2",
        "kind": _KINDS[kind],
        "metadata": {"name": name},
        "spec": {key: it for key, it in spec.items() if it is not None},
    }
    return yaml.safe_dump(document)


def _is_agent(process: int, backup: str) -> bool:
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return False  # it ended meanwhile
    return "backup_agent" in words and f"--locality_zoneid={backup}\0" in words


def of(item: Json, type_: str) -> tuple[str, str, str]:
    """Return the status, the reason and the message of a condition."""
    every = item.get("status", {}).get("conditions") or ()
    found = next((it for it in every if it["type"] == type_), {})
    return found.get("status", ""), found.get("reason", ""), found.get("message", "")


def details(item: Json) -> Json:
    """Return what the database says of a backup."""
    found: Json = item.get("status", {}).get("backupDetails") or {}
    return found


def _reaches(item: Json, version: int) -> bool:
    point = details(item).get("latestRestorable") or {}
    return of(item, "Restorable")[0] == "True" and point.get("version", -1) >= version


def is_reconciled(item: Json) -> bool:
    """Tell whether a backup is as asked."""
    generations = item.get("status", {}).get("generations") or {}
    return bool(generations.get("reconciled") == item["metadata"]["generation"])
