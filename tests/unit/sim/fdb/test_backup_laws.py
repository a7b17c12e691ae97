"""Laws of backups: each is broken by a story of a few lines, and by none that leaves that out."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from fakes.fdb_databases import server
from stateward.emulate.fdb.backups.state import Backup, Progress, Restore
from stateward.emulate.fdb.backups.state import Stage as Stage_
from stateward.emulate.fdb.database import Database
from stateward.fdb.api.backups.kinds import BACKUPS, RESTORES
from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import BACKUP_FINALIZER
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import Resource
from stateward.local.rules.deletion import DeleteOptions
from stateward.runtime.own_writes import PASS
from stateward.sim import people
from stateward.sim.fdb.backups.calls import BackupCall
from stateward.sim.fdb.backups.shelf import Shelf, Typed
from stateward.sim.fdb.laws.backups.ends import Ends
from stateward.sim.fdb.laws.backups.lines import Lines
from stateward.sim.fdb.laws.backups.wishes import Wishes
from stateward.sim.fdb.laws.backups.words import Words, untrue
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.fdb.scripts.kit import KEY, manifest
from stateward.sim.fdb.world import FdbWorld
from stateward.sim.laws.watchman import Watchman
from stateward.sim.world import World, simulate

NIGHTLY, OTHER = ObjectKey("ns", "nightly"), ObjectKey("ns", "other")
AGAIN = ObjectKey("ns", "again")
URL = "file:///backups/backup-1"
KINDS = (CLUSTERS, BACKUPS, RESTORES)


class Stage:
    """A database with a backup and a restore, and an operator that acts by hand."""

    def __init__(self, it: FdbWorld) -> None:
        self.it = it
        watchman = Watchman(it.world)
        self.book = watchman.book
        self.wishes = Wishes(Scene(it, watchman))
        for law in (Lines, Ends, Words):
            law(self.wishes)
        assert it.shelf is not None
        self.shelf: Shelf = it.shelf
        string = ConnectionString.parse("shop:abc@10.0.0.2:4501")
        self.database: Database = it.realm.database(string)
        self.database.servers["one"] = server("storage-1")
        it.world.api.create(CLUSTERS, "ns", manifest(), people.USER)
        self.backup = Backup("default", "u1", URL, 0, stage=Stage_.ABORTED)
        self.database.backups.backups["default"] = self.backup
        self.make(BACKUPS, NIGHTLY, {"version": "7.3.63", "clusterName": KEY.name})
        self.make(RESTORES, AGAIN, {"destinationClusterName": KEY.name, "fileURL": URL})

    def make(self, resource: Resource[Any], key: ObjectKey, spec: Json) -> None:
        """Have somebody ask for something new."""
        head = {"apiVersion": resource.api_version, "kind": resource.kind}
        metadata = {"name": key.name, "namespace": key.namespace}
        body = {**head, "metadata": metadata, "spec": spec}
        self.it.world.api.create(resource, "ns", body, people.USER)

    @property
    def tag(self) -> str:
        """The tag of the restore."""
        return f"restore-{self.it.world.api.get(RESTORES, AGAIN).uid}"

    def type(self, *words: str, program: str = "fdbbackup", code: int = 0) -> None:
        """Have the operator type a line for its backup."""
        call = BackupCall(program, words)
        before = PASS.set(("fdb-backup", NIGHTLY))
        for listener in self.it.world.weather.listeners:
            listener("op", call)
        PASS.reset(before)
        typed = Typed(call, "op", self.database)
        for told in self.shelf.typed:
            told(typed)
        for heard in self.shelf.done:
            heard(typed, code)

    def patch(self, resource: Resource[Any], key: ObjectKey, **body: Any) -> None:
        """Have the operator write something."""
        self.it.world.weather.acting = "op", BackupCall("fdbbackup", ("status",))
        part = "status" if "status" in body else ""
        self.it.world.api.patch(resource, key, MergePatch(body), people.USER, subresource=part)
        self.it.world.weather.acting = None

    def ask(self, **spec: Any) -> None:
        """Have somebody ask for something."""
        self.it.world.api.patch(BACKUPS, NIGHTLY, MergePatch({"spec": spec}), people.USER)

    def hold(self, resource: Resource[Any] = BACKUPS, key: ObjectKey = NIGHTLY) -> None:
        """Have an object be held, and deleted."""
        self.patch(resource, key, metadata={"finalizers": [BACKUP_FINALIZER]})
        self.it.world.api.delete(resource, key, DeleteOptions())

    def let_go(self, resource: Resource[Any], key: ObjectKey) -> None:
        """Have the operator let it go."""
        self.patch(resource, key, metadata={"finalizers": []})

    def restores(self, stage: Progress, version: int = 1) -> None:
        """Have the database know of the restore."""
        made = Restore(self.tag, "r1", URL, version, stage=stage)
        self.database.backups.restores[self.tag] = made

    async def later(self) -> None:
        """Let so much time pass that everybody has seen what there is."""
        await self.it.world.clock.sleep(100)

    @property
    def broken(self) -> list[str]:
        """The laws that were broken."""
        return [it.law for it in self.book.violations]


def lived(story: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Have a test be told in a world of its own, by virtual time."""

    def test(**given: Any) -> None:
        async def live(world: World) -> None:
            await story(Stage(FdbWorld(world, backs_up=True)), **given)

        simulate(live, seed=1, custom=KINDS)

    said = inspect.signature(story)
    rest = [it for name, it in said.parameters.items() if name != "on"]
    test.__signature__ = said.replace(parameters=rest)  # type: ignore[attr-defined]
    return test


async def on_record(on: Stage) -> None:
    """Have a restore be on record, and begun."""
    on.patch(RESTORES, AGAIN, status={"begun": {"clusterUID": "u", "generation": 1}})
    on.type("start", "-t", on.tag, program="fdbrestore")


async def deleted(on: Stage, progress: Progress) -> None:
    """Have the object of a restore be deleted."""
    on.restores(progress)
    on.hold(RESTORES, AGAIN)
    await on.later()


async def asked(on: Stage, **spec: Any) -> None:
    """Have somebody ask for something, long ago."""
    on.ask(**spec)
    await on.later()


# -------------------------------------------------------------------------- what is begun


@lived
async def test_a_restore_is_on_record_before_it_is_begun(on: Stage) -> None:
    on.type("start", "-t", on.tag, program="fdbrestore")
    assert on.broken == ["F-B1"]


@lived
async def test_a_restore_is_begun_once(on: Stage) -> None:
    await on_record(on)
    on.type("start", "-t", on.tag, program="fdbrestore", code=1)
    assert on.broken == []
    on.type("start", "-t", on.tag, program="fdbrestore")
    assert on.broken == ["F-B1"]


@lived
async def test_no_backup_is_begun_over_one_that_was_seen(on: Stage) -> None:
    on.type("status", "-t", "default")
    on.type("start", "-t", "default")
    assert on.broken == []
    on.backup.stage = Stage_.RUNNING
    on.type("start", "-t", "default", code=1)  # nobody saw that it goes on
    assert on.broken == []
    await on.later()
    on.type("status", "-t", "default")
    on.type("start", "-t", "default", code=1)
    assert on.broken == ["F-B2"]


@lived
async def test_what_shall_end_with_its_object_is_begun_when_that_is_held(on: Stage) -> None:
    await asked(on, deletionPolicy="stop")
    on.type("start", "-t", "default")
    assert on.broken == ["F-B2"]


@pytest.mark.parametrize(
    ("wish", "verb", "law"),
    [
        ("Running", "pause", ["F-B6"]),
        ("Paused", "pause", []),
        ("Paused", "resume", ["F-B6"]),
        ("Running", "resume", []),
    ],
)
@lived
async def test_agents_pause_when_somebody_asks_for_it(
    on: Stage, wish: str, verb: str, law: list[str]
) -> None:
    await asked(on, backupState=wish)
    on.type(verb)
    assert on.broken == law


# -------------------------------------------------------------------------- what ends


@lived
async def test_files_are_deleted_for_who_asks_for_it(on: Stage) -> None:
    on.type("delete", "-d", URL)
    assert on.broken == ["F-B3"]


@lived
async def test_files_of_a_backup_that_goes_on_stay(on: Stage) -> None:
    on.ask(deletionPolicy="cleanup")
    on.hold()
    on.type("delete", "-d", URL)
    assert on.broken == []
    on.backup.stage = Stage_.RUNNING
    on.type("delete", "-d", URL)
    assert on.broken == ["F-B3"]


@lived
async def test_files_of_another_object_stay(on: Stage) -> None:
    on.make(BACKUPS, OTHER, {"version": "7.3.63", "clusterName": KEY.name, "tag": "other"})
    on.patch(BACKUPS, OTHER, status={"backupDetails": {"url": URL}})
    on.ask(deletionPolicy="cleanup")
    on.hold()
    on.type("delete", "-d", URL)
    assert on.broken == ["F-B3"]


@pytest.mark.parametrize(
    ("policy", "stage", "files", "law"),
    [
        ("noop", Stage_.RUNNING, True, []),
        ("stop", Stage_.RUNNING, True, ["F-B5"]),
        ("stop", Stage_.ABORTED, True, []),
        ("cleanup", Stage_.ABORTED, True, ["F-B5"]),
        ("cleanup", Stage_.ABORTED, False, []),
    ],
)
@lived
async def test_an_object_goes_when_all_has_ended_that_shall(
    on: Stage, policy: str, stage: Stage_, files: bool, law: list[str]
) -> None:
    on.backup.stage = stage
    if files:
        on.shelf.files.write("/backups/backup-1/some", b"file")
    on.patch(BACKUPS, NIGHTLY, status={"backupDetails": {"url": URL}})
    on.ask(deletionPolicy=policy)
    on.hold()
    await on.later()
    on.let_go(BACKUPS, NIGHTLY)
    assert on.broken == law


@pytest.mark.parametrize(
    ("progress", "law"), [(Progress.RUNNING, ["F-B5"]), (Progress.ABORTED, [])]
)
@lived
async def test_the_object_of_a_restore_goes_when_that_is_over(
    on: Stage, progress: Progress, law: list[str]
) -> None:
    await deleted(on, progress)
    on.let_go(RESTORES, AGAIN)
    assert on.broken == law


# -------------------------------------------------------------------------- what is said


@pytest.mark.parametrize(
    ("progress", "keys", "law"),
    [
        (Progress.COMPLETED, b"first", []),
        (Progress.RUNNING, b"first", ["F-B4"]),
        (Progress.COMPLETED, b"later", ["F-B4"]),
    ],
)
@lived
async def test_a_restore_is_called_completed_when_all_is_as_it_was(
    on: Stage, progress: Progress, keys: bytes, law: list[str]
) -> None:
    version = on.shelf.write(on.database, ((b"a", b"first"),))
    on.shelf.write(on.database, ((b"a", b"later"),))
    on.database.store.write(((b"a", keys),))
    on.restores(progress, version)
    on.patch(RESTORES, AGAIN, status={"state": "completed"})
    assert on.broken == law


@pytest.mark.parametrize(
    ("details", "locked", "many"),
    [
        ({"running": False, "paused": False}, "", 0),
        ({"running": True, "paused": False}, "", 1),
        ({"running": False, "paused": True}, "", 1),
        ({"running": False, "paused": False}, "r1", 1),
    ],
)
@lived
async def test_what_is_said_at_rest_is_so(
    on: Stage, details: dict[str, bool], locked: str, many: int
) -> None:
    told = {"generations": {"reconciled": 1}, "backupDetails": {"url": URL, **details}}
    on.patch(BACKUPS, NIGHTLY, status=told)
    on.database.store.locked_by = locked
    assert len(list(untrue(on.wishes))) == many
