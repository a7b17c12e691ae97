"""What operators of one database tell each other: who of theirs is pending, and who is ready.

All of it lies in the database, below the prefix of the lock, as the compatible operator keeps it:
``PREFIX/pendingForExclusion/OPERATOR/GROUP`` is the moment at which that was said. An operator
writes below its own name only, and reads all. Who acted for all says so below its own name, too: of
whom, and by which word of its owner, so that nobody acts on the same word again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from stateward.fdb.model import tuples
from stateward.fdb.model.locks import LAST


class Intent(StrEnum):
    """What is said of a group."""

    REMOVAL = "pendingForRemoval"
    EXCLUSION = "pendingForExclusion"
    INCLUSION = "pendingForInclusion"
    RESTART = "pendingForRestart"
    READY_FOR_EXCLUSION = "readyForExclusion"
    READY_FOR_INCLUSION = "readyForInclusion"
    READY_FOR_RESTART = "readyForRestart"


#: By what is pending: what says that it is ready.
READY: Final = {
    Intent.EXCLUSION: Intent.READY_FOR_EXCLUSION,
    Intent.INCLUSION: Intent.READY_FOR_INCLUSION,
    Intent.RESTART: Intent.READY_FOR_RESTART,
}
_ADDRESSES: Final = "processAddresses"
_OPERATORS: Final = "operators"
_ACTED, _PENDING = "actedFor", "pendingFor"


class Whose(NamedTuple):
    """A group, and the operator that keeps it."""

    operator: str
    group: str


class Beat(NamedTuple):
    """When an operator was there last, and by which object: two of a name are told apart."""

    at: int
    uid: str = ""


class Acted(NamedTuple):
    """By which word of its owner a group was acted upon, and when."""

    word: int
    at: int


@dataclass(frozen=True, slots=True)
class Intents:
    """All that is said: of whom, and since when; where they are; and when an operator was there."""

    said: Mapping[Intent, Mapping[Whose, int]] = field(default_factory=dict)
    addresses: Mapping[Whose, tuple[str, ...]] = field(default_factory=dict)
    beats: Mapping[str, Beat] = field(default_factory=dict)
    #: By what was pending: who acted on which group.
    acted: Mapping[Intent, Mapping[Whose, Acted]] = field(default_factory=dict)

    def of(self, intent: Intent) -> Mapping[Whose, int]:
        """Return of whom something is said, and since when."""
        return self.said.get(intent, {})

    def acts(self, intent: Intent, whose: Whose) -> Acted | None:
        """Return how a group was acted upon by what its owner says of it now; None: not yet."""
        word = self.of(READY[intent]).get(whose)
        every = self.acted.get(intent, {}).items()
        some = [it for key, it in every if key.group == whose.group and it.word == word]
        return max(some, key=lambda it: it.at, default=None)

    def yet_to_do(self, intent: Intent) -> list[Whose]:
        """Return who is pending, and was not acted upon by what its owner says of it now."""
        ready = self.of(READY[intent])
        done = {(key.group, it.word) for key, it in self.acted.get(intent, {}).items()}
        return [it for it in self.of(intent) if (it.group, ready.get(it)) not in done]


def span(prefix: bytes) -> tuple[bytes, bytes]:
    """Return between which keys all of it is: with the separator, so that it is nobody else's."""
    return prefix + b"/", prefix + b"0"


def intent_key(prefix: bytes, intent: Intent, whose: Whose) -> bytes:
    """Return where it is said.

    >>> intent_key(b"p", Intent.RESTART, Whose("dc1", "dc1-log-1"))
    b'p/pendingForRestart/dc1/dc1-log-1'
    """
    return f"/{intent}/{whose.operator}/{whose.group}".encode().join((prefix, b""))


def addresses_key(prefix: bytes, whose: Whose) -> bytes:
    """Return where it is said at which addresses a group is."""
    return f"/{_ADDRESSES}/{whose.operator}/{whose.group}".encode().join((prefix, b""))


def beat_key(prefix: bytes, operator: str) -> bytes:
    """Return where it is said when an operator was there last."""
    return f"/{_OPERATORS}/{operator}".encode().join((prefix, b""))


def acted_key(prefix: bytes, intent: Intent, whose: Whose) -> bytes:
    """Return where it is said that somebody acted on a group.

    >>> acted_key(b"p", Intent.RESTART, Whose("dc1", "dc2-log-1"))
    b'p/actedForRestart/dc1/dc2-log-1'
    """
    folder = f"{_ACTED}{intent.removeprefix(_PENDING)}"
    return f"/{folder}/{whose.operator}/{whose.group}".encode().join((prefix, b""))


def acted_value(acted: Acted) -> bytes:
    """Return that somebody acted as it is written."""
    return tuples.pack(acted.word, acted.at)


def beat_value(beat: Beat) -> bytes:
    """Return when an operator was there as it is written."""
    return tuples.pack(beat.at, beat.uid)


def moment(seconds: float) -> bytes:
    """Return a moment as it is written."""
    return tuples.pack(int(seconds))


def addresses_value(addresses: Iterable[str]) -> bytes:
    """Return addresses as they are written."""
    return json.dumps(list(addresses)).encode()


def read(prefix: bytes, rows: Iterable[tuple[bytes, bytes]]) -> Intents:
    """Return what keys and values say; what nobody of ours would have written says nothing."""
    said: dict[Intent, dict[Whose, int]] = {it: {} for it in Intent}
    acted: dict[Intent, dict[Whose, Acted]] = {it: {} for it in READY}
    addresses: dict[Whose, tuple[str, ...]] = {}
    beats: dict[str, Beat] = {}
    for folder, words, value in _words(prefix, rows):
        match folder, words:
            case "operators", [operator]:
                beats[operator] = _beat(value)
            case _, [_, ""]:
                continue  # a group without a name is none
            case "processAddresses", [operator, group]:
                addresses[Whose(operator, group)] = _addresses(value)
            case _, [operator, group] if folder in said:
                said[Intent(folder)][Whose(operator, group)] = _moment(value)
            case _, [operator, group] if folder in _ACTS:
                acted[_ACTS[folder]][Whose(operator, group)] = _acted(value)
    return Intents(said, addresses, beats, acted)


_ACTS: Final = {f"{_ACTED}{it.removeprefix(_PENDING)}": it for it in READY}


def _words(
    prefix: bytes, rows: Iterable[tuple[bytes, bytes]]
) -> Iterator[tuple[str, list[str], bytes]]:
    for key, value in rows:
        try:
            text = key.removeprefix(prefix + b"/").decode()
        except UnicodeDecodeError:
            continue
        folder, *words = text.split("/")
        yield folder, words, value


def _parts(value: bytes) -> tuple[object, ...]:
    try:
        return tuples.unpack(value)
    except ValueError:
        return ()


def _dated(seconds: int) -> int:
    """Return a moment that can be told; what is none was long ago."""
    return seconds if 0 <= seconds <= LAST else 0


def _moment(value: bytes) -> int:
    """Return when something was said; what cannot be read was said long ago."""
    match _parts(value):
        case (int(at),):
            return _dated(at)
    return 0


def _beat(value: bytes) -> Beat:
    match _parts(value):
        case (int(at), str(uid)):
            return Beat(_dated(at), uid)
        case (int(at),):
            return Beat(_dated(at))
    return Beat(0)


def _acted(value: bytes) -> Acted:
    match _parts(value):
        case (int(word), int(at)):
            return Acted(_dated(word), _dated(at))
    return Acted(0, 0)


def _addresses(value: bytes) -> tuple[str, ...]:
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return ()
    return tuple(it for it in found if isinstance(it, str)) if isinstance(found, list) else ()
