"""Backups and restores of a small cluster: made, paused, moved, deleted; and keys brought back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from stateward.core.errors import HouseError
from stateward.emulate.fdb.backups.state import Backup, Restore
from stateward.emulate.fdb.database import Database
from stateward.fdb.api.backups import urls
from stateward.fdb.api.backups.kinds import (
    BACKUPS,
    RESTORES,
    FoundationDBBackup,
    FoundationDBRestore,
)
from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.decide.backups.restoring import tag_of
from stateward.fdb.model.names import DEPLOYMENT_NAME, agents_name, drill_name
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json, decode
from stateward.kube.errors import AlreadyExists, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import DEPLOYMENTS, PODS, Resource
from stateward.sim.fdb.acts import happenings
from stateward.sim.fdb.backups.shelf import Rows, Shelf, keys_of
from stateward.sim.fdb.scripts.kit import (
    FEW,
    KEY,
    ONE,
    Holds,
    Script,
    Step,
    create,
    in_a_line,
    is_mended,
)
from stateward.sim.fdb.world import FdbWorld

NIGHTLY: Final = ObjectKey("ns", "nightly")
WEEKLY: Final = ObjectKey("ns", "weekly")
AGAIN: Final = ObjectKey("ns", "again")
MORE: Final = ObjectKey("ns", "more")
_DRILL: Final = ObjectKey("ns", drill_name(NIGHTLY.name))
PLACE: Final = "file:///backups"
#: What users have, and what becomes of it.
_FIRST: Final[Rows] = tuple((f"key-{it}".encode(), b"first") for it in range(4))
_LATER: Final[Rows] = ((b"key-0", b"later"), (b"key-1", None), (b"key-9", b"later"))
#: To which moment all is restored: a snapshot has the first keys by then.
_BEFORE: Final = "before later"
#: Seconds that a piece takes agents who shall be met in the middle of their work.
_SLOWLY: Final = 9.0


# -------------------------------------------------------------------------- looking


def shelf(it: FdbWorld) -> Shelf:
    """Return where the backups of a world lie."""
    if it.shelf is None:
        raise HouseError("a world must have backups to be asked for them")
    return it.shelf


def database(it: FdbWorld) -> Database | None:
    """Return the database that was made, if there is one."""
    every = it.realm.databases
    return next((one for one in every if one.settings is not None and one.servers), None)


def backup(it: FdbWorld, key: ObjectKey = NIGHTLY) -> FoundationDBBackup | None:
    """Return a backup as Kubernetes has it now."""
    stored = it.world.api.store.get(BACKUPS.name, key)
    return decode(stored.text, FoundationDBBackup) if stored is not None else None


def restore(it: FdbWorld, key: ObjectKey = AGAIN) -> FoundationDBRestore | None:
    """Return a restore as Kubernetes has it now."""
    stored = it.world.api.store.get(RESTORES.name, key)
    return decode(stored.text, FoundationDBRestore) if stored is not None else None


def live(it: FdbWorld, key: ObjectKey = NIGHTLY) -> Backup | None:
    """Return what the database has of the tag of a backup."""
    found, has = backup(it, key), database(it)
    if found is None or has is None:
        return None
    return has.backups.backups.get(found.spec.tag or "default")


def live_restore(it: FdbWorld, key: ObjectKey = AGAIN) -> Restore | None:
    """Return what the database has of a restore."""
    found, has = restore(it, key), database(it)
    if found is None or has is None:
        return None
    return has.backups.restores.get(tag_of(found.metadata.uid))


def is_as_asked(it: FdbWorld, key: ObjectKey = NIGHTLY) -> bool:
    """Tell whether a backup says that it is as asked for, and all that went wrong is over."""
    found = backup(it, key)
    if found is None or it.world.troubled:
        return False
    return found.status.generations.reconciled == found.metadata.generation


def is_restorable(it: FdbWorld, key: ObjectKey = NIGHTLY, version: int = 0) -> bool:
    """Tell whether a backup goes on, and says that it can be restored, to a version at least."""
    found, now = backup(it, key), live(it, key)
    details = found.status.backup_details if found is not None else None
    if details is None or now is None or not now.stage.is_active:
        return False
    point = details.latest_restorable
    reach = point.version if point is not None else 0
    return details.restorable is True and reach >= version and is_as_asked(it, key)


def is_stopped(it: FdbWorld, key: ObjectKey = NIGHTLY) -> bool:
    """Tell whether a backup does not go on, as asked."""
    now = live(it, key)
    return now is not None and not now.stage.is_active and is_as_asked(it, key)


def is_over(it: FdbWorld, key: ObjectKey = AGAIN) -> bool:
    """Tell whether a restore says that it is completed, and nothing holds its object."""
    found = restore(it, key)
    if found is None or it.world.troubled or found.metadata.finalizers:
        return False
    return found.status.state == "completed"


def has_agents(it: FdbWorld, key: ObjectKey = NIGHTLY) -> bool:
    """Tell whether all agents of a backup are ready."""
    stored = it.world.api.store.get(
        DEPLOYMENTS.name, ObjectKey(key.namespace, agents_name(key.name))
    )
    document = stored.document() if stored is not None else {}
    wanted = document.get("spec", {}).get("replicas", 0)
    return bool(wanted) and (document.get("status") or {}).get("readyReplicas") == wanted


# -------------------------------------------------------------------------- doing


def _made(resource: Resource[Any], key: ObjectKey, spec: Json) -> Json:
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"namespace": key.namespace, "name": key.name},
        "spec": spec,
    }


def back_up(key: ObjectKey = NIGHTLY, **spec: object) -> Step:
    """Have somebody ask for a backup that is soon whole."""
    asked = {"version": "7.3.63", "clusterName": KEY.name, "fileURL": PLACE}

    async def do(it: FdbWorld) -> None:
        body = _made(BACKUPS, key, {**asked, "snapshotPeriodSeconds": 20, **spec})
        with suppress(AlreadyExists):
            await it.world.client.create(BACKUPS, body)

    text = f"back up as {key.name} {in_a_line(spec)}".strip()
    return Step(text, do, lambda it: is_restorable(it, key))


def change(until: Holds, key: ObjectKey = NIGHTLY, **spec: object) -> Step:
    """Have somebody change what a backup asks for."""

    async def do(it: FdbWorld) -> None:
        with suppress(NotFound):
            await it.world.client.patch(BACKUPS, key, MergePatch({"spec": spec}))

    return Step(f"edit backup {key.name} {in_a_line(spec)}", do, until)


def pause() -> Step:
    """Have somebody pause all agents."""

    def is_paused(it: FdbWorld) -> bool:
        has = database(it)
        return has is not None and has.backups.paused and is_as_asked(it)

    return change(is_paused, backupState="Paused")


def stop(key: ObjectKey = NIGHTLY) -> Step:
    """Have somebody end a backup."""
    return change(lambda it: is_stopped(it, key), key, backupState="Stopped")


def drop(resource: Resource[Any], key: ObjectKey, until: Holds) -> Step:
    """Have somebody delete a backup or a restore."""

    async def do(it: FdbWorld) -> None:
        with suppress(NotFound):
            found = await it.world.client.get(resource, key)
            if resource is BACKUPS:
                details = found.status.backup_details
                it.notes["url"] = details.url if details is not None else ""
            await it.world.client.delete(resource, key, uid=found.metadata.uid)

    def is_gone(it: FdbWorld) -> bool:
        gone = it.world.api.store.get(resource.name, key) is None
        return gone and not it.world.troubled and until(it)

    return Step(f"delete {resource.kind} {key.name}", do, is_gone)


def write(rows: Rows, name: str) -> Step:
    """Have users write keys; a backup is waited for that has them."""

    async def do(it: FdbWorld) -> None:
        has = database(it)
        if has is not None:
            it.realm.advance()
            it.notes[f"before {name}"] = str(has.store.at(has.now))
            it.notes[name] = str(shelf(it).write(has, rows))

    return Step(f"write {name}", do, lambda it: is_restorable(it, version=int(it.notes[name])))


def bring_back(key: ObjectKey, until: Holds, **spec: object) -> Step:
    """Have somebody clear all keys that a restore writes, and restore them as they were first."""
    begins = spec.get("keyRanges")

    async def do(it: FdbWorld) -> None:
        has, found = database(it), backup(it)
        details = found.status.backup_details if found is not None else None
        if has is None or details is None:
            return
        it.realm.advance()
        if begins is None or key == AGAIN:
            shelf(it).write(has, tuple((it, None) for it in keys_of(has)))
        asked = {
            "destinationClusterName": KEY.name,
            "fileURL": details.url,
            "backupVersion": int(it.notes[_BEFORE]),
        }
        with suppress(AlreadyExists):
            await it.world.client.create(RESTORES, _made(RESTORES, key, {**asked, **spec}))

    text = f"clear keys, and restore them as {key.name} {in_a_line(spec)}".strip()
    return Step(text, do, until)


def are_back(it: FdbWorld, *keys: ObjectKey) -> bool:
    """Tell whether restores are over, and all keys are as they were at first."""
    has = database(it)
    if has is None or not all(is_over(it, key) for key in keys):
        return False
    return keys_of(has) == shelf(it).keys(int(it.notes[_BEFORE]))


def slowly(step: Step) -> Step:
    """Have agents take their time from a step on."""

    async def do(it: FdbWorld) -> None:
        shelf(it).pace = _SLOWLY
        await step.do(it)

    return replace(step, text=f"{step.text}, slowly", do=do)


def lose_agent(seconds: int) -> Step:
    """Have the node of an agent be dark for so long that another one takes its place."""

    def agents(it: FdbWorld) -> list[ObjectKey]:
        every = it.world.api.store.all(PODS.name, NIGHTLY.namespace)
        return sorted(one.key for one in every if DEPLOYMENT_NAME in one.labels)

    async def do(it: FdbWorld) -> None:
        first, now = next(iter(agents(it)), None), live(it)
        if first is None or now is None:
            return
        it.notes["agent"], it.notes["reach"] = first.name, str(now.restorable or 0)
        node = it.node_of(first).removeprefix("node-")
        happenings.happen(it, None, "power", node, str(seconds))

    def is_replaced(it: FdbWorld) -> bool:
        gone = it.notes.get("agent") not in {one.name for one in agents(it)}
        reach = int(it.notes.get("reach", "0")) + 1
        return gone and has_agents(it) and is_restorable(it, version=reach)

    text = f"an agent's node is dark for {seconds} s"
    return Step(text, do, is_replaced, quick=1500.0, befalls=True)


# -------------------------------------------------------------------------- scripts


def _has_interval(seconds: int) -> Holds:
    def holds(it: FdbWorld) -> bool:
        now = live(it)
        return now is not None and now.interval == seconds and is_restorable(it)

    return holds


def _lies_at(place: str) -> Holds:
    def holds(it: FdbWorld) -> bool:
        now = live(it)
        return now is not None and urls.is_at(now.url, place) and is_restorable(it)

    return holds


def _runs_no_more(is_kept: Callable[[bool], bool]) -> Holds:
    """Return whether no backup goes on, and its files are there, or are not."""

    def holds(it: FdbWorld) -> bool:
        has = database(it)
        if has is None or any(one.stage.is_active for one in has.backups.backups.values()):
            return False
        return is_kept(bool(shelf(it).below(it.notes.get("url", ""))))

    return holds


def _is_unlocked(it: FdbWorld) -> bool:
    has = database(it)
    return has is not None and not has.store.locked_by


def _is_in_the_middle(it: FdbWorld) -> bool:
    now = live_restore(it)
    return now is not None and (bool(now.done) or not now.stage.is_active)


def _is_proven(it: FdbWorld) -> bool:
    """Tell whether a drill has restored the backup, and nothing of it is left."""
    found = backup(it)
    told = found.status.drill if found is not None else None
    if told is None or told.run is not None or told.last is None or not told.last.proven:
        return False
    gone = it.world.api.store.get(CLUSTERS.name, _DRILL) is None
    return gone and is_restorable(it)


def _knows_no_drills(it: FdbWorld) -> bool:
    found = backup(it)
    return found is not None and found.status.drill is None and is_restorable(it)


def _at_rest(script: Script) -> Script:
    """Return a script that ends only when the cluster beside it is as asked for, too."""
    *first, last = script
    return *first, replace(last, until=lambda it: last.until(it) and is_mended(it))


_SMALL: Final = create(databaseConfiguration=ONE, processCounts=FEW)
_SAVED: Final = (
    _SMALL,
    back_up(),
    write(_FIRST, "first"),
    write(_LATER, "later"),
    stop(),
)

_TOLD: Final[dict[str, Script]] = {
    "fdb-backup": (_SMALL, back_up(), stop()),
    "fdb-backup-paused": (
        _SMALL,
        back_up(),
        pause(),
        change(is_restorable, backupState="Running"),
        stop(),
    ),
    "fdb-backup-modify": (
        _SMALL,
        back_up(),
        change(_has_interval(40), snapshotPeriodSeconds=40),
        change(_lies_at("file:///elsewhere"), fileURL="file:///elsewhere"),
        stop(),
    ),
    "fdb-backup-delete": (
        _SMALL,
        back_up(deletionPolicy="stop"),
        drop(BACKUPS, NIGHTLY, _runs_no_more(lambda kept: kept)),
        back_up(WEEKLY, deletionPolicy="cleanup"),
        drop(BACKUPS, WEEKLY, _runs_no_more(lambda kept: not kept)),
    ),
    "fdb-backup-agents": (create(), back_up(), lose_agent(400), stop()),
    "fdb-backup-drill": (
        _SMALL,
        back_up(),
        write(_FIRST, "first"),
        change(_is_proven, drill={"schedule": "@every 60s", "storage": "1G"}),
        change(_knows_no_drills, drill=None),
        stop(),
    ),
    "fdb-restore": (*_SAVED, bring_back(AGAIN, lambda it: are_back(it, AGAIN))),
    "fdb-restore-twice": (
        *_SAVED,
        bring_back(AGAIN, is_over, keyRanges=[{"start": "key-0", "end": "key-2"}]),
        bring_back(
            MORE, lambda it: are_back(it, AGAIN, MORE), keyRanges=[{"start": "key-2", "end": "l"}]
        ),
    ),
    "fdb-restore-abort": (
        *_SAVED,
        slowly(bring_back(AGAIN, _is_in_the_middle)),
        drop(RESTORES, AGAIN, _is_unlocked),
    ),
}

SCENARIOS: Final = {name: _at_rest(script) for name, script in _TOLD.items()}
