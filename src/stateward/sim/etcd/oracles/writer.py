"""ACK: a client that writes all along, and finds again what was acknowledged.

It writes to whoever leads, also in two clusters at once if they split; so it notices when one of
them is given up. It is no operator, and its writes are no calls.
"""

from __future__ import annotations

from stateward.emulate.etcd.servers import Server
from stateward.emulate.etcd.state import History, State
from stateward.etcd.model.members import AlarmKind, quorum
from stateward.kube.meta import ObjectKey
from stateward.sim.etcd.laws.scene import Scene
from stateward.sim.etcd.laws.truth import cluster_of
from stateward.sim.laws.watchman import Actor

#: Seconds between two writes.
_EVERY = 1.0
_PREFIX = b"written-"


class Writer:
    """Writes unique keys, and misses those that were acknowledged and are gone."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._universe = scene.it.universe
        #: What was acknowledged, by the id of the etcd cluster.
        self._acknowledged: dict[int, list[bytes]] = {}
        #: Clusters of whom the world itself took a majority of the copies.
        self._doomed: set[int] = set()
        self._number = 0
        self._rests = False
        #: The last who changed a cluster, by the id of the etcd cluster.
        self._last: dict[int, str] = {}
        self._next()

    def agreed(self, history: History, before: State, after: State) -> None:
        """Remember who changed a cluster last: if something is lost, it may have been that."""
        if before.members is not after.members and self._scene.author.operates:
            self._last[history.cluster_id] = self._scene.author.name

    def rest(self) -> None:
        """Write no more: how full a database is, operators tell, and they shall be silent."""
        self._rests = True

    def check(self) -> None:
        """Find again all that was acknowledged, wherever somebody leads."""
        for server in self._leaders():
            self._missed(server, every=True)

    def _next(self) -> None:
        self._scene.it.world.loop.call_outside(_EVERY, self._write)

    def _write(self) -> None:
        self._note_losses()
        for server in self._leaders():
            self._put(server)
        if not self._rests:
            self._next()

    def _leaders(self) -> list[Server]:
        found = [it for it in self._universe.servers if it.speaks and it.leader == it.member_id]
        return [it for it in found if not it.hung]

    def _put(self, server: Server) -> None:
        history = server.history
        full = any(it.kind is AlarmKind.NO_SPACE for it in server.state.alarms)
        if history is None or full:
            return
        if self._universe.leader_of(history) is not server:
            return
        self._missed(server)
        self._number += 1
        key = _PREFIX + str(self._number).encode()
        self._universe.commit(server, lambda state: state.with_key(key, b"here"))
        self._acknowledged.setdefault(history.cluster_id, []).append(key)

    def _missed(self, server: Server, *, every: bool = False) -> None:
        history = server.history
        written = self._acknowledged.get(history.cluster_id) if history is not None else None
        if history is None or not written:
            return
        keys = server.state.keys
        if not every and len(keys) >= len(written) and written[-1] in keys:
            return  # as many as were written are mostly those; all are looked for at the end
        missing = [it for it in written if it not in keys]
        if not missing:
            return
        if not self._is_forgiven(server, history):
            words = f"{len(missing)} acknowledged writes are lost, the first is {missing[0]!r}"
            actor = Actor(self._last.get(history.cluster_id, "nobody"))
            self._scene.report("ACK", actor, words)
        self._acknowledged[history.cluster_id] = [it for it in written if it in keys]

    def _is_forgiven(self, server: Server, history: History) -> bool:
        """Tell whether the world took the data, or a person let it go."""
        lodger = self._scene.truth.lodger_of(server)
        key = cluster_of(lodger.key) if lodger is not None else ObjectKey("", "")
        approved = any(
            it.status.recovery is not None or it.spec.quorum_recovery is not None
            for it in self._scene.recent(key, 0.0)
        )
        return approved or history.cluster_id in self._doomed

    def _note_losses(self) -> None:
        """See whether so many copies are gone that no operator could bring the data back."""
        copies: dict[int, set[int]] = {}
        for disk in self._scene.truth.disks():
            if disk.history is not None:
                copies.setdefault(disk.history.cluster_id, set()).add(disk.member_id)
        for cluster_id in self._acknowledged:
            voters = self._universe.histories[cluster_id].states[-1].voters
            left = copies.get(cluster_id, set()) & set(voters)
            if len(left) < quorum(len(voters)) and not self._operators_took(cluster_id):
                self._doomed.add(cluster_id)

    def _operators_took(self, cluster_id: int) -> bool:
        """Tell whether an operator was seen to delete a volume that a member needs."""
        laws = {it.law for it in self._scene.watchman.book.violations}
        return bool(laws & {"E-S4", "E-S5"}) and cluster_id in self._last
