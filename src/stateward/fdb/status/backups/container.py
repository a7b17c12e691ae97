"""Reads ``fdbbackup describe --json``: what can be restored from a container."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec
from msgspec import Struct

from stateward.core.facts import Unknown


@dataclass(frozen=True, slots=True)
class Taken:
    """A whole snapshot: from which version on it was taken, and at which it was whole."""

    begin: int
    end: int
    #: How many days of the database's own time it had been whole when the last log ended.
    days: float
    restorable: bool


@dataclass(frozen=True, slots=True)
class Container:
    """A backup as its files tell of it."""

    url: str
    #: Whether there is anything at all.
    exists: bool = True
    #: The first and the last version that it can be restored to; None: it cannot be.
    first: int | None = None
    last: int | None = None
    snapshots: int = 0
    snapshot_bytes: int = 0
    #: Those of which all is told.
    taken: tuple[Taken, ...] = ()

    @property
    def is_restorable(self) -> bool:
        """Whether it can be restored at all."""
        return self.first is not None and self.last is not None

    def reaches(self, version: int) -> bool:
        """Tell whether it can be restored to a version."""
        first, last = self.first, self.last
        return first is not None and last is not None and first <= version <= last


class _Version(Struct, frozen=True):
    Version: int
    RelativeDays: float | None = None


class _Snapshot(Struct, frozen=True):
    TotalBytes: int = 0
    Start: _Version | None = None
    End: _Version | None = None
    Restorable: bool = False


class _Document(Struct, frozen=True):
    URL: str
    Restorable: bool
    Snapshots: list[_Snapshot] = []
    MinRestorablePoint: _Version | None = None
    MaxRestorablePoint: _Version | None = None


_DECODER: Final = msgspec.json.Decoder(_Document)


def read(text: str, url: str) -> Container | Unknown:
    """Return what a container has, by what was printed; this never raises."""
    try:
        found = _DECODER.decode(text[max(0, text.find("{")) : text.rfind("}") + 1])
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        return Unknown(f"fdbbackup must describe {url} as JSON: {error}")
    first, last = found.MinRestorablePoint, found.MaxRestorablePoint
    if found.Restorable and (first is None or last is None):
        return Unknown(f"fdbbackup must tell to which versions {url} can be restored")
    can = found.Restorable and first is not None and last is not None
    return Container(
        url,
        first=first.Version if can and first is not None else None,
        last=last.Version if can and last is not None else None,
        snapshots=len(found.Snapshots),
        snapshot_bytes=sum(it.TotalBytes for it in found.Snapshots),
        taken=tuple(_taken(found.Snapshots)),
    )


def _taken(some: Iterable[_Snapshot]) -> Iterator[Taken]:
    for it in some:
        if it.Start is not None and it.End is not None and it.End.RelativeDays is not None:
            days = -it.End.RelativeDays
            yield Taken(it.Start.Version, it.End.Version, days, it.Restorable)
