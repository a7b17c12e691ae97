"""The formats of text that schemas of custom kinds may name beside those of JSON Schema."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from stateward.core import naming

_DURATION_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)")
_UNITS: Final = {
    "ns": timedelta(microseconds=1) / 1000,
    "us": timedelta(microseconds=1),
    "µs": timedelta(microseconds=1),
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
#: Spans of time in words, as schemas also take them: ``2 days``, ``1w``.
_WORDED_PART: Final = re.compile(r"([0-9]+)\s*([A-Za-zµ]+)\s*")
_WORDS: Final = {
    "ns": ("ns", "nano"),
    "us": ("us", "µs", "micro"),
    "ms": ("ms", "milli"),
    "s": ("s", "sec", "second"),
    "m": ("m", "min", "minute"),
    "h": ("h", "hr", "hour"),
    "d": ("d", "day"),
    "w": ("w", "wk", "week"),
}
_BY_WORD: Final = {
    f"{word}{plural}": unit
    for unit, words in _WORDS.items()
    for word in words
    for plural in ("", "s")
}
_MICRO_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}(:[0-9]{2}){2}\.[0-9]{6}(Z|[+-][0-9]{2}:[0-9]{2})"
)
_HEX: Final = "[0-9A-Fa-f]"
_UUID: Final = re.compile(rf"{_HEX}{{8}}-?({_HEX}{{4}}-?){{3}}{_HEX}{{12}}")
_COLOR: Final = re.compile(rf"#?({_HEX}{{3}}|{_HEX}{{6}})")
_MAC: Final = re.compile(r"[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}")


_SSN: Final = re.compile(r"[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}")
_PART: Final = r"\s*([01]?[0-9]?[0-9]|2[0-4][0-9]|25[0-5])\s*"
_RGB: Final = re.compile(rf"rgb\({_PART},{_PART},{_PART}\)")


def is_card(text: str) -> bool:
    """Tell whether a text is the number of a payment card, by its check digit."""
    digits = re.sub(r"[^0-9]", "", text)
    odd, even = digits[-1::-2], digits[-2::-2]
    total = sum(map(int, odd)) + sum(sum(divmod(2 * int(it), 10)) for it in even)
    return 13 <= len(digits) <= 19 and total % 10 == 0


def is_isbn(text: str, *lengths: int) -> bool:
    """Tell whether a text is the number of a book, of ten digits or thirteen."""
    digits = [10 if it == "X" else int(it) for it in re.sub(r"[\s-]", "", text) if it in _ISBN]
    if len(digits) != len(re.sub(r"[\s-]", "", text)) or len(digits) not in lengths:
        return False
    if len(digits) == 10:
        return sum(place * it for place, it in enumerate(digits, 1)) % 11 == 0
    return sum(it * (1, 3)[place % 2] for place, it in enumerate(digits)) % 10 == 0


_ISBN: Final = "0123456789X"


def _is_uuid(text: str, version: int) -> bool:
    plain = text.replace("-", "").lower()
    variant = version == 3 or plain[16:17] in set("89ab")
    return _UUID.fullmatch(text) is not None and plain[12] == str(version) and variant


def is_duration(text: str) -> bool:
    """Tell whether a text is a span of time: ``1h30m``, ``250ms``, ``0``, ``2 days``."""
    return text.lstrip("+-") == "0" or bool(_parts(text))


def span_of(text: str) -> timedelta:
    """Return a span of time; call it only with a text that is one."""
    sign = -1 if text.startswith("-") else 1
    return sign * sum((float(n) * _UNITS[unit] for n, unit in _parts(text)), timedelta())


def _parts(text: str) -> list[tuple[str, str]]:
    """Return the numbers and units of a span of time, as Go writes it or in words."""
    bare = text[1:] if text[:1] in {"+", "-"} else text
    if _DURATION_PART.sub("", bare) == "":
        return _DURATION_PART.findall(bare)
    worded = _WORDED_PART.findall(text)
    if _WORDED_PART.sub("", text) or any(word not in _BY_WORD for _, word in worded):
        return []
    return [(number, _BY_WORD[word]) for number, word in worded]


def is_base64(text: str) -> bool:
    """Tell whether a text is bytes in base64."""
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def is_moment(text: str) -> bool:
    """Tell whether a text is a moment with its time zone."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def is_ip(text: str) -> bool:
    """Tell whether a text is an address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def is_cidr(text: str) -> bool:
    """Tell whether a text is a range of addresses."""
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


def is_micro_time(text: str) -> bool:
    """Tell whether a text is a moment with exactly six digits behind the second."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return _MICRO_TIME.fullmatch(text) is not None


#: What JSON Schema's own formats do not cover, by name.
FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    "byte": is_base64,
    "duration": is_duration,
    "cidr": is_cidr,
    "micro-time": is_micro_time,
    "mac": lambda text: _MAC.fullmatch(text) is not None,
    "uuid": lambda text: _UUID.fullmatch(text) is not None,
    "password": lambda _text: True,
    "datetime": is_moment,
    "ssn": lambda text: _SSN.fullmatch(text) is not None,
    "rgbcolor": lambda text: _RGB.fullmatch(text) is not None,
    "creditcard": is_card,
    "isbn": lambda text: is_isbn(text, 10, 13),
    "isbn10": lambda text: is_isbn(text, 10),
    "isbn13": lambda text: is_isbn(text, 13),
    "uuid3": lambda text: _is_uuid(text, 3),
    "uuid4": lambda text: _is_uuid(text, 4),
    "uuid5": lambda text: _is_uuid(text, 5),
    "k8s-short-name": lambda text: not naming.dns_label_problem(text),
    "k8s-long-name": lambda text: not naming.dns_subdomain_problem(text),
    "hexcolor": lambda text: _COLOR.fullmatch(text) is not None,
    "bsonobjectid": lambda text: re.fullmatch(rf"{_HEX}{{24}}", text) is not None,
}
