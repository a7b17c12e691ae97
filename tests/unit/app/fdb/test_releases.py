"""`stateward local get-fdb`: what it fetches is whole and checked, or nothing is kept of it."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.fdb_site import FILES, VERSION, Site, program, serving
from stateward.app.fdb import releases
from stateward.cli.main import main

KEPT = ["backup_agent", "fdbbackup", "fdbcli", "fdbrestore", "fdbserver", "libfdb_c.so"]


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as it:
        yield it


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv(releases.SITE_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    return tmp_path / "xdg" / "stateward" / "fdb"


def get(site: Site | str, *words: str) -> int:
    url = site if isinstance(site, str) else site.url
    return main(["local", "get-fdb", "--version", VERSION, "--mirror", url, *words])


def test_a_release_is_fetched_and_can_be_run(site: Site, cache: Path, capsys) -> None:
    site.offer()
    assert get(site, "--yes") == 0
    place = cache / VERSION
    assert sorted(it.name for it in place.iterdir()) == KEPT
    assert all(os.access(place / it, os.X_OK) for it in KEPT if it != "libfdb_c.so")
    assert f"local: FoundationDB {VERSION} is in {place}" in capsys.readouterr().out
    site.asked.clear()
    assert get(site) == 0
    assert site.asked == [], "it is there already"


@pytest.mark.parametrize("gives_parts", [True, False])
def test_what_was_interrupted_is_gone_on_with(
    site: Site, cache: Path, capsys, gives_parts: bool
) -> None:
    site.offer()
    site.gives_parts = gives_parts
    name = f"/{VERSION}/{FILES['fdbcli'].name}"
    site.cut[name] = 60_000
    assert get(site, "--yes") == 1
    assert "must be reachable and answer to the end" in capsys.readouterr().err
    assert not (cache / VERSION).exists()
    kept = (cache / f".{VERSION}.part" / "fdbcli").stat().st_size
    assert 0 < kept <= 60_000
    site.cut.clear()
    assert get(site, "--yes") == 0
    assert (name, f"bytes={kept}-") in site.asked
    assert sorted(it.name for it in (cache / VERSION).iterdir()) == KEPT


def test_a_wrong_checksum_keeps_nothing_of_that_file(site: Site, cache: Path, capsys) -> None:
    site.offer()
    site.say(FILES["fdbcli"].name, "a" * 64)
    assert get(site, "--yes") == 1
    assert f"must have the SHA-256 {'a' * 64}" in capsys.readouterr().err
    assert not (cache / VERSION).exists()
    assert not (cache / f".{VERSION}.part" / "fdbcli").exists()


def test_a_list_without_a_checksum_is_said_to(site: Site, capsys) -> None:
    site.offer()
    site.pages[f"/{VERSION}/{FILES['fdbcli'].name}.sha256"] = b"nonsense"
    assert get(site, "--yes") == 1
    assert "must have a SHA-256 of fdbcli" in capsys.readouterr().err


def test_what_is_not_there_is_said_to(site: Site, capsys) -> None:
    assert get(site, "--yes") == 2
    assert "must be there, and is not" in capsys.readouterr().err


def test_another_version_is_not_kept(site: Site, cache: Path, capsys) -> None:
    site.offer(fdbserver=program("7.1.5"))
    assert get(site, "--yes") == 1
    assert "must be of FoundationDB 7.3, and is 7.1.5" in capsys.readouterr().err
    assert list(cache.iterdir()) == []


def test_what_cannot_be_run_is_not_kept(site: Site, cache: Path, capsys) -> None:
    site.offer(fdbserver=b"\x7fELF nonsense")
    assert get(site, "--yes") == 1
    assert "must be a program that can be run" in capsys.readouterr().err
    assert list(cache.iterdir()) == []


def test_what_has_no_end_is_not_kept(site: Site, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    site.offer()
    monkeypatch.setattr(releases, "_PROGRAM", 50_000)
    assert get(site, "--yes") == 1
    assert "has more than 50000 bytes" in capsys.readouterr().err


def test_a_cache_that_cannot_be_written_is_said_to(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    site.offer()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert get(site, "--yes") == 1
    assert "must be a folder to write to" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--version", "seven"], "--version: a version must look like"),
        (["--mirror", "http://example.org"], "the site must be asked by https"),
        (["--mirror", "http://[::"], "the site must be an address"),
    ],
)
def test_misuse_is_one_sentence(words: list[str], sentence: str, capsys) -> None:
    assert main(["local", "get-fdb", "--yes", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_two_do_not_fetch_into_one_folder(site: Site, cache: Path, capsys) -> None:
    site.offer()
    arriving = cache / f".{VERSION}.part"
    arriving.mkdir(parents=True)
    with (arriving / ".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert get(site, "--yes") == 2
        assert "somebody else is fetching into" in capsys.readouterr().err
    assert get(site, "--yes") == 0
    assert sorted(it.name for it in (cache / VERSION).iterdir()) == KEPT


def test_nobody_to_ask_has_not_agreed(site: Site, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    assert get(site) == 2
    assert "say --yes" in capsys.readouterr().err
    assert site.asked == []
