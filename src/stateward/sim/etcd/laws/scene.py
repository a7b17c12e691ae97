"""What the laws of etcd share: the truth, who looked when, what was asked for, and their book."""

from __future__ import annotations

from typing import Final

from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.kube.client import Change
from stateward.kube.codec import decode
from stateward.kube.meta import ObjectKey
from stateward.local.store import StoreEvent
from stateward.sim.etcd.laws.looks import NEVER, Looks
from stateward.sim.etcd.laws.truth import Truth
from stateward.sim.etcd.wire import EtcdCall
from stateward.sim.etcd.world import EtcdWorld
from stateward.sim.laws.watchman import Actor, Sent, Watchman

#: The verbs of etcd that change who belongs to a cluster.
CHANGES: Final = frozenset({"add_learner", "promote", "remove"})
#: Seconds for which a wish counts that was read right before it changed.
FRESH = 10.0
#: The same for who has asked no member yet: caches lag, and leaders sleep, for up to two minutes.
_STALE = 150.0


class Scene:
    """One world, as laws see it."""

    def __init__(self, it: EtcdWorld, watchman: Watchman) -> None:
        self.it = it
        self.watchman = watchman
        self.truth = Truth(it)
        self.looks = Looks(watchman, self.truth)
        self._wishes: dict[ObjectKey, list[tuple[float, EtcdCluster]]] = {}
        #: Who last asked for a change of members: etcd may carry it out later.
        self._asker = Actor("etcd")
        watchman.on_change(ETCD_CLUSTERS.name, self._changed)
        watchman.on_sent(self._sent)

    @property
    def author(self) -> Actor:
        """Who wished for the entry of etcd that is agreed to just now."""
        actor = self.watchman.actor
        return actor if actor.operates else self._asker

    def report(self, law: str, actor: Actor, sentence: str) -> None:
        """Write a violation down."""
        self.watchman.book.report(law, actor.name, sentence)

    def cluster(self, key: ObjectKey) -> EtcdCluster | None:
        """Return a cluster as it is, or as it was at last."""
        wishes = self._wishes.get(key)
        return wishes[-1][1] if wishes else None

    def recent(self, key: ObjectKey, since: float | None = None) -> tuple[EtcdCluster, ...]:
        """Return all that a cluster was since a while ago, so what an operator may have read."""
        wishes = self._wishes.get(key, [])
        since = self.it.world.loop.time() - FRESH if since is None else since
        return tuple(
            cluster
            for place, (_, cluster) in enumerate(wishes)
            if place + 1 == len(wishes) or wishes[place + 1][0] >= since
        )

    def seen(self, actor: Actor, key: ObjectKey) -> tuple[EtcdCluster, ...]:
        """Return all that a cluster was since somebody looked at it."""
        now, last = self.it.world.loop.time(), self.looks.last(actor, key)
        return self.recent(key, now - _STALE if last is NEVER else min(last.at, now - FRESH))

    def is_approved(self, actor: Actor, key: ObjectKey) -> bool:
        """Tell whether a person accepted that data is lost, and that is not over."""
        return any(_approves(it) for it in self.seen(actor, key))

    def _sent(self, sent: Sent) -> None:
        if isinstance(sent.call, EtcdCall) and sent.call.verb in CHANGES:
            self._asker = Actor(sent.who, sent.call, sent.about)

    def _changed(self, _: Actor, event: StoreEvent) -> None:
        if event.change is Change.DELETED:
            return
        cluster = decode(event.now.text, EtcdCluster)
        self._wishes.setdefault(event.now.key, []).append((self.it.world.loop.time(), cluster))


def _approves(cluster: EtcdCluster) -> bool:
    report = cluster.status.recovery
    begun = report is not None and bool(report.snapshot) and not report.done
    return begun or cluster.spec.quorum_recovery is not None
