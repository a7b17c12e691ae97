"""What we ask of the sidecar in a split pod: which files it gave out, and to do so anew."""

from __future__ import annotations

from typing import Protocol

from stateward.core.errors import PeerError


class AgentRefused(PeerError):
    """A sidecar answered "no", and has done nothing, or not all; ``status`` is that of HTTP."""

    reason = "SidecarRefused"

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    @property
    def is_missing(self) -> bool:
        """Whether it says that there is no such file."""
        return self.status == 404


class PodAgent(Protocol):
    """One sidecar."""

    async def check_hash(self, file: str) -> str:
        """Return the SHA-256 of a file that fdbmonitor finds; AgentRefused: there is none."""

    async def is_present(self, file: str) -> bool:
        """Tell whether fdbmonitor finds a file."""

    async def copy(self) -> None:
        """Have fdbmonitor find the files as the sidecar sees them now; may be asked again."""

    async def substitutions(self) -> dict[str, str]:
        """Return the variables that it writes into files, with their values."""

    async def certificate(self) -> str:
        """Return the SHA-256 of the certificate that it shows; empty: it speaks without TLS."""

    async def refresh(self) -> None:
        """Have it read its certificates anew; may be asked again."""


class PodAgents(Protocol):
    """Who reaches sidecars."""

    def reach(self, host: str, *, tls: bool = False) -> PodAgent:
        """Return the sidecar of the pod at an address; nobody is asked yet."""

    async def close(self) -> None:
        """End all connections."""
