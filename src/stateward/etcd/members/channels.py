"""What we add to the gRPC library: bounds, server names, and why a connection ended."""

from __future__ import annotations

import asyncio
import ssl
from functools import cached_property
from typing import Any, Final

from grpclib.client import Channel, Stream
from grpclib.config import Configuration
from grpclib.const import Cardinality
from grpclib.encoding.base import CodecBase
from grpclib.metadata import Deadline
from grpclib.protocol import H2Protocol
from h2.events import RemoteSettingsChanged
from multidict import MultiDict

from stateward.etcd.members.port import Endpoint
from stateward.etcd.members.wire import LARGEST

_FRAME: Final = 5


class Nonsense(Exception):
    """What came is not gRPC, or too much of it."""


class BoundedStream(Stream[bytes, bytes]):
    """One call, whose answers may not be larger than we want to hold."""

    #: Seconds after which the server is to give up; None: never.
    told: float | None = None

    async def __aenter__(self) -> BoundedStream:
        await super().__aenter__()
        # Set only now, it is sent to the server and does not end our own waiting, too.
        self._deadline = None if self.told is None else Deadline.from_timeout(self.told)
        return self

    async def recv_message(self) -> bytes | None:
        """Return the next message, or None at the end."""
        if not self._recv_initial_metadata_done:
            await self.recv_initial_metadata()
        with self._wrapper:
            head = await self._stream.recv_data(_FRAME)
            if not head:
                return None
            size = int.from_bytes(head[1:], "big")
            if head[0] or size > LARGEST:
                raise Nonsense(f"a message must be plain and at most {LARGEST} bytes")
            return await self._stream.recv_data(size)


class PatientChannel(Channel):
    """A connection to one member."""

    def __init__(self, endpoint: Endpoint, context: ssl.SSLContext | None) -> None:
        super().__init__(
            endpoint.address,
            endpoint.port,
            codec=_AsItIs(),
            ssl=context,
            # Not for tests alone, whatever the library says: pods are dialled by address.
            config=Configuration(ssl_target_name_override=endpoint.server_name or None),
        )
        self._remembering: _Remembering | None = None

    @property
    def ended_by(self) -> Exception | None:
        """Why the last connection was cut; None when it was not, or for no reason."""
        return self._remembering.ended_by if self._remembering is not None else None

    async def ready(self) -> None:
        """Connect, and hear the server's first word; raise OSError when there is none.

        In TLS 1.3 a server refuses our certificate only after our side thinks that all is well.
        Until it spoke, nothing is sent: then nothing can have been done.
        """
        await self.__connect__()
        made = self._remembering
        if made is not None:
            await made.spoke.wait()
        if not self._connected:
            raise self.ended_by or ConnectionResetError(0, "it closed the connection")

    @property
    def is_up(self) -> bool:
        """True while there is a connection."""
        return self._connected

    def opened(self, method: str, told: float | None = None) -> BoundedStream:
        """Return a call that can be entered."""
        stream = BoundedStream(
            self,
            method,
            _nothing_more(),
            Cardinality.UNARY_STREAM,  # to the library, one answer is a short stream
            bytes,
            bytes,
            codec=self._codec,
            status_details_codec=None,
            dispatch=self.__dispatch__,
        )
        stream.told = told
        return stream

    def abort(self) -> None:
        """End the connection at once: the farewell of TLS would wait for the other side."""
        if self._remembering is not None:
            self._remembering.abort()
        if self._protocol is not None:
            self.close()
            self._protocol = None

    def _protocol_factory(self) -> H2Protocol:
        made = super()._protocol_factory()
        self._remembering = _Remembering(made.handler, made.config, made.h2_config)
        return self._remembering


def _nothing_more() -> Any:
    return MultiDict()  # the library casts its own in the same way


class _Remembering(H2Protocol):
    ended_by: Exception | None = None

    @cached_property
    def spoke(self) -> asyncio.Event:
        """Set when the server spoke, or never will."""
        return asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        # The first word of HTTP/2; whoever says anything else does not speak it.
        self.processor.processors[RemoteSettingsChanged] = self._hear_settings

    def _hear_settings(self, event: RemoteSettingsChanged) -> None:
        self.processor.process_remote_settings_changed(event)
        self.spoke.set()

    def abort(self) -> None:
        connection = getattr(self, "connection", None)
        transport = getattr(connection, "_transport", None)  # gone when it is closed
        if transport is not None:
            transport.abort()

    def connection_lost(self, exc: BaseException | None) -> None:
        self.ended_by = exc if isinstance(exc, Exception) else None
        super().connection_lost(exc)
        self.spoke.set()


class _AsItIs(CodecBase):
    """Messages come and go as bytes."""

    __content_subtype__ = "proto"

    def encode(self, message: bytes, _type: type[bytes]) -> bytes:
        return message

    def decode(self, data: bytes, _type: type[bytes]) -> bytes:
        return data
