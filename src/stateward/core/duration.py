"""Durations as Kubernetes users write them ("1h30m", "500ms"), read into seconds and written back.

The notation is Go's, because that is what every other Kubernetes field takes. A bare number is
refused: "30" would be seconds to one reader and minutes to the next. There is no unit above the
hour, since a day is not always 24 of them.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

_NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,  # the micro sign
    "μs": 10**3,  # the Greek letter: keyboards differ, and Go reads both
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_SECOND = _NANOSECONDS["s"]
#: Other programs hold durations as nanoseconds in 64 bits; what does not fit is no use to them.
_LIMIT = 2**63

# Bounded digits: a longer number is a mistake, and is best said to be one.
_PART = r"([0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(ns|us|µs|μs|ms|s|m|h)"
_PARTS = re.compile(_PART)
_SHAPE = re.compile(rf"(?P<sign>[+-]?)(?P<size>(?:{_PART})+|0)")
_BARE_NUMBER = re.compile(r"[+-]?[0-9]*\.?[0-9]+")


def parse_seconds(text: str) -> float:
    """Return the seconds that a duration stands for; raise ValueError when it is none.

    >>> parse_seconds("1h30m"), parse_seconds("1.5s"), parse_seconds("-500ms"), parse_seconds("0")
    (5400.0, 1.5, -0.5, 0.0)
    """
    found = _SHAPE.fullmatch(text)
    if found is None and _BARE_NUMBER.fullmatch(text):
        raise ValueError(f"a duration must name its unit, as in '{text}s', got {text!r}")
    if found is None:
        raise ValueError(f"a duration must look like '1h30m', '45s' or '500ms', got {text!r}")
    parts = _PARTS.findall(found["size"])
    size = sum((Fraction(number) * _NANOSECONDS[unit] for number, unit in parts), Fraction(0))
    if size >= _LIMIT:
        raise ValueError(f"a duration must be shorter than 292 years, got {text!r}")
    return float(size / _SECOND) * (-1 if found["sign"] == "-" and size else 1)


def to_text(seconds: float) -> str:
    """Return the shortest text that reads well, to the nanosecond; ``parse_seconds`` reads it back.

    >>> to_text(5400), to_text(45), to_text(0.5), to_text(61.25), to_text(0), to_text(-90)
    ('1h30m', '45s', '500ms', '1m1.25s', '0s', '-1m30s')
    """
    if not math.isfinite(seconds):
        raise ValueError(f"a duration must be finite to be written, got {seconds}")
    size = round(abs(Fraction(seconds)) * _SECOND)
    sign = "-" if seconds < 0 and size else ""
    return sign + (_short_text(size) if size < _SECOND else _clock_text(size))


def _short_text(nanoseconds: int) -> str:
    for unit in ("ms", "us", "ns"):
        if nanoseconds >= _NANOSECONDS[unit]:
            return _decimal(nanoseconds, _NANOSECONDS[unit]) + unit
    return "0s"


def _clock_text(nanoseconds: int) -> str:
    hours, rest = divmod(nanoseconds, _NANOSECONDS["h"])
    minutes, rest = divmod(rest, _NANOSECONDS["m"])
    parts = ((str(hours), "h"), (str(minutes), "m"), (_decimal(rest, _SECOND), "s"))
    return "".join(number + unit for number, unit in parts if number != "0")


def _decimal(nanoseconds: int, unit: int) -> str:
    whole, rest = divmod(nanoseconds, unit)
    # A unit is a power of ten here, so the rest has one digit less than the unit.
    fraction = str(rest).zfill(len(str(unit)) - 1).rstrip("0") if rest else ""
    return f"{whole}.{fraction}" if fraction else str(whole)
