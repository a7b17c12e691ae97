"""Restores of the model: the database is locked, files come back one by one, and it is unlocked.

Keys of a range are written as they were when the range was read, and then all mutations after that,
in their order: so what comes back is the database at one version.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stateward.emulate.fdb.backups import format as form
from stateward.emulate.fdb.backups.format import Log, Range, Row
from stateward.emulate.fdb.backups.pieces import Fetch, Fetched, Kind, Survey, Surveyed, Ticket
from stateward.emulate.fdb.backups.state import Block, Progress, Restore
from stateward.emulate.fdb.state import State

DUPLICATE: Final = "Restore duplicate request"
LOCKED: Final = "Database is locked"
NOT_EMPTY: Final = "Attempted to restore into a non-empty destination database"


class Refused(Exception):
    """A restore cannot begin: why, in the words of the real one."""


def submit(state: State, restore: Restore) -> None:
    """Have a restore be there, and the database locked for it; raise Refused."""
    before = state.backups.restores.get(restore.tag)
    if before is not None and before.stage.is_active:
        raise Refused(DUPLICATE)
    if state.store.locked_by:
        raise Refused(LOCKED)
    version = state.store.at(state.now)
    for span in map(restore.target, restore.spans):
        if span is not None and next(state.store.span(*span, version), None) is not None:
            raise Refused(NOT_EMPTY)
    state.store.locked_by = restore.uid
    state.backups.restores[restore.tag] = restore


def abort(state: State, restore: Restore) -> None:
    """End one at once: what is back stays, and the database is unlocked."""
    _end(state, restore, Progress.ABORTED)


def _end(state: State, restore: Restore, stage: Progress) -> None:
    restore.stage = stage
    if state.store.locked_by == restore.uid:
        state.store.locked_by = ""


# -------------------------------------------------------------------------- what is to be done


def pieces(state: State) -> Iterator[Survey | Fetch]:
    """Yield what could be done now: of keys all at once, then mutations in their order."""
    for restore in list(state.backups.restores.values()):
        if not restore.stage.is_active:
            continue
        if restore.stage is not Progress.RUNNING:
            restore.stage = Progress.STARTING
            yield Survey(_ticket(restore, Kind.PLAN, 0), restore.version)
            continue
        for number in waiting(restore):
            yield Fetch(_ticket(restore, Kind.BLOCK, number), restore.blocks[number].path)


def _ticket(restore: Restore, kind: Kind, number: int) -> Ticket:
    return Ticket(kind, restore.uid, restore.url, number=number)


def waiting(restore: Restore) -> list[int]:
    """Return the numbers of blocks that may come next."""
    left = [it for it in range(len(restore.blocks)) if it not in restore.done]
    keys = [it for it in left if restore.blocks[it].keys is not None]
    return keys or left[:1]


# -------------------------------------------------------------------------- what was done


def surveyed(state: State, outcome: Surveyed) -> None:
    """Know what is to be brought back."""
    restore = of_uid(state, outcome.ticket.uid)
    if restore is None or restore.stage is not Progress.STARTING:
        return
    restore.stage = Progress.RUNNING
    restore.blocks = outcome.blocks
    restore.current, restore.consistent = outcome.begin, outcome.consistent
    _settle(state, restore)


def fetched(state: State, outcome: Fetched) -> None:
    """Have a file be back, unless it is already; raise Unusable for one that was damaged."""
    number = outcome.ticket.number
    restore = of_uid(state, outcome.ticket.uid)
    if restore is None or restore.stage is not Progress.RUNNING or number not in waiting(restore):
        return
    block = restore.blocks[number]
    rows = _rows(restore, block, outcome.raw)
    moved = [(restore.moved(key), value) for key, value in rows.items()]
    if moved:
        state.store.at(state.now)
        state.store.write(moved)
    restore.written += sum(len(key) + len(value or b"") for key, value in moved)
    restore.done = sorted([*restore.done, number])
    _settle(state, restore)


def of_uid(state: State, uid: str) -> Restore | None:
    """Return a restore by its name."""
    return next((it for it in state.backups.restores.values() if it.uid == uid), None)


def _settle(state: State, restore: Restore) -> None:
    logs = [it for it in restore.done if restore.blocks[it].keys is None]
    if logs:
        restore.current = restore.blocks[logs[-1]].until - 1
    if len(restore.done) == len(restore.blocks):
        restore.current = restore.version
        _end(state, restore, Progress.COMPLETED)


def _rows(restore: Restore, block: Block, raw: bytes) -> dict[bytes, bytes | None]:
    """Return what a file has of what is asked for."""
    if block.keys is not None:
        rows: list[Row] = form.decoded(raw, Range, block.path).rows
        return {key: value for key, value in rows if _is_wanted(restore, key)}
    versions = _Versions.of(restore)
    found: dict[bytes, bytes | None] = {}
    for when, writes in form.decoded(raw, Log, block.path).writes:
        if block.version <= when < block.until:
            mine = (it for it in writes if _is_wanted(restore, it[0]))
            found.update(it for it in mine if versions.before(it[0], when))
    return found


def _is_wanted(restore: Restore, key: bytes) -> bool:
    is_within = any(begin <= key < end for begin, end in restore.spans)
    return is_within and key.startswith(restore.remove_prefix)


@dataclass(frozen=True, slots=True)
class _Versions:
    """By the first keys of ranges: as of which version they were read, and where each ends."""

    begins: list[bytes]
    ends: list[bytes]
    read: list[int]

    @classmethod
    def of(cls, restore: Restore) -> _Versions:
        found = sorted((*it.keys, it.version) for it in restore.blocks if it.keys is not None)
        return cls([it[0] for it in found], [it[1] for it in found], [it[2] for it in found])

    def before(self, key: bytes, version: int) -> bool:
        """Tell whether a key was read before a version, and so must be brought up to it."""
        place = bisect_right(self.begins, key) - 1
        return place >= 0 and key < self.ends[place] and self.read[place] < version


def failed(state: State, restore: Restore, text: str) -> None:
    """Remember what went wrong last."""
    restore.error = (text, state.store.at(state.now))
