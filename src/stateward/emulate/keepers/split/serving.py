"""Listening for a sidecar: one socket, and certificates that can be read anew while it is open."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from stateward.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class Papers:
    """What to show, and whose certificates to believe."""

    certificate: Path
    key: Path
    authority: Path

    def read(self) -> ssl.SSLContext:
        """Return a context of the files as they are now; raise UsageError when they are no good.

        A client without a certificate is let in to be told that it needs one; one with a
        certificate of somebody else is not.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.verify_mode = ssl.CERT_OPTIONAL
        try:
            context.load_cert_chain(self.certificate, self.key, password=_no_password)
            context.load_verify_locations(self.authority)
        except (OSError, ssl.SSLError, ValueError) as error:
            raise UsageError(
                f"{self.certificate}, {self.key} and {self.authority} must be a certificate, its"
                f" key and an authority: {error}"
            ) from error
        return context


class Door:
    """Listens on one address, for as long as it is open."""

    def __init__(self, app: web.Application, papers: Papers | None) -> None:
        self._papers = papers
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=2.0)
        self._socket: socket.socket | None = None
        self._site: web.SockSite | None = None

    async def open(self, address: str) -> str:
        """Begin to listen, and return where; raise UsageError when that cannot be."""
        await self._runner.setup()
        self._socket = listening(address)
        await self.renew()
        host, port = self._socket.getsockname()[:2]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    async def renew(self) -> None:
        """Read the certificates again, for connections from now on; those that are open go on.

        Both listen for a moment, on the same socket: nobody is turned away in between.
        """
        assert self._socket is not None  # noqa: S101 - opened before
        context = self._papers.read() if self._papers is not None else None
        before = self._site
        self._site = web.SockSite(self._runner, self._socket.dup(), ssl_context=context)
        await self._site.start()
        if before is not None:
            await before.stop()

    async def close(self) -> None:
        """Listen no more."""
        await self._runner.cleanup()
        if self._socket is not None:
            self._socket.close()


def listening(address: str) -> socket.socket:
    """Return a socket that listens on ``host:port``; raise UsageError when there can be none."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"--bind-address must look like '0.0.0.0:8080', got {address!r}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host.strip("[]"), int(port)))
        opened.listen(128)
    except OSError as error:
        opened.close()
        raise UsageError(f"{address} must be free to listen on: {error}") from error
    opened.settimeout(0)
    return opened


def _no_password() -> str:
    """Nobody is here to be asked for one."""
    raise ValueError("the key must not need a password")
