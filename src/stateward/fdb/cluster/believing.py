"""Whether processes, sidecars and the operator will believe each other's certificates.

Whoever is started by one that others refuse does not come back; so they meet here first, in memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from stateward.core import pems
from stateward.core.peers import rules
from stateward.core.peers.meeting import Met, Side, meet
from stateward.fdb.api.papers import ALTERNATIVES, Reader
from stateward.fdb.model.names import MAIN_CONTAINER

#: Reads the operator's own files; None: there are none, or they cannot be read.
Own: TypeAlias = Callable[[], Side | None]

#: Rules that nobody can judge from here, and such by which anybody is believed.
_UNSEEN: Final = re.compile(r"(?:^|[,;|])\s*(?:R|Root)\.")
_ANYBODY: Final = re.compile(r"Check\.(?:Valid|Unexpired)\s*=\s*0")
_PURPOSE: Final = "purpose"
_OURS: Final = "the operator's own certificate (FDB_TLS_CERTIFICATE_FILE)"
_OUR_AUTHORITY: Final = "the operator's own authority (FDB_TLS_CA_FILE)"


@dataclass(frozen=True, slots=True)
class Shown:
    """What a container shows and believes, and where that comes from, for people."""

    side: Side
    certificate: str
    authority: str
    reader: Reader

    @property
    def is_main(self) -> bool:
        """Whether it is fdbserver: its processes are peers of each other."""
        return self.reader.name == MAIN_CONTAINER

    @property
    def field(self) -> str:
        """Where the spec has the rules."""
        container = "mainContainer" if self.is_main else "sidecarContainer"
        return f"spec.{container}.peerVerificationRules"


def flaws(shown: Shown, own: Side | None, now: float) -> Iterator[str]:
    """Yield who would refuse whom, and why; nothing: all believe each other."""
    if _ANYBODY.search(shown.reader.rules):
        return
    good = pems.good_at(shown.side.authority, now)
    if not good:
        yield f"{shown.authority} must have an authority that is good for now, and has none"
        return
    shown = replace(shown, side=replace(shown.side, authority=good))
    alone = meet(shown.side, shown.side)
    if why := alone.refused_server or alone.refused_client:
        yield _unsigned(shown.certificate, shown.side.certificate, shown.authority, why)
        return
    if shown.is_main and alone.server and not _allows(shown, alone):
        words = f"{shown.certificate} must fulfil {shown.field}, since processes show it to each"
        yield f"{words} other: {shown.reader.rules}"
    if own is not None:
        yield from _of_operator(shown, own, now)


def _of_operator(shown: Shown, own: Side, now: float) -> Iterator[str]:
    between = pems.good_between(own.certificate)
    if between is not None and not between[0] <= now <= between[1]:
        yield f"{_OURS} must be good for now, and has expired or has yet to begin"
        return
    met = meet(shown.side, own)
    if met.refused_server:
        yield _unsigned(
            shown.certificate, shown.side.certificate, _OUR_AUTHORITY, met.refused_server
        )
    elif met.refused_client:
        yield _unsigned(_OURS, own.certificate, shown.authority, met.refused_client)
    elif met.client and not _allows(shown, met):
        yield f"{_OURS} must fulfil {shown.field}: {shown.reader.rules}"


def _unsigned(name: str, certificate: bytes, authority: str, why: str) -> str:
    if _PURPOSE in why:
        return f"{name} must be good for servers and for clients, and is not ({why})"
    signer = pems.issuer(certificate) or "somebody else"
    return f"{name} must be signed by {authority}, and is by {signer} ({why})"


def _allows(shown: Shown, met: Met) -> bool:
    """Tell whether rules let a client in, as far as that can be judged from here."""
    text = shown.reader.rules
    if _UNSEEN.search(text):
        return True
    return rules.parse(text, ALTERNATIVES[shown.reader.name]).allow(met.client)
