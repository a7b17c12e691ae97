"""`stateward local get-etcd`: what it fetches is whole and checked, or nothing is left of it."""

from __future__ import annotations

import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trustme

from stateward.app.etcd import archives, releases
from stateward.app.etcd.available import FETCHED, available
from stateward.cli.main import main
from unit.app.etcd.site import (
    ARCHIVE,
    FOLDER,
    PROGRAMS,
    VERSION,
    Site,
    archive,
    cut,
    good,
    leads_elsewhere,
    script,
    serving,
    swollen,
)


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
    return tmp_path / "xdg" / "stateward" / "etcd"


def get(site: Site | str, *words: str) -> int:
    url = site if isinstance(site, str) else site.url
    return main(["local", "get-etcd", "--version", VERSION, "--from", url, *words])


def left(folder: Path) -> list[str]:
    return (
        sorted(str(it.relative_to(folder)) for it in folder.rglob("*")) if folder.exists() else []
    )


def test_a_release_is_fetched_and_found(
    site: Site, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.offer(good())

    assert get(site, "--yes") == 0

    assert left(cache) == [VERSION, *(f"{VERSION}/{it}" for it in PROGRAMS)]
    assert all(os.access(cache / VERSION / it, os.X_OK) for it in PROGRAMS)
    told = capsys.readouterr().out.splitlines()
    assert told == [
        f"local: {site.url}/v{VERSION}/{ARCHIVE}, 0.0 MB",
        f"local: etcd {VERSION} is in {cache / VERSION}",
    ]
    there = available({"PATH": "", "XDG_CACHE_HOME": str(tmp_path / "xdg")}, lambda: None)
    assert [(str(it.version), it.source) for it in there] == [(VERSION, FETCHED)]


def test_what_is_there_is_not_fetched_again(site: Site) -> None:
    site.offer(good())
    assert get(site, "--yes") == 0
    site.asked.clear()

    assert get(site) == 0

    assert site.asked == []


def test_a_mirror_may_be_named_in_the_environment(
    site: Site, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.offer(good())
    monkeypatch.setenv(releases.SITE_VARIABLE, f"{site.url}/")

    assert main(["local", "get-etcd", "--version", f"v{VERSION}", "--yes"]) == 0
    assert VERSION in left(cache)


@pytest.mark.parametrize(("answer", "code", "fetched"), [("y", 0, True), ("n", 1, False)])
def test_the_user_is_asked_first(
    site: Site, cache: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, fetched: bool
) -> None:
    site.offer(good())
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _prompt: answer)

    assert get(site) == code
    assert bool(left(cache)) is fetched


def test_nobody_to_ask_has_not_agreed(
    site: Site, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    site.offer(good())
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)

    assert get(site) == 2

    assert "say --yes" in capsys.readouterr().err
    assert (site.asked, left(cache)) == ([], [])


def links() -> bytes:
    return archive((f"{FOLDER}/etcd", None), *((f"{FOLDER}/{it}", script()) for it in PROGRAMS[1:]))


@pytest.mark.parametrize(
    ("offer", "code", "complaint"),
    [
        (lambda it: None, 2, "must be there, and is not"),
        (lambda it: it.offer(b"", code=404), 2, "must be there, and is not"),
        (lambda it: it.offer(b"", code=503), 1, "the answer is 503"),
        (lambda it: it.offer(good(), digest="a" * 64), 1, f"must have the SHA-256 {'a' * 64}"),
        (lambda it: it.offer(good(), promised=9999), 1, "answer to the end"),
        (lambda it: it.offer(cut()), 1, "it cannot be unpacked"),
        (lambda it: it.offer(b"no archive"), 1, "it cannot be unpacked"),
        (lambda it: it.offer(archive((f"{FOLDER}/etcd", script()))), 1, "no program etcdctl, etcdutl"),
        (lambda it: it.offer(archive(("etcd", script()))), 1, "no program etcd, etcdctl, etcdutl"),
        (lambda it: it.offer(links()), 1, "its etcd is not a file"),
        (lambda it: it.offer(good(says="3.5.1")), 1, "its etcd says that it is 3.5.1"),
        (lambda it: it.offer(swollen(1 << 21)), 1, "it unpacks to more than 1048576 bytes"),
        (lambda it: it.offer(os.urandom(1 << 20)), 1, "has more than 524288 bytes"),
        (lambda it: (it.offer(good()), it.say("SHA256SUMS", b"nonsense")), 1, "must have a SHA-256 of"),
        (lambda it: (it.offer(good()), it.say("SHA256SUMS", b"x" * (1 << 19))), 1, "must be a short list"),
    ],
    ids=[
        "nothing", "not found", "not now", "wrong sum", "cut on the way", "cut before", "no archive", "a program short",
        "elsewhere in it", "a link", "another version", "swollen", "huge", "no sum", "a long list",
    ],
)  # fmt: skip
def test_what_is_not_right_is_said_and_nothing_is_left(
    site: Site,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    offer: Callable[[Site], None],
    code: int,
    complaint: str,
) -> None:
    monkeypatch.setattr(archives, "LIMIT", 1 << 20)
    monkeypatch.setattr(releases, "_ARCHIVE", 1 << 19)
    offer(site)

    assert get(site, "--yes") == code

    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1
    assert left(cache) == []


def test_an_archive_cannot_write_elsewhere(site: Site, cache: Path, tmp_path: Path) -> None:
    site.offer(leads_elsewhere())

    assert get(site, "--yes") == 0

    assert left(cache) == [VERSION, *(f"{VERSION}/{it}" for it in PROGRAMS)]
    assert not list(tmp_path.rglob("*escaped"))
    assert not Path("/tmp/stateward-escaped").exists()


def test_without_a_network_it_says_so(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert get("http://127.0.0.1:1", "--yes") == 1

    assert "must be reachable" in capsys.readouterr().err
    assert left(cache) == []


@pytest.mark.parametrize(
    "url", ["http://example.org/etcd", "ftp://127.0.0.1/", "nonsense", "http://[::"]
)
def test_a_site_must_be_private(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert get(url, "--yes") == 2
    assert "the site must be" in capsys.readouterr().err


@pytest.mark.parametrize(("host", "code"), [("0.0.0.0", 2), ("127.0.0.1", 0)])
def test_a_site_may_lead_us_on_but_only_to_private_ones(
    site: Site, cache: Path, host: str, code: int
) -> None:
    site.offer(good())
    with serving() as other:
        other.offer(good())
        leads_to = other.url.replace("127.0.0.1", host)  # either is this machine
        site.links[f"/v{VERSION}/{ARCHIVE}"] = f"{leads_to}/v{VERSION}/{ARCHIVE}"

        assert get(site, "--yes") == code

    assert bool(left(cache)) is (code == 0)
    assert other.asked


@pytest.mark.parametrize(("trusted", "code"), [(True, 0), (False, 1)])
def test_over_tls_the_site_must_be_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusted: bool, code: int
) -> None:
    authority, stranger = trustme.CA(), trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    file = tmp_path / "ca.pem"
    (authority if trusted else stranger).cert_pem.write_to_path(str(file))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with serving(context) as site:
        site.offer(good())
        assert get(site, "--yes") == code


@pytest.mark.parametrize("version", ["3.6", "latest", "3.6.0-rc.1", "../3.6.1"])
def test_a_version_must_be_one(version: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["local", "get-etcd", "--version", version, "--yes"]) == 2
    assert "--version" in capsys.readouterr().err


def test_ctrl_c_leaves_nothing(site: Site, cache: Path) -> None:
    site.offer(good(), promised=1 << 20)
    site.hold.clear()  # it keeps everybody waiting for the rest of the archive
    words = ["local", "get-etcd", "--version", VERSION, "--from", site.url, "--yes"]
    program = [sys.executable, "-m", "stateward", *words]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as it:
        while not left(cache):
            assert it.poll() is None
        it.send_signal(signal.SIGINT)
        _, said = it.communicate(timeout=20)
    site.hold.set()

    assert (it.returncode, said.strip()) == (130, b"stateward: interrupted")
    assert left(cache) == []
