"""The dialer: JSON where it will do, gRPC where etcd must see our certificate."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from functools import lru_cache
from typing import Final, Literal

import aiohttp

from stateward.core.errors import HouseError
from stateward.etcd.members import gateway, tls
from stateward.etcd.members.asking import AskedMember
from stateward.etcd.members.calls import Deadlines
from stateward.etcd.members.gateway import Gateway
from stateward.etcd.members.grpc import Grpc, Lines
from stateward.etcd.members.port import Endpoint, MemberApi, Trust

#: Contexts that are kept: making one writes a file, and connections are kept by context.
_CONTEXTS: Final = 1024


class Connections:
    """Connections to members, kept and shared; give them back with ``close``.

    One that was idle for ``kept`` seconds is closed. Other certificates make another connection.
    """

    def __init__(self, deadlines: Deadlines | None = None, *, kept: float = 60.0) -> None:
        self._deadlines = deadlines or Deadlines()
        self._kept = kept
        self._lines = Lines(kept)
        self._session: aiohttp.ClientSession | None = None
        self._closed = False
        self._context: Callable[[Trust, Literal["http/1.1", "h2"]], ssl.SSLContext] = lru_cache(
            _CONTEXTS
        )(tls.context)

    def dial(self, endpoint: Endpoint) -> MemberApi:
        """Return the member behind an endpoint; nothing is sent yet.

        Raise SpecInvalid when its certificates cannot be used as they are.
        """
        if self._closed:
            raise HouseError("connections that were closed must not be used any more")
        if _shows_who_we_are(endpoint):
            context = self._context(endpoint.trust, "h2") if endpoint.trust else None
            self._lines.supersede(endpoint)
            return AskedMember(Grpc(self._lines, endpoint, context, self._deadlines))
        context = self._context(endpoint.trust, "http/1.1") if endpoint.trust else None
        return AskedMember(Gateway(self._shared(), endpoint, context, self._deadlines))

    async def close(self) -> None:
        """End all connections."""
        self._closed = True
        self._lines.close()
        if self._session is not None:
            await self._session.close()

    def _shared(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = gateway.new_session(self._kept)
        return self._session


def _shows_who_we_are(endpoint: Endpoint) -> bool:
    trust = endpoint.trust
    return endpoint.login_by_certificate or (trust is not None and bool(trust.certificate))
