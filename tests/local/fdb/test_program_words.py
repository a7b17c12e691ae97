"""Command lines of fdbserver and fdbcli, as the real ones were recorded; nothing runs for long."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from stateward.emulate.fdb.programs import shims

RECORDING = Path(__file__).parents[2] / "recordings" / "fdb" / "transcripts" / "00_programs.json"
BANNER = "EMULATED: "
STRINGS = {
    "bad.cluster": "nonsense",
    "tls.cluster": "lab:abcdefgh@127.0.9.9:4500:tls",
    "none.cluster": "lab:abcdefgh@127.0.9.9:4500",
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shims.install(tmp_path_factory.mktemp("bin"), "7.3.79")


def ran(programs: Path, folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder of its own, ten times as fast as the world."""
    return subprocess.run(
        [programs / words[0], *words[1:]],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "STATEWARD_FDB_PACE": "10", **env},
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def recorded() -> list[tuple[list[str], Any]]:
    """Return what was typed to our programs in the recording; texts of --help are our own."""
    whole = json.loads(RECORDING.read_text())
    mine = [it for it in whole if Path(it["cmd"][0]).name in shims.DATABASE]
    return [(it["cmd"], it) for it in mine if "--help" not in it["cmd"]]


def _typed(it: Any) -> str:
    return " ".join(it[:4]) if isinstance(it, list) else ""


@pytest.mark.parametrize(("words", "theirs"), recorded(), ids=_typed)
def test_what_the_real_programs_said(
    programs: Path, tmp_path: Path, words: list[str], theirs: Any
) -> None:
    for name, text in STRINGS.items():
        (tmp_path / name).write_text(text)
    typed = [it.replace("LAB", str(tmp_path)) for it in words]
    ours = ran(programs, tmp_path, Path(words[0]).name, *typed[1:])

    assert ours.returncode == theirs["rc"]
    out, err = (_alike(it, tmp_path, programs) for it in (ours.stdout, ours.stderr))
    assert out == _alike(theirs["stdout"] or "", tmp_path, programs)
    assert err == _alike(theirs["stderr"] or "", tmp_path, programs)


def _alike(text: str, folder: Path, programs: Path) -> str:
    """Return what is printed with names of folders as in the recording, and without our banner."""
    text = text.replace(str(folder), "LAB").replace(str(programs), "BIN")
    if text.startswith("{"):
        document = json.loads(text)
        document["client"]["messages"] = [
            it for it in document["client"]["messages"] if it["name"] != "emulated"
        ]
        document["client"].pop("timestamp")
        return json.dumps(document)
    lines = [it for it in text.splitlines() if not it.startswith((BANNER, "source version"))]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("fdbserver -C c -d d", 1, "--public-address option is required"),
        ("fdbserver -C c -p 127.0.0.1", 1, "an address must be HOST:PORT"),
        ("fdbserver -C c -p 127.0.0.1:4500 --class nonsense", 1, "Unknown machine class"),
        ("fdbserver -C c -p 127.0.0.1:4500 -l 127.0.0.1:4500:tls", 1, "each with the same TLS"),
        ("fdbserver -C c -p", 1, "requires an argument"),
        ("fdbserver -C nothing -p 127.0.0.1:4500", 10, "1515"),
        ("fdbserver -C garbage -p 127.0.0.1:4500", 10, "2104"),
        ("fdbserver -C c -p 203.0.113.1:4500 -d d", 1, "Could not listen"),
        ("fdbserver -C c -p 127.0.0.1:4500:tls -d d --tls-certificate-file x --tls-key-file x", 1,
         "TLS cannot be used"),
        ("fdbserver -C c -p 127.0.0.1:4500 -d d --tls-verify-peers nonsense", 1, "must look like"),
        ("fdbcli -C c --timeout soon", 1, "must be a whole number"),
        ("fdbcli -C garbage --exec status", 1, "2104"),
        ("fdbcli -C c --bogus", 1, "unknown option"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_and_ends(
    programs: Path, tmp_path: Path, words: str, code: int, said: str
) -> None:
    (tmp_path / "c").write_text(STRINGS["none.cluster"])
    (tmp_path / "garbage").write_bytes(b"\xff\x00\xfe not a cluster file")
    found = ran(programs, tmp_path, *words.split())

    assert (found.returncode, "Traceback" in found.stderr) == (code, False), found.stderr
    assert said in found.stderr


def test_a_pace_that_is_no_number_is_refused(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "c").write_text(STRINGS["none.cluster"])
    words = ("fdbserver", "-C", "c", "-p", "127.0.0.1:4500")
    found = ran(programs, tmp_path, *words, STATEWARD_FDB_PACE="fast")

    assert (found.returncode, "must be a number" in found.stderr) == (1, True)


@pytest.mark.parametrize("program", ["fdbserver", "fdbcli"])
def test_people_read_that_it_is_emulated(programs: Path, tmp_path: Path, program: str) -> None:
    for word in ("--version", "--help"):
        found = ran(programs, tmp_path, program, word)
        assert found.returncode == 0
        assert BANNER in found.stdout


def test_all_programs_are_written_by_one_command(tmp_path: Path) -> None:
    assert shims.main([str(tmp_path / "bin")]) == 0
    assert {it.name for it in (tmp_path / "bin").iterdir()} == {*shims.DATABASE, *shims.KEEPERS}
    assert shims.main([]) == 2


def test_lines_are_typed_one_after_another(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "c").write_text(STRINGS["none.cluster"])
    found = subprocess.run(
        [programs / "fdbcli", "-C", "c"],
        input="coordinators\nnosuch\nexit\n",
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "STATEWARD_FDB_PACE": "10"},
        timeout=60,
        check=False,
    )
    assert found.returncode == 0
    assert found.stdout.startswith(BANNER)
    assert "Cluster coordinators (1): 127.0.9.9:4500" in found.stdout
    assert "Unknown command `nosuch'" in found.stderr
