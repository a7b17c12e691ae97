"""CheckCertificates: with TLS nothing starts by certificates that are missing or cannot be used."""

from __future__ import annotations

from typing import Final

from stateward.core.outcome import DONE, Blocked, Outcome, Retry
from stateward.fdb.cluster.hands.saying import waits
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.guards.transport import HINT

_AGAIN: Final = 15.0
#: Seconds until a certificate that ends soon is spoken of again.
_LATER: Final = 3600.0


class CheckCertificates:
    """Says what is wrong with them; where there is no database yet, none is begun meanwhile."""

    name = "CheckCertificates"

    async def run(self, seen: Seen) -> Outcome:
        """Tell the worst of it. Who starts anything anew asks a guard for the same."""
        view = seen.view
        transport, papers = view.transport, view.transport.papers
        if papers.flaws:
            words = "; ".join(papers.flaws)
            if view.connection is None:
                return waits(seen, self.name, _AGAIN, "CertificateUnusable", words, hint=HINT)
            return Blocked("CertificateUnusable", words, HINT)
        if transport.held:
            awaited = "ListenersAwaited" if transport.converts else "CertificatesAwaited"
            return Retry(_AGAIN, awaited, transport.held)
        if papers.unknown and (transport.converts or not view.configured):
            words = f"certificates were not looked at, and pods must do: {papers.unknown}"
            return Retry(_AGAIN, "CertificatesUnseen", words)
        if papers.ending:
            return Retry(_LATER, "CertificateEndsSoon", papers.ending)
        return DONE
