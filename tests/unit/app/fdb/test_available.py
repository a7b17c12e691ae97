"""Which FoundationDB is found, what is said of one that is named in vain, and who stands in."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from fakes.programs import write
from stateward.app.fdb import asking
from stateward.app.fdb.available import (
    FETCHED,
    NAMED,
    ON_PATH,
    Emulated,
    Found,
    available,
    choose,
    folders_of,
)
from stateward.core.errors import UsageError
from stateward.core.version import Version
from stateward.emulate.fdb.programs import shims

ALL = ("fdbserver", "fdbcli", "fdbbackup", "fdbrestore", "backup_agent")


def environment(root: Path, named: str = "") -> dict[str, str]:
    """Return one in which nothing of this machine is found."""
    found = {"PATH": str(root / "bin"), "XDG_CACHE_HOME": str(root / "xdg")}
    return found | ({NAMED: named} if named else {})


def put(folder: Path, version: str, names: Sequence[str] = ALL) -> Path:
    """Put programs of a version into a folder."""
    minor = version.rpartition(".")[0]
    for name in names:
        text = f"FoundationDB {minor} (v{version})\nsource version 123\nprotocol fdb00b073000000"
        write(folder / name, f"printf '{text}\\n'")
    return folder


def told(found: Sequence[Found]) -> list[tuple[str, str]]:
    return [(str(it.version), it.source) for it in found]


async def test_path_and_then_what_was_fetched(tmp_path: Path) -> None:
    put(tmp_path / "bin", "7.3.27")
    for version in ("7.1.61", "7.3.79"):
        folder = put(tmp_path / "xdg" / "stateward" / "fdb" / version, "what its folder says")
        (folder / "libfdb_c.so").write_text("")
    put(tmp_path / "xdg" / "stateward" / "fdb" / ".7.3.80.part", "7.3.80")
    put(tmp_path / "xdg" / "stateward" / "fdb" / "7.3.81", "7.3.81", ["fdbcli"])
    put(tmp_path / "xdg" / "stateward" / "fdb" / "07.3", "7.3.82")

    found = await available(environment(tmp_path))

    assert told(found) == [("7.3.27", ON_PATH), ("7.3.79", FETCHED), ("7.1.61", FETCHED)]
    assert tuple(found[0].programs) == ALL
    assert found[0].library is None
    assert found[1].library == tmp_path / "xdg" / "stateward" / "fdb" / "7.3.79" / "libfdb_c.so"
    assert str(found[1]) == "FoundationDB 7.3.79 from `stateward local get-fdb`"


async def test_what_is_named_is_all_there_is(tmp_path: Path) -> None:
    put(tmp_path / "bin", "7.3.27")
    put(tmp_path / "mine", "7.3.79")
    put(tmp_path / "both" / "7.1.61", "7.1.61")
    put(tmp_path / "both" / "7.3", "7.3.63", ["fdbserver", "fdbcli"])
    named = f"{tmp_path / 'mine' / 'fdbserver'}:{tmp_path / 'both'}"

    found = await available(environment(tmp_path, named))

    assert told(found) == [("7.3.79", NAMED), ("7.3.63", NAMED), ("7.1.61", NAMED)]


async def test_a_server_and_its_tools_may_be_in_two_folders(tmp_path: Path) -> None:
    put(tmp_path / "bin", "7.3.27", ["fdbcli", "fdbbackup"])
    put(tmp_path / "sbin", "7.3.27", ["fdbserver"])
    both = {"PATH": f"{tmp_path / 'bin'}:{tmp_path / 'sbin'}", "XDG_CACHE_HOME": str(tmp_path)}
    (found,) = await available(both)
    assert found.folders() == (tmp_path / "sbin", tmp_path / "bin")
    put(tmp_path / "bin", "6.3.1", ["fdbbackup"])
    (found,) = await available(both)
    assert tuple(found.programs) == ("fdbserver", "fdbcli"), "what does not belong is left out"
    put(tmp_path / "bin", "6.3.1", ["fdbcli"])
    assert await available(both) == ()


async def test_nothing_anywhere_is_emulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless() -> Path:
        raise RuntimeError

    assert await available(environment(tmp_path)) == ()
    monkeypatch.setattr(Path, "home", homeless)
    found = await available({"PATH": ""})
    assert found == ()
    chosen = choose(Version(7, 3, 79), found)
    assert chosen == Emulated(Version(7, 3, 79))
    assert str(chosen) == "FoundationDB 7.3.79, EMULATED"


GARBAGE = "head -c 10000 /dev/urandom"


@pytest.mark.parametrize(
    ("scripts", "sentence"),
    [
        ({}, "has neither, nor has a folder of a version in it"),
        ({"fdbserver": "exit 0"}, "fdbcli must be beside .*/fdbserver"),
        ({"fdbcli": "exit 0"}, "fdbserver must be beside .*/fdbcli"),
        ({"fdbserver": "exit 1", "fdbcli": "exit 1"}, "must name a version, and says ''"),
        ({"fdbserver": GARBAGE, "fdbcli": GARBAGE}, "must name a version, and says"),
        ({"fdbserver": "echo '(v7.03.1)'", "fdbcli": "exit 0"}, "must name a version"),
        ({"fdbserver": "cat /dev/zero", "fdbcli": "exit 0"}, "must print less than 65536 bytes"),
        ({"fdbserver": "trap '' TERM INT; sleep 60", "fdbcli": "exit 0"}, "must answer within"),
        (
            {"fdbserver": "echo '(v7.3.79)'", "fdbcli": "echo '(v7.1.61)'"},
            r"fdbcli must be of FoundationDB 7\.3, and is 7\.1\.61",
        ),
    ],
    ids=["nothing", "no cli", "no server", "silent", "garbage", "odd", "endless", "hangs", "mixed"],
)
async def test_what_is_named_in_vain_is_said_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: dict[str, str], sentence: str
) -> None:
    monkeypatch.setattr(asking, "_PATIENCE", 0.5)
    put(tmp_path / "bin", "7.3.79")  # never silently something else
    for name, script in scripts.items():
        write(tmp_path / "mine" / name, script)
    began = time.monotonic()
    place = environment(tmp_path, str(tmp_path / "mine"))
    place["PATH"] += f":{os.environ['PATH']}"  # what the scripts run
    with pytest.raises(UsageError, match=sentence) as caught:
        await available(place)
    assert "STATEWARD_FDB_BIN must name folders" in caught.value.message
    assert "get-fdb" in caught.value.hint
    assert time.monotonic() - began < 20


async def test_the_stand_in_by_its_programs_is_told_as_such(tmp_path: Path) -> None:
    folder = shims.install(tmp_path / "mine", "7.3.63")
    (found,) = await available(dict(os.environ) | {NAMED: str(folder)})
    assert str(found) == "FoundationDB 7.3.63 from STATEWARD_FDB_BIN, EMULATED"


async def test_a_variable_that_names_nothing_is_in_vain(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="it names no folder"):
        await available(environment(tmp_path, ":"))


def found(text: str, source: str = ON_PATH) -> list[Found]:
    places = {"fdbserver": Path("/a/fdbserver"), "fdbcli": Path("/b/fdbcli")}
    return [Found(Version.parse(it), source, places, None) for it in text.split()]


@pytest.mark.parametrize(
    ("wanted", "there", "chosen"),
    [
        ("7.3.27", "7.1.61 7.3.79 7.3.27", "7.3.27"),
        ("7.3.27", "7.1.61 7.3.63 7.3.79", "7.3.79"),
        ("7.1.5", "7.3.79", "EMULATED"),
        ("7.3.0-rc1", "7.3.79", "EMULATED"),
    ],
)
def test_who_stands_for_a_version(wanted: str, there: str, chosen: str) -> None:
    assert chosen in str(choose(Version.parse(wanted), found(there)))


def test_who_names_another_version_wants_no_stand_in() -> None:
    with pytest.raises(UsageError, match=r"must have FoundationDB 7\.1, and has 7\.3\.79"):
        choose(Version(7, 1, 61), found("7.3.79", NAMED))


def test_the_programs_of_the_stand_in_are_made(tmp_path: Path) -> None:
    def install(folder: Path, version: str) -> Path:
        return folder / version

    (real,) = found("7.3.79")
    assert folders_of(real, tmp_path, install) == (Path("/a"), Path("/b"))
    assert folders_of(Emulated(Version(7, 3, 79)), tmp_path, install) == (tmp_path / "7.3.79",)
