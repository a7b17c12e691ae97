"""How long ago something was, as people say it. Pure."""

from __future__ import annotations

from stateward.core.moments import from_rfc3339

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86_400, 31_536_000

#: Below so many seconds an age is told in the larger unit and, if there is one, the smaller.
_STEPS: tuple[tuple[int, int, str, int, str], ...] = (
    (2 * _MINUTE, 1, "s", 0, ""),
    (10 * _MINUTE, _MINUTE, "m", 1, "s"),
    (3 * _HOUR, _MINUTE, "m", 0, ""),
    (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
    (48 * _HOUR, _HOUR, "h", 0, ""),
    (8 * _DAY, _DAY, "d", _HOUR, "h"),
    (2 * _YEAR, _DAY, "d", 0, ""),
    (8 * _YEAR, _YEAR, "y", _DAY, "d"),
)


def duration(seconds: float) -> str:
    """Write a duration as kubectl does: never more than two units, and coarser as it grows.

    >>> duration(150), duration(5 * 3600), duration(3 * 86400 + 7200)
    ('2m30s', '5h', '3d2h')
    """
    whole = int(seconds)
    if whole < 0:
        return "0s" if whole >= -1 else "<invalid>"
    for below, unit, letter, smaller, small_letter in _STEPS:
        if whole < below:
            rest = whole % unit // smaller if smaller else 0
            return f"{whole // unit}{letter}{f'{rest}{small_letter}' if rest else ''}"
    return f"{whole // _YEAR}y"


def age(moment: object, now: float) -> str:
    """Return how long ago a moment was, or that it is not known."""
    if not isinstance(moment, str) or not moment:
        return "<unknown>"
    try:
        return duration(now - from_rfc3339(moment))
    except ValueError:
        return "<invalid>"
