"""Credentials from a command, by the protocol client.authentication.k8s.io v1 and v1beta1.

The command is started without a shell and without a terminal, and may take a minute. Callers that
need an identity at the same time share one run, and a caller that gives up does not end it for the
others.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress

import msgspec

from stateward.core.clock import Clock
from stateward.core.errors import PeerUnreachable, UsageError
from stateward.core.moments import from_rfc3339
from stateward.kube.codec import Part
from stateward.kube.http.access import ExecPlugin
from stateward.kube.http.credentials import ClientCertificate, Identity, bearer

#: Long enough for a person to finish a login in a browser.
TIMEOUT = 60.0
#: Credentials that end within this time count as ended: a request with them would arrive too late.
SLACK = 10.0


class PluginFailed(PeerUnreachable):
    """The plugin gave no credentials, so nothing was sent."""


class PluginCredentials:
    """Identities printed by a command, kept until they end or are refused."""

    def __init__(self, plugin: ExecPlugin, clock: Clock, *, timeout: float = TIMEOUT) -> None:
        self._plugin = plugin
        self._clock = clock
        self._timeout = timeout
        self._identity: Identity | None = None
        self._ends_at: float | None = None
        self._running: asyncio.Task[Identity] | None = None

    async def current(self) -> Identity:
        """Return what the plugin printed last, or run it."""
        if self._identity is not None and not self._has_ended():
            return self._identity
        if self._running is None:
            self._running = asyncio.create_task(self._renew())
            self._running.add_done_callback(self._finished)
        return await asyncio.shield(self._running)

    def refused(self, identity: Identity) -> None:
        """Run the plugin again for the next caller, unless that has already happened."""
        if identity == self._identity:
            self._identity = None

    async def close(self) -> None:
        """End a run that is under way."""
        if (running := self._running) is not None:
            running.cancel()
            await asyncio.wait((running,))

    def _has_ended(self) -> bool:
        return self._ends_at is not None and self._clock.now() >= self._ends_at - SLACK

    async def _renew(self) -> Identity:
        status = _status_of(await self._output(), self._plugin)
        self._identity, self._ends_at = _identity_of(status, self._plugin)
        return self._identity

    def _finished(self, task: asyncio.Task[Identity]) -> None:
        self._running = None
        if not task.cancelled():
            task.exception()  # every caller may have gone: nobody else would ever look at it

    async def _output(self) -> bytes:
        process = await _wholly_started(self._plugin)
        try:
            async with asyncio.timeout(self._timeout):
                output, complaints = await process.communicate()
        except TimeoutError:
            raise PluginFailed(
                f"the credential plugin {self._plugin.command} must answer within "
                f"{self._timeout:g} seconds",
                hint="run it by hand to see what it waits for",
            ) from None
        finally:
            await _ended(process)
        if process.returncode:
            raise PluginFailed(
                f"the credential plugin {self._plugin.command} must succeed, but it ended with "
                f"code {process.returncode}: {_last_line(complaints)}",
                hint="log in again, or run it by hand",
            )
        return output


async def _wholly_started(plugin: ExecPlugin) -> asyncio.subprocess.Process:
    """Start it, also for who is cancelled meanwhile: half started, its children would run on."""
    starting = asyncio.create_task(_started(plugin))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(UsageError):
            await _ended(await starting)
        raise


async def _started(plugin: ExecPlugin) -> asyncio.subprocess.Process:
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    try:
        return await asyncio.create_subprocess_exec(
            plugin.command,
            *plugin.arguments,
            env=dict(plugin.environment),
            stdin=nothing,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,  # so that its children can be ended with it
        )
    except FileNotFoundError:
        problem = "must be installed"
    except (OSError, ValueError) as error:
        problem = f"must be a program that can be started ({type(error).__name__})"
    hint = (
        " ".join(plugin.install_hint.split()) or "install it, or correct users[].user.exec.command"
    )
    raise UsageError(f"the credential plugin {plugin.command} {problem}", hint=hint)


async def _ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.communicate()


def _last_line(complaints: bytes) -> str:
    lines = complaints.decode(errors="replace").strip().splitlines()
    return " ".join(lines[-1].split())[:200] if lines else "it did not say why"


class _Status(Part):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: str | None = None


class _Answer(Part):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None


def _status_of(output: bytes, plugin: ExecPlugin) -> _Status:
    try:
        answer = msgspec.json.decode(output, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise _misbehaves(plugin, "print one JSON document of kind ExecCredential") from None
    if (answer.kind, answer.api_version) != ("ExecCredential", plugin.api_version):
        said = f"{answer.api_version} {answer.kind}"[:100]
        raise _misbehaves(plugin, f"answer as {plugin.api_version} ExecCredential, got {said!r}")
    if answer.status is None:
        raise _misbehaves(plugin, "fill in status")
    return answer.status


def _identity_of(status: _Status, plugin: ExecPlugin) -> tuple[Identity, float | None]:
    if bool(status.client_certificate_data) != bool(status.client_key_data):
        raise _misbehaves(plugin, "give clientCertificateData and clientKeyData together")
    certificate = None
    if status.client_certificate_data:
        certificate = ClientCertificate(
            status.client_certificate_data.encode(), status.client_key_data.encode()
        )
    if not status.token and certificate is None:
        raise _misbehaves(plugin, "give a token or a client certificate in status")
    if not status.token.isprintable():
        raise _misbehaves(plugin, "give a token of printable characters")
    authorization = bearer(status.token).authorization if status.token else ""
    return Identity(authorization, certificate), _end_of(status, plugin)


def _end_of(status: _Status, plugin: ExecPlugin) -> float | None:
    if status.expiration_timestamp is None:
        return None
    try:
        return from_rfc3339(status.expiration_timestamp)
    except ValueError:
        raise _misbehaves(plugin, "write expirationTimestamp as 2006-01-02T15:04:05Z") from None


def _misbehaves(plugin: ExecPlugin, must: str) -> UsageError:
    return UsageError(
        f"the credential plugin {plugin.command} must {must}",
        hint="upgrade the plugin, or correct users[].user.exec in the kubeconfig",
    )
