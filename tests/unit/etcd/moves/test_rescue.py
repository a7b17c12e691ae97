"""A snapshot is kept whole and for good, or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from stateward.core.errors import PeerConfused
from stateward.etcd.moves.rescue import Rescue, RescueImpossible


async def pieces(*parts: bytes, then: Exception | None = None) -> AsyncGenerator[bytes, None]:
    for part in parts:
        yield part
    if then is not None:
        raise then


def snapshots_in(folder: Path) -> list[str]:
    return [it.name for it in folder.glob("*.db")]


async def test_a_snapshot_and_its_name_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []

    def noting(descriptor: int) -> None:
        synced.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")

    monkeypatch.setattr(os, "fsync", noting)
    path = await Rescue(tmp_path / "new").save("shop", pieces(b"all of", b" it"))
    assert path.read_bytes() == b"all of it"
    assert [it.name for it in path.parent.iterdir()] == ["shop.db"]
    assert synced == ["file", "folder"], "in this order, or a name may outlive its data"


async def test_a_broken_one_is_not_taken_for_a_snapshot(tmp_path: Path) -> None:
    with pytest.raises(PeerConfused):
        await Rescue(tmp_path).save("shop", pieces(b"half", then=PeerConfused("no seal")))
    assert snapshots_in(tmp_path) == []


async def test_no_folder_no_recovery() -> None:
    with pytest.raises(RescueImpossible):
        await Rescue(None).save("shop", pieces(b"all"))
