"""The operator dies at each of its calls while a backup, and a restore, is asked for by kubectl.

Another one finishes what it began: a backup is begun once and ends with its files, a restore
brings back exactly what was there, once. In virtual time `make crashes` does the same and more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest

from operators.dooms import Doom
from operators.fdb.fdb_backing import Backer, details
from operators.fdb.fdb_hands import CLUSTER
from operators.fdb.fdb_worlds import World
from operators.fdb.test_fdb_backups import CLEARED, backing, is_over


@asynccontextmanager
async def operators(it: World, doom: Doom) -> AsyncGenerator[None, None]:
    """Have an operator that dies, and another one after it."""

    async def one_after_the_other() -> None:
        async with it.operating(name=f"doomed-{doom.at}", doom=doom):
            await doom.died.wait()
        async with it.operating(name=f"next-{doom.at}"):
            await asyncio.Future()

    task = asyncio.create_task(one_after_the_other())
    try:
        yield
        assert not task.done(), task.exception()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def dying(it: World, life: Callable[[int], Awaitable[None]]) -> Doom:
    """Live it again and again, with a death at each call, until one is through before; return it."""
    for number in count(1):
        doom = Doom(number)
        async with operators(it, doom):
            await life(number)
        if not doom.died.is_set():
            return doom
    raise AssertionError("numbers do not end")


def told(doom: Doom) -> str:
    return "\n  ".join([f"{len(doom.calls)} deaths, one at each of", *doom.calls])


@pytest.mark.long  # some forty lives, half a minute each
@pytest.mark.patient(7200)
async def test_a_backup_is_begun_stopped_and_cleaned_up_whoever_dies_at_any_call(
    plane: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with backing(plane, tmp_path, monkeypatch) as (it, you):
        async with it.operating(name="maker"):
            await it.reconciled(CLUSTER)

        async def life(number: int) -> None:
            name = f"nightly-{number}"
            await you.back_up(name, tag=name, deletionPolicy="cleanup")
            first = await you.restorable(name)
            assert len(list(you.folder.glob(f"{name}/backup-*"))) == 1, "begun once"
            await you.patch(name, backupState="Stopped")
            ended = await you.until("fdbbackup", name, "over", is_over)
            assert details(ended)["uid"] == first["uid"]
            await you.delete(f"fdbbackup/{name}")
            await you.gone("fdbbackup", name)
            assert not you.files(name)

        print(told(await dying(it, life)))  # noqa: T201 - says what was tried


async def begun(you: Backer, name: str) -> str:
    """Return the UID of a restore, as its database has it."""
    found = await you.get("fdbrestore", name)
    uid: str = found["status"]["uid"]
    return uid


@pytest.mark.long
@pytest.mark.patient(7200)
async def test_what_was_cleared_comes_back_once_whoever_dies_at_any_call(
    plane: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with backing(plane, tmp_path, monkeypatch) as (it, you):
        async with it.operating(name="maker"):
            await it.reconciled(CLUSTER)
            await you.back_up("nightly")
            await you.restorable("nightly")
            early = await you.write("set a 1; set b 2; set c 3")
            await you.restorable("nightly", early)
        uids: set[str] = set()

        async def life(number: int) -> None:
            name = f"again-{number}"
            await you.write(CLEARED)
            await you.write("set a 9; set d 4")
            clear = {"destinationPolicy": "clear"}
            await you.restore(name, backupName="nightly", backupVersion=early, **clear)
            await you.said("fdbrestore", name, "Completed", "RestoreCompleted")
            assert await you.keys() == {"a": "1", "b": "2", "c": "3"}
            uids.add(await begun(you, name))
            assert len(uids) == number, "each of its own, and none again"
            await you.delete(f"fdbrestore/{name}")
            await you.gone("fdbrestore", name)

        print(told(await dying(it, life)))  # noqa: T201 - says what was tried
