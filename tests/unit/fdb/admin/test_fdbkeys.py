"""The program for keys of a real database, with a module in libfdb_c's place."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from fakes.fdb_binding import FakeFdb
from fakes.fdb_databases import STRING, configured
from stateward.core.errors import StatewardError
from stateward.fdb.admin.errors import ProgramUnusable
from stateward.fdb.admin.keyed.optimistic import Order, Reply, Span
from stateward.fdb.admin.native import fdbkeys, library

KEY = b"\xff\x02/a"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have a database behind a cluster file."""
    module = FakeFdb(configured())
    module.api_version(library.API_VERSION)
    monkeypatch.setattr(library, "load", lambda *_told: module)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "made"))
    (tmp_path / "made").mkdir()
    file = tmp_path / "fdb.cluster"
    file.write_text(f"{STRING}\n")
    return file


def typed(monkeypatch: pytest.MonkeyPatch, order: Order | bytes) -> None:
    raw = order if isinstance(order, bytes) else msgspec.json.encode(order)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(raw)))


def test_one_order_is_one_reply(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def reply(order: Order) -> Reply:
        typed(monkeypatch, order)
        assert fdbkeys.main(["-C", str(file), "--library", "libfdb_c.so"]) == 0
        return msgspec.json.decode(capsys.readouterr().out, type=Reply)

    unset = (Span(KEY), [])
    assert reply(Order(unchanged=[unset], writes=[(KEY, b"1")])) == Reply()
    assert reply(Order(read=Span(KEY))).rows == [(KEY, b"1")]
    assert reply(Order(unchanged=[unset], writes=[(KEY, b"2")])).trouble == "conflicted"
    assert reply(Order(clears=[Span(KEY, KEY + b"\xff")])) == Reply()
    assert reply(Order(read=Span(KEY))).rows == []
    assert list((file.parent / "made").iterdir()) == [], "nothing is left behind"
    assert file.read_text() == f"{STRING}\n"


@pytest.mark.parametrize("raw", [b"", b"{", b'{"writes": 7}'])
def test_what_is_no_order_is_said(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], raw: bytes
) -> None:
    typed(monkeypatch, raw)
    assert fdbkeys.main(["-C", str(file), "--library", "x"]) == 1
    assert "must be given an order" in capsys.readouterr().err


def test_who_cannot_begin_says_why(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def load(*_told: object) -> StatewardError:
        raise ProgramUnusable("libfdb_c must be there")

    monkeypatch.setattr(library, "load", load)
    assert fdbkeys.main(["-C", str(file), "--library", "x"]) == 1
    assert "libfdb_c must be there" in capsys.readouterr().err
