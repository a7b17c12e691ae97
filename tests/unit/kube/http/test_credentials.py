"""Who we say we are, and when that is looked at again."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from fakes.hand_clock import START, HandClock
from stateward.core.errors import UsageError
from stateward.core.moments import to_rfc3339
from stateward.kube.http.access import (
    Anonymous,
    BearerToken,
    ExecPlugin,
    TokenFile,
    UserPassword,
)
from stateward.kube.http.credentials import (
    NOBODY,
    ClientCertificate,
    FileCredentials,
    Identity,
    basic,
    bearer,
)
from stateward.kube.http.exec_plugin import PluginCredentials, PluginFailed
from stateward.kube.http.login import credentials_for

V1 = "client.authentication.k8s.io/v1"


@pytest.mark.parametrize(
    ("source", "identity"),
    [
        (Anonymous(), NOBODY),
        (BearerToken("t"), Identity("Bearer t")),
        (UserPassword("ann", "s3cret"), Identity("Basic YW5uOnMzY3JldA==")),
    ],
)
async def test_what_never_changes(source: Any, identity: Identity) -> None:
    credentials = credentials_for(source, HandClock())

    credentials.refused(await credentials.current())

    assert await credentials.current() == identity
    await credentials.close()


def test_nothing_secret_is_shown() -> None:
    certificate = ClientCertificate(b"s3cret", b"s3cret")

    assert "s3cret" not in repr(Identity("Bearer s3cret", certificate))
    assert "s3cret" not in repr([bearer("s3cret"), basic("ann", "s3cret")])


# ---------------------------------------------------------------------------- token files


async def test_a_token_file_is_read_once_a_minute(tmp_path: Path) -> None:
    clock, path = HandClock(), tmp_path / "token"
    path.write_text("one\n")
    credentials = credentials_for(TokenFile(path), clock)

    assert await credentials.current() == bearer("one")
    path.write_text("two")
    clock.advance(59)
    assert await credentials.current() == bearer("one")
    clock.advance(1)
    assert await credentials.current() == bearer("two")
    await credentials.close()


async def test_a_token_file_is_read_at_once_after_a_refusal(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("one")
    credentials = FileCredentials(path, HandClock())

    refused = await credentials.current()
    path.write_text("two")
    credentials.refused(refused)

    assert await credentials.current() == bearer("two")


async def test_a_late_refusal_of_an_old_token_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("one")
    credentials = FileCredentials(path, HandClock())
    old = await credentials.current()
    path.write_text("two")
    credentials.refused(old)
    await credentials.current()

    path.write_text("three")
    credentials.refused(old)

    assert await credentials.current() == bearer("two")


async def test_a_token_file_that_goes_away_for_a_moment(tmp_path: Path) -> None:
    clock, path = HandClock(), tmp_path / "token"
    path.write_text("one")
    credentials = FileCredentials(path, clock)
    await credentials.current()

    for broken in (None, b"", b"\xff", b"two\nlines"):
        path.unlink(missing_ok=True)
        if broken is not None:
            path.write_bytes(broken)
        clock.advance(60)
        assert await credentials.current() == bearer("one")


@pytest.mark.parametrize("broken", [None, b" \n", b"\xff", b"s3cret\ns3cret"])
async def test_a_token_file_that_never_was_one(tmp_path: Path, broken: bytes | None) -> None:
    if broken is not None:
        (tmp_path / "token").write_bytes(broken)

    with pytest.raises(UsageError) as caught:
        await FileCredentials(tmp_path / "token", HandClock()).current()

    assert f"{tmp_path}/token must hold a token" in caught.value.message
    assert "s3cret" not in caught.value.sentence()


# ---------------------------------------------------------------------------- plugins


class Plugin:
    """A shell script as a credential plugin; every run adds a line to a file."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "plugin"
        self._runs = folder / "runs"
        self.clock = HandClock()
        self.does("true")

    def does(self, script: str) -> None:
        self.path.write_text(f"#!/bin/sh\necho run >> {self._runs}\n{script}\n")
        self.path.chmod(0o755)

    def prints(self, status: Any, *, version: str = V1, kind: str = "ExecCredential") -> None:
        answer = {"apiVersion": version, "kind": kind, "status": status}
        self.does(f"cat <<'END'\n{json.dumps(answer)}\nEND")

    def credentials(self, *arguments: str, timeout: float = 10.0, **more: Any) -> PluginCredentials:
        environment = (("PATH", os.environ["PATH"]), ("KUBERNETES_EXEC_INFO", "{}"))
        plugin = ExecPlugin(V1, str(self.path), arguments, environment, **more)
        return PluginCredentials(plugin, self.clock, timeout=timeout)

    @property
    def runs(self) -> int:
        return len(self._runs.read_text().splitlines()) if self._runs.exists() else 0


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    return Plugin(tmp_path)


async def test_a_plugin_is_run_once(plugin: Plugin) -> None:
    plugin.prints({"token": "t"})
    credentials = plugin.credentials()

    found = await asyncio.gather(*(credentials.current() for _ in range(5)))

    assert found == [bearer("t")] * 5
    assert await credentials.current() == bearer("t")
    assert plugin.runs == 1
    await credentials.close()


async def test_a_plugin_gets_arguments_as_they_are_and_its_environment_only(plugin: Plugin) -> None:
    plugin.does(
        'test "$1" = \'a; b $HOME\' -a "$KUBERNETES_EXEC_INFO" = "{}" -a -z "$LANG" || exit 3\n'
        f'echo \'{{"apiVersion":"{V1}","kind":"ExecCredential","status":{{"token":"t"}}}}\''
    )

    assert await plugin.credentials("a; b $HOME").current() == bearer("t")


async def test_a_plugin_runs_again_shortly_before_its_token_ends(plugin: Plugin) -> None:
    plugin.prints({"token": "t", "expirationTimestamp": to_rfc3339(START + 3600)})
    credentials = plugin.credentials()

    await credentials.current()
    plugin.clock.advance(3600 - 11)
    await credentials.current()
    assert plugin.runs == 1
    plugin.clock.advance(2)
    await credentials.current()
    assert plugin.runs == 2


async def test_a_plugin_runs_again_after_a_refusal_but_once(plugin: Plugin) -> None:
    plugin.prints({"token": "one"})
    credentials = plugin.credentials()
    old = await credentials.current()
    plugin.prints({"token": "two"})

    credentials.refused(old)
    assert await credentials.current() == bearer("two")
    credentials.refused(old)
    assert await credentials.current() == bearer("two")

    assert plugin.runs == 2


async def test_a_plugin_may_give_a_certificate(plugin: Plugin) -> None:
    plugin.prints({"clientCertificateData": "CERT", "clientKeyData": "KEY"})

    found = await plugin.credentials().current()

    assert found == Identity("", ClientCertificate(b"CERT", b"KEY"))


async def test_a_plugin_that_is_not_installed(plugin: Plugin) -> None:
    plugin.path.unlink()
    with pytest.raises(UsageError) as caught:
        await plugin.credentials(install_hint="run:\n  brew install login").current()
    assert caught.value.sentence().endswith("must be installed; run: brew install login")

    with pytest.raises(UsageError) as caught:
        await plugin.credentials().current()
    assert caught.value.hint


async def test_a_plugin_that_is_no_program(plugin: Plugin) -> None:
    plugin.path.chmod(0o644)

    with pytest.raises(UsageError, match="must be a program that can be started"):
        await plugin.credentials().current()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo first >&2; echo '  please   log in' >&2; exit 7", "with code 7: please log in"),
        ("exit 1", "with code 1: it did not say why"),
        ("kill -9 $$", "with code -9"),
    ],
)
async def test_a_plugin_that_fails(plugin: Plugin, script: str, said: str) -> None:
    plugin.does(script)

    with pytest.raises(PluginFailed, match=said):
        await plugin.credentials().current()


@pytest.mark.parametrize(
    ("status", "options", "said"),
    [
        (
            {"token": "s3cret"},
            {"version": "v0"},
            f"must answer as {V1} ExecCredential, got 'v0 Exec",
        ),
        ({"token": "s3cret"}, {"kind": "Secret"}, "got 'client.authentication.k8s.io/v1 Secret'"),
        (None, {}, "must fill in status"),
        ({}, {}, "must give a token or a client certificate"),
        ({"token": 5}, {}, "must print one JSON document"),
        ({"token": "a\nb"}, {}, "printable"),
        ({"clientKeyData": "s3cret"}, {}, "clientCertificateData and clientKeyData together"),
        ({"token": "s3cret", "expirationTimestamp": "soon"}, {}, "must write expirationTimestamp"),
    ],
)
async def test_a_plugin_that_answers_nonsense(
    plugin: Plugin, status: Any, options: dict[str, str], said: str
) -> None:
    plugin.prints(status, **options)

    with pytest.raises(UsageError) as caught:
        await plugin.credentials().current()

    assert said in caught.value.message
    assert "s3cret" not in caught.value.sentence()


async def test_a_plugin_that_prints_no_json(plugin: Plugin) -> None:
    plugin.does("echo s3cret")

    with pytest.raises(UsageError, match="must print one JSON document") as caught:
        await plugin.credentials().current()

    assert "s3cret" not in caught.value.sentence()


async def test_a_plugin_that_takes_too_long_is_ended_with_its_children(plugin: Plugin) -> None:
    plugin.does("sleep 100 & sleep 100")

    with pytest.raises(PluginFailed, match="must answer within"):
        await plugin.credentials(timeout=0.2).current()


async def test_a_caller_that_gives_up_does_not_end_the_run(plugin: Plugin, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    plugin.does(
        f"read line < {gate}\n"
        f'echo \'{{"apiVersion":"{V1}","kind":"ExecCredential","status":{{"token":"t"}}}}\''
    )
    credentials = plugin.credentials()
    hasty, patient = (asyncio.create_task(credentials.current()) for _ in range(2))
    await asyncio.sleep(0)

    hasty.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hasty
    await asyncio.to_thread(gate.write_text, "go\n")

    assert await patient == bearer("t")
    assert plugin.runs == 1


@pytest.mark.parametrize("after", [0, 0.001, 0.003, 0.005, 0.05])
async def test_closing_ends_a_run_also_one_that_is_about_to_begin(
    plugin: Plugin, after: float
) -> None:
    plugin.does("sleep 100")
    credentials = plugin.credentials()
    caller = asyncio.create_task(credentials.current())
    await asyncio.sleep(after)

    async with asyncio.timeout(50):
        await credentials.close()

    with pytest.raises(asyncio.CancelledError):
        await caller


async def test_a_failure_nobody_waits_for_is_no_noise(plugin: Plugin) -> None:
    plugin.does("exit 1")
    credentials = plugin.credentials()
    caller = asyncio.create_task(credentials.current())
    await asyncio.sleep(0)
    caller.cancel()

    with pytest.raises(PluginFailed):
        await credentials.current()
