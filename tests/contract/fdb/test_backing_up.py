"""Keys that were saved come back: by the operator's own ports, with agents that come and die."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from contract.fdb.labs import PATIENCE, Lab
from stateward.core.facts import Unknown
from stateward.fdb.admin.backups.ports import Expiry
from stateward.fdb.admin.errors import DatabaseRefused, Refusal
from stateward.fdb.model.backups import BackupOrder, KeyRange, RestoreOrder
from stateward.fdb.status import health
from stateward.fdb.status.backups.backup import BackupStage, BackupState
from stateward.fdb.status.backups.container import Container
from stateward.fdb.status.backups.restore import RestoreStage, RestoreState

T = TypeVar("T")
_ALL = r'clearrange "" \xff'


async def until(
    lab: Lab, ask: Callable[[], Awaitable[T | Unknown]], is_so: Callable[[T], bool]
) -> T:
    """Wait until a state is as it should be; return it."""
    left, found = PATIENCE, None
    while left > 0:
        found = await ask()
        if not isinstance(found, Unknown) and is_so(found):
            return found
        await lab.pass_by(lab.look)
        left -= lab.look
    raise AssertionError(f"it is {found} after {PATIENCE:g} s")


async def backed_up(
    lab: Lab, is_so: Callable[[BackupState], bool], tag: str = "default"
) -> BackupState:
    return await until(lab, lambda: lab.backups.status(tag), is_so)


async def restored(lab: Lab, tag: str) -> RestoreState:
    return await until(lab, lambda: lab.restores.status(tag), lambda it: not it.stage.is_active)


async def write(lab: Lab, line: str) -> int:
    """Write something; return at which version."""
    answer = await lab.typed(f"writemode on; {line}")
    assert "Committed" in answer.out, answer
    return int(answer.out.rpartition("(")[2].rpartition(")")[0])


async def keys(lab: Lab) -> dict[str, str]:
    """Return all keys with their values."""
    out = (await lab.typed(r'getrange "" \xff 100')).out
    rows = (it.split("' is `") for it in out.splitlines() if it.startswith("`"))
    return {key[1:]: value[:-1] for key, value in rows}


def reaches(version: int) -> Callable[[BackupState], bool]:
    return lambda it: it.restorable is not None and it.restorable.version >= version


async def test_a_tag_that_never_was(lab: Lab) -> None:
    assert await lab.backups.status("never") == BackupState(
        "never", BackupStage.NEVER, paused=False
    )
    assert await lab.restores.status("never") == RestoreState("never", RestoreStage.NEVER)
    assert await lab.restores.abort("never") is RestoreStage.NEVER
    for ask in (lab.backups.abort, lab.backups.discontinue):
        with pytest.raises(DatabaseRefused) as caught:
            await ask("never")
        assert caught.value.refusal is Refusal.BACKUP_NOT_RUNNING
    with pytest.raises(DatabaseRefused) as caught:
        await lab.backups.modify("never", snapshot_seconds=5)
    assert caught.value.refusal is Refusal.BACKUP_NOT_RUNNING


async def test_nobody_does_the_work(lab: Lab) -> None:
    assert not await lab.backups.start(BackupOrder("default", lab.place, 20))
    await lab.pass_by(30)
    found = await lab.backups.status("default")
    assert isinstance(found, BackupState)
    assert (found.stage, found.restorable) == (BackupStage.SUBMITTED, None)
    with pytest.raises(DatabaseRefused) as caught:
        await lab.backups.start(BackupOrder("default", lab.place, 20))
    assert caught.value.refusal is Refusal.BACKUP_RUNNING
    await lab.backups.abort("default")
    assert (await backed_up(lab, lambda it: not it.stage.is_active)).stage is BackupStage.ABORTED


async def test_keys_come_back_as_they_were_then(lab: Lab) -> None:
    """Also where an agent is killed in the middle; whatever was written later is not there."""
    await write(lab, "set a 1; set b 2; set c 3")
    await lab.work("first", "second")
    assert await lab.backups.start(BackupOrder("default", lab.place, 30))
    await lab.kill("first")
    await backed_up(lab, reaches(0))
    then = await write(lab, "clear b; set d 4")
    backup = await backed_up(lab, reaches(then))
    assert backup.running is not None
    assert (backup.stage, backup.running.stops) == (BackupStage.DIFFERENTIAL, False)
    await write(lab, "set a 9; clear c; set e 5")
    await lab.pass_by(25)

    with pytest.raises(DatabaseRefused) as caught:
        await lab.restores.start(RestoreOrder("back", backup.url))
    assert caught.value.refusal is Refusal.NOT_EMPTY
    await write(lab, _ALL)
    await lab.restores.start(RestoreOrder("back", backup.url, then))
    assert (await restored(lab, "back")).stage is RestoreStage.COMPLETED
    assert await keys(lab) == {"a": "1", "c": "3", "d": "4"}
    await lab.sees(health.is_locked, wanted=False)
    assert await lab.writes()


async def test_restores_follow_each_other_by_their_tags(lab: Lab) -> None:
    await write(lab, "set a/1 x; set b/1 y")
    await lab.work("one")
    await lab.backups.start(BackupOrder("default", lab.place, 20, continuous=False))
    done = await backed_up(lab, lambda it: it.stage is BackupStage.COMPLETED)
    assert done.restorable is not None
    there = await lab.backups.describe(done.url)
    assert isinstance(there, Container)
    assert there.last == done.restorable.version

    only_a = (KeyRange(b"a/", b"a0"),)
    for tag, order in (
        ("whole", RestoreOrder("whole", done.url)),
        ("part", RestoreOrder("part", done.url, ranges=only_a)),
        ("moved", RestoreOrder("moved", done.url, ranges=only_a, add_prefix=b"new/", remove_prefix=b"a/")),
    ):  # fmt: skip
        await write(lab, _ALL)
        await lab.restores.start(order)
        assert (await restored(lab, tag)).stage is RestoreStage.COMPLETED
        wanted = {"whole": {"a/1", "b/1"}, "part": {"a/1"}, "moved": {"new/1"}}[tag]
        assert set(await keys(lab)) == wanted
    first = await lab.restores.status("whole")
    assert isinstance(first, RestoreState)
    assert first.stage is RestoreStage.COMPLETED


async def test_a_restore_locks_the_database_until_it_is_aborted(lab: Lab) -> None:
    await write(lab, "set a 1")
    await lab.work("one")
    await lab.backups.start(BackupOrder("default", lab.place, 20, continuous=False))
    done = await backed_up(lab, lambda it: it.stage is BackupStage.COMPLETED)
    await lab.kill("one")
    await write(lab, _ALL)
    await lab.restores.start(RestoreOrder("stuck", done.url))
    assert not await lab.writes()
    with pytest.raises(DatabaseRefused) as caught:
        await lab.restores.start(RestoreOrder("another", done.url))
    assert caught.value.refusal is Refusal.LOCKED
    assert await lab.restores.abort("stuck") is RestoreStage.ABORTED
    await lab.sees(health.is_locked, wanted=False)
    assert await lab.writes()


async def test_paused_agents_do_nothing(lab: Lab) -> None:
    await lab.work("one")
    await lab.backups.pause()
    await lab.backups.start(BackupOrder("default", lab.place, 20))
    await lab.pass_by(30)
    found = await lab.backups.status("default")
    assert isinstance(found, BackupState)
    assert (found.paused, found.restorable) == (True, None)
    await lab.backups.resume()
    assert not (await backed_up(lab, reaches(0))).paused


async def test_a_place_that_cannot_be_written_is_waited_for(lab: Lab) -> None:
    await lab.work("one")
    lab.block(blocked=True)
    await lab.backups.start(BackupOrder("default", lab.place, 20))
    await lab.pass_by(40)
    found = await lab.backups.status("default")
    assert isinstance(found, BackupState)
    assert (found.stage.is_active, found.restorable) == (True, None)
    words = ["status", "-C", str(lab.run_by().file), "-t", "default"]
    assert "Recent Errors" in (await lab.run_by().run("fdbbackup", words, 20)).out
    lab.block(blocked=False)
    await backed_up(lab, reaches(0))


async def test_a_backup_goes_elsewhere_and_slower(lab: Lab) -> None:
    await write(lab, "set a 1")
    await lab.work("one")
    await lab.backups.start(BackupOrder("default", lab.place, 20))
    before = await backed_up(lab, reaches(0))
    other = f"{lab.place}/other"
    await lab.backups.modify("default", url=other, snapshot_seconds=10, uid=before.uid)
    found = await backed_up(lab, lambda it: it.url == other)
    assert found.running is not None
    assert (found.uid, found.running.interval) == (before.uid, 10)

    def can(it: Container) -> bool:
        return it.is_restorable

    await until(lab, lambda: lab.backups.describe(other), can)
    with pytest.raises(DatabaseRefused) as caught:
        await lab.backups.modify("default", snapshot_seconds=5, uid="0" * 32)
    assert caught.value.refusal is Refusal.BACKUP_ANOTHER
    await lab.backups.discontinue("default")
    assert (await backed_up(lab, lambda it: not it.stage.is_active)).stage is BackupStage.COMPLETED


async def test_containers_expire_and_are_deleted(lab: Lab) -> None:
    await write(lab, "set a 1")
    await lab.work("one")
    await lab.backups.start(BackupOrder("default", lab.place, 10))
    url = (await backed_up(lab, reaches(0))).url

    def has_three(it: Container) -> bool:
        return it.snapshots > 2

    there = await until(lab, lambda: lab.backups.describe(url), has_three)
    assert there.first is not None
    assert there.last is not None
    await lab.backups.discontinue("default")
    with pytest.raises(DatabaseRefused) as caught:
        await lab.backups.expire(url, Expiry(before_version=there.last + 10**9))
    assert caught.value.refusal is Refusal.EXPIRY_UNSAFE
    await lab.backups.expire(url, Expiry(before_version=there.first + 1))
    left = await lab.backups.describe(url)
    assert isinstance(left, Container)
    assert left.first is not None
    assert left.first > there.first

    await lab.backups.delete(url)
    assert await lab.backups.describe(url) == Container(url, exists=False)
    await lab.backups.delete(url)
    with pytest.raises(DatabaseRefused) as caught:
        await lab.restores.start(RestoreOrder("back", url))
    assert caught.value.refusal is Refusal.BACKUP_MISSING
