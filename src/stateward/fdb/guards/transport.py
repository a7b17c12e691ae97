"""The guard over certificates: what is started by bad ones does not come back."""

from __future__ import annotations

from typing import Final

from stateward.fdb.guards.guard import Refusal
from stateward.fdb.views import ClusterView

HINT: Final = (
    "mend it; it is looked at again every few seconds, and nothing is started by it before"
)


def certificates_are_good(view: ClusterView) -> Refusal | None:
    """Refuse while TLS is asked for and a certificate is missing or cannot be used."""
    flaws = view.transport.papers.flaws
    return Refusal("certificates_are_good", "; ".join(flaws), HINT) if flaws else None
