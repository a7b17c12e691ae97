"""Another line of releases for a database that several operators share: all change at once.

The other operator is played by what it lists in the database.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.fdb_stories import Story, played, single
from stateward.emulate.fdb.servers import Disk, Server
from stateward.fdb.admin.keyed.locking import LockKeys
from stateward.fdb.admin.keyed.preparing import PreparedKeys
from stateward.fdb.admin.keyed.telling import IntentKeys
from stateward.fdb.admin.keys import Conflicted
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.intents import Intent, Whose, intent_key, moment
from stateward.fdb.model.locks import PREFIX, lock_key
from stateward.fdb.model.prepared import prepared_key, read
from stateward.kube.codec import Json

OLD, NEW = "7.1.61", "7.3.63"
THEIRS = "dc2-stateless-1"
TOGETHER: Json = {
    "processGroupIDPrefix": "dc1",
    "automationOptions": {"synchronizationMode": "global"},
}
LOCKS: Json = {"processGroupIDPrefix": "dc1", "lockOptions": {"disableLocks": False}}


def join(it: Story) -> Server:
    """Have a process of another operator belong to the database."""
    one = next(iter(it.database.servers.values()))
    stranger = replace(
        one,
        addresses=(Address("10.77.0.1", 4501),),
        disk=Disk("f" * 32),
        told_class=ProcessClass.STATELESS,
        localities={
            "instance_id": THEIRS,
            "processid": "f" * 32,
            "zoneid": "z9",
            "machineid": "m9",
        },
    )
    it.database.join(stranger)
    return stranger


def ready(it: Story) -> list[bytes]:
    """Return by which keys others know that they may restart ours."""
    store, (begin, end) = it.database.store, (b"/readyForRestart/dc1/", b"/readyForRestart/dc10")
    return [key for key, _ in store.span(PREFIX + begin, PREFIX + end, store.version)]


def listed(it: Story, version: str = NEW) -> frozenset[str]:
    """Return who is listed as having the programs of a version."""
    store = it.database.store
    rows = store.span(PREFIX, PREFIX + b"0", store.version)
    return read(PREFIX, [key for key, _ in rows]).get(version, frozenset())


def prepare(it: Story, *, done: bool = True) -> None:
    value = THEIRS.encode() if done else None
    it.database.store.write([(prepared_key(PREFIX, NEW, THEIRS), value)])


def kills(it: Story) -> list[str]:
    return [line for line in it.watcher.commands if line.startswith("kill")]


def blockers(it: Story) -> dict[str, str]:
    return {one["guard"]: one["message"] for one in it.status.get("blockers", ())}


def test_all_restart_when_those_of_others_are_prepared() -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD, **LOCKS))
        await it.rest(120)
        stranger = join(it)
        it.change(version=NEW)
        await it.until("told", lambda: THEIRS in blockers(it).get("UpgradeWaits", ""))
        assert listed(it) == it.groups().keys(), "ours are prepared"
        await it.rest(700)
        assert kills(it) == []
        prepare(it)
        await it.until("restarted", lambda: bool(kills(it)))
        assert "10.77.0.1:4501" in kills(it)[0]
        assert listed(it) == frozenset(), "nobody else restarts them by it"
        it.database.leave(stranger.disk.process_id)  # it comes back as the new version
        await it.reconciled()
        assert len(kills(it)) == 1
        assert listed(it) == frozenset()
        await it.until("gone", it.none_leaves)

    played(story)


def test_who_takes_an_upgrade_back_is_prepared_no_more() -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD, **LOCKS))
        await it.rest(120)
        stranger = join(it)
        it.change(version=NEW)
        await it.until("prepared", lambda: listed(it) == it.groups().keys())
        it.change(version=OLD)
        await it.reconciled()
        assert listed(it) == frozenset()
        assert kills(it) == []
        it.database.leave(stranger.disk.process_id)

    played(story)


@pytest.mark.parametrize("looks", [True, False], ids=["seen", "nobody can look"])
def test_no_pod_loses_the_programs_while_it_is_listed(
    monkeypatch: pytest.MonkeyPatch, *, looks: bool
) -> None:
    """Another operator would end its process, and it would come back as what nobody speaks.

    The lock and the list are read at once, and written alone.
    """

    async def story(it: Story) -> None:
        await it.create(single(version=OLD, **LOCKS))
        await it.rest(120)
        stranger = join(it)
        it.change(version=NEW)
        await it.until("prepared", lambda: listed(it) == it.groups().keys())
        before = {name: one["spec"] for name, one in it.groups().items()}
        with monkeypatch.context() as patch:
            if not looks:
                patch.setattr(LockKeys, "look", _conflicts)
            patch.setattr(PreparedKeys, "remove", _conflicts)
            it.change(version=OLD)
            await it.until("told", lambda: "UpgradeListed" in blockers(it))
            await it.rest(60)
            assert {name: one["spec"] for name, one in it.groups().items()} == before
        await it.reconciled()
        assert listed(it) == frozenset()
        it.database.leave(stranger.disk.process_id)

    played(story)


def test_an_upgrade_is_taken_back_though_the_lock_is_nonsense() -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD, **LOCKS))
        await it.rest(120)
        stranger = join(it)
        it.change(version=NEW)
        await it.until("prepared", lambda: listed(it) == it.groups().keys())
        it.database.store.write([(lock_key(), b"hello")])
        it.change(version=OLD)
        await it.until("taken back", lambda: not listed(it))
        await it.reconciled()
        it.database.leave(stranger.disk.process_id)

    played(story)


def test_who_is_gone_is_listed_no_more() -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD, **LOCKS))
        await it.rest(120)
        stranger = join(it)
        it.change(version=NEW)
        await it.until("prepared", lambda: listed(it) == it.groups().keys())
        (gone,) = it.groups("stateless")
        it.change(processGroupsToRemove=[gone])
        await it.until("gone", lambda: gone not in it.groups())
        await it.until("forgotten", lambda: gone not in listed(it), within=60)
        it.change(version=OLD)
        await it.reconciled()
        assert listed(it) == frozenset()
        it.database.leave(stranger.disk.process_id)

    played(story)


def test_no_pod_gets_the_programs_while_others_may_restart_it_for_something_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would come back as what nobody speaks yet; what was said before must be taken back."""

    async def story(it: Story) -> None:
        await it.create(single(version=OLD, **TOGETHER))
        await it.rest(120)
        knob = {"general": {"customParameters": ["knob_disable_posix_kernel_aio=1"]}}
        theirs = intent_key(PREFIX, Intent.RESTART, Whose("dc2", THEIRS))
        it.database.store.write([(theirs, moment(it.it.world.clock.now()))])
        it.change(processes=knob)
        await it.until("ready", lambda: bool(ready(it)))
        before = {name: one["spec"] for name, one in it.groups().items()}
        with monkeypatch.context() as patch:
            patch.setattr(IntentKeys, "say", _conflicts)
            it.change(version=NEW)
            await it.until("told", lambda: "Conflicted" in blockers(it))
            await it.rest(60)
            assert ready(it)
            assert {name: one["spec"] for name, one in it.groups().items()} == before
        await it.reconciled()
        await it.until("gone", it.none_leaves)
        assert len(kills(it)) == 1

    played(story)


async def _conflicts(*_words: object) -> None:
    raise Conflicted("somebody else wrote it (1020)")


def test_a_list_that_is_not_complete_any_more_restarts_nobody() -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD, **LOCKS))
        await it.rest(120)
        stranger = join(it)
        it.change(version=NEW)
        await it.until("prepared", lambda: listed(it) == it.groups().keys())
        prepare(it)
        prepare(it, done=False)
        await it.rest(700)
        assert kills(it) == []
        it.change(version=OLD)
        await it.reconciled()
        it.database.leave(stranger.disk.process_id)

    played(story)


def test_who_may_not_be_killed_any_more_is_prepared_no_more() -> None:
    async def story(it: Story) -> None:
        await it.create(single(version=OLD, **LOCKS))
        await it.rest(120)
        stranger = join(it)
        it.change(version=NEW)
        await it.until("prepared", lambda: listed(it) == it.groups().keys())
        it.change(automationOptions={"killProcesses": False})
        await it.until("withdrawn", lambda: not listed(it))
        it.change(version=OLD)
        await it.reconciled()
        it.database.leave(stranger.disk.process_id)

    played(story)
