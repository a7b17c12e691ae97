"""A secret has a path for a moment, and is on no disk."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from stateward.core.unwritten import as_file


def test_it_can_be_read_within_the_block_alone() -> None:
    with as_file(b"key") as path:
        assert Path(path).read_bytes() == b"key"
        assert Path(path).read_bytes() == b"key", "from its beginning each time"
    assert not Path(path).exists()


def test_no_folder_has_to_be_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with as_file(b"key") as path:
        assert Path(path).read_bytes() == b"key"


def forbidden(_name: str) -> int:
    raise PermissionError("seccomp")


@pytest.mark.parametrize("there", [False, True])
def test_elsewhere_it_is_a_file_for_us_alone_that_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    if there:
        monkeypatch.setattr(os, "memfd_create", forbidden)
    else:
        monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with as_file(b"key") as path:
        assert Path(path).read_bytes() == b"key"
        assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == []
