"""The wire between an operator and members of etcd: every call passes, and may go wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from stateward.core.errors import PeerConfused, PeerError, PeerUnreachable
from stateward.etcd.members.errors import EtcdPacing, EtcdRefused, LoginNeeded, NoQuorum
from stateward.etcd.members.port import Dialer, Endpoint, MemberApi
from stateward.etcd.model.members import Alarm, Member, MemberStatus, Roster
from stateward.sim.faults import Kind
from stateward.sim.network import Asked, Network

R = TypeVar("R")

#: Seconds after which a call that finds no way is given up.
_NO_WAY = 5.0


@dataclass(frozen=True, slots=True)
class EtcdCall:
    """One question to, or wish of, one member."""

    verb: str
    address: str
    writes: bool = False
    about: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, ("etcd", self.verb, self.about, "at", self.address)))


class Wiring:
    """Dials through the wire of one process."""

    def __init__(self, dialer: Dialer, network: Network, is_cut: Callable[[str], bool]) -> None:
        self._dialer = dialer
        self._network = network
        self._is_cut = is_cut

    def dial(self, endpoint: Endpoint) -> MemberApi:
        """Return the member behind an endpoint; nothing is sent yet."""
        return WiredMember(self._dialer.dial(endpoint), endpoint.address, self._send)

    async def close(self) -> None:
        """End all connections."""
        await self._dialer.close()

    async def _send(self, call: EtcdCall, perform: Callable[[], Awaitable[R]]) -> R:
        async def carried() -> R:
            if self._is_cut(call.address):
                await asyncio.sleep(_NO_WAY)
                raise PeerUnreachable(f"{call}: no way there")
            return await perform()

        return await self._network.send(call, carried, _refusal)


class _WiredReader:
    """The questions to a member, each through the wire."""

    def __init__(
        self,
        inner: MemberApi,
        address: str,
        send: Callable[[EtcdCall, Callable[[], Awaitable[R]]], Awaitable[R]],
    ) -> None:
        self._inner = inner
        self._address = address
        self._send_any = send

    async def _read(self, verb: str, perform: Callable[[], Awaitable[R]]) -> R:
        found: R = await self._send_any(EtcdCall(verb, self._address), perform)  # type: ignore[arg-type,assignment]
        return found

    async def _write(self, verb: str, about: str, perform: Callable[[], Awaitable[R]]) -> R:
        call = EtcdCall(verb, self._address, writes=True, about=about)
        found: R = await self._send_any(call, perform)  # type: ignore[arg-type,assignment]
        return found

    async def status(self) -> MemberStatus:
        """Ask for it."""
        return await self._read("status", self._inner.status)

    async def members(self, *, linearizable: bool = True) -> Roster:
        """Ask for it."""
        return await self._read("members", lambda: self._inner.members(linearizable=linearizable))

    async def alarms(self) -> tuple[Alarm, ...]:
        """Ask for it."""
        return await self._read("alarms", self._inner.alarms)

    async def auth_enabled(self) -> bool:
        """Ask for it."""
        return await self._read("auth_enabled", self._inner.auth_enabled)

    async def snapshot(self) -> AsyncGenerator[bytes, None]:
        """Ask for it; the pieces come as one."""

        async def whole() -> list[bytes]:
            return [it async for it in self._inner.snapshot()]

        for piece in await self._read("snapshot", whole):
            yield piece

    async def get(self, key: bytes) -> bytes | None:
        """Ask for it."""
        return await self._read("get", lambda: self._inner.get(key))

    async def count(self, prefix: bytes) -> int:
        """Ask for it."""
        return await self._read("count", lambda: self._inner.count(prefix))


class WiredMember(_WiredReader):
    """The port of etcd, each call through the wire."""

    async def add_learner(self, peer_url: str) -> Member:
        """Wish for it."""
        return await self._write("add_learner", peer_url, lambda: self._inner.add_learner(peer_url))

    async def promote(self, member_id: int) -> None:
        """Wish for it."""
        await self._write("promote", f"{member_id:x}", lambda: self._inner.promote(member_id))

    async def remove(self, member_id: int) -> None:
        """Wish for it."""
        await self._write("remove", f"{member_id:x}", lambda: self._inner.remove(member_id))

    async def move_leader(self, to: int) -> None:
        """Wish for it."""
        await self._write("move_leader", f"{to:x}", lambda: self._inner.move_leader(to))

    async def compact(self, revision: int) -> None:
        """Wish for it."""
        await self._write("compact", str(revision), lambda: self._inner.compact(revision))

    async def defragment(self) -> None:
        """Wish for it."""
        await self._write("defragment", "", self._inner.defragment)

    async def disarm(self, alarm: Alarm) -> None:
        """Wish for it."""
        await self._write("disarm", alarm.kind.name, lambda: self._inner.disarm(alarm))

    async def add_root(self) -> None:
        """Wish for it."""
        await self._write("add_root", "", self._inner.add_root)

    async def enable_auth(self) -> None:
        """Wish for it."""
        await self._write("enable_auth", "", self._inner.enable_auth)

    async def disable_auth(self) -> None:
        """Wish for it."""
        await self._write("disable_auth", "", self._inner.disable_auth)

    async def put(self, key: bytes, value: bytes) -> int:
        """Wish for it."""
        return await self._write("put", "", lambda: self._inner.put(key, value))


def _refusal(kind: Kind, call: Asked) -> PeerError | None:
    """Return how etcd refuses, or why it was not reached; it changed nothing then."""
    match kind:
        case Kind.CONFLICT if call.writes:
            return EtcdPacing("unhealthy cluster", code=14)
        case Kind.OVERLOADED:
            return EtcdRefused("too many requests", code=8)
        case Kind.FAILED:
            return EtcdRefused("internal error", code=13)
        case Kind.UNAVAILABLE:
            return PeerUnreachable(f"{call}: refused to connect")
        case Kind.TIMED_OUT if not call.writes:
            return NoQuorum("request timed out", code=14)
        case Kind.UNAUTHORIZED:
            return LoginNeeded("user name is empty", code=3)
        case Kind.CONFUSED if not call.writes:
            return PeerConfused("the answer was cut in the middle")
        case _:
            return None
