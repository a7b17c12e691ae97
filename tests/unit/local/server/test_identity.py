"""Certificates, token and kubeconfig: made once, kept, and for nobody else to read."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import pytest
import yaml

from stateward.core.chance import Chance
from stateward.core.clock import SystemClock
from stateward.core.errors import UsageError
from stateward.core.ports import Ports
from stateward.kube.http.client import HttpClient
from stateward.kube.http.kubeconfig import from_kubeconfig
from stateward.local.schema.served import served_api
from stateward.local.server.app import ApiServer
from stateward.local.server.identity import identity, kubeconfig_text, write_secret

NOW = 1_700_000_000.0
DAY = 86_400.0


def test_what_was_made_is_kept(tmp_path: Path) -> None:
    first, second = identity(NOW, tmp_path), identity(NOW + 300 * DAY, tmp_path)

    assert (first.authority, first.token) == (second.authority, second.token)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize("later", [-2 * DAY, 360 * DAY, 1000 * DAY])
def test_what_is_no_longer_good_is_made_anew_but_for_the_token(
    tmp_path: Path, later: float
) -> None:
    first, second = identity(NOW, tmp_path), identity(NOW + later, tmp_path)

    assert first.authority != second.authority
    assert first.token == second.token


@pytest.mark.parametrize("name", ["ca.crt", "server.crt", "server.key"])
@pytest.mark.parametrize("content", [b"", b"nonsense", None])
def test_what_is_broken_is_made_anew(tmp_path: Path, name: str, content: bytes | None) -> None:
    first = identity(NOW, tmp_path)
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(content)

    assert identity(NOW, tmp_path).authority != first.authority


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"short", b"0" * 63 + b",", b"0" * 64 + b"\nme,me,system:masters"]
)
def test_a_token_that_is_not_of_our_making_is_made_anew(tmp_path: Path, content: bytes) -> None:
    first = identity(NOW, tmp_path)
    (tmp_path / "token").write_bytes(content)

    second = identity(NOW, tmp_path)

    assert second.token != first.token
    assert len(bytes.fromhex(second.token)) == 32
    assert identity(NOW, tmp_path).token == second.token
    assert second.authority == first.authority


def test_two_servers_are_two() -> None:
    assert identity(NOW).token != identity(NOW).token


def test_nothing_secret_is_shown() -> None:
    who = identity(NOW)

    assert who.token not in repr(who)


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match="must be readable and writable"):
        identity(NOW, tmp_path / "file")


def test_a_kubeconfig_that_everybody_reads() -> None:
    config = yaml.safe_load(kubeconfig_text("https://127.0.0.1:1", "t", b"CA"))

    assert config["current-context"] == config["contexts"][0]["name"] == "stateward-local"
    assert config["clusters"][0]["cluster"]["certificate-authority-data"] == "Q0E="


async def test_our_own_client_comes_in_with_it(tmp_path: Path) -> None:
    ports = Ports(SystemClock(), Chance(1))
    who = identity(ports.clock.now())
    path = tmp_path / "kubeconfig"
    async with ApiServer(served_api(ports), ports, token=who.token).listening(tls=who.tls) as url:
        write_secret(path, kubeconfig_text(url, who.token, who.authority).encode())
        async with HttpClient(from_kubeconfig([path], {}), ports.clock, ports.chance) as client:
            assert "+stateward" in (await client.server_version()).git_version
        async with aiohttp.ClientSession() as stranger:
            with pytest.raises(aiohttp.ClientConnectorCertificateError):
                await stranger.get(url)

    assert path.stat().st_mode & 0o777 == 0o600
