"""One etcd process: how it was started, what it knows, and who hears when that changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from stateward.core.naming import stable_hash
from stateward.emulate.etcd.state import Disk, History, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The flags and variables of one start."""

    name: str
    #: Where the process is: an address that links can be cut between.
    address: str
    peer_url: str
    client_url: str
    #: Names and peer URLs of ``--initial-cluster``.
    initial: tuple[tuple[str, str], ...]
    existing: bool
    token: str = ""
    force: bool = False
    version: tuple[int, int, int] = (3, 5, 35)
    #: Whether it refuses changes of members that could cost the quorum.
    strict: bool = True
    #: How large the database may grow, in bytes.
    quota: int = 2 * 1024**3

    @property
    def cluster_id(self) -> int:
        """The id of a cluster that begins with this list."""
        return cluster_id(self.token, (url for _, url in self.initial))

    def member_id(self, url: str) -> int:
        """Return the id of one of those who begin."""
        return _number("member", self.token, url)


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended, and its last words."""

    code: int
    words: str


@dataclass(slots=True, eq=False)
class Server:
    """A process that runs."""

    start: Start
    disk: Disk
    began: float
    #: Called once, when it ends by itself.
    on_exit: Callable[[Exit], None]
    #: Called when it becomes ready or ceases to be.
    on_change: Callable[[], None]
    #: Whether it has read its disk and found out who it is.
    booted: bool = False
    #: Whether it has heard a leader since it began: only then does it answer clients.
    speaks: bool = False
    #: Whether it hears a leader that has a majority, and knows all that was agreed to.
    hears: bool = False
    #: Who leads, as far as it knows; for a while it believes in a leader that is gone.
    leader: int = 0
    #: When it stops to believe so.
    doubts: float | None = None
    hung: bool = False
    #: Whether it was ready when that was last told.
    seemed: bool = False
    #: Whether it has heard that it was removed, and will end.
    leaving: bool = False
    ended: bool = False
    #: Since when it has connections to others, by their addresses.
    links: dict[str, float] = field(default_factory=dict)
    #: Since when nothing came over them.
    silent: dict[str, float] = field(default_factory=dict)
    #: When it will have received what it lacks.
    catches_up: float | None = None
    #: Until when it gives space back and answers nobody.
    busy: float = 0.0
    #: Who waits until it hears a leader.
    waiting: list[asyncio.Future[None]] = field(default_factory=list)

    @property
    def member_id(self) -> int:
        """Whose disk it runs on."""
        return self.disk.member_id

    @property
    def history(self) -> History | None:
        """What it has part in."""
        return self.disk.history if self.booted else None

    @property
    def state(self) -> State:
        """What it knows."""
        return self.disk.state

    @property
    def learner(self) -> bool:
        """True when it has no vote, as far as it knows."""
        found = self.state.members.get(self.member_id)
        return found is not None and found.learner

    @property
    def ready(self) -> bool:
        """True when its readiness probe succeeds."""
        return self.speaks and self.hears and not self.hung and not self.learner

    def wake(self) -> None:
        """Let those go on who wait until it hears a leader, or has ended."""
        for it in self.waiting:
            if not it.done():
                it.set_result(None)
        self.waiting.clear()


def cluster_id(token: str, urls: Iterable[str]) -> int:
    """Return the id of a cluster that begins with some peer URLs."""
    return _number("cluster", token, *sorted(urls))


def new_member_id(url: str, now: float) -> int:
    """Return the id of a member that is added: made of its address and the second."""
    return _number("added", url, int(now))


def _number(*parts: object) -> int:
    return int(stable_hash([str(it) for it in parts])[:16], 16) or 1
