"""What `stateward why` prints: what holds an object back, since when, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from stateward.app.views.story import Story
from stateward.core.duration import to_text
from stateward.core.moments import from_rfc3339
from stateward.fdb.api.status import LockStatus, SynchronizationStatus
from stateward.kube.crd.blockers import Blocker
from stateward.kube.meta import Condition

#: From here on seconds are left out.
_LONG = 3600


def screen(story: Story, now: float) -> Iterator[Text]:
    """Yield the lines about one object."""
    mark, style = ("✔", "green") if story.complete else ("…", "yellow")
    title = f"{story.kind} {story.namespace}/{story.name}"
    yield Text.assemble((mark, style), " ", (title, "bold"), _after(": ", story.doing))
    if story.caveat:
        yield Text(f"  {story.caveat}", "yellow")
    for blocker in story.blockers:
        yield from _blocker(blocker, now)
    for condition in story.conditions:
        yield _condition(condition, now)
    if story.lock is not None:
        yield Text(f"  lock of the database: {_lock(story.lock, now)}")
    if story.operators is not None:
        yield Text(f"  other operators: {_operators(story.operators)}")


def _blocker(blocker: Blocker, now: float) -> Iterator[Text]:
    guard = "" if blocker.guard == blocker.step else blocker.guard
    name = f"{blocker.step}{_after(': ', guard)}"
    since = _after(", for ", _age(blocker.since, now))
    yield Text.assemble("  ", ("✖", "red"), " ", (name, "bold"), since)
    if blocker.message:
        yield Text(f"      {blocker.message}")
    if blocker.hint:
        yield Text.assemble("      ", ("→ ", "cyan"), blocker.hint)


def _condition(condition: Condition, now: float) -> Text:
    since = _after(", for ", _age(condition.last_transition_time, now))
    said = f"  {condition.type}={condition.status} {condition.reason}{since}"
    return Text(said + _after(": ", condition.message))


def _lock(lock: LockStatus, now: float) -> str:
    denied = _after("; denied: ", ", ".join(lock.lock_deny_list))
    if not lock.holder:
        return f"free{denied}"
    since = _after(", since ", lock.since or "")
    until = _after(", until ", lock.until or "")
    return f"{lock.holder}{since}{until}{_left(lock.until, now)}{denied}"


def _left(until: str | None, now: float) -> str:
    end = _moment(until)
    if end is None:
        return ""
    left = end - now
    return f" ({_lasting(left)} left)" if left > 0 else " (over: whoever needs it takes it)"


def _operators(them: SynchronizationStatus) -> str:
    waiting = _after("waiting for ", ", ".join(them.waiting_for))
    silent = _after("nothing is heard of ", ", ".join(them.silent))
    return "; ".join(words for words in (waiting, silent) if words)


def _age(since: str | None, now: float) -> str:
    moment = _moment(since)
    return "" if moment is None else _lasting(max(0.0, now - moment))


def _moment(text: str | None) -> float | None:
    """Read a moment of a status, which anybody may have written."""
    try:
        return from_rfc3339(text) if text else None
    except ValueError:
        return None


def _lasting(seconds: float) -> str:
    """Return how long that is, in seconds, or in minutes where it is long.

    >>> _lasting(192.4), _lasting(7_384)
    ('3m12s', '2h3m')
    """
    whole = round(seconds)
    return to_text(whole - whole % 60 if whole >= _LONG else whole)


def _after(words: str, text: str) -> str:
    return f"{words}{text}" if text else ""
