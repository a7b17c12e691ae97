"""The sidecar of the split images: copies, answers over HTTP, and wants certificates with TLS."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import trustme

from local.keepers.runs import Run, fdbserver, outcome, running

CONF = """\
[fdbserver.1]
command = $BINARY_DIR/fdbserver
public-address = $FDB_PUBLIC_IP:4501
locality_zoneid = $FDB_ZONE_ID
custom = $RACK $UNKNOWN
"""


class Site:
    """A pod: what comes from a ConfigMap, and what the main container sees."""

    def __init__(self, folder: Path) -> None:
        self.source, self.target = folder / "in", folder / "out"
        self.programs = fdbserver(folder / "programs").parent
        data = self.source / "..2026"
        data.mkdir(parents=True)
        self.target.mkdir()
        (self.source / "..data").symlink_to("..2026")
        for name, text in (("fdb.cluster", "a:b@127.0.0.1:4500"), ("fdbmonitor.conf", CONF)):
            (data / name).write_text(text)
            (self.source / name).symlink_to(f"..data/{name}")
        self.env = {
            "STATEWARD_FDB_PROGRAMS": str(self.programs),
            "FDB_PUBLIC_IP": "127.0.0.1,fd00::1",
            "FDB_MACHINE_ID": "n1",
            "RACK": "r1",
        }

    def words(self, *more: str | Path) -> tuple[str | Path, ...]:
        return (
            *("--input-dir", self.source, "--output-dir", self.target),
            *("--copy-file", "fdb.cluster", "--input-monitor-conf", "fdbmonitor.conf"),
            *("--public-ip-family", "4", "--substitute-variable", "RACK"),
            *("--main-container-version", "7.1.5", "--copy-binary", "fdbserver"),
            *("--bind-address", "127.0.0.1:0", *more),
        )

    @asynccontextmanager
    async def running(self, *more: str | Path, **env: str) -> AsyncIterator[tuple[Run, str]]:
        async with running("sidecar", *self.words(*more), env=self.env | env) as run:
            line = await run.said("Listening on 127.0.0.1:")
            yield run, line.removeprefix("Listening on ")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


async def ask(
    url: str, path: str, method: str = "GET", tls: ssl.SSLContext | None = None
) -> tuple[int, str]:
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session,
        session.request(method, url + path, ssl=tls or False) as answer,
    ):
        return answer.status, await answer.text()


async def raw(address: str, request: bytes) -> str:
    """Send bytes as they are: a client of HTTP would tidy up the path."""
    host, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request)
    async with asyncio.timeout(20):
        answer = await reader.read(65_536)
    writer.close()
    await writer.wait_closed()
    return answer.decode(errors="replace")


async def test_all_is_copied_at_the_start(site: Site) -> None:
    code, lines = await outcome("sidecar", *site.words("--init-mode"), env=site.env)
    assert code == 0, lines
    assert "EMULATED" in lines[0]
    assert (site.target / "fdb.cluster").read_text() == "a:b@127.0.0.1:4500"
    assert os.access(site.target / "bin/7.3.79/fdbserver", os.X_OK)
    assert (site.target / "fdbmonitor.conf").read_text().splitlines()[1:] == [
        "command = /var/dynamic-conf/bin/7.3.79/fdbserver",
        "public-address = 127.0.0.1:4501",
        "locality_zoneid = n1",
        "custom = r1 $UNKNOWN",
    ]
    assert sorted(it.name for it in site.target.iterdir()) == [
        "bin",
        "fdb.cluster",
        "fdbmonitor.conf",
    ]


async def test_questions_and_orders(site: Site) -> None:
    async with site.running() as (run, address):
        url = f"http://{address}"
        content = (site.target / "fdb.cluster").read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        assert await ask(url, "/check_hash/fdb.cluster") == (200, digest)
        assert await ask(url, "/is_present/bin/7.3.79/fdbserver") == (200, "OK\n")
        assert await ask(url, "/ready") == (200, "OK\n")
        values = json.loads((await ask(url, "/substitutions"))[1])
        assert (values["FDB_PUBLIC_IP"], values["RACK"]) == ("127.0.0.1", "r1")

        (site.source / "..data/fdb.cluster").write_text("a:c@127.0.0.1:4501")
        (site.source / "..data/fdbmonitor.conf").write_text("[general]\nx = $FDB_ZONE_ID")
        for order in ("copy_files", "copy_binaries", "copy_libraries", "copy_monitor_conf"):
            assert await ask(url, f"/{order}", "POST") == (200, "OK\n")
        assert (site.target / "fdb.cluster").read_text() == "a:c@127.0.0.1:4501"
        assert (site.target / "fdbmonitor.conf").read_text() == "[general]\nx = n1"
        assert await run.end() == 0


async def test_what_is_refused_over_http(site: Site) -> None:
    (site.target.parent / "secret").write_text("s")
    async with site.running() as (_, address):
        (site.target / "link").symlink_to("../secret")
        url = f"http://{address}"
        expected = {
            "/check_hash/nothing": 404,
            "/check_hash/bin": 404,
            "/check_hash/link": 400,
            "/check_hash/%2e%2e%2fsecret": 400,
            "/check_hash/%2Fetc%2Fpasswd": 400,
            "/check_hash/a%00b": 400,
            "/is_present/nothing": 404,
            "/check_hash/": 404,
            "/nothing": 404,
            "/": 404,
            "/copy_files": 405,
        }
        for path, status in expected.items():
            found, text = await ask(url, path)
            assert (path, found) == (path, status)
            assert "must" in text
        assert (await ask(url, "/ready", "DELETE"))[0] == 405
        assert (await ask(url, "/refresh_certs", "POST"))[0] == 400
        (site.source / "..data/fdb.cluster").unlink()
        status, text = await ask(url, "/copy_files", "POST")
        assert (status, "fdb.cluster must be copied" in text) == (500, True)
        assert (await ask(url, "/check_hash/fdb.cluster"))[0] == 200


@pytest.mark.parametrize(
    "request_line",
    [
        b"GET /check_hash/../secret HTTP/1.0",
        b"GET /is_present/..//..//..//etc/passwd HTTP/1.0",
        b"GET /check_hash//etc/passwd HTTP/1.0",
        b"GET nonsense HTTP/1.0",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.0",
    ],
)
async def test_what_no_client_sends_is_refused_too(site: Site, request_line: bytes) -> None:
    (site.target.parent / "secret").write_text("s")
    async with site.running() as (_, address):
        answer = await raw(address, request_line + b"\r\n\r\n")
        assert answer.split(" ")[1].startswith("4"), answer
        assert await ask(f"http://{address}", "/ready") == (200, "OK\n")


async def test_a_restart_ends_it_with_1(site: Site) -> None:
    async with site.running() as (run, address):
        assert await ask(f"http://{address}", "/restart", "POST") == (200, "OK\n")
        assert await run.ended() == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--require-not-empty", "empty"], "must not be empty"),
        (["--copy-file", "../secret"], "below its folder"),
        (["--copy-file", "absent"], "must be copied"),
        (["--substitute-variable", "NOBODY"], "must be in the environment"),
        (["--public-ip-family", "6", "--copy-library", "1/2"], "named by its version"),
        (["--tls-verify-peers", "nonsense"], "must look like"),
        (["--bind-address", "everywhere"], "must look like"),
        (["--bind-address", "203.0.113.1:80"], "must be free"),
        (["--tls"], "must be given"),
    ],
)
async def test_what_cannot_be_is_said_at_the_start(site: Site, words: list[str], told: str) -> None:
    (site.source / "empty").touch()
    code, lines = await outcome("sidecar", *site.words(*words), env=site.env)
    assert code == 1
    assert any(told in line for line in lines), lines


# ------------------------------------------------------------------ TLS
class Trust:
    """An authority, and the papers of a sidecar in files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.authority = trustme.CA(organization_name="Shop")
        self.issue()

    def issue(self) -> None:
        leaf = self.authority.issue_cert("127.0.0.1", common_name="sidecar")
        (self.folder / "ca").write_bytes(self.authority.cert_pem.bytes())
        (self.folder / "cert").write_bytes(b"".join(it.bytes() for it in leaf.cert_chain_pems))
        (self.folder / "key").write_bytes(leaf.private_key_pem.bytes())

    @property
    def env(self) -> dict[str, str]:
        names = {"CERTIFICATE": "cert", "KEY": "key", "CA": "ca"}
        return {f"FDB_TLS_{k}_FILE": str(self.folder / v) for k, v in names.items()}

    def client(self, name: str = "", of: trustme.CA | None = None) -> ssl.SSLContext:
        context = ssl.create_default_context(cadata=self.authority.cert_pem.bytes().decode())
        if name:
            issuer = of or self.authority
            issuer.issue_cert(f"{name}.shop", common_name=name).configure_cert(context)
        return context


RULES = "S.CN=operator,I.O=Shop;S.subjectAltName<=DNS:.friends.shop"


@pytest.mark.parametrize(
    ("name", "status"), [("operator", 200), ("a.friends", 200), ("stranger", 401), ("", 401)]
)
async def test_who_asks_shows_a_certificate_that_the_rules_allow(
    site: Site, tmp_path: Path, name: str, status: int
) -> None:
    trust = Trust(tmp_path / "tls")
    async with site.running("--tls", "--tls-verify-peers", RULES, **trust.env) as (_, address):
        url, tls = f"https://{address}", trust.client(name)
        assert (await ask(url, "/substitutions", tls=tls))[0] == status
        assert (await ask(url, "/copy_files", "POST", tls=tls))[0] == status
        assert (await ask(url, "/ready", tls=tls))[0] == 200


async def test_certificates_of_somebody_else_and_no_tls_are_not_let_in(
    site: Site, tmp_path: Path
) -> None:
    trust = Trust(tmp_path / "tls")
    async with site.running("--tls", **trust.env) as (_, address):
        stranger = trust.client("operator", trustme.CA())
        with pytest.raises(aiohttp.ClientError):
            await ask(f"https://{address}", "/ready", tls=stranger)
        with pytest.raises(aiohttp.ClientError):
            await ask(f"http://{address}", "/ready")
        assert (await ask(f"https://{address}", "/ready", tls=trust.client()))[0] == 200


async def test_certificates_are_read_again_when_asked(site: Site, tmp_path: Path) -> None:
    trust = Trust(tmp_path / "tls")
    async with site.running("--tls", **trust.env) as (_, address):
        url, before = f"https://{address}", trust.client("operator")
        old = trust.authority
        trust.authority = trustme.CA()
        trust.issue()
        (trust.folder / "key").write_text("no key")
        status, text = await ask(url, "/refresh_certs", "POST", tls=before)
        assert (status, "must be a certificate" in text) == (400, True)
        trust.issue()
        assert await ask(url, "/refresh_certs", "POST", tls=before) == (200, "OK\n")
        anew = trust.client("operator")
        answers = await asyncio.gather(*(ask(url, "/ready", tls=anew) for _ in range(30)))
        assert set(answers) == {(200, "OK\n")}
        with pytest.raises(aiohttp.ClientError):
            await ask(url, "/ready", tls=before)
        # Whom the new authority does not know is not believed any more.
        believing: Any = trust.client("operator", old)
        with pytest.raises(aiohttp.ClientError):
            await ask(url, "/ready", tls=believing)


def descriptors(run: Run) -> int:
    return len(list(Path(f"/proc/{run.process.pid}/fd").iterdir()))


async def test_nothing_is_left_of_certificates_that_were_replaced(
    site: Site, tmp_path: Path
) -> None:
    trust = Trust(tmp_path / "tls")
    async with site.running("--tls", **trust.env) as (run, address):
        url, tls = f"https://{address}", trust.client("operator")
        assert await ask(url, "/refresh_certs", "POST", tls=tls) == (200, "OK\n")
        before = descriptors(run)
        for _ in range(5):
            assert await ask(url, "/refresh_certs", "POST", tls=tls) == (200, "OK\n")
        await run.until(lambda: descriptors(run) <= before, "no more is open than before")
