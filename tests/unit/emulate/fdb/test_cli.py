"""What people mistype: fdbcli says how a command is used, and nothing is done."""

from __future__ import annotations

import pytest

from fakes.fdb_databases import configured
from stateward.emulate.fdb.cli.program import Fdbcli


@pytest.mark.parametrize(
    "line",
    [
        "get",
        "get a b",
        "writemode on; set a",
        "writemode on; clear",
        "writemode",
        "option",
        "sleep",
        "sleep soon",
        "sleep -1",
        "maintenance on",
        "maintenance on z1 soon",
        "suspend 1",
        "setclass a",
        "include",
    ],
)
def test_what_is_mistyped_is_told_how_it_is_used(line: str) -> None:
    answer = Fdbcli(configured()).run(line, 30)
    assert answer.code == 1
    assert "Usage: " in answer.out


def test_letters_that_are_no_bytes_are_keys_as_well() -> None:
    answer = Fdbcli(configured()).run("writemode on; set ключ ☃; get ключ", 30)
    assert answer.code == 0
    assert "Committed" in answer.out
