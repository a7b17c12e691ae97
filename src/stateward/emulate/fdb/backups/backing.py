"""Backups of the model: what is asked for, which piece is to be done next, and what that changes.

A snapshot is a pass over all keys, each piece as it is when it is handed out; logs are all that was
written since the backup began. Of both together every later version can be made. A file counts once
it is told to be written, the first of several: so whoever dies in the middle has done nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from stateward.emulate.fdb.backups import format as form
from stateward.emulate.fdb.backups.format import Log, Manifest, Range
from stateward.emulate.fdb.backups.pieces import Keep, Kept, Kind, Ticket
from stateward.emulate.fdb.backups.state import Backup, RangeFile, Snapshot, Span, Stage
from stateward.emulate.fdb.keys import A_SECOND
from stateward.emulate.fdb.state import State

#: Seconds of mutations that are one file, and how many keys of a range are.
LOGGED: Final = 20
PIECE: Final = 500
#: Mutations of one file at most, so that it can be handed out at once.
MOST: Final = 20_000


def submit(state: State, backup: Backup) -> None:
    """Have a backup be there, in place of the one that had its tag before."""
    backup.submitted = state.store.at(state.now)
    state.backups.backups[backup.tag] = backup


def abort(state: State, backup: Backup) -> None:
    """End one at once."""
    backup.stage = Stage.ABORTED
    forget(state)


def discontinue(state: State, backup: Backup) -> None:
    """Have one end as soon as it can be restored, which may be now."""
    backup.stops = True
    _settle(state, backup)


def forget(state: State) -> None:
    """Keep no more of what was written than backups need that are not over."""
    active = [it for it in state.backups.backups.values() if it.stage.is_active and it.begin >= 0]
    store = state.store
    store.is_journaled = bool(active)
    oldest = min((it.logged for it in active), default=store.version + 1)
    store.journal = [it for it in store.journal if it[0] >= oldest]


# -------------------------------------------------------------------------- what is to be done


def pieces(state: State) -> Iterator[Keep]:
    """Yield what could be done now, what comes first in each backup at first."""
    state.store.at(state.now)
    for backup in list(state.backups.backups.values()):
        if backup.stage.is_active:
            _begin(state, backup)
            yield from _of_log(state, backup)
            yield from _of_snapshot(state, backup)


def _begin(state: State, backup: Backup) -> None:
    """Have all be written down from now on, of a backup that an agent takes up."""
    if backup.stage is Stage.SUBMITTED:
        backup.stage = Stage.RUNNING
        backup.begin = backup.logged = state.store.at(state.now) + 1
        state.store.version = backup.begin
        state.store.is_journaled = True
        _begin_snapshot(state, backup, backup.first_interval)
    elif backup.snapshot is not None and backup.snapshot.url != backup.url:
        _begin_snapshot(state, backup, backup.snapshot.interval)


def _begin_snapshot(state: State, backup: Backup, interval: int) -> None:
    begin = state.store.at(state.now)
    cut = [piece for span in backup.ranges for piece in _cut(state, span)]
    backup.snapshot = Snapshot(begin, interval, backup.url, cut, dispatched=begin)


def _cut(state: State, span: Span) -> list[Span]:
    """Return a range in pieces, each with so many keys as there are now."""
    keys = [key for key, _ in state.store.span(*span, state.store.version)]
    bounds = [span[0], *keys[PIECE::PIECE], span[1]]
    return list(pairwise(bounds))


def _of_log(state: State, backup: Backup) -> Iterator[Keep]:
    whole = (state.store.version - backup.logged) // (LOGGED * A_SECOND)
    if whole < 1:
        return
    end = backup.logged + whole * LOGGED * A_SECOND
    written = [it for it in state.store.journal if backup.logged <= it[0] < end]
    if len(written) > MOST:
        end, written = written[MOST][0], written[:MOST]
    kept = ((when, _within(backup, writes)) for when, writes in written)
    raw = form.encoded(Log(backup.logged, end, [it for it in kept if it[1]]))
    size = sum(len(key) + len(value or b"") for _, some in written for key, value in some)
    ticket = Ticket(Kind.LOG, backup.uid, backup.url, backup.logged, end, size=size)
    yield Keep(ticket, [(form.log_path(backup.logged, end), raw)])


def _within(backup: Backup, writes: form.Writes) -> form.Writes:
    spans = backup.ranges
    return [it for it in writes if any(begin <= it[0] < end for begin, end in spans)]


def _of_snapshot(state: State, backup: Backup) -> Iterator[Keep]:
    snapshot = backup.snapshot
    if snapshot is None:
        return
    for number in due(state, snapshot):
        yield _range(state, backup, snapshot, number)
    if len(snapshot.files) == len(snapshot.pieces):
        every = [snapshot.files[it] for it in sorted(snapshot.files)]
        manifest = Manifest(snapshot.begin, snapshot.end, every)
        ticket = Ticket(Kind.MANIFEST, backup.uid, backup.url, snapshot.begin, snapshot.end)
        files = [(form.FORMAT, form.MARK), (form.snapshot_path(manifest), form.encoded(manifest))]
        yield Keep(ticket, files)


def due(state: State, snapshot: Snapshot) -> list[int]:
    """Return the numbers of pieces that should be written by now, and are not."""
    passed = state.now - snapshot.begin / A_SECOND
    many = len(snapshot.pieces)
    share = min(1.0, passed / snapshot.interval) if snapshot.interval else 1.0
    return [it for it in range(int(share * many)) if it not in snapshot.files]


def _range(state: State, backup: Backup, snapshot: Snapshot, number: int) -> Keep:
    begin, end = snapshot.pieces[number]
    version = snapshot.dispatched = state.store.version
    rows = list(state.store.span(begin, end, version))
    raw = form.encoded(Range(begin, end, version, rows))
    file = RangeFile(
        form.range_path(snapshot.begin, version, number), begin, end, version, len(raw)
    )
    ticket = Ticket(
        Kind.RANGE, backup.uid, backup.url, snapshot.begin, version, number, len(raw), file
    )
    return Keep(ticket, [(file.path, raw)])


# -------------------------------------------------------------------------- what was done


def done(state: State, outcome: Kept) -> None:
    """Have a piece count, if it is still wanted: no other was faster, and nothing was changed."""
    ticket = outcome.ticket
    backup = of_uid(state, ticket.uid)
    if backup is None or not backup.stage.is_active or backup.url != ticket.url:
        return
    match ticket.kind:
        case Kind.LOG if ticket.begin == backup.logged:
            backup.logged = ticket.end
            backup.log_bytes += ticket.size
        case Kind.RANGE:
            _have_range(backup, ticket)
        case Kind.MANIFEST:
            _have_snapshot(state, backup, ticket)
        case _:
            return
    _settle(state, backup)
    forget(state)


def of_uid(state: State, uid: str) -> Backup | None:
    """Return a backup by its name."""
    return next((it for it in state.backups.backups.values() if it.uid == uid), None)


def _current(backup: Backup, ticket: Ticket) -> Snapshot | None:
    found = backup.snapshot
    is_it = found is not None and (found.begin, found.url) == (ticket.begin, ticket.url)
    return found if is_it else None


def _have_range(backup: Backup, ticket: Ticket) -> None:
    snapshot = _current(backup, ticket)
    if snapshot is None or ticket.file is None or ticket.number in snapshot.files:
        return
    snapshot.files[ticket.number] = ticket.file
    backup.range_bytes += ticket.size


def _have_snapshot(state: State, backup: Backup, ticket: Ticket) -> None:
    if _current(backup, ticket) is None:
        return
    backup.last_end = ticket.end
    backup.first_end = ticket.end if backup.first_end < 0 else backup.first_end
    backup.snapshot = None
    if not backup.stops:
        backup.stage = Stage.DIFFERENTIAL
        _begin_snapshot(state, backup, backup.interval)


def _settle(state: State, backup: Backup) -> None:
    """End one that is to end once it can be restored."""
    if backup.stops and backup.restorable is not None:
        backup.stage = Stage.COMPLETED
        backup.snapshot = None
        forget(state)
