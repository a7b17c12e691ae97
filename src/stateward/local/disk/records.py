"""One line of the journal: what became of one object, and a checksum.

    0f3a9c11 17 + pods {"apiVersion":"v1",...}     revision 17: the object is now this
    77aa0e05 18 - pods ["shop","orders-0"]         revision 18: the object is gone
    51d2be9f 18 =                                  all before this line is whole up to revision 18

JSON as we write it holds no line breaks, so a line is a record, and a journal can be read with
``less``. The checksum covers all that follows it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from stateward.core.errors import PeerConfused
from stateward.kube.client import Change
from stateward.kube.codec import decode_json, encode
from stateward.kube.meta import ObjectKey
from stateward.local.store import Stored, StoreEvent, rehearsed

HEADER = b"stateward-journal 1\n"


@dataclass(frozen=True, slots=True)
class Record:
    """What one line says."""

    revision: int
    resource: str = ""
    key: ObjectKey | None = None
    #: None: the object is gone.
    stored: Stored | None = None


def record_of(event: StoreEvent) -> bytes:
    """Return the line for a change."""
    if event.change is Change.DELETED:
        return gone(event.revision, event.resource, event.now.key)
    return kept(event.resource, event.now)


def kept(resource: str, stored: Stored) -> bytes:
    """Return the line for an object as it is now."""
    return _sealed(b"%d + %s %s" % (stored.revision, resource.encode(), stored.text))


def gone(revision: int, resource: str, key: ObjectKey) -> bytes:
    """Return the line for an object that is no more."""
    return _sealed(b"%d - %s %s" % (revision, resource.encode(), encode(key)))


def whole(revision: int) -> bytes:
    """Return the line that says up to which revision the journal is whole."""
    return _sealed(b"%d =" % revision)


def read(lines: Iterator[bytes]) -> Iterator[tuple[Record | None, int]]:
    """Yield what each line says and its length; None for one that is not whole, which is the last
    that is read.
    """
    for line in lines:
        record = _read(line)
        yield record, len(line)
        if record is None:
            return


def _sealed(content: bytes) -> bytes:
    return b"%08x %s\n" % (zlib.crc32(content), content)


def _read(line: bytes) -> Record | None:
    checksum, space, content = line.partition(b" ")
    if not (space and content.endswith(b"\n") and checksum == b"%08x" % zlib.crc32(content[:-1])):
        return None
    try:
        return _meaning(content[:-1])
    except (PeerConfused, ValueError, KeyError, TypeError, AttributeError):
        return None  # the checksum is right and the content is not ours: as good as broken


def _meaning(content: bytes) -> Record:
    revision, sign, *rest = content.split(b" ", 3)
    match sign, rest:
        case b"+", [resource, text]:
            stored = rehearsed(decode_json(text), int(revision))
            return Record(int(revision), resource.decode(), stored.key, stored)
        case b"-", [resource, key]:
            return Record(int(revision), resource.decode(), ObjectKey(*decode_json(key)))
        case b"=", []:
            return Record(int(revision))
        case _:
            raise ValueError("not a record")
