"""A watch as it comes over the wire: bytes in pieces of any size, lines of any length, one event a line. Pure."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from stateward.core.errors import PeerConfused, PeerUnreachable
from stateward.kube import codec
from stateward.kube.client import Change, Malformed, WatchEvent
from stateward.kube.errors import ApiError, Gone, ServerFailed, Status, from_status
from stateward.kube.http import fitting
from stateward.kube.meta import Object

T = TypeVar("T", bound=Object)

#: No object is larger than a few megabytes; a line this long is no watch event.
LONGEST_LINE = 64 * 1024 * 1024


class Lines:
    """Puts lines together. Looks at every byte once, however small the pieces are."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self._longest = longest

    def feed(self, piece: bytes) -> list[bytes]:
        """Return the lines that this piece completes."""
        first, *rest = piece.split(b"\n")
        self._keep(first)
        if not rest:
            return []
        lines = [b"".join(self._pieces), *rest[:-1]]
        self._pieces, self._size = [], 0
        self._keep(rest[-1])
        return [line for line in lines if line.strip()]

    def finish(self) -> None:
        """Make sure that the stream did not end in the middle of a line."""
        if b"".join(self._pieces).strip():
            raise PeerUnreachable(
                "a watch must end after a whole event, but it was cut in the middle of one",
                hint="watch again from the last revision heard",
            )

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._longest:
            raise PeerConfused(f"a watch event must be shorter than {self._longest} bytes")
        if piece:
            self._pieces.append(piece)


def event_of(line: bytes, kind: type[T]) -> WatchEvent[T]:
    """Return the event that a line is; raise what the server says when it says that the watch is over."""
    name, found = fitting.event_of(line, kind)
    if isinstance(found, msgspec.Raw):
        if name == "ERROR":
            raise _failure(codec.decode(bytes(found), Status))
        found = Malformed(fitting.metadata_of(found), "")
    if name not in Change.__members__:
        raise PeerConfused(f"a watch event must be of a known type, got {name[:40]!r}")
    if not (revision := found.metadata.resource_version):
        raise PeerConfused(f"a watch event ({name}) must say its revision")
    if name == Change.BOOKMARK.value:
        found = Malformed(found.metadata, "a bookmark carries no object")
    return WatchEvent(Change[name], found, revision)


def _failure(status: Status) -> ApiError:
    # Some servers leave the code out and give the reason alone.
    code = Gone.code if status.reason in {Gone.reason, "Gone"} else ServerFailed.code
    return from_status(status if status.code else msgspec.structs.replace(status, code=code))
