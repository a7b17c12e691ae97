"""Two sides meet with TLS, in memory: whether each believes the other, and who it says it is.

Dates are not looked at: whoever asks has a clock of its own (``pems.good_at``). OpenSSL judges the
rest as it does for FoundationDB: who signed, that keys are those of certificates, what they may be
used for.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from stateward.core.unwritten import as_file

#: Pairs of which we remember what came of it: the same ones meet again and again.
_REMEMBERED: Final = 1000
#: OpenSSL's own number (X509_V_FLAG_NO_CHECK_TIME); Python has no name for it.
_ANY_TIME: Final = 0x200000
#: A meeting takes two turns of each; what needs more never ends.
_TURNS: Final = 10


@dataclass(frozen=True, slots=True)
class Side:
    """What a side shows, and whose signatures it believes; all in PEM."""

    certificate: bytes = field(repr=False)
    key: bytes = field(repr=False)
    authority: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Met:
    """What came of a meeting: why one refused the other, or what each has seen."""

    #: Why the client refused the server's certificate, and the server the client's.
    refused_server: str = ""
    refused_client: str = ""
    #: What could not even be begun, since a side's own papers are no good.
    impossible: str = ""
    server: Mapping[str, Any] = field(default_factory=dict)
    client: Mapping[str, Any] = field(default_factory=dict)


@lru_cache(_REMEMBERED)
def meet(server: Side, client: Side) -> Met:
    """Return what comes of it when a client knocks at a server."""
    inbound, outbound = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        opens = _context(ssl.PROTOCOL_TLS_SERVER, server)
        knocks = _context(ssl.PROTOCOL_TLS_CLIENT, client)
    except (ssl.SSLError, ValueError) as error:
        return Met(impossible=str(error))
    here = opens.wrap_bio(inbound, outbound, server_side=True)
    there = knocks.wrap_bio(outbound, inbound)
    waiting = [there, here]
    for _ in range(_TURNS):
        for one in tuple(waiting):
            try:
                one.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLError as error:
                return _refused(error, by_client=one is there)
            waiting.remove(one)
        if not waiting:
            return Met(server=there.getpeercert() or {}, client=here.getpeercert() or {})
    return Met(impossible="they do not come to an end")


def _refused(error: ssl.SSLError, *, by_client: bool) -> Met:
    if not isinstance(error, ssl.SSLCertVerificationError):
        return Met(impossible=error.reason or str(error))
    why = error.verify_message
    return Met(refused_server=why) if by_client else Met(refused_client=why)


def _context(protocol: int, side: Side) -> ssl.SSLContext:
    made = ssl.SSLContext(protocol)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_REQUIRED
    made.verify_flags = ssl.VerifyFlags(_ANY_TIME)
    # How long a key must be is said by who uses it.
    made.set_ciphers("DEFAULT:@SECLEVEL=0")
    made.load_verify_locations(cadata=side.authority.decode("ascii", errors="ignore"))
    with as_file(side.certificate + b"\n" + side.key) as path:
        made.load_cert_chain(path, password=lambda: "")
    return made
