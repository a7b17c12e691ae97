"""The formats of text that schemas of custom kinds may name beside those of JSON Schema."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

_DURATION_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)")
_UNITS: Final = {
    "ns": timedelta(microseconds=1) / 1000,
    "us": timedelta(microseconds=1),
    "µs": timedelta(microseconds=1),
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
}
_HEX: Final = "[0-9A-Fa-f]"
_UUID: Final = re.compile(rf"{_HEX}{{8}}-?({_HEX}{{4}}-?){{3}}{_HEX}{{12}}")
_MAC: Final = re.compile(r"[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}")


def is_duration(text: str) -> bool:
    """Tell whether a text is a span of time as Go writes it: ``1h30m``, ``250ms``, ``0``."""
    bare = text.lstrip("+-") if text[:1] in {"+", "-"} else text
    return bare == "0" or (bare != "" and _DURATION_PART.sub("", bare) == "")


def span_of(text: str) -> timedelta:
    """Return a span of time as Go writes it; call it only with one that is."""
    sign = -1 if text.startswith("-") else 1
    parts = _DURATION_PART.findall(text)
    return sign * sum((float(n) * _UNITS[unit] for n, unit in parts), timedelta())


def is_base64(text: str) -> bool:
    """Tell whether a text is bytes in base64."""
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


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


#: What JSON Schema's own formats do not cover, by name.
FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    "byte": is_base64,
    "duration": is_duration,
    "cidr": is_cidr,
    "mac": lambda text: _MAC.fullmatch(text) is not None,
    "uuid": lambda text: _UUID.fullmatch(text) is not None,
    "password": lambda _text: True,
}
