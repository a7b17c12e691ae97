"""One cluster a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stateward.local.disk.errors import FolderBusy, FolderUnusable
from stateward.local.disk.folder import Folder, owner_of


def test_two_clusters_cannot_share_a_folder(tmp_path: Path) -> None:
    with Folder(tmp_path):
        assert owner_of(tmp_path) == os.getpid()
        with pytest.raises(FolderBusy, match=f"process {os.getpid()}"), Folder(tmp_path):
            pass

    assert owner_of(tmp_path) is None
    with Folder(tmp_path):
        pass


def test_a_folder_is_made_and_is_private(tmp_path: Path) -> None:
    with Folder(tmp_path / "new" / "one") as folder:
        assert folder.layout.root.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_what_is_no_folder_is_refused_with_a_reason(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")

    with (
        pytest.raises(FolderUnusable, match="must be a folder to write to"),
        Folder(tmp_path / place),
    ):
        pass


def test_a_folder_with_other_peoples_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("")

    with (
        pytest.raises(FolderUnusable, match="must be empty or the folder of a cluster"),
        Folder(tmp_path),
    ):
        pass

    assert [it.name for it in tmp_path.iterdir()] == ["thesis.txt"]
