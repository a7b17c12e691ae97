"""What is wrong with certificates and keys, before a member or we ourselves stumble over them.

Only what etcd would refuse as well is wrong here: weak keys and old authorities are the owner's
business.
"""

from __future__ import annotations

import base64
import re
import ssl
from collections.abc import Mapping
from functools import lru_cache

from stateward.core import moments
from stateward.core.unwritten import as_file
from stateward.etcd.build.certificates import AUTHORITY, CERTIFICATE, KEY

#: Files of which we remember what they are: the same ones are read again and again.
_REMEMBERED = 1000
_BLOCK = re.compile(rb"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)
#: What begins a line and names a block. etcd takes any for a certificate of an authority.
_LABEL = re.compile(rb"^-----BEGIN ([^\r\n]+?)-----", re.MULTILINE)
_CERTIFICATES = frozenset({b"CERTIFICATE", b"X509 CERTIFICATE"})
#: Some editors begin files with it. Go then does not see that a block begins there.
_MARK = b"\xef\xbb\xbf"
#: The tags of DER by which the two moments are found between which a certificate is good.
_VERSION, _SHORT_YEAR = 0xA0, 0x17


def flaw(files: Mapping[str, bytes], now: float) -> str:
    """Return what must be true of some files of a secret and is not; empty: they are well."""
    if AUTHORITY in files and not _are_certificates(files[AUTHORITY]):
        return f"{AUTHORITY} must be PEM certificates"
    if not set(_LABEL.findall(files.get(AUTHORITY, b""))) <= _CERTIFICATES:
        return f"{AUTHORITY} must hold certificates only"
    for name in (AUTHORITY, CERTIFICATE):
        if files.get(name, b"").startswith(_MARK + b"-----BEGIN"):
            return f"{name} must begin without a byte order mark: etcd does not read what follows"
    if CERTIFICATE not in files:
        return ""
    certificate = files[CERTIFICATE]
    if not _are_certificates(certificate):
        return f"{CERTIFICATE} must be a PEM certificate"
    end = _good_until(certificate)
    if end is not None and end < now:
        return f"{CERTIFICATE} must be good for now, and has expired at {moments.to_rfc3339(end)}"
    return _flaw_of_key(certificate, files[KEY]) if KEY in files else ""


@lru_cache(_REMEMBERED)
def _are_certificates(text: bytes) -> bool:
    # Comments may be in any language; the certificates themselves are ASCII.
    words = text.decode("ascii", errors="ignore")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=words)
    except (ssl.SSLError, ValueError):
        return False
    return bool(words.strip())


@lru_cache(_REMEMBERED)
def _flaw_of_key(certificate: bytes, key: bytes) -> str:
    """Load both as etcd would."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    with as_file(certificate + b"\n" + key) as path:
        try:
            context.load_cert_chain(path, password=lambda: "")
        except ssl.SSLError as error:
            if error.reason == "KEY_VALUES_MISMATCH":
                return f"{KEY} must be the key of {CERTIFICATE}, and is another's"
            return f"{KEY} must be a PEM key that is not encrypted"
        except ValueError:
            return f"{KEY} must be a PEM key that is not encrypted"
    return ""


@lru_cache(_REMEMBERED)
def _good_until(text: bytes) -> float | None:
    """Return when the first of some certificates ends; None when we cannot read that."""
    try:
        block = _BLOCK.search(text)
        return _end_of(base64.b64decode(block[1])) if block else None
    except (ValueError, IndexError):
        return None


def _end_of(der: bytes) -> float:
    """Read one certificate (RFC 5280, 4.1): its number, who signed how, then the two moments."""
    _, at, _ = _part(der, 0)
    _, at, _ = _part(der, at)
    tag, _, after = _part(der, at)
    at = after if tag == _VERSION else at
    for _ in range(3):
        _, _, at = _part(der, at)
    _, at, _ = _part(der, at)
    _, _, at = _part(der, at)
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
