"""`stateward doctor` of FoundationDB: which one is here, or why the one that is named is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.programs import saying
from stateward.cli.main import main


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Have a machine with nothing on it."""
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "STATEWARD_ETCD_BIN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("STATEWARD_FDB_BIN", raising=False)
    for name in ("HOME", "XDG_CACHE_HOME", "PATH"):
        monkeypatch.setenv(name, str(tmp_path / "nothing"))
    monkeypatch.setattr("stateward.app.etcd.available.find_spec", lambda _name: None)


def test_what_is_here_is_listed(capsys, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("fdbserver", "fdbcli"):
        saying(tmp_path / name, "FoundationDB 7.3 (v7.3.79)")
    monkeypatch.setenv("STATEWARD_FDB_BIN", str(tmp_path))
    main(["doctor"])
    assert "✔ FoundationDB 7.3.79 from STATEWARD_FDB_BIN\n" in capsys.readouterr().out


def test_nothing_is_no_trouble(capsys) -> None:
    main(["doctor"])
    assert "- no FoundationDB: it is EMULATED; `stateward local get-fdb`" in capsys.readouterr().out


def test_what_is_named_in_vain_is_misuse(
    capsys, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STATEWARD_FDB_BIN", str(tmp_path / "nothing"))
    assert main(["doctor"]) == 2
    assert "STATEWARD_FDB_BIN must name folders" in capsys.readouterr().err
