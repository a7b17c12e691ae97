"""Pieces of work: what an agent is given, does on files, and says of it afterwards.

A ticket says what the piece is about, and comes back with what was done. So who hands out work need
not remember it: it looks whether that is still wanted.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

import msgspec

from stateward.emulate.fdb.backups.state import Block, RangeFile


class Kind(StrEnum):
    """What a piece is about."""

    RANGE = "range"
    LOG = "log"
    MANIFEST = "manifest"
    PLAN = "plan"
    BLOCK = "block"


class Ticket(msgspec.Struct, frozen=True):
    """Which piece of which backup or restore it is."""

    kind: Kind
    uid: str
    url: str
    #: Of a snapshot its begin, of a log where it begins and ends.
    begin: int = 0
    end: int = 0
    number: int = 0
    size: int = 0
    #: Of a range: the file that is to count.
    file: RangeFile | None = None

    @property
    def name(self) -> str:
        """By which it is somebody's for a while."""
        return f"{self.kind} {self.uid} {self.begin} {self.number}"


class Keep(msgspec.Struct, frozen=True, tag=True):
    """Write files of a container, by their paths within it."""

    ticket: Ticket
    files: list[tuple[str, bytes]]


class Survey(msgspec.Struct, frozen=True, tag=True):
    """Find out which files are to be brought back for a version."""

    ticket: Ticket
    version: int


class Fetch(msgspec.Struct, frozen=True, tag=True):
    """Read a file of a container."""

    ticket: Ticket
    path: str


class Kept(msgspec.Struct, frozen=True, tag=True):
    """All is written."""

    ticket: Ticket


class Surveyed(msgspec.Struct, frozen=True, tag=True):
    """What is to be brought back, from where on it is whole, and where that snapshot began."""

    ticket: Ticket
    blocks: list[Block]
    begin: int
    consistent: int


class Fetched(msgspec.Struct, frozen=True, tag=True):
    """What a file holds."""

    ticket: Ticket
    raw: bytes


class Failed(msgspec.Struct, frozen=True, tag=True):
    """It could not be done: why."""

    ticket: Ticket
    text: str


Piece: TypeAlias = Keep | Survey | Fetch
Outcome: TypeAlias = Kept | Surveyed | Fetched | Failed
