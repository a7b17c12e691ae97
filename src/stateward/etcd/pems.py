"""What is wrong with certificates and keys, before a member or we ourselves stumble over them.

Only what etcd would refuse as well is wrong here: weak keys and old authorities are the owner's
business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from stateward.core import moments, pems
from stateward.core.pem_keys import key_flaw
from stateward.etcd.build.certificates import AUTHORITY, CERTIFICATE, KEY

#: What begins a line and names a block. etcd takes any for a certificate of an authority.
_LABEL = re.compile(rb"^-----BEGIN ([^\r\n]+?)-----", re.MULTILINE)
_CERTIFICATES = frozenset({b"CERTIFICATE", b"X509 CERTIFICATE"})
#: Some editors begin files with it. Go then does not see that a block begins there.
_MARK = b"\xef\xbb\xbf"


def flaw(files: Mapping[str, bytes], now: float) -> str:
    """Return what must be true of some files of a secret and is not; empty: they are well."""
    if AUTHORITY in files and not pems.are_certificates(files[AUTHORITY]):
        return f"{AUTHORITY} must be PEM certificates"
    if not set(_LABEL.findall(files.get(AUTHORITY, b""))) <= _CERTIFICATES:
        return f"{AUTHORITY} must hold certificates only"
    for name in (AUTHORITY, CERTIFICATE):
        if files.get(name, b"").startswith(_MARK + b"-----BEGIN"):
            return f"{name} must begin without a byte order mark: etcd does not read what follows"
    if CERTIFICATE not in files:
        return ""
    certificate = files[CERTIFICATE]
    if not pems.are_certificates(certificate):
        return f"{CERTIFICATE} must be a PEM certificate"
    good = pems.good_between(certificate)
    if good is not None and good[1] < now:
        end = moments.to_rfc3339(good[1])
        return f"{CERTIFICATE} must be good for now, and has expired at {end}"
    return _flaw_of_key(certificate, files[KEY]) if KEY in files else ""


def _flaw_of_key(certificate: bytes, key: bytes) -> str:
    """Load both as etcd would."""
    match key_flaw(certificate, key):
        case "another's":
            return f"{KEY} must be the key of {CERTIFICATE}, and is another's"
        case "unreadable":
            return f"{KEY} must be a PEM key that is not encrypted"
        case _:
            return ""
