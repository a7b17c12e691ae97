"""A whole etcd cluster on Kubernetes as plain values: moves are made in it, and faults.

Exact where the chart depends on it, and simple elsewhere:

- A *history* is what voters have agreed to. Bootstrapping begins one, and so does a start with
  force-new-cluster, under the same cluster id. Two that are alive at once are a split brain.
- A disk knows the history and the member whose data is on it; an empty one knows nothing.
- etcd starts as it does: on data it goes on as who it was, and stops if it was removed; without
  data it obeys the config, and stops if it does not find itself there or the list is another.
- etcd answers clients once it has seen a quorum, and goes on doing so when that is lost.
- etcd carries out what it is asked for without asking whether that is wise: that is our part.

``tick`` is one round of Kubernetes and etcd; etcd_passes.py has the operator's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fakes.etcd_views import (
    CLUSTER_ID,
    NAME,
    NOW,
    UID,
    peer_url,
)
from stateward.etcd.api.status import EtcdClusterStatus
from stateward.etcd.decide import moves
from stateward.etcd.model.members import Member, quorum
from stateward.etcd.model.names import ordinal_of
from stateward.etcd.model.view import (
    Config,
    Listed,
    Replica,
)

GRACE = 10.0


@dataclass(slots=True)
class Entry:
    """A member of a history."""

    ordinal: int
    learner: bool = False
    started: bool = False


@dataclass(slots=True)
class History:
    """What one set of voters has agreed to."""

    cluster_id: int
    members: dict[int, Entry]
    leader: int = 0
    revision: int = 1
    #: Whether a quorum of it was ever alive.
    formed: bool = False

    @property
    def voters(self) -> dict[int, Entry]:
        return {id_: it for id_, it in self.members.items() if not it.learner}


@dataclass(slots=True)
class Disk:
    """Data of one member."""

    history: int
    member: int


@dataclass(slots=True)
class Claim:
    """A claim, and what is on its volume."""

    uid: str
    created: float
    disk: Disk | None = None
    deleting: bool = False
    owner: str = ""
    left_by: str = ""


@dataclass(slots=True)
class Pod:
    """A pod, and its etcd."""

    uid: str
    created: float
    revision: str
    deleting: bool = False
    node: bool = True
    #: Whom its etcd runs as; None: it does not run.
    runs: Disk | None = None
    #: Whether its etcd has seen a quorum since it started, and so answers.
    speaks: bool = False
    restarts: int = 0


@dataclass(slots=True)
class StatefulSet:
    """The workload, and which template its pods are made from."""

    uid: str
    replicas: int
    start: int
    revision: str

    @property
    def ordinals(self) -> range:
        return range(self.start, self.start + self.replicas)


@dataclass(slots=True)
class EtcdWorld:
    """All there is."""

    wanted: int
    wanted_revision: str = "rev-1"
    now: float = NOW
    config: Config | None = None
    workload: StatefulSet | None = None
    pods: dict[int, Pod] = field(default_factory=dict)
    claims: dict[int, Claim] = field(default_factory=dict)
    histories: list[History] = field(default_factory=list)
    status: EtcdClusterStatus = field(default_factory=EtcdClusterStatus)
    #: Ordinals for whose pods there is no room.
    homeless: set[int] = field(default_factory=set)
    #: What must never happen and did, in words.
    broken: list[str] = field(default_factory=list)
    #: Whether more was taken from a history than it can bear: then nobody can bring it back.
    doomed: bool = False
    number: int = 0

    def fresh(self) -> int:
        """Return a number that was not there before."""
        self.number += 1
        return self.number

    # ------------------------------------------------------------------ Kubernetes and etcd

    def tick(self) -> None:
        """Let a second pass for everybody but the operator."""
        self.now += 1.0
        self._bury()
        self._control()
        for ordinal, pod in sorted(self.pods.items()):
            pod.node = pod.node or ordinal not in self.homeless
            if pod.node and pod.runs is None and not pod.deleting:
                self._start(ordinal, pod)
        for n, history in enumerate(self.histories):
            self._agree(n, history)

    def _bury(self) -> None:
        self.pods = {n: it for n, it in self.pods.items() if not it.deleting}
        kept = {n: it for n, it in self.claims.items() if n in self.pods or not it.deleting}
        self.claims = kept
        self.judge_losses()

    def _control(self) -> None:
        workload = self.workload
        if workload is None:
            return
        for ordinal, pod in self.pods.items():
            pod.deleting = pod.deleting or ordinal not in workload.ordinals
        for ordinal in workload.ordinals:
            claim = self.claims.get(ordinal)
            if ordinal in self.pods or (claim is not None and claim.deleting):
                continue
            if claim is None:
                self.claims[ordinal] = Claim(f"claim-{self.fresh()}", self.now)
            home = ordinal not in self.homeless
            self.pods[ordinal] = Pod(f"pod-{self.fresh()}", self.now, workload.revision, node=home)

    def _start(self, ordinal: int, pod: Pod) -> None:
        claim, config = self.claims.get(ordinal), self.config
        if claim is None or config is None:
            return
        found = self._on_data(ordinal, claim.disk) if claim.disk else self._without_data(ordinal)
        if found is None:
            pod.restarts += 1
            return
        pod.runs, claim.disk = replace(found), found

    def _on_data(self, ordinal: int, disk: Disk) -> Disk | None:
        history = self.histories[disk.history]
        if disk.member not in history.members:
            return None
        if self.config is None or not self.config.force_new_cluster:
            return disk
        others = [n for n, it in self.pods.items() if n != ordinal]
        if others:
            self.broken.append(f"E-S8: {ordinal} starts by force beside the pods {others}")
        alone = {disk.member: Entry(ordinal, started=True)}
        self.histories.append(History(history.cluster_id, alone, revision=history.revision))
        return Disk(len(self.histories) - 1, disk.member)

    def _without_data(self, ordinal: int) -> Disk | None:
        config = self.config
        names = [name for name, _ in config.initial_cluster] if config else []
        if config is None or f"{NAME}-{ordinal}" not in names:
            return None
        return self._join(ordinal, config) if config.existing else self._bootstrap(ordinal, config)

    def _join(self, ordinal: int, config: Config) -> Disk | None:
        for n, history in self._alive():
            urls = {peer_url(it.ordinal) for it in history.members.values()}
            if urls != {url for _, url in config.initial_cluster}:
                continue
            id_ = next(id_ for id_, it in history.members.items() if it.ordinal == ordinal)
            if history.members[id_].started and not history.members[id_].learner:
                self.broken.append(f"E-S6: {ordinal} forgot everything and votes again")
            return Disk(n, id_)
        return None

    def _bootstrap(self, ordinal: int, config: Config) -> Disk | None:
        found = [ordinal_of(NAME, name) for name, _ in config.initial_cluster]
        ordinals = [it for it in found if it is not None]
        id_ = CLUSTER_ID + sum(1 << (8 + it) for it in ordinals)
        for n, history in enumerate(self.histories):
            if history.cluster_id == id_:
                own = [i for i, it in history.members.items() if it.ordinal == ordinal]
                return Disk(n, own[0]) if own else None
        members = {0xA000 + id_ + it: Entry(it) for it in ordinals}
        self.histories.append(History(id_, members))
        return Disk(len(self.histories) - 1, 0xA000 + id_ + ordinal)

    def _agree(self, n: int, history: History) -> None:
        if not self.has_quorum(n):
            history.leader = 0
            return
        history.formed = True
        history.revision += 1
        present = self.running(n)
        for ordinal in present.values():
            self.pods[ordinal].speaks = True
        for id_ in present:
            history.members[id_].started = True
        if history.leader not in present or history.members[history.leader].learner:
            history.leader = min(it for it in present if it in history.voters)

    # ------------------------------------------------------------------ what befalls it

    def crash(self, n: int) -> None:
        """Let the etcd of a pod die."""
        if pod := self.pods.get(n):
            pod.runs, pod.speaks, pod.restarts = None, False, pod.restarts + 1

    def empty(self, n: int) -> None:
        """Let a disk lose everything, and its etcd die of it."""
        if claim := self.claims.get(n):
            claim.disk = None
            self.judge_losses()
            self.crash(n)

    def delete_pod(self, n: int) -> None:
        """Let somebody delete a pod, whose etcd stops at once or goes on for a while."""
        if pod := self.pods.get(n):
            pod.deleting = True

    def no_room(self, n: int) -> None:
        """Let the next pod of an ordinal find no node."""
        self.homeless.add(n)

    def room(self) -> None:
        """Let all pods find nodes again."""
        self.homeless.clear()

    def scale(self, n: int) -> None:
        """Let the user want so many members."""
        self.wanted = n

    def template(self) -> None:
        """Let the user change what pods are made from."""
        self.wanted_revision = f"rev-{self.fresh()}"

    def wait(self) -> None:
        """Let more than the grace time go by in which nobody does anything."""
        self.now += GRACE + 1

    def orphan(self) -> None:
        """Let somebody delete the workload and leave its pods."""
        self.workload = None

    def forget_config(self) -> None:
        """Let somebody delete what members start with."""
        self.config = None

    # ------------------------------------------------------------------ who is alive

    def running(self, n: int) -> dict[int, int]:
        """Return the members of a history whose etcd runs, and their ordinals."""
        members = self.histories[n].members
        return {
            it.runs.member: ordinal
            for ordinal, it in sorted(self.pods.items())
            if it.runs is not None and it.runs.history == n and it.runs.member in members
        }

    def has_quorum(self, n: int) -> bool:
        """Tell whether a majority of a history's voters runs."""
        voters = self.histories[n].voters
        return sum(it in voters for it in self.running(n)) >= quorum(len(voters))

    def stands(self, n: int) -> bool:
        """Tell whether a history has a quorum of pods that are not on their way out."""
        voters = self.histories[n].voters
        kept = self.workload.ordinals if self.workload else range(1000)
        alive = [
            id_
            for id_, ordinal in self.running(n).items()
            if id_ in voters and not self.pods[ordinal].deleting and ordinal in kept
        ]
        return len(alive) >= quorum(len(voters))

    def _alive(self) -> Iterator[tuple[int, History]]:
        for n, history in enumerate(self.histories):
            if self.has_quorum(n):
                yield n, history

    @property
    def current(self) -> int | None:
        """The history that goes on: the one with a quorum, or the last one that was formed."""
        alive = [n for n, _ in self._alive()]
        formed = [n for n, it in enumerate(self.histories) if it.formed]
        return (alive or formed or [None])[-1]

    @property
    def dispensable(self) -> set[int]:
        """The ordinals that are not wanted and have no vote: their pods may find no node ever."""
        n = self.current
        if n is None:
            return set()
        voters = {it.ordinal for it in self.histories[n].voters.values()}
        return set(range(max(self.wanted, 1), 64)) - voters

    def judge_losses(self) -> None:
        """Notice when less than a majority of the data is left."""
        n = self.current
        disks = {(it.disk.history, it.disk.member) for it in self.claims.values() if it.disk}
        if n is None:
            # A beginning whose disks are emptied may begin again, as another cluster or as half.
            return
        voters = self.histories[n].voters
        left = sum((n, it) in disks for it in voters)
        self.doomed = self.doomed or left < quorum(len(voters))

    # ------------------------------------------------------------------ what it is asked for

    def make(self, move: moves.Move) -> bool:
        """Make a move; tell whether anything was done."""
        match move:
            case moves.WriteConfig(config=config):
                self.config = config
            case moves.WriteWorkload():
                self._write_workload(move)
            case moves.DeletePod() | moves.DeleteClaim() | moves.OwnClaim() | moves.LeaveClaim():
                self._touch(move)
            case moves.AddLearner() | moves.Promote() | moves.RemoveMember() | moves.MoveLeader():
                return self._change(move)
            case _:
                return False
        return True

    def _touch(self, move: moves.Move) -> None:
        match move:
            case moves.DeletePod(pod=pod):
                self.pods[pod.ordinal].deleting = True
            case moves.DeleteClaim(claim=claim):
                self.claims[claim.ordinal].deleting = True
            case moves.OwnClaim(claim=claim, owned=owned):
                self.claims[claim.ordinal].owner = UID if owned else ""
            case moves.LeaveClaim(claim=claim, member_id=id_):
                self.claims[claim.ordinal].left_by = f"{id_:x}"

    def _write_workload(self, move: moves.WriteWorkload) -> None:
        old = self.workload
        revision = old.revision if old and move.size_only else self.wanted_revision
        uid = old.uid if old else f"workload-{self.fresh()}"
        self.workload = StatefulSet(uid, move.replicas, move.start, revision)

    def _change(self, move: moves.Move) -> bool:
        n = self.current
        if n is None or not self.has_quorum(n):
            return False
        history = self.histories[n]
        match move:
            case moves.AddLearner(ordinal=ordinal):
                history.members[0xB000 + self.fresh()] = Entry(ordinal, learner=True)
            case moves.Promote(member_id=id_):
                history.members[id_].learner = False
            case moves.RemoveMember(member_id=id_):
                history.members.pop(id_, None)
                self._expel(n, id_)
            case moves.MoveLeader(to=Replica(listed=Listed(member=Member(id=id_)))):
                history.leader = id_
        return True

    def _expel(self, n: int, id_: int) -> None:
        for pod in self.pods.values():
            if pod.runs == Disk(n, id_):
                pod.runs, pod.speaks, pod.restarts = None, False, pod.restarts + 1
