"""What one who waits for the lock of a database says: who has it, since when, and what to do."""

from __future__ import annotations

import pytest

from stateward.fdb.model.locks import Claim, Lock, NotOurs
from stateward.fdb.tell.locking import refused

HOUR = 3600
NOW = 10 * HOUR
MINE = Claim("dc1", NOW, 600)

#: Since when and until when dc2 has it, in seconds from now -> what is odd, what to do.
STORIES = {
    (-60, 540): ("", ""),
    (0, 600): ("", ""),
    (30, 630): ("", ""),
    (-HOUR, 1): ("", ""),
    (-HOUR - 1, 599): ("extends it again and again", "its status.blockers"),
    (-9 * HOUR, 599): ("extends it again and again", "its status.blockers"),
    (61, 661): ("yet to come: its clock is ahead of ours", "set the clocks right"),
    (9 * HOUR, 10 * HOUR): ("yet to come: its clock is ahead of ours", "set the clocks right"),
    (-60, 661): ("later than our lockDurationMinutes", "see to both"),
    (-2 * HOUR, 9 * HOUR): ("later than our lockDurationMinutes", "see to both"),
}


@pytest.mark.parametrize(("since", "until"), STORIES)
def test_what_is_said_of_anothers_lock(since: int, until: int) -> None:
    odd, hint = STORIES[since, until]
    found = refused(NotOurs(Lock("dc2", NOW + since, NOW + until)), MINE, "excluding")
    words, _, rest = found.message.partition("; ")
    assert words.startswith("excluding needs the lock of the database, which 'dc2' has until 1970-")
    assert ", since 1970-" in words
    assert odd in rest
    assert bool(rest) == bool(odd) == bool(found.hint)
    assert hint in found.hint
    assert ("{id: dc2} in the lockOptions.denyList" in found.hint) == bool(odd)


@pytest.mark.parametrize(("until", "after"), [(-5, 1.0), (0, 1.0), (7, 7.0), (600, 30.0)])
def test_it_is_looked_at_again_when_it_ends_and_before(until: int, after: float) -> None:
    found = refused(NotOurs(Lock("dc2", NOW - 60, NOW + until)), MINE, "excluding")
    assert found.after == after


def test_who_is_denied_is_told_how_it_is_allowed_again() -> None:
    found = refused(NotOurs(None, denied=True), MINE, "excluding")
    assert found.message.endswith("its deny list has 'dc1'")
    assert found.hint.startswith("{id: dc1, allow: true} in the lockOptions.denyList of any")


def test_who_extends_it_is_no_news() -> None:
    """Each of its acts does: who waits would be told of it as often, by an event each time."""
    first, later = (
        refused(NotOurs(Lock("dc2", NOW - 60, NOW + until)), MINE, "excluding")
        for until in (500, 560)
    )
    assert first.message != later.message
    assert first.lasting == later.lasting
    assert first.lasting.endswith("which 'dc2' has since 1970-01-01T09:59:00Z")
    another = refused(NotOurs(Lock("dc3", NOW - 60, NOW + 500)), MINE, "excluding")
    assert another.lasting != first.lasting


def test_what_is_said_does_not_change_while_nothing_does() -> None:
    """Each word that changes is a status that is written."""
    lock = NotOurs(Lock("dc2", NOW - 5 * HOUR, NOW + 400))
    later = Claim("dc1", NOW + 100, 600)
    assert refused(lock, MINE, "excluding").message == refused(lock, later, "excluding").message
