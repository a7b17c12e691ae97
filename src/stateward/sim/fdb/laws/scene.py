"""What the laws of FoundationDB share: the truth, what was asked for of late, and their book."""

from __future__ import annotations

from typing import Final

from stateward.fdb.api.kind import CLUSTERS, FoundationDBCluster
from stateward.kube.client import Change
from stateward.kube.codec import decode
from stateward.kube.meta import ObjectKey
from stateward.local.store import StoreEvent
from stateward.sim.fdb.databases import FdbCall
from stateward.sim.fdb.laws.truth import Truth
from stateward.sim.fdb.world import FdbWorld
from stateward.sim.laws.watchman import Actor, Sent, Watchman

#: Seconds for which a wish, or a look at a database, counts that was right before it changed.
FRESH: Final = 30.0


class Scene:
    """One world, as laws see it."""

    def __init__(self, it: FdbWorld, watchman: Watchman) -> None:
        self.it = it
        self.watchman = watchman
        self.truth = Truth(it)
        #: Seconds by which caches may be late, and senders asleep.
        self.late = 0.0
        #: When a person last asked for something, which everybody can see.
        self.asked_at = -1.0
        self._wishes: dict[ObjectKey, list[tuple[float, FoundationDBCluster]]] = {}
        #: Which zone operators told a database of, and until when: by the database.
        self.told: dict[int, tuple[str, float]] = {}
        #: When a process last asked a database how it is.
        self._looked: dict[str, float] = {}
        watchman.on_change(CLUSTERS.name, self._changed)
        watchman.on_sent(self._sent)

    @property
    def now(self) -> float:
        """Virtual seconds."""
        return self.it.world.loop.time()

    @property
    def excused(self) -> bool:
        """Whether the world changed so lately that nobody can be blamed who did not see it."""
        return self.now - self.watchman.last_fault < FRESH + self.late

    @property
    def is_struck(self) -> bool:
        """Whether something befell the world so lately that no status can tell of it yet."""
        struck = self.watchman.last_fault
        return self.now - struck < FRESH and struck != self.asked_at

    def is_unseen(self, actor: Actor) -> bool:
        """Tell whether something befell the world after who acts looked, or while it slept."""
        return self.watchman.last_fault >= self._looked.get(actor.name, 0.0) - self.late

    def _sent(self, sent: Sent) -> None:
        if isinstance(sent.call, FdbCall) and not sent.call.writes:
            self._looked[sent.who] = sent.at

    def report(self, law: str, actor: Actor, sentence: str) -> None:
        """Write a violation down."""
        self.watchman.book.report(law, actor.name, sentence)

    def recent(self, key: ObjectKey) -> tuple[FoundationDBCluster, ...]:
        """Return all that a cluster was of late, so what an operator may have read."""
        wishes, since = self._wishes.get(key, []), self.now - FRESH - self.late
        return tuple(
            cluster
            for place, (_, cluster) in enumerate(wishes)
            if place + 1 == len(wishes) or wishes[place + 1][0] >= since
        )

    def called_done(self, actor: Actor, event: StoreEvent) -> FoundationDBCluster | None:
        """Return a cluster that an operator just called reconciled; who saw the past may do so."""
        if not actor.operates or event.before is None or event.change is Change.DELETED:
            return None
        before = decode(event.before.text, FoundationDBCluster)
        now = decode(event.now.text, FoundationDBCluster)
        told = now.status.generations.reconciled
        is_new = told > before.status.generations.reconciled and told == now.metadata.generation
        return now if is_new and not self.late and not self.is_struck else None

    def _changed(self, _: Actor, event: StoreEvent) -> None:
        if event.change is not Change.DELETED:
            cluster = decode(event.now.text, FoundationDBCluster)
            self._wishes.setdefault(event.now.key, []).append((self.now, cluster))
