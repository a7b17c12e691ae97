"""Whose processes are whose: by the name that a folder has, and that a copy of it has not."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from stateward.core.chance import Chance
from stateward.core.clock import SystemClock
from stateward.local.agent import orphans
from stateward.local.agent.orphans import Origin


def named(root: Path, seed: int = 1) -> str:
    return orphans.owned(root, Chance(seed))[0]


def test_a_folder_keeps_its_name_where_ever_it_is_moved(tmp_path: Path) -> None:
    first = named(tmp_path / "a", 1)

    assert named(tmp_path / "a", 2) == first
    assert named((tmp_path / "a").rename(tmp_path / "b"), 3) == first
    assert [it.name for it in sorted((tmp_path / "b").iterdir())] == ["cluster", "processes"]


def test_a_copy_has_a_name_of_its_own_and_knows_no_processes(tmp_path: Path) -> None:
    first, records = orphans.owned(tmp_path / "a", Chance(1))
    records.add(os.getppid(), Origin(1, 2))
    shutil.copytree(tmp_path / "a", tmp_path / "b")

    assert orphans.name_of(tmp_path / "b") == ""
    second, copied = orphans.owned(tmp_path / "b", Chance(2))

    assert orphans.name_of(tmp_path / "b") == second != first
    assert copied.all() == {}
    assert (named(tmp_path / "a", 3), len(records.all())) == (first, 1)


@pytest.mark.parametrize(
    "text", [b"", b"\n", b"name", b"\xff\xfe", b" 1:2\n", b"0" * 36 + b" 1:2\n"]
)
async def test_an_odd_name_is_none_and_nobody_is_hunted_by_it(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "cluster").write_bytes(text)

    assert orphans.name_of(tmp_path) == ""
    assert await orphans.end_all(tmp_path, SystemClock()) == []
    assert named(tmp_path) == orphans.name_of(tmp_path) != ""


async def test_what_is_left_of_a_folder_is_ended_by_it_and_not_by_its_copy(tmp_path: Path) -> None:
    original, copy, clock = tmp_path / "a", tmp_path / "b", SystemClock()
    name, records = orphans.owned(original, Chance(1))
    mark = {orphans.CLUSTER: name}
    left = await asyncio.create_subprocess_exec("sleep", "60", env=mark, start_new_session=True)
    records.add(left.pid, Origin(orphans.start_time(left.pid) or 0, 0))
    shutil.copytree(original, copy)

    assert (orphans.left_in(copy), await orphans.end_all(copy, clock)) == ({}, [])
    assert await orphans.sweep(*orphans.owned(copy, Chance(2)), clock) == []
    assert list(orphans.left_in(original)) == [left.pid]
    assert await orphans.end_all(original, clock) == [left.pid]
    await left.wait()
    assert orphans.left_in(original) == {}


def test_a_list_that_somebody_removed_is_empty(tmp_path: Path) -> None:
    _, records = orphans.owned(tmp_path, Chance(1))
    shutil.rmtree(tmp_path / "processes")

    assert records.all() == {}
    records.clear()
    records.remove(1)
    assert not (tmp_path / "processes").exists()


def test_nobody_else_looks_into_a_folder_however_it_was_before(tmp_path: Path) -> None:
    (tmp_path / "nodes").mkdir(mode=0o755)

    named(tmp_path / "nodes")

    assert (tmp_path / "nodes").stat().st_mode & 0o777 == 0o700
