"""The decision journal: what every pass saw and said, kept for the question "what was at 03:12?".

It is a bounded memory with no I/O. Three rules keep it useful:

- a pass that says exactly what the one before said is folded into its entry, so that a quiet fleet
  does not push its own history out;
- when room is needed, the object that takes the largest share of it loses its oldest entry, so that
  a chatty object only ever pushes out itself;
- the last entry about an object goes only when every object is down to one, oldest first.

The export is JSON lines, one entry each, oldest first. Fields are only ever added; readers skip
what they do not know.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Any, TypeAlias

import msgspec

from stateward.core.errors import PeerConfused, UsageError
from stateward.core.moments import to_rfc3339_micro
from stateward.core.outcome import Blocked, Done, Stop, wake_after
from stateward.kube import codec
from stateward.kube.meta import ObjectKey
from stateward.runtime.pipeline import Failure, Report, Said
from stateward.runtime.telling import logs

#: Longer messages are cut, larger facts are left out: an entry is a line, not a dump.
MAX_MESSAGE = 1024
MAX_FACTS = 4096


class Saying(codec.Part, kw_only=True):
    """What one step said. ``after`` is when it wanted to be asked again, in seconds."""

    step: str
    outcome: str
    reason: str = ""
    message: str = ""
    hint: str = ""
    after: float | None = None
    seconds: float


class Fault(codec.Part):
    """The step that failed, and how."""

    step: str
    reason: str
    message: str = ""


class Entry(codec.Part, kw_only=True):
    """One pass, or several in a row that said the same. Times are in UTC, as people read them."""

    at: str
    pass_id: str
    controller: str
    namespace: str = ""
    name: str
    uid: str = ""
    generation: int = 0
    #: The slowest, when several passes are folded.
    seconds: float
    said: tuple[Saying, ...] = ()
    failure: Fault | None = None
    facts: dict[str, Any] = {}
    #: How many passes said this, and the last of them.
    count: int = 1
    last_at: str = ""
    last_pass_id: str = ""

    @property
    def key(self) -> ObjectKey:
        """Where the object is found."""
        return ObjectKey(self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a pass was about, and who made it."""

    controller: str
    key: ObjectKey
    uid: str = ""
    generation: int = 0


def entry_of(
    subject: Subject,
    report: Report,
    *,
    pass_id: str,
    at: float,
    seconds: float,
    facts: Mapping[str, Any] | None = None,
) -> Entry:
    """Return the entry for one pass: bounded, without secrets, and holding on to nothing."""
    return Entry(
        at=to_rfc3339_micro(at),
        pass_id=pass_id,
        controller=subject.controller,
        namespace=subject.key.namespace,
        name=subject.key.name,
        uid=subject.uid,
        generation=subject.generation,
        seconds=_rounded(seconds),
        said=tuple(_saying_of(said) for said in report.said),
        failure=None if report.failure is None else _fault_of(report.failure),
        facts=_small(facts or {}),
    )


class Journal:
    """Entries of many objects, bounded by number, by bytes and by objects."""

    def __init__(
        self,
        *,
        max_entries: int = 4096,
        max_bytes: int = 4 * 1024 * 1024,
        max_objects: int = 1024,
    ) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._max_objects = max_objects
        self._entries = 0
        self._bytes = 0
        self._number = 0
        #: Least recently heard of first.
        self._threads: dict[_Id, _Thread] = {}
        #: The share of the room that each takes; nothing for one that is down to its last entry.
        self._shares: dict[_Id, float] = {}

    def __len__(self) -> int:
        return self._entries

    @property
    def size(self) -> int:
        """Bytes of all entries, as exported."""
        return self._bytes

    def add(self, entry: Entry) -> None:
        """Take in one entry; fold it into the last about the object when it says nothing new."""
        entry = _fitting(entry, self._max_bytes // 16)
        thread_id = (entry.controller, entry.namespace, entry.name)
        thread = self._threads.pop(thread_id, None) or _Thread()
        self._threads[thread_id] = thread
        last = thread.lines.pop() if thread.lines and _same(thread.lines[-1].entry, entry) else None
        if last is not None:
            entry = _folded(last.entry, entry)
            self._count(thread, -1, -last.size)
        else:
            self._number += 1
        line = _Line(self._number if last is None else last.number, entry, _size_of(entry))
        thread.lines.append(line)
        self._count(thread, +1, line.size)
        self._weigh(thread_id)
        self._make_room()

    def about(
        self, key: ObjectKey, *, controller: str = "", limit: int | None = None
    ) -> tuple[Entry, ...]:
        """Return the entries about one object, newest first, of all its controllers or of one."""
        lines = [
            line
            for (who, namespace, name), thread in self._threads.items()
            if (namespace, name) == key and controller in {"", who}
            for line in thread.lines
        ]
        lines.sort(key=_by_number, reverse=True)
        return tuple(line.entry for line in lines[:limit])

    def entries(self) -> Iterator[Entry]:
        """Yield all entries, oldest first."""
        lines = chain.from_iterable(thread.lines for thread in self._threads.values())
        return (line.entry for line in sorted(lines, key=_by_number))

    def export(self) -> bytes:
        """Return all entries as JSON lines, oldest first."""
        return b"".join(_encoded(entry) + b"\n" for entry in self.entries())

    def load(self, lines: Iterable[bytes | str]) -> None:
        """Take in exported lines; raise UsageError, naming the line, at the first that is none."""
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                self.add(codec.decode(line, Entry))
            except PeerConfused as error:
                raise UsageError(
                    f"line {number} is not a journal entry: {error.message}"
                ) from error

    def _count(self, thread: _Thread, entries: int, size: int) -> None:
        self._entries += entries
        self._bytes += size
        thread.size += size

    def _weigh(self, thread_id: _Id) -> None:
        thread = self._threads[thread_id]
        # The larger share counts, so that neither many small nor few large entries pay off.
        share = max(len(thread.lines) / self._max_entries, thread.size / self._max_bytes)
        self._shares[thread_id] = share if len(thread.lines) > 1 else 0.0

    def _make_room(self) -> None:
        while len(self._threads) > self._max_objects:
            self._forget(next(iter(self._threads)))
        while self._entries > self._max_entries or self._bytes > self._max_bytes:
            fattest, share = max(self._shares.items(), key=itemgetter(1))
            if share:
                self._drop_oldest(fattest)
            else:
                self._forget(next(iter(self._threads)))

    def _drop_oldest(self, thread_id: _Id) -> None:
        thread = self._threads[thread_id]
        self._count(thread, -1, -thread.lines.popleft().size)
        self._weigh(thread_id)

    def _forget(self, thread_id: _Id) -> None:
        thread = self._threads.pop(thread_id)
        del self._shares[thread_id]
        self._count(thread, -len(thread.lines), -thread.size)


#: Controller, namespace and name: two controllers of one object never fold into each other.
_Id: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Line:
    """An entry, its place in the order of all, and its size."""

    number: int
    entry: Entry
    size: int


@dataclass(slots=True)
class _Thread:
    """What one controller said about one object, oldest first."""

    lines: deque[_Line] = field(default_factory=deque)
    size: int = 0


def _by_number(line: _Line) -> int:
    return line.number


def _saying_of(said: Said) -> Saying:
    outcome, seconds = said.outcome, _rounded(said.seconds)
    word, after = type(outcome).__name__, wake_after(outcome)
    if isinstance(outcome, Done):
        return Saying(step=said.step, outcome=word, seconds=seconds)
    return Saying(
        step=said.step,
        outcome=word,
        reason=outcome.reason,
        message=_short(outcome.message),
        hint=_short(outcome.hint) if isinstance(outcome, Blocked | Stop) else "",
        after=None if after is None else _rounded(after),
        seconds=seconds,
    )


def _fault_of(failure: Failure) -> Fault:
    return Fault(
        step=failure.step,
        reason=failure.reason,
        message=_short(f"{type(failure.error).__name__}: {failure.error}"),
    )


def _rounded(seconds: float) -> float:
    # Always a float, or 5 and 5.0 would be different texts of the same entry.
    return round(float(seconds), 6)


def _short(text: str) -> str:
    clean = str(logs.scrubbed(text))
    return clean if len(clean) <= MAX_MESSAGE else f"{clean[: MAX_MESSAGE - 1]}…"


def _small(facts: Mapping[str, Any]) -> dict[str, Any]:
    clean: dict[str, Any] = logs.scrubbed(facts)
    size = len(msgspec.json.encode(clean))
    return clean if size <= MAX_FACTS else {"omitted": f"{size} bytes of facts"}


def _fitting(entry: Entry, limit: int) -> Entry:
    """Return the entry, or its bare outline when it alone would push out many others."""
    if (size := _size_of(entry)) <= limit:
        return entry
    return msgspec.structs.replace(
        entry, said=(), failure=None, facts={"omitted": f"{size} bytes of entry"}
    )


def _same(one: Entry, other: Entry) -> bool:
    """Tell whether two passes say the same, whenever they ran and however long it takes."""
    return _words_of(one) == _words_of(other)


def _words_of(entry: Entry) -> tuple[Any, ...]:
    said = [(s.step, s.outcome, s.reason, s.message, s.hint) for s in entry.said]
    return entry.uid, entry.generation, said, entry.failure, entry.facts


def _folded(first: Entry, later: Entry) -> Entry:
    return msgspec.structs.replace(
        first,
        count=first.count + later.count,
        seconds=max(first.seconds, later.seconds),
        last_at=later.last_at or later.at,
        last_pass_id=later.last_pass_id or later.pass_id,
    )


def _encoded(entry: Entry) -> bytes:
    return msgspec.json.encode(entry, order="deterministic")


def _size_of(entry: Entry) -> int:
    return len(_encoded(entry)) + 1
