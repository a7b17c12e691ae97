"""Clusters are found while they run, and only their own things are ever removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateward.app import homes
from stateward.core.errors import UsageError
from stateward.local.disk.errors import FolderBusy, FolderUnusable
from stateward.local.disk.folder import Folder


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr(homes.tempfile, "gettempdir", lambda: str(place))


def test_a_temporary_cluster_is_found_while_it_runs_and_leaves_nothing() -> None:
    with pytest.raises(UsageError, match="no local cluster runs"):
        homes.the_one(None)

    with homes.a_home(None) as root, Folder(root):
        (root / "nodes").mkdir()
        assert homes.the_one(None) == root.resolve()
        assert homes.abandoned() == []

    assert not root.exists()
    assert homes.running() == []


def test_a_cluster_with_data_is_found_by_its_entry_and_its_data_stay(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with homes.a_home(data) as root, Folder(root):
        assert homes.the_one(None) == data
        assert homes.the_one(data) == data

    assert data.exists()
    with pytest.raises(UsageError, match="no cluster runs on"):
        homes.the_one(data)


def test_of_two_clusters_the_user_must_say_which(tmp_path: Path) -> None:
    with homes.a_home(None) as one, Folder(one), homes.a_home(tmp_path / "two") as two, Folder(two):
        with pytest.raises(UsageError, match="2 local clusters run"):
            homes.the_one(None)
        assert homes.the_one(two) == two


def test_what_a_killed_cluster_left_is_known_as_abandoned() -> None:
    with homes.a_home(None) as root, Folder(root) as folder:
        folder.__exit__(None, None, None)
        assert homes.abandoned() == [root]


def test_a_reset_removes_what_a_cluster_made_and_nothing_else(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Folder(data):
        for name in ("journal", "kubeconfig", "journal.damaged.1", "thesis.txt"):
            (data / name).write_text("")
        for name in ("nodes", "plane"):
            (data / name).mkdir()
        with pytest.raises(FolderBusy):
            homes.reset(data)

    homes.reset(data)

    assert [it.name for it in data.iterdir()] == ["thesis.txt"]
    with pytest.raises(UsageError, match="must be the folder of a local cluster"):
        homes.reset(data)


def test_entries_in_a_folder_of_somebody_else_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    homes.entries()
    monkeypatch.setattr(homes.os, "getuid", lambda: 12345)
    (Path(homes.tempfile.gettempdir()) / "stateward-12345").symlink_to("/")

    with pytest.raises(FolderUnusable, match="belongs to somebody else"):
        homes.entries()
