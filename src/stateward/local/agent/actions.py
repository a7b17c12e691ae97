"""What probes and hooks do: ask over HTTP, connect, or run a program; and how that went."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import aiohttp
from yarl import URL

from stateward.core.clock import Clock
from stateward.kube.codec import Json
from stateward.local.agent.processes import Captured, Launch, Runner, StartFailed

#: So often a question is asked elsewhere because an answer says so.
_REDIRECTS = 10


@dataclass(frozen=True, slots=True)
class Result:
    """How it went, and a sentence when it did not go well."""

    ok: bool
    message: str = ""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One question over HTTP."""

    url: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Target:
    """The container that is asked."""

    address: str
    #: Its ports by name.
    ports: Mapping[str, int]
    #: Makes a program of some words that runs as the container's own do.
    launch: Callable[[tuple[str, ...]], Launch]


class Network(Protocol):
    """How the agent reaches its pods."""

    async def get(self, request: HttpRequest, within: float) -> Result:
        """Ask over HTTP."""

    async def connect(self, host: str, port: int, within: float) -> Result:
        """Connect and leave."""


class Actions:
    """Carries out what a probe or a hook says."""

    def __init__(self, network: Network, runner: Runner, clock: Clock) -> None:
        self._clock = clock
        self._network = network
        self._runner = runner

    async def act(self, action: Json, target: Target, within: float) -> Result:
        """Carry it out within so many seconds; whatever happens is a result."""
        if "httpGet" in action:
            return await self._network.get(http_request(action["httpGet"], target), within)
        if "tcpSocket" in action:
            part = action["tcpSocket"]
            port = port_of(part.get("port"), target.ports)
            return await self._network.connect(part.get("host") or target.address, port, within)
        if "exec" in action:
            words = tuple(action["exec"].get("command") or ())
            return await self._run(target.launch(words), within)
        if "sleep" in action:
            await self._clock.sleep(min(float(action["sleep"].get("seconds", 0)), within))
            return Result(ok=True)
        known = ", ".join(sorted(action.keys() & {"grpc"})) or "nothing"
        return Result(
            ok=False, message=f"only httpGet, tcpSocket and exec are offered here, not {known}"
        )

    async def _run(self, launch: Launch, within: float) -> Result:
        said = Captured()
        try:
            process = self._runner.start(launch, said)
        except StartFailed as error:
            return Result(ok=False, message=error.message)
        try:
            async with asyncio.timeout(within):
                code = await process.wait()
        except TimeoutError:
            return Result(ok=False, message=_late(within))
        finally:
            process.signal(signal.SIGKILL)
        return Result(ok=code == 0, message=said.text or f"exit code {code}")


class LocalNetwork:
    """Reaches pods over loopback."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def get(self, request: HttpRequest, within: float) -> Result:
        """Ask over HTTP; certificates are not looked at, as the kubelet does not."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, force_close=True, ssl=False),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        try:
            async with asyncio.timeout(within):
                return await _asked(self._session, request)
        except TimeoutError:
            return Result(ok=False, message=f"{request.url}: {_late(within)}")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return Result(ok=False, message=f"{request.url}: {_why(error)}")

    async def connect(self, host: str, port: int, within: float) -> Result:
        """Connect and leave."""
        try:
            async with asyncio.timeout(within):
                _, writer = await asyncio.open_connection(host, port)
        except TimeoutError:
            return Result(ok=False, message=f"{host}:{port}: {_late(within)}")
        except (OSError, OverflowError) as error:
            return Result(ok=False, message=f"{host}:{port}: {_why(error)}")
        writer.close()
        return Result(ok=True)

    async def close(self) -> None:
        """Let go of what is open."""
        if self._session is not None:
            await self._session.close()
            self._session = None


async def _asked(session: aiohttp.ClientSession, request: HttpRequest) -> Result:
    """Ask, and go where the answer points as long as that is the same host.

    To be sent to another host is an answer, and a good one: what is there is not the pod's fault.
    """
    url = URL(request.url)
    for _ in range(_REDIRECTS + 1):
        async with session.get(url, headers=request.headers, allow_redirects=False) as answer:
            place = answer.headers.get("Location", "") if 300 <= answer.status < 400 else ""
            following = url.join(URL(place)) if place else url
            if not place or following.host != url.host:
                is_fine = 200 <= answer.status < 400
                return Result(is_fine, f"HTTP status {answer.status}")
        url = following
    return Result(ok=False, message=f"{request.url}: more than {_REDIRECTS} redirects")


def _late(within: float) -> str:
    return f"timed out after {within:g} s"


def _why(error: Exception) -> str:
    """Return in a few words why nobody answered."""
    if isinstance(error, aiohttp.InvalidURL | ValueError):
        return "not an address that can be asked"
    number = getattr(error, "errno", None)
    if isinstance(number, int) and number in errno.errorcode:
        return os.strerror(number).lower()
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "connection closed without an answer"
    if isinstance(error, OSError):
        return "not reachable"
    return "the answer is not HTTP"


def http_request(part: Json, target: Target) -> HttpRequest:
    """Return the question that an ``httpGet`` asks."""
    host = part.get("host") or target.address
    port = port_of(part.get("port"), target.ports)
    path = part.get("path") or "/"
    scheme = str(part.get("scheme") or "HTTP").lower()
    headers = {it["name"]: it.get("value", "") for it in part.get("httpHeaders") or ()}
    slash = "" if path.startswith("/") else "/"
    usual = {"User-Agent": "stateward-probe", "Accept": "*/*"}
    return HttpRequest(f"{scheme}://{host}:{port}{slash}{path}", usual | headers)


def port_of(port: object, ports: Mapping[str, int]) -> int:
    """Return a port by number or name; one that nobody has is 0, where nobody listens."""
    if isinstance(port, int):
        return port
    text = str(port)
    return int(text) if text.isdecimal() else ports.get(text, 0)
