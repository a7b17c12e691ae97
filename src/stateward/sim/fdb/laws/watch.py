"""All laws of a world with FoundationDB, put to their posts."""

from __future__ import annotations

from typing import Final

from stateward.fdb.api.backups.kinds import BACKUPS, RESTORES
from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.backups.controller import CONTROLLER as BACKING
from stateward.fdb.backups.restores.controller import CONTROLLER as RESTORING
from stateward.fdb.cluster.controller import CONTROLLER
from stateward.fdb.model.names import BACKUP_FOR, CLUSTER_UID_LABEL, INSTANCE_LABEL
from stateward.fdb.operator import LEASE, TERMS
from stateward.sim.fdb.laws.backups import words as backups
from stateward.sim.fdb.laws.backups.ends import Ends
from stateward.sim.fdb.laws.backups.lines import Lines
from stateward.sim.fdb.laws.backups.wishes import Wishes
from stateward.sim.fdb.laws.claims import Claims
from stateward.sim.fdb.laws.commands import Commands
from stateward.sim.fdb.laws.groups import Groups, Writers
from stateward.sim.fdb.laws.intents import Intents
from stateward.sim.fdb.laws.maintaining import Maintaining
from stateward.sim.fdb.laws.pods import Stops
from stateward.sim.fdb.laws.regions import Reconfigurations
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.fdb.laws.several.acting import Locks
from stateward.sim.fdb.laws.several.agreeing import Agreements
from stateward.sim.fdb.laws.sharing import Sharing
from stateward.sim.fdb.laws.transport import Listeners
from stateward.sim.fdb.laws.upgrades import Upgrades
from stateward.sim.fdb.laws.words import Words
from stateward.sim.fdb.operators import TWIN
from stateward.sim.fdb.world import FdbWorld
from stateward.sim.laws.custom import Custom, Family
from stateward.sim.laws.deletes import UidSafety
from stateward.sim.laws.exact import Exactness
from stateward.sim.laws.leading import OneLeader, StandBy
from stateward.sim.laws.ownership import NothingForTheLeaving, Ownership
from stateward.sim.laws.rates import Rates
from stateward.sim.laws.statuses import Statuses
from stateward.sim.laws.vain import Vain
from stateward.sim.laws.watchman import Watchman

#: Seconds by which caches are late in calm.
_USUAL: Final = 15.0

CUSTOM: Final = Custom(CLUSTERS, CLUSTER_UID_LABEL, INSTANCE_LABEL)


class FdbWatch:
    """Watches over one world; those who watch what lies beside it write into the same book."""

    def __init__(self, it: FdbWorld, beside: FdbWatch | None = None) -> None:
        book = beside.watchman.book if beside is not None else None
        self.watchman: Watchman = Watchman(it.world, book)
        self.scene = Scene(it, self.watchman)
        self.family = Family(self.watchman, CUSTOM)
        if beside is None:
            self.rates, self.vain = Rates(self.watchman), Vain(self.watchman)
        else:
            self.rates, self.vain = beside.rates, beside.vain
            self.rates.follow(self.watchman)
            self.vain.follow(self.watchman)
        UidSafety(self.watchman)
        Exactness(self.watchman)
        OneLeader(self.watchman, LEASE, TWIN)
        self._stand_by = StandBy(self.watchman, int(60 / TERMS.retry_every) + 1)
        Ownership(self.watchman, self.family, only=CONTROLLER)
        self._leaving = NothingForTheLeaving(self.watchman, self.family)
        Statuses(self.watchman, CLUSTERS)
        Stops(self.scene)
        Claims(self.scene)
        Commands(self.scene)
        Reconfigurations(self.scene)
        Writers(self.scene)
        Groups(self.scene)
        Intents(self.scene)
        Maintaining(self.scene)
        Listeners(self.scene)
        Locks(self.scene)
        Agreements(self.scene)
        Sharing(self.scene)
        Words(self.scene)
        Upgrades(self.scene)
        #: What is asked for of backups; None: nobody in this world has any.
        self.wishes = Wishes(self.scene) if it.shelf is not None else None
        if self.wishes is not None:
            self._watch_backups(self.wishes)

    def _watch_backups(self, wishes: Wishes) -> None:
        Lines(wishes)
        Ends(wishes)
        backups.Words(wishes)
        for resource, controller in ((BACKUPS, BACKING), (RESTORES, RESTORING)):
            custom = Custom(resource, BACKUP_FOR, "")
            Ownership(self.watchman, Family(self.watchman, custom), only=controller)
            Statuses(self.watchman, resource)

    def late(self, seconds: float, asleep: float) -> None:
        """Say by how many seconds caches may lag behind, and for how long senders may sleep."""
        self._leaving.late = seconds
        self.scene.late = max(0.0, seconds - _USUAL) + asleep

    def calm(self, calm: bool) -> None:  # noqa: FBT001 - it is what is said
        """Say whether no call goes wrong."""
        self._stand_by.calm = calm
