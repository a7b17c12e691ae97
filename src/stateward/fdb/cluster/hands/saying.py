"""How a step ends a pass: by what it did, which the log keeps, or by what must be waited for."""

from __future__ import annotations

from typing import Final

from stateward.core.outcome import Stop
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.guards.guard import Refusal
from stateward.runtime.telling import logs

_log: Final = logs.get("fdb")


def done(reason: str, message: str, after: float = 0.0, **details: object) -> Stop:
    """Say what was just done, once: who follows must see what has become of it."""
    _log.info(message, reason=reason, **details)
    return Stop(after, reason, message)


def waits(
    seen: Seen, step: str, after: float, reason: str, message: str, *, hint: str = ""
) -> Stop:
    """Go no further until something is otherwise; with a hint a person must see to that."""
    seen.book.refuse(step, [Refusal(reason, message, hint)])
    return Stop(after, reason, message, hint)


def wrote(what: str, **details: object) -> None:
    """Have the log keep what was written on the way: the pass goes on."""
    _log.info(what, **details)
