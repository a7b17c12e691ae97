"""What FoundationDB's error numbers mean to whoever wanted something. Pure.

Before a commit nothing was done, whatever the number. From a commit on only those numbers mean
"nothing was done" that are known to; any other leaves us not knowing, and somebody must read back.
"""

from __future__ import annotations

import json
from typing import Final

from stateward.core.errors import OutcomeUnknown, PeerError
from stateward.fdb.admin.answers import refusal_in
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
_REFUSALS: Final = {
    1038: Refusal.LOCKED,
    1515: Refusal.CLUSTER_FILE,
    1516: Refusal.CLUSTER_FILE,
    2104: Refusal.CLUSTER_FILE,
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
    known = code in _LATER or code in _REFUSALS or code in _OURS
    if committing and not known:
        return OutcomeUnknown(f"nobody knows whether it was done: {said}")
    if code in _SILENT:
        return DatabaseSilent(f"the database did not answer in time: {said}")
    return DatabaseRefused(_REFUSALS.get(code, Refusal.OTHER), said, later=code in _LATER)


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
    refusal = Refusal.UNCHANGED if words.startswith(_UNCHANGED) else refusal_in(words)
    text = f"{found.get('command', '?')}: {words}"[:_LONGEST]
    return DatabaseRefused(refusal, text, later=found.get("retriable") is True)


def _read(raw: bytes | None) -> dict[str, object] | None:
    try:
        found = json.loads(raw or b"")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
