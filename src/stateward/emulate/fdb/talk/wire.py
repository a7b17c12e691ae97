"""Connections between the programs: messages with their length before them, perhaps with TLS."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeVar

from stateward.emulate.fdb.talk import messages, tls
from stateward.emulate.fdb.talk.tls import Security
from stateward.fdb.model.addresses import Address

#: Bytes of the longest message: a status of thousands of processes.
_LONGEST: Final = 64 * 1024 * 1024
_LENGTH: Final = 4
#: Seconds within which somebody who listens is reached; who says nothing for as long is not there.
REACHED: Final = 2.0
#: Seconds between two signs of life, where nothing else is said.
BEAT: Final = 0.4

M = TypeVar("M", bound=messages.Message)


class Lost(Exception):
    """The other side is not there, or does not speak as we do."""


class Incompatible(Lost):
    """The other side speaks another protocol; what it said."""

    def __init__(self, protocol: str, said: messages.Any | None = None) -> None:
        super().__init__(protocol)
        self.protocol, self.said = protocol, said


@dataclass(slots=True)
class Wire:
    """One connection, for one who speaks a protocol."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    protocol: str

    async def send(self, message: messages.Any) -> None:
        """Say something; raise Lost."""
        raw = messages.encoded(message, self.protocol)
        try:
            if self.writer.is_closing():  # with TLS nothing can be written any more
                raise Lost("it was closed")
            self.writer.write(len(raw).to_bytes(_LENGTH, "big") + raw)
            await self.writer.drain()
        except OSError as error:
            raise Lost(str(error)) from None

    async def receive(self) -> messages.Any:
        """Return what is said next; raise Lost, or Incompatible."""
        try:
            length = int.from_bytes(await self.reader.readexactly(_LENGTH), "big")
            if length > _LONGEST:
                raise Lost(f"a message of {length} bytes")
            envelope = messages.decoded(await self.reader.readexactly(length))
        except (OSError, asyncio.IncompleteReadError, ValueError) as error:
            raise Lost(str(error)) from None
        if isinstance(envelope.message, messages.Foreign):
            raise Incompatible(envelope.message.protocol)
        if envelope.protocol != self.protocol:
            with suppress(Lost):
                await self.send(messages.Foreign(self.protocol))
            raise Incompatible(envelope.protocol, envelope.message)
        return envelope.message

    async def hear(self, seconds: float = REACHED) -> messages.Any:
        """Return what is said next by one who says something all the time; raise Lost."""
        try:
            async with asyncio.timeout(seconds):
                return await self.receive()
        except TimeoutError:
            raise Lost("it says nothing") from None

    def close(self) -> None:
        """End it."""
        self.writer.close()


async def connect(
    address: Address, security: Security, protocol: str, seconds: float = REACHED
) -> Wire:
    """Return a connection to who listens at an address; raise Lost."""
    try:
        context = tls.client_context(security) if address.tls else None
        async with asyncio.timeout(seconds):
            reader, writer = await asyncio.open_connection(
                address.host, address.port, ssl=context, limit=_LONGEST
            )
        if address.tls:
            tls.check_peer(security, writer)
    except (OSError, TimeoutError, tls.Untrusted) as error:
        raise Lost(str(error)) from None
    return Wire(reader, writer, protocol)


async def ask(
    address: Address,
    security: Security,
    protocol: str,
    message: messages.Any,
    kind: type[M],
    *,
    seconds: float = REACHED,
) -> M:
    """Ask one question on a connection of its own; raise Lost."""
    wire = await connect(address, security, protocol, seconds)
    try:
        await wire.send(message)
        found = await wire.hear(seconds)
        if not isinstance(found, kind):
            raise Lost(f"{type(found).__name__} where {kind.__name__} was expected")
        return found
    finally:
        wire.close()


#: Serves one connection, which begins with this message.
Served = Callable[[Wire, messages.Any], Awaitable[None]]
#: Is told of somebody who speaks another protocol, and of what it said.
Stranger = Callable[[str, messages.Any | None], None]


async def listen(
    address: Address, security: Security, protocol: str, served: Served, stranger: Stranger
) -> asyncio.Server:
    """Let others connect; raise OSError when nobody can listen there."""

    async def come(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire = Wire(reader, writer, protocol)
        try:
            if address.tls:
                tls.check_peer(security, writer)
            await served(wire, await wire.receive())
        except Incompatible as error:
            stranger(error.protocol, error.said)
        except (Lost, tls.Untrusted):
            pass
        finally:
            wire.close()

    context = tls.renewed_context(security) if address.tls else None
    return await asyncio.start_server(come, address.host, address.port, ssl=context, limit=_LONGEST)
