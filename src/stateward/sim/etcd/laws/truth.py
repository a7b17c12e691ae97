"""What really is: which etcd runs in which pod, who votes, who is alive, who stays so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stateward.emulate.etcd.servers import Server
from stateward.emulate.etcd.state import Disk, History, State
from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.model.members import Member, quorum
from stateward.etcd.model.names import ordinal_of
from stateward.kube.codec import decode
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import VOLUME_CLAIMS
from stateward.local.store import Stored
from stateward.sim.etcd.pods import EtcdProgram
from stateward.sim.etcd.world import EtcdWorld
from stateward.sim.kube.lodgers import Lodger


@dataclass(frozen=True, slots=True)
class Standing:
    """How a cluster stands at a moment, by the history that most of its members share."""

    history: History | None = None
    voters: frozenset[int] = frozenset()
    #: The members, learners too, whose processes run and can talk to each other.
    alive: frozenset[int] = frozenset()
    #: Those of them whose pods were not asked to go.
    lasting: frozenset[int] = frozenset()
    #: Those of them whose nodes Kubernetes hears.
    heard: frozenset[int] = frozenset()
    leader: int = 0
    term: int = 0
    #: Where the members are that run.
    addresses: tuple[tuple[int, str], ...] = ()
    #: How many histories have somebody who leads.
    led: int = 0

    @property
    def stands(self) -> bool:
        """True when a majority is alive."""
        return self.carried_by(self.alive)

    def carried_by(self, some: frozenset[int]) -> bool:
        """Tell whether some members are a majority of the voters."""
        return bool(self.voters) and len(some & self.voters) >= quorum(len(self.voters))

    def address(self, member_id: int) -> str:
        """Return where a member runs, or nothing."""
        return next((it for id_, it in self.addresses if id_ == member_id), "")


NOTHING = Standing()


class Truth:
    """Asks a world."""

    def __init__(self, it: EtcdWorld) -> None:
        self._it = it

    def cluster(self, key: ObjectKey) -> EtcdCluster | None:
        """Return a cluster as Kubernetes has it now."""
        stored = self._it.world.api.store.get(ETCD_CLUSTERS.name, key)
        return decode(stored.text, EtcdCluster) if stored is not None else None

    # ------------------------------------------------------------------ pods and processes

    def lodgers(self, cluster: ObjectKey) -> Iterator[tuple[Lodger, Server | None]]:
        """Yield the pods of a cluster that are on nodes, and the etcd in them."""
        for lodger in self._it.nodes.lodgers.values():
            if cluster_of(lodger.key) == cluster:
                program = lodger.program
                yield lodger, program.server if isinstance(program, EtcdProgram) else None

    def lodger_of(self, server: Server) -> Lodger | None:
        """Return the pod that a process runs in."""
        at = server.start.address
        return next((it for it in self._it.nodes.lodgers.values() if it.address == at), None)

    def disks(self) -> Iterator[Disk]:
        """Yield all that data can be on."""
        yield from self._it.volumes.content.values()
        for server in self._it.universe.servers:
            yield server.disk

    def roster(self, cluster: ObjectKey) -> dict[int, Member]:
        """Return who belongs to a cluster, also while nobody of it runs."""
        histories = [it.history for _, it in self.lodgers(cluster) if it is not None]
        histories += [it.history for _, it in self.claims(cluster)]
        found = next((it for it in histories if it is not None), None)
        return self.listed(found) if found is not None else {}

    def claims(self, cluster: ObjectKey) -> Iterator[tuple[Stored, Disk]]:
        """Yield the claims of a cluster that have a volume, and what is on it."""
        for stored in self._it.world.api.store.all(VOLUME_CLAIMS.name, cluster.namespace):
            disk = self._it.volumes.content.get(stored.uid)
            if disk is not None and claim_of(cluster, stored.key.name) is not None:
                yield stored, disk

    def listed(self, history: History) -> dict[int, Member]:
        """Return who belongs to a history by its newest entry."""
        newest = self._it.universe.histories.get(history.cluster_id, history)
        return dict(newest.states[-1].members)

    # ------------------------------------------------------------------ how it stands

    def standing(self, cluster: ObjectKey) -> Standing:
        """Return how a cluster stands now."""
        found: dict[int, list[tuple[Lodger, Server]]] = {}
        for lodger, server in self.lodgers(cluster):
            if server is not None and server.history is not None and not server.ended:
                found.setdefault(id(server.history), []).append((lodger, server))
        if not found:
            return NOTHING
        leaders = {key: self._leader(some) for key, some in found.items()}
        main = max(found, key=lambda it: (leaders[it] is not None, len(found[it])))
        led = sum(it is not None for it in leaders.values())
        return self._stand(found[main], leaders[main], led)

    def _leader(self, some: list[tuple[Lodger, Server]]) -> Server | None:
        history = some[0][1].history
        return self._it.universe.leader_of(history) if history is not None else None

    def _stand(
        self, some: list[tuple[Lodger, Server]], leader: Server | None, led: int
    ) -> Standing:
        universe, history = self._it.universe, some[0][1].history
        if history is None:
            return NOTHING
        voters = frozenset(history.states[-1].voters)
        up = [(lodger, it) for lodger, it in some if not it.hung]
        alive = self._together([it for _, it in up])
        staying = {it.member_id for lodger, it in up if not lodger.leaving}
        return Standing(
            history,
            voters,
            alive,
            alive & staying,
            alive & staying & {it.member_id for lodger, it in up if not lodger.node.lost},
            leader.member_id if leader is not None else 0,
            universe.term(history),
            tuple((it.member_id, it.start.address) for _, it in up),
            led,
        )

    def _together(self, up: list[Server]) -> frozenset[int]:
        """Return the most that can talk to one of them, or have not noticed yet that they cannot.

        Who is cut off says for about a second that it follows, and nobody can know better.
        """
        universe = self._it.universe
        if not universe.cuts:
            return frozenset(it.member_id for it in up)
        found: frozenset[int] = frozenset()
        for one in up:
            group = [
                it.member_id
                for it in up
                if it is one or universe.reaches(one, it) or believes_in(it, one.leader)
            ]
            found = max(found, frozenset(group), key=len)
        return found


def believes_in(server: Server, leader: int) -> bool:
    """Tell whether a member still says that it follows a leader whom it does not hear."""
    return bool(leader) and server.leader == leader and not server.hears


def cluster_of(pod: ObjectKey) -> ObjectKey:
    """Return the cluster that a pod is of, by its name."""
    return ObjectKey(pod.namespace, pod.name.rpartition("-")[0])


def claim_of(cluster: ObjectKey, claim: str) -> int | None:
    """Return the ordinal of a claim of a cluster; None: it is not one of its names."""
    _, _, rest = claim.partition(f"-{cluster.name}-")
    return ordinal_of(cluster.name, f"{cluster.name}-{rest}") if rest else None


def ordinal(member: Member) -> int:
    """Return the ordinal of a member by its address, which it has before its name."""
    host = member.peer_urls[0].partition("://")[2].partition(".")[0]
    tail = host.rpartition("-")[2]
    return int(tail) if tail.isdecimal() else -1


def changes(before: State, after: State) -> list[tuple[str, Member]]:
    """Return how an entry changed who belongs to a cluster, by the verbs of etcd."""
    if before.members is after.members:
        return []
    found: list[tuple[str, Member]] = []
    for id_, member in after.members.items():
        was = before.members.get(id_)
        if was is None:
            found.append(("add_learner", member))
        elif was.learner and not member.learner:
            found.append(("promote", member))
    gone = (it for id_, it in before.members.items() if id_ not in after.members)
    return found + [("remove", it) for it in gone]
