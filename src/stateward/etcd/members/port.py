"""The port: all that we ask of one member of etcd.

Two backends fit it, the JSON gateway (``gateway.py``) and gRPC (``grpc.py``); one contract suite
runs over both and over the model that the simulation uses. What every backend promises:

- every call ends within its deadline, in success or in one of the errors of ``errors.py`` and
  ``core.errors``;
- PeerUnreachable and a refusal by etcd mean that nothing was done; OutcomeUnknown means that a
  change may have been made: read the member list, never repeat blindly;
- nothing is sent in clear text to an endpoint that has certificates.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Protocol

from stateward.etcd.model.members import Alarm, Member, MemberStatus, Roster


@dataclass(frozen=True, slots=True)
class Trust:
    """Certificates in PEM: whom we believe, and who we are. They never reach a log."""

    authority: bytes = field(default=b"", repr=False)
    certificate: bytes = field(default=b"", repr=False)
    key: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a member listens for clients, and how we prove to each other who we are."""

    address: str
    port: int
    #: None: plain HTTP. Otherwise TLS, and the server must be known under ``server_name``.
    trust: Trust | None = None
    server_name: str = ""
    #: True when etcd asks who we are (auth is on): the gateway cannot log in by certificate.
    login_by_certificate: bool = False

    def __str__(self) -> str:
        return f"etcd at {self.address}:{self.port}"


class Reading(Protocol):
    """Questions that change nothing."""

    async def status(self) -> MemberStatus:
        """Return what the member says of itself; needs no quorum."""

    async def members(self, *, linearizable: bool = True) -> Roster:
        """Return the member list; a linearizable one is proof of a quorum."""

    async def alarms(self) -> tuple[Alarm, ...]:
        """Return the alarms of all members."""

    async def auth_enabled(self) -> bool:
        """Tell whether clients must log in."""


class Membership(Protocol):
    """Changes of who belongs to the cluster."""

    async def add_learner(self, peer_url: str) -> Member:
        """Add a member that has no vote yet."""

    async def promote(self, member_id: int) -> None:
        """Give a learner its vote; raise LearnerBehind while it is not in sync."""

    async def remove(self, member_id: int) -> None:
        """Remove a member for good."""

    async def move_leader(self, to: int) -> None:
        """Hand leadership over; only the leader can be asked."""


class Maintenance(Protocol):
    """Care of the database."""

    async def compact(self, revision: int) -> None:
        """Forget the history before a revision; fine if it was forgotten before."""

    async def defragment(self) -> None:
        """Give freed space of the asked member back; it answers nobody meanwhile."""

    async def disarm(self, alarm: Alarm) -> None:
        """Take an alarm back."""

    def snapshot(self) -> AsyncGenerator[bytes, None]:
        """Yield the database of the asked member and at last its SHA-256; needs no quorum."""


class Access(Protocol):
    """Who may do what."""

    async def add_root(self) -> None:
        """Make the user and the role root, without a password, and join them; fine if there."""

    async def enable_auth(self) -> None:
        """Ask everybody to log in; fine if it is on."""

    async def disable_auth(self) -> None:
        """Let everybody in; fine if it is off."""


class Keys(Protocol):
    """The database itself: for demonstrations and tests, never for the operator's own state."""

    async def put(self, key: bytes, value: bytes) -> int:
        """Store a value; return the revision at which it was acknowledged."""

    async def get(self, key: bytes) -> bytes | None:
        """Return a value by a linearizable read."""

    async def count(self, prefix: bytes) -> int:
        """Return how many keys begin so, by a linearizable read."""


class MemberApi(Reading, Membership, Maintenance, Access, Keys, Protocol):
    """All of it, asked of one member."""


class Dialer(Protocol):
    """Gives a way to ask a member. Connections are kept and shared; ``close`` ends them."""

    def dial(self, endpoint: Endpoint) -> MemberApi:
        """Return the member behind an endpoint; nothing is sent yet.

        Raise SpecInvalid when its certificates cannot be used as they are.
        """

    async def close(self) -> None:
        """End all connections."""
