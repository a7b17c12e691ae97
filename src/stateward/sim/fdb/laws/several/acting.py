"""F-S1, F-S2 and F-S5: who acts on a database that several operators share holds its lock.

The truth is what the database has at that very moment, and who wrote it. What is done by keys is
judged when it is committed: whoever lost the lock by then must not have done it. What is no
transaction (a restart, a configuration, pods that shall go) was asked for while the lock was ours,
and may be under way for a while, or its sender asleep.
"""

from __future__ import annotations

from math import inf
from typing import Final

from stateward.emulate.fdb.database import Database
from stateward.fdb.api import questions
from stateward.fdb.api.kind import PROCESS_GROUPS, FoundationDBCluster, FoundationDBProcessGroup
from stateward.fdb.model import locks
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.locks import Lock
from stateward.kube.client import Change
from stateward.kube.codec import decode
from stateward.kube.meta import ObjectKey
from stateward.local.store import StoreEvent
from stateward.sim.fdb.databases import FdbCall
from stateward.sim.fdb.keys import KeysCall, acts_of
from stateward.sim.fdb.laws.scene import FRESH, Scene
from stateward.sim.fdb.laws.several.taking import Held, Taking
from stateward.sim.laws.watchman import Actor, Sent

#: What is typed, and needs the lock; a new database has no other operators yet.
_LOCKED: Final = ("configure ", "exclude ", "include ", "coordinators ", "kill; kill ")
_NEW: Final = "configure new "
#: Of these, what can be asked for by keys, and so must be.
_FENCED: Final = ("exclude ", "include ", "coordinators ")
#: Stands twice in a line that restarts all for an upgrade.
_KILL: Final = "kill "
#: Seconds for which what was asked for is under way at most.
_WIRE: Final = 10.0


class Locks:
    """Every act of one instance on databases that are shared.

    F-S1: the lock is ours when we act. F-S2: nobody acts by a lock that another one took. F-S5:
    while a database is not available nobody acts by a lock of before.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._taking = Taking(scene)
        self._held: dict[int, Held] = {}
        #: What was asked for by keys here, by the id of the call, which is kept: so ids differ.
        self._sent: dict[int, Sent] = {}
        scene.watchman.on_sent(self._hear)
        scene.it.realm.typed.append(self._typed)
        scene.it.realm.keyed.append(self._keyed)
        scene.watchman.on_change(PROCESS_GROUPS.name, self._group_changed)

    @property
    def _now(self) -> float:
        return self._scene.it.world.clock.now()

    def _hear(self, sent: Sent) -> None:
        if isinstance(sent.call, KeysCall):
            self._sent[id(sent.call)] = sent

    def _report(self, law: str, who: str, sentence: str) -> None:
        self._scene.report(law, Actor(who), sentence)

    def _of(self, database: Database) -> Held:
        return self._held.setdefault(id(database), Held())

    def _wish(self, about: ObjectKey | None) -> FoundationDBCluster | None:
        """Return what a cluster asks for, if it asked for locks all the time of late."""
        wishes = self._scene.recent(about) if about is not None else ()
        if not wishes or not all(questions.uses_locks(it.spec) for it in wishes):
            return None
        return wishes[-1]

    # ------------------------------------------------------------------ what is no transaction

    def _typed(self, line: str, database: Database) -> None:
        actor = self._scene.watchman.actor
        wish = self._wish(actor.about) if isinstance(actor.call, FdbCall) else None
        if wish is None or not line.startswith(_LOCKED) or line.startswith(_NEW):
            return
        if line.count(_KILL) > 1 and not database.recovery.serves:
            return  # an upgrade has begun: by this alone comes a database back that is down
        slack = 0.0 if line.startswith(_FENCED) else _WIRE + self._scene.late
        self._judge(actor.name, line.split(maxsplit=1)[0].rstrip(";"), database, slack)

    def _group_changed(self, actor: Actor, event: StoreEvent) -> None:
        """Judge that a pod shall be made anew: its group says so."""
        if not actor.operates or event.before is None or event.change is Change.DELETED:
            return
        now = decode(event.now.text, FoundationDBProcessGroup).spec
        before = decode(event.before.text, FoundationDBProcessGroup).spec
        if not now.obsolete_pod or now.obsolete_pod == before.obsolete_pod:
            return
        wish = self._wish(ObjectKey(event.now.key.namespace, now.cluster_name))
        if wish is not None and wish.status.configured:
            string = ConnectionString.parse(wish.status.connection_string)
            found = self._scene.it.realm.database(string)
            self._judge(actor.name, "a pod goes", found, _WIRE + self._scene.late)

    def _judge(self, who: str, act: str, database: Database, slack: float) -> None:
        """Judge an act that may have been under way for some seconds."""
        held = self._of(database)
        if held.until == -inf:
            self._report("F-S1", who, f"{act}, and the lock was never ours")
        elif self._now > held.until + slack:
            if held.lock is None or held.ours:
                self._report("F-S1", who, f"{act}, and the lock is over")
            else:
                self._report("F-S2", who, f"{act}, and {held.lock.owner} has the lock")
        old = self._scene.now - held.taken > FRESH + slack
        if old and not database.recovery.serves:
            self._report("F-S5", who, f"{act}, and the database is not available")

    # ------------------------------------------------------------------ transactions

    def _keyed(self, call: KeysCall, database: Database) -> None:
        if not call.writes:
            return
        sent = self._sent.get(id(call))
        wish = self._wish(sent.about) if sent is not None else None
        if sent is not None and wish is not None:
            for line in acts_of(call.order):
                self._judge_commit(sent.who, line.split()[0], database)
            for key, value in call.order.writes:
                self._taking.judge_denying(sent, wish, key, value)
        name = locks.lock_key(
            questions.lock_prefix(wish.spec) if wish is not None else locks.PREFIX
        )
        for key, value in call.order.writes:
            if key == name:
                self._become(sent, wish, value, database)

    def _become(
        self,
        sent: Sent | None,
        wish: FoundationDBCluster | None,
        value: bytes | None,
        database: Database,
    ) -> None:
        lock = Lock.decode(value) if value is not None else None
        held = self._of(database)
        if sent is not None and wish is not None:
            self._taking.judge(sent, wish, (held, lock), database)
        held.become(lock, self._scene, ours=sent is not None)

    def _judge_commit(self, who: str, act: str, database: Database) -> None:
        """Judge a commit: that the lock was over and nobody took it harms nobody for a while."""
        held = self._of(database)
        if held.lock is None:
            self._report("F-S1", who, f"{act}, and nobody has the lock")
        elif not held.ours:
            self._report("F-S2", who, f"{act}, and {held.lock.owner} has the lock")
        elif self._now > held.lock.end + _WIRE + self._scene.late:
            self._report("F-S1", who, f"{act}, and the lock is over")
