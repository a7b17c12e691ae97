"""Etcd's own way: gRPC, with our marshalling.

The library gives HTTP/2 and the framing. Three things are added to it: an answer has a largest
size, the reason for which a connection ended is kept, and a connection that did not answer in time
takes no new calls.
"""

from __future__ import annotations

import asyncio
import math
import ssl
from collections.abc import AsyncGenerator, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from grpclib.exceptions import GRPCError, ProtocolError, StreamTerminatedError
from h2.exceptions import H2Error

from stateward.core.errors import HouseError, PeerConfused, PeerError
from stateward.etcd.members import failures, refusals, wire
from stateward.etcd.members.calls import Call, Deadlines, may_have_given_up, server_patience
from stateward.etcd.members.channels import Nonsense, PatientChannel
from stateward.etcd.members.messages import Message
from stateward.etcd.members.port import Endpoint

T = TypeVar("T")

#: All that the library raises when an exchange is lost. The last two are how it stumbles over a
#: connection that ended between two of its own steps.
_LOST: Final = (
    OSError, StreamTerminatedError, ProtocolError, H2Error, AssertionError, AttributeError,
)  # fmt: skip


@dataclass(slots=True, eq=False)
class _Line:
    """One connection, and how many calls are on it."""

    channel: PatientChannel
    users: int = 0
    retired: bool = False
    farewell: asyncio.TimerHandle | None = None

    def close(self) -> None:
        self.retired = True
        if self.farewell is not None:
            self.farewell.cancel()
        self.channel.abort()


class Lines:
    """The connections to all members; idle ones close by themselves."""

    def __init__(self, kept: float) -> None:
        self._kept = kept
        self._lines: dict[Endpoint, _Line] = {}
        self._leaving: list[_Line] = []
        self._closed = False

    @contextmanager
    def held(self, endpoint: Endpoint, context: ssl.SSLContext | None) -> Iterator[_Line]:
        """Give the connection to an endpoint, which stays while it is held."""
        if self._closed:
            raise HouseError("connections that were closed must not be used any more")
        line = self._lines.get(endpoint)
        if line is None:
            line = self._lines[endpoint] = _Line(PatientChannel(endpoint, context))
        line.users += 1
        if line.farewell is not None:
            line.farewell.cancel()
        try:
            yield line
        finally:
            line.users -= 1
            if line.users == 0:
                self._left(endpoint, line)

    def retire(self, endpoint: Endpoint, line: _Line) -> None:
        """Begin no new call on a connection; it ends when those on it have ended."""
        if self._lines.get(endpoint) is not line:
            return  # somebody else did
        del self._lines[endpoint]
        line.retired = True
        if line.users == 0:
            line.close()
        else:
            self._leaving.append(line)

    def supersede(self, endpoint: Endpoint) -> None:
        """Retire connections to the same address that show or believe something else."""
        place = (endpoint.address, endpoint.port)
        for known, line in tuple(self._lines.items()):
            if (known.address, known.port) == place and known != endpoint:
                self.retire(known, line)

    def close(self) -> None:
        """End all connections, and the calls on them."""
        self._closed = True
        for line in (*self._lines.values(), *self._leaving):
            line.close()
        self._lines.clear()
        self._leaving.clear()

    def _left(self, endpoint: Endpoint, line: _Line) -> None:
        if not line.retired:
            loop = asyncio.get_running_loop()
            line.farewell = loop.call_later(self._kept, self.retire, endpoint, line)
            return
        line.close()
        if line in self._leaving:
            self._leaving.remove(line)


class Grpc:
    """Speaks gRPC to one member."""

    def __init__(
        self,
        lines: Lines,
        endpoint: Endpoint,
        context: ssl.SSLContext | None,
        deadlines: Deadlines,
    ) -> None:
        self._lines = lines
        self._endpoint = endpoint
        self._context = context
        self._deadlines = deadlines

    async def ask(self, call: Call, request: Message) -> Message:
        """Return the answer."""
        with self._lines.held(self._endpoint, self._context) as line:
            answer = await _apart(self._exchanged(call, request, line))
        return self._understood(call, answer)

    async def stream(self, call: Call, request: Message) -> AsyncGenerator[Message, None]:
        """Yield the parts of a long answer."""
        seconds, body = self._deadlines.of(call), wire.encode(call.request, request)
        with (
            self._lines.held(self._endpoint, self._context) as line,
            self._explained(call, line),
        ):
            await _apart(self._connected(call, line, seconds))
            async with line.channel.opened(f"/etcdserverpb.{call.method}") as stream:
                await _apart(stream.send_message(body, end=True), seconds)
                while (part := await _apart(stream.recv_message(), seconds)) is not None:
                    yield self._understood(call, part)
                await _apart(stream.recv_trailing_metadata(), seconds)

    async def _exchanged(self, call: Call, request: Message, line: _Line) -> bytes | None:
        seconds = self._deadlines.of(call)
        begun = asyncio.get_running_loop().time()
        await self._connected(call, line, seconds)
        told = server_patience(seconds) if call.limited else None
        with self._explained(call, line, begun + told if told else math.inf):
            async with (
                asyncio.timeout_at(begun + seconds),
                line.channel.opened(f"/etcdserverpb.{call.method}", told) as stream,
            ):
                await stream.send_message(wire.encode(call.request, request), end=True)
                return await stream.recv_message()

    @contextmanager
    def _explained(self, call: Call, line: _Line, told: float = math.inf) -> Iterator[None]:
        """Turn what the library raises into what it means."""
        try:
            yield
        except (GRPCError, Nonsense, *_LOST) as error:
            if _gave_up(error, line, told):
                raise refusals.gave_up(call, str(self._endpoint)) from None
            raise self._meaning(error, call, line) from None

    async def _connected(self, call: Call, line: _Line, seconds: float) -> None:
        try:
            async with asyncio.timeout(min(self._deadlines.connect, seconds)):
                await line.channel.ready()
        except OSError as error:
            self._lines.retire(self._endpoint, line)  # it may have come half way
            raise failures.unreachable(call, str(self._endpoint), failures.why(error)) from None

    def _meaning(self, error: Exception, call: Call, line: _Line) -> PeerError:
        where = str(self._endpoint)
        if isinstance(error, GRPCError):
            return refusals.meaning(error.status.value, error.message or "", call, where)
        if isinstance(error, Nonsense):
            return failures.confused(call, where, str(error))
        if isinstance(error, TimeoutError):
            # It may be a connection to nobody: the next call makes a new one.
            self._lines.retire(self._endpoint, line)
        reason = line.channel.ended_by or error
        if failures.certificate_refused(reason):
            return failures.unreachable(call, where, failures.why(reason))
        return failures.lost(call, where, failures.why(reason))

    def _understood(self, call: Call, answer: bytes | None) -> Message:
        where = str(self._endpoint)
        if answer is None:
            raise failures.confused(call, where, "there must be a message in it")
        try:
            return wire.decode(call.answer, answer)
        except PeerConfused as error:
            raise failures.confused(call, where, error.message) from None


def _gave_up(error: Exception, line: _Line, told: float) -> bool:
    """Tell whether the server ended this call alone, at the time until which it was to try.

    Newer releases end it in that way, older ones say so in words.
    """
    late = may_have_given_up(asyncio.get_running_loop().time(), told)
    return isinstance(error, StreamTerminatedError) and line.channel.is_up and late


async def _apart(work: Coroutine[Any, Any, T], seconds: float | None = None) -> T:
    """Do something in a task of its own: the library wakes whoever waits by cancelling its task,
    and does not take that back.
    """
    async with asyncio.timeout(seconds):
        return await asyncio.create_task(work)
