"""How a life ended, by classes and numbers: nothing that chance, time or a restart names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set

from stateward.emulate.fdb.database import Database
from stateward.fdb.api.backups.kinds import BACKUPS, RESTORES
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS, FoundationDBCluster
from stateward.fdb.decide.backups.restoring import tag_of
from stateward.fdb.model.names import CLASS_LABEL
from stateward.fdb.tell.conditions import TYPES
from stateward.kube.codec import Json, decode, encode
from stateward.kube.resources import CONFIG_MAPS, CRON_JOBS, PODS, SERVICES, VOLUME_CLAIMS
from stateward.local.store import Stored
from stateward.sim.fdb.backups.shelf import keys_of
from stateward.sim.fdb.world import FdbWorld

_COUNTED = (PROCESS_GROUPS, PODS, VOLUME_CLAIMS, SERVICES, CONFIG_MAPS, CRON_JOBS)


def end_of(it: FdbWorld) -> dict[str, str]:
    """Return what is left, as comparable texts."""
    found: dict[str, str] = {}
    for site in it.sites:
        store, place = site.world.api.store, f"{site.world.place} ".lstrip()
        for resource in _COUNTED:
            kinds = Counter(one.labels.get(CLASS_LABEL, "") for one in store.all(resource.name))
            found[f"{place}{resource.name}"] = _text(dict(sorted(kinds.items())))
        for kind in (BACKUPS, RESTORES):
            for stored in store.all(kind.name):
                found[f"{place}{kind.kind} {stored.key}"] = _text(_asked(stored))
        for stored in store.all(CLUSTERS.name):
            told = _told(decode(stored.text, FoundationDBCluster))
            found[f"{place}cluster {stored.key}"] = _text(told)
    every = (one for site in it.sites for one in site.world.api.store.all(RESTORES.name))
    asked = {tag_of(one.uid) for one in every}
    for number, database in enumerate(one for one in it.realm.databases if one.servers):
        settings = database.settings
        found[f"database {number}"] = _text(
            {
                "configured": dict(settings.values) if settings is not None else None,
                "excluded": sorted(map(str, database.excluded)),
                "coordinators": len(database.string.coordinators),
                "versions": sorted({str(one.version) for one in database.servers.values()}),
                "classes": _classes(str(one.process_class) for one in database.servers.values()),
                **_backed_up(database, asked),
            }
        )
    return found


def _backed_up(database: Database, asked: Set[str]) -> Json:
    """Return what is left of backups and restores, without their names.

    How far one came whose object is gone is chance, and so are keys then.
    """
    has = database.backups
    if not has.backups and not has.restores:
        return {}
    left = [it for tag, it in has.restores.items() if tag not in asked]
    return {
        "backups": {tag: str(it.stage) for tag, it in sorted(has.backups.items())},
        "restores": _classes(str(it.stage) for tag, it in has.restores.items() if tag in asked),
        "left": sum(it.stage.is_active for it in left),
        "agents paused": has.paused,
        "locked": bool(database.store.locked_by),
        "keys": None if left else [str(it) for it in keys_of(database).items()],
    }


def _asked(stored: Stored) -> Json:
    """Return what a backup or a restore says of itself."""
    document = stored.document()
    status = document.get("status") or {}
    conditions = [(it["type"], it["status"], it["reason"]) for it in status.get("conditions") or ()]
    return {
        "conditions": sorted(conditions),
        "state": status.get("state", ""),
        "blockers": sorted(it["guard"] for it in status.get("blockers") or ()),
        "held": bool(document["metadata"].get("finalizers")),
    }


def _classes(names: object) -> Json:
    return dict(sorted(Counter(names).items()))  # type: ignore[call-overload]


def _told(cluster: FoundationDBCluster) -> Json:
    status = cluster.status
    return {
        # What another version of the operator wrote stays, and says nothing of this one.
        "conditions": sorted(
            (it.type, it.status, it.reason) for it in status.conditions if it.type in TYPES
        ),
        "reconciled": status.generations.reconciled == cluster.metadata.generation,
        "version": status.running_version,
        "blockers": sorted(it.guard for it in status.blockers),
    }


def _text(document: Json) -> str:
    return encode(document).decode()
