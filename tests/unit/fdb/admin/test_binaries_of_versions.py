"""Programs and libraries of versions: where they lie, and whose they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateward.core.version import Version
from stateward.fdb.admin.binaries import Binaries


@pytest.mark.parametrize(
    ("place", "is_there"), [("7.4", True), ("7.4.5", True), (".", False), ("7.3", False)]
)
def test_a_program_of_the_version_that_runs_is_none_of_the_next(
    tmp_path: Path, place: str, is_there: bool
) -> None:
    folder = tmp_path / place
    folder.mkdir(exist_ok=True)
    (folder / "fdbcli").write_text("#!/bin/sh\n")
    (folder / "fdbcli").chmod(0o755)
    found = Binaries((tmp_path,)).lacking("fdbcli", Version(7, 4, 5))
    assert (found == "") is is_there
    assert is_there or str(tmp_path) in found


@pytest.mark.parametrize(
    ("there", "found"),
    [
        (["libfdb_c_7.1.so", "libfdb_c_7.3.so"], "libfdb_c_7.3.so"),
        (["libfdb_c_7.3.so", "libfdb_c.so"], "libfdb_c_7.3.so"),
        (["libfdb_c_7.3.so", "libfdb_c_7.3.79.so"], "libfdb_c_7.3.79.so"),
        (["7.3/libfdb_c.so", "libfdb_c.so"], "7.3/libfdb_c.so"),
        (["libfdb_c.so"], "libfdb_c.so"),
        (["libfdb_c_7.1.so"], None),
    ],
)
def test_the_library_of_a_release_is_found_as_images_hand_it_out(
    tmp_path: Path, there: list[str], found: str | None
) -> None:
    for name in there:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    wanted = None if found is None else tmp_path / found
    assert Binaries((tmp_path,)).find_library(Version(7, 3, 79)) == wanted
