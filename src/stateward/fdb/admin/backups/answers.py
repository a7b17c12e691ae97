"""What fdbbackup and fdbrestore mean by what they print, where it is text. Pure.

Something counts as done by the code of the program, and as refused only by words after which it is
known that nothing was done; with all else, nobody knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from stateward.core.errors import OutcomeUnknown, PeerError
from stateward.fdb.admin import codes
from stateward.fdb.admin.answers import Answer
from stateward.fdb.admin.errors import DatabaseRefused, Refusal

#: Words of a "no" after which nothing was done, the first that fits.
_WORDS: Final[Mapping[str, Refusal]] = {
    "A backup is already running on tag": Refusal.BACKUP_RUNNING,
    "A backup in not running on tag": Refusal.BACKUP_NOT_RUNNING,
    "A backup was not running on tag": Refusal.BACKUP_NOT_RUNNING,
    "Cannot modify aborted backup": Refusal.BACKUP_NOT_RUNNING,
    "' is not runnable.": Refusal.BACKUP_NOT_RUNNING,
    "No backup exists on tag": Refusal.BACKUP_NOT_RUNNING,
    "is already discontinued": Refusal.UNCHANGED,
    "No changes were specified": Refusal.UNCHANGED,
    "UID verification failed": Refusal.BACKUP_ANOTHER,
    "Backup Container URL invalid": Refusal.DESTINATION_INVALID,
    "No backup destination was specified": Refusal.DESTINATION_INVALID,
    "Backup does not exist": Refusal.BACKUP_MISSING,
    "is not restorable to any version": Refusal.NOT_RESTORABLE,
    "Invalid restore version": Refusal.NOT_RESTORABLE,
    "Insufficient data to restore": Refusal.NOT_RESTORABLE,
    "Missing backup data": Refusal.NOT_RESTORABLE,
    "non-empty destination database": Refusal.NOT_EMPTY,
    "Restore duplicate request": Refusal.RESTORE_RUNNING,
    "Database is locked": Refusal.LOCKED,
    "violating minimum restorability": Refusal.EXPIRY_UNSAFE,
}
_NOBODY: Final = "no backup agents are responding"
_ABORTED: Final = re.compile(r"^RESTORE_ABORT Tag: \S*  State: (?P<stage>\w+)$", re.MULTILINE)
_POSSIBLE: Final = re.compile(r"^Backup can be used to restore to version (\d+)$", re.MULTILINE)
#: One of the lines below "Recent Errors"; those below "Older Errors" did not hold it up.
_COMPLAINT: Final = re.compile(r"^\S+ \S+ ago : (?P<words>.+)$", re.MULTILINE)
_RECENT: Final = re.compile(r"^Recent Errors .*$", re.MULTILINE)
_OLDER: Final = "\nOlder Errors\n"
_LONGEST: Final = 200


def check(answer: Answer, what: str) -> None:
    """Raise unless a change was made: DatabaseRefused if it is known that none was."""
    if answer.in_time and answer.code == 0:
        return
    raise objection(answer, what)


def objection(answer: Answer, what: str) -> PeerError:
    """Return what stands against that something was done."""
    if not answer.in_time:
        return OutcomeUnknown(f"nobody knows whether {what} was done: no answer in time")
    refusal = refused(answer)
    if refusal is not None:
        return DatabaseRefused(refusal, f"{what}: {first_line(answer.err)}")
    said = first_line(answer.err) or first_line(answer.out)
    return OutcomeUnknown(
        f"nobody knows whether {what} was done: it ended with {answer.code} and said {said!r}"
    )


def refused(answer: Answer) -> Refusal | None:
    """Return which "no" it was; None: none after which it is known that nothing was done."""
    if answer.code == 0:
        return None
    known = next((it for words, it in _WORDS.items() if words in answer.err), None)
    return known or codes.known_in(answer.err)


def somebody_responds(answer: Answer) -> bool:
    """Tell of a backup that began whether anybody is there who does the work."""
    return _NOBODY not in answer.out


def aborted(answer: Answer) -> str:
    """Return the word for how far a restore is that was to be aborted; empty: none is said."""
    found = _ABORTED.search(answer.out)
    return found["stage"] if found else ""


def possible(answer: Answer) -> int | None:
    """Return to which version a restore would be that was only rehearsed; None: it does not say."""
    found = _POSSIBLE.search(answer.out)
    return int(found[1]) if found else None


def complaints(answer: Answer) -> tuple[str, ...]:
    """Return what agents could not do since it could last be restored, by the words of a status.

    >>> said = "Recent Errors (since initialization)\\n3.10 second(s) ago : Permission denied"
    >>> complaints(Answer(0, said))
    ('Permission denied',)
    """
    found = _RECENT.search(answer.out)
    if found is None or not answer.in_time or answer.code:
        return ()
    recent = answer.out[found.end() :].partition(_OLDER)[0]
    return tuple(it["words"].strip()[:_LONGEST] for it in _COMPLAINT.finditer(recent))


def first_line(text: str) -> str:
    """Return the first line that says anything, not too long."""
    found = next((it.strip() for it in text.splitlines() if it.strip()), "")
    return found.removeprefix("ERROR: ")[:_LONGEST]
