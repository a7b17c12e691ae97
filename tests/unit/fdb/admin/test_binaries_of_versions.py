"""Programs of a version that is to come must lie in a folder of their own."""

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
