"""The parts of `stateward local` that need no cluster."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stateward.app import homes
from stateward.cli.main import main
from stateward.local.disk.folder import Folder


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr(homes.tempfile, "gettempdir", lambda: str(place))


def test_differences_is_honest_and_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["local", "differences"]) == 0

    told = capsys.readouterr().out
    topics = [line for line in told.splitlines()[3:] if line[:1].isupper() and len(line) < 30]
    assert {"Containers", "Network", "API server", "Controllers", "Volumes", "Data"} <= set(topics)
    assert max(map(len, told.splitlines())) <= 100


@pytest.mark.parametrize("words", [["status"], ["logs", "web-0"]])
def test_without_a_cluster_it_says_how_to_start_one(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["local", *words]) == 2

    assert (
        capsys.readouterr().err
        == "stateward: no local cluster runs; start one: stateward local up\n"
    )


def test_a_reset_asks_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Folder(tmp_path / "data"):
        pass
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _prompt: "n")

    assert main(["local", "reset", "--data", str(tmp_path / "data")]) == 1
    assert (tmp_path / "data" / "stateward.lock").exists()
    assert main(["local", "reset", "--data", str(tmp_path / "data"), "--yes"]) == 0
    assert not list((tmp_path / "data").iterdir())
    assert "removed stateward.lock" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["up", "--nodes", "-1"], "nodes"),
        (["up", "--port", "99999"], "port"),
        (["up", "--data", __file__], "is a file"),
        (["reset"], "--data"),
    ],
)
def test_bad_input_is_one_sentence(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["local", *words]) == 2

    told = capsys.readouterr().err
    assert complaint in told
    assert told.count("\n") == 1


@pytest.mark.parametrize("missing", ["cryptography", "cronsim", "jsonschema_rs"])
def test_without_the_extra_it_says_what_to_install(missing: str) -> None:
    script = (
        f"import sys; sys.modules[{missing!r}] = None;"
        "from stateward.cli.main import main; sys.exit(main(['local', 'up']))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )

    assert ended.returncode == 2
    assert missing.replace("_", "-") in ended.stderr.replace("_", "-")
    assert "install" in ended.stderr
    assert "stateward[local]" in ended.stderr
    assert "Traceback" not in ended.stderr
