"""What FoundationDB's error numbers, and its words, mean to whoever wanted something. Pure.

One table for both doors, libfdb_c and fdbcli. Before a commit nothing was done, whatever the
number. From a commit on only those numbers mean "nothing was done" that are known to; any other
leaves us not knowing, and somebody must read back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from stateward.core.errors import OutcomeUnknown, PeerError
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, Refusal
from stateward.fdb.admin.keys import Conflicted

#: A key of management was refused, and a key says why.
SPECIAL_KEYS: Final = 2117
_CONFLICT: Final = 1020
#: Nobody answered: timed_out, transaction_cancelled, transaction_timed_out, operation_cancelled,
#: cluster_version_changed.
_SILENT: Final = frozenset({1004, 1025, 1031, 1039, 1101})
#: Nothing was done, and a moment later it may be: transaction_too_old, future_version,
#: process_behind, and those by which a busy database has its clients wait.
_LATER: Final = frozenset({1007, 1009, 1037, 1042, 1051, 1078, 1213})
_NUMBERS: Final = {
    1038: Refusal.LOCKED,
    1515: Refusal.CLUSTER_FILE,
    1516: Refusal.CLUSTER_FILE,
    2104: Refusal.CLUSTER_FILE,
}
#: The words of a "no" after which nothing was done, the first that fits. All are recorded, or stand
#: in FoundationDB's sources where a check fails before anything is written.
_WORDS: Final[Mapping[str, Refusal]] = {
    "Unable to read cluster file": Refusal.CLUSTER_FILE,
    "Invalid cluster file": Refusal.CLUSTER_FILE,
    "is not configured with TLS": Refusal.NO_TLS,
    "Database already exists": Refusal.EXISTS,
    "would make the configuration invalid": Refusal.INVALID,
    "Storage engine type cannot be changed because": Refusal.INVALID,
    "only new databases can be configured as locked": Refusal.OTHER,
    "All storage servers must be in one of the known regions": Refusal.OTHER,
    "When changing usable_regions, only one region can have": Refusal.OTHER,
    "The region configuration cannot be changed while": Refusal.OTHER,
    "replication is incompatible with region configuration": Refusal.OTHER,
    "cannot change its encryption_at_rest state": Refusal.OTHER,
    "Not enough processes exist": Refusal.TOO_FEW,
    "No storage servers in one of the specified regions": Refusal.TOO_FEW,
    "must be fully replicated before": Refusal.NOT_REPLICATED,
    "may cause the total available space": Refusal.NO_ROOM,
    "It is unsafe to exclude": Refusal.UNSAFE,
    "Could not calculate the impact": Refusal.NOT_YET,
    "is neither a valid network endpoint address nor": Refusal.OTHER,
    "At least one valid network endpoint address": Refusal.OTHER,
    "specified coordinators is unreachable": Refusal.UNREACHABLE,
    "Too few fdbserver machines": Refusal.TOO_FEW,
    "is not a valid network endpoint address": Refusal.OTHER,
    "passed redundant coordinators": Refusal.OTHER,
    "Cluster description must match": Refusal.OTHER,
    "' not recognized.": Refusal.NOT_RECOGNIZED,
    "Unknown command": Refusal.MISUNDERSTOOD,
    "Command failed to completely parse": Refusal.MISUNDERSTOOD,
    "Not running partial or malformed command": Refusal.MISUNDERSTOOD,
    "unknown option": Refusal.OTHER,
}
#: Errors of who asks, found out before anything is sent.
_OURS: Final = range(2000, 3000)
#: The words when coordinators are asked for that are there already.
_UNCHANGED: Final = "No change (existing configuration satisfies request)"
_LONGEST: Final = 500


def meaning(code: int, words: str, *, committing: bool) -> PeerError:
    """Return what an error number means, before a commit or from a commit on."""
    said = f"{words} ({code})"
    if code == _CONFLICT:
        return Conflicted(said)
    known = code in _LATER or code in _NUMBERS or code in _OURS
    if committing and not known:
        return OutcomeUnknown(f"nobody knows whether it was done: {said}")
    if code in _SILENT:
        return DatabaseSilent(f"the database did not answer in time: {said}")
    return DatabaseRefused(_NUMBERS.get(code, Refusal.OTHER), said, later=code in _LATER)


def known_in(text: str) -> Refusal | None:
    """Return which "no" some words are; None: none that is known to mean that nothing was done."""
    return next((it for words, it in _WORDS.items() if words in text), None)


def refused_by_key(raw: bytes | None) -> DatabaseRefused:
    r"""Return why a key of management was refused, of what the database says of it.

    >>> raw = b'{"command":"exclude","message":"ERROR: so not\\n","retriable":true}'
    >>> refused_by_key(raw).message, refused_by_key(raw).may_be_granted_later
    ('exclude: so not', True)
    """
    found = _read(raw)
    if found is None:
        text = f"a key of management was refused, and nobody says why ({SPECIAL_KEYS})"
        return DatabaseRefused(Refusal.OTHER, text)
    words = str(found.get("message", "")).strip().removeprefix("ERROR: ")
    known = known_in(words) or Refusal.OTHER
    refusal = Refusal.UNCHANGED if words.startswith(_UNCHANGED) else known
    text = f"{found.get('command', '?')}: {words}"[:_LONGEST]
    return DatabaseRefused(refusal, text, later=found.get("retriable") is True)


def _read(raw: bytes | None) -> dict[str, object] | None:
    try:
        found = json.loads(raw or b"")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
