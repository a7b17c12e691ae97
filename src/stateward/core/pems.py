"""Certificates as PEM texts: whether they can be read, and for how long they are good.

Nothing of what they hold is ever told; who asks gets a word about it.
"""

from __future__ import annotations

import base64
import hashlib
import re
import ssl
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from stateward.core import moments

#: Files of which we remember what they are: the same ones are read again and again.
_REMEMBERED: Final = 1000
_BLOCK: Final = re.compile(rb"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)
#: What names in certificates are called, by their identifiers in DER.
_NAMES: Final = {b"\x55\x04\x03": "CN", b"\x55\x04\x0a": "O", b"\x55\x04\x0b": "OU"}
#: The tags of DER by which the two moments are found between which a certificate is good.
_VERSION, _SHORT_YEAR = 0xA0, 0x17


@lru_cache(_REMEMBERED)
def are_certificates(text: bytes) -> bool:
    """Tell whether a text is certificates; between them anything may stand."""
    # Comments may be in any language; the certificates themselves are ASCII.
    words = text.decode("ascii", errors="ignore")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=words)
    except (ssl.SSLError, ValueError):
        return False
    return bool(words.strip())


@lru_cache(_REMEMBERED)
def good_between(text: bytes) -> tuple[float, float] | None:
    """Return from when to when the first of some certificates is good; None: nobody can read it."""
    try:
        block = _BLOCK.search(text)
        return _moments_of(base64.b64decode(block[1])) if block else None
    except (ValueError, IndexError):
        return None


@lru_cache(_REMEMBERED)
def issuer(text: bytes) -> str:
    """Return who signed the first of some certificates, as in ``CN=name``; empty: nobody knows."""
    try:
        block = _BLOCK.search(text)
        return ",".join(_names_of(base64.b64decode(block[1]))) if block else ""
    except (ValueError, IndexError):
        return ""


@lru_cache(_REMEMBERED)
def fingerprint(text: bytes) -> str:
    """Return the SHA-256 of the first of some certificates; empty: nobody can read it."""
    try:
        block = _BLOCK.search(text)
        return hashlib.sha256(base64.b64decode(block[1])).hexdigest() if block else ""
    except ValueError:
        return ""


def good_at(text: bytes, now: float) -> bytes:
    """Return those of some certificates that are good at a moment, and those nobody can read."""
    found = (it[0] for it in _BLOCK.finditer(text))
    return b"\n".join(it for it in found if _is_good(good_between(it), now))


def _is_good(between: tuple[float, float] | None, now: float) -> bool:
    return between is None or between[0] <= now <= between[1]


def _names_of(der: bytes) -> Iterator[str]:
    """Yield the names of who signed a certificate, as far as people look at them."""
    _, at, end = _part(der, _after_number(der, 1))
    while at < end:
        _, pair, after = _part(der, at)
        _, begin, _ = _part(der, pair)
        _, kind, value = _part(der, begin)
        _, first, last = _part(der, value)
        if (name := _NAMES.get(der[kind:value])) is not None:
            yield f"{name}={der[first:last].decode(errors='replace')}"
        at = after


def _after_number(der: bytes, many: int) -> int:
    """Return where in a certificate (RFC 5280, 4.1) something begins, counted from its number."""
    _, at, _ = _part(der, 0)
    _, at, _ = _part(der, at)
    tag, _, after = _part(der, at)
    at = after if tag == _VERSION else at
    for _ in range(1 + many):
        _, _, at = _part(der, at)
    return at


def _moments_of(der: bytes) -> tuple[float, float]:
    """Read the two moments: they follow its number, how it is signed, and who signed."""
    _, at, _ = _part(der, _after_number(der, 2))
    _, _, second = _part(der, at)
    return _moment(der, at), _moment(der, second)


def _moment(der: bytes, at: int) -> float:
    tag, at, after = _part(der, at)
    digits = der[at:after].decode("ascii").removesuffix("Z")
    if tag == _SHORT_YEAR:
        digits = f"{'19' if digits[:2] >= '50' else '20'}{digits}"
    year, *rest = digits[:4], *(digits[it : it + 2] for it in range(4, 14, 2))
    return moments.from_rfc3339("{}-{}-{}T{}:{}:{}Z".format(year, *rest))


def _part(der: bytes, at: int) -> tuple[int, int, int]:
    """Return the tag of what begins somewhere, and where its content begins and ends."""
    size, begin = der[at + 1], at + 2
    if size >= 0x80:
        begin, length = begin + size - 0x80, size - 0x80
        size = int.from_bytes(der[at + 2 : at + 2 + length], "big")
    return der[at], begin, begin + size
