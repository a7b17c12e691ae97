"""How often a job runs, in the words of cron: the nearest that it can say, and never rarer."""

from __future__ import annotations

from typing import Final

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR


def every(seconds: int) -> str:
    """Return a schedule that comes once in so many seconds, or a little more often.

    Cron counts whole minutes within an hour, and whole hours within a day: between two of them only
    a divisor is an even step, so the next smaller one is taken. It knows nothing below a minute,
    and nothing above a day that does not depend on the month.

    >>> every(1800), every(2700), every(7200)
    ('*/30 * * * *', '*/30 * * * *', '0 */2 * * *')
    """
    if seconds >= _DAY:
        return "0 0 * * *"
    if seconds >= _HOUR:
        return f"0 {_step(seconds // _HOUR, 24)} * * *"
    return f"{_step(seconds // _MINUTE, 60)} * * * *"


def _step(many: int, whole: int) -> str:
    """Return a step of so many or fewer, by which the whole can be gone through evenly."""
    found = max(it for it in range(1, max(1, many) + 1) if whole % it == 0)
    return "*" if found == 1 else f"*/{found}"
