"""Keys as PEM texts: whether one can be read, and is that of a certificate.

OpenSSL reads keys from files alone, which pure judgement (``pems.py``) must not need.
"""

from __future__ import annotations

import ssl
from functools import lru_cache
from typing import Final, Literal

from stateward.core.unwritten import as_file

#: Pairs of which we remember what they are: the same ones are read again and again.
_REMEMBERED: Final = 1000


@lru_cache(_REMEMBERED)
def key_flaw(certificate: bytes, key: bytes) -> Literal["", "another's", "unreadable"]:
    """Return what is wrong with a key; empty: it is the certificate's, and needs no password."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    with as_file(certificate + b"\n" + key) as path:
        try:
            context.load_cert_chain(path, password=lambda: "")
        except ssl.SSLError as error:
            return "another's" if error.reason == "KEY_VALUES_MISMATCH" else "unreadable"
        except ValueError:
            return "unreadable"
    return ""
