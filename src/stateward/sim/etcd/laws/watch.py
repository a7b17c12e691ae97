"""All laws of a world with etcd, put to their posts."""

from __future__ import annotations

from collections.abc import Callable

from stateward.emulate.etcd.state import History, State
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.etcd.model.names import CLUSTER_UID_LABEL
from stateward.etcd.operator import LEASE
from stateward.sim.etcd.laws.claims import Claims
from stateward.sim.etcd.laws.intents import Intents
from stateward.sim.etcd.laws.logins import Logins
from stateward.sim.etcd.laws.members import Changes
from stateward.sim.etcd.laws.pods import Scales, Stops
from stateward.sim.etcd.laws.scene import Scene
from stateward.sim.etcd.laws.sight import Sight
from stateward.sim.etcd.laws.starts import Starts
from stateward.sim.etcd.laws.strangers import Strangers
from stateward.sim.etcd.laws.words import Words
from stateward.sim.etcd.laws.writes import Writes
from stateward.sim.etcd.world import TWIN, EtcdWorld
from stateward.sim.laws.custom import Custom, Family
from stateward.sim.laws.deletes import UidSafety
from stateward.sim.laws.exact import Exactness
from stateward.sim.laws.leading import OneLeader, StandBy
from stateward.sim.laws.ownership import NothingForTheLeaving, Ownership
from stateward.sim.laws.rates import Rates
from stateward.sim.laws.statuses import Statuses
from stateward.sim.laws.vain import Vain
from stateward.sim.laws.watchman import Watchman

#: Told of a history, and of its states before and after an entry.
Agreed = Callable[[History, State, State], None]

CUSTOM = Custom(ETCD_CLUSTERS, CLUSTER_UID_LABEL, "app.kubernetes.io/instance")


class EtcdWatch:
    """Watches over one world."""

    def __init__(self, it: EtcdWorld) -> None:
        self.watchman = Watchman(it.world)
        self.scene = Scene(it, self.watchman)
        self.family = Family(self.watchman, CUSTOM)
        self.rates = Rates(self.watchman)
        self.vain = Vain(self.watchman)
        UidSafety(self.watchman)
        Exactness(self.watchman)
        OneLeader(self.watchman, LEASE, TWIN)
        self._stand_by = StandBy(self.watchman)
        Ownership(self.watchman, self.family)
        self._leaving = NothingForTheLeaving(self.watchman, self.family)
        Statuses(self.watchman, ETCD_CLUSTERS)
        Stops(self.scene)
        Scales(self.scene)
        Claims(self.scene)
        Writes(self.scene)
        Intents(self.scene)
        self.words = Words(self.scene, self.family)
        self._sight = Sight(self.scene)
        self._starts = Starts(self.scene)
        self._strangers = Strangers(self.scene)
        self._ears: list[Agreed] = [
            Changes(self.scene).agreed,
            Logins(self.scene).agreed,
            self._served,
        ]
        self._ears.append(self._strangers.agreed)
        it.universe.on_commit = self._agreed

    def late(self, seconds: float) -> None:
        """Say by how many seconds caches may lag behind."""
        self._leaving.late = self._strangers.late = seconds

    def calm(self, calm: bool) -> None:  # noqa: FBT001 - it is what is said
        """Say whether no call goes wrong."""
        self.words.calm = self._stand_by.calm = calm

    def alone(self, alone: bool) -> None:  # noqa: FBT001 - it is what is said
        """Say whether no more than one thing goes wrong."""
        self._sight.alone = alone

    def on_agreed(self, ear: Agreed) -> None:
        """Have every entry told that members agree to."""
        self._ears.append(ear)

    def _served(self, history: History, before: State, after: State) -> None:
        """Note who has data now: whoever tells where it is has it."""
        if before.members is not after.members:
            for server in self.scene.it.universe.of(history):
                if server.speaks:
                    self._starts.served(server)

    def _agreed(self, history: History, before: State, after: State) -> None:
        for ear in self._ears:
            ear(history, before, after)
