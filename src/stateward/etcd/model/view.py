"""One cluster at one moment, as far as it could be seen. Frozen, and full of questions."""

from __future__ import annotations

from dataclasses import dataclass, field

from stateward.core.facts import Fact, Known, Unknown
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.model.members import Alarm, AlarmKind, Member, MemberStatus


@dataclass(frozen=True, slots=True)
class PodSeen:
    """A pod of the cluster."""

    uid: str
    name: str
    ordinal: int
    created: float
    #: Which version of it this is.
    version: str = ""
    address: str = ""
    node: str = ""
    ready: bool = False
    deleting: bool = False
    #: Whether the workload that is there made it; one of an earlier workload may still be leaving.
    ours: bool = True
    #: The UIDs of those with which it goes.
    owners: frozenset[str] = frozenset()
    #: Which revision of the workload it was made from.
    revision: str = ""
    #: Whether the container of etcd runs now, and how often it was started again.
    running: bool = False
    restarts: int = 0
    #: Whether nobody hears of its node, so that all that is said of its container is old.
    unheard: bool = False
    #: Why it does not run, in Kubernetes' word: CrashLoopBackOff, ImagePullBackOff, Unschedulable.
    trouble: str = ""
    #: How its last run ended, in Kubernetes' word: OOMKilled, Error, Completed.
    last_end: str = ""
    #: What its etcd said last before it ended, in a few words.
    last_words: str = ""
    #: Since when its etcd has had the chance to run that it has now, as far as this operator
    #: watched: before that it had no node, no image, or nobody looked.
    chance_since: float = 0.0


@dataclass(frozen=True, slots=True)
class ClaimSeen:
    """A claim of the cluster's members."""

    uid: str
    name: str
    ordinal: int
    created: float
    deleting: bool = False
    phase: str = ""
    #: UID of the EtcdCluster whose data it holds, by its label; empty: somebody else's making.
    cluster_uid: str = ""
    #: UID of the EtcdCluster that it goes with; empty: it stays.
    owner_uid: str = ""
    #: The member, in hex, that had its data on it when it was to be removed; empty: none was.
    left_by: str = ""
    #: Whether its labels say whose it is: without them nobody watches it.
    labelled: bool = True
    #: How much it asks for, in bytes.
    requested: int = 0
    #: How large its volume is, in bytes; what it asks for while there is none.
    size: int = 0

    @property
    def lost(self) -> bool:
        """True when the volume behind it is gone."""
        return self.phase == "Lost"

    @property
    def strange(self) -> bool:
        """True when nothing about it but its name says that it was ever of such a cluster."""
        return not (self.cluster_uid or self.owner_uid or self.labelled)


@dataclass(frozen=True, slots=True)
class WorkloadSeen:
    """The StatefulSet."""

    uid: str
    replicas: int
    #: The lowest ordinal; more than 0 only in the middle of a recovery.
    start: int = 0
    #: The revision that new pods are made from; empty while its controller has not looked.
    update_revision: str = ""
    deleting: bool = False
    #: UID of the EtcdCluster that controls it; empty: one that was here before left it behind.
    owner_uid: str = ""
    #: Whether what we want of it, beside its size, is not what it says.
    differs: bool = False
    #: Whether its claims must be larger than its template says, which only a new one can say.
    outgrown: bool = False
    #: Whether its template gives new claims to a cluster that is gone: they would go after it.
    disowned: bool = False
    #: How many bytes a database may grow to by the flags in its template; 0: they do not say.
    quota: int = 0
    #: The version of etcd that the image in its template names; empty: it names none.
    version: str = ""

    @property
    def is_settled(self) -> bool:
        """True when it says what we want, and its controller knows which pods are made from it."""
        return not self.differs and bool(self.update_revision)

    @property
    def ordinals(self) -> range:
        """The ordinals that have a pod, or will."""
        return range(self.start, self.start + self.replicas)


@dataclass(frozen=True, slots=True)
class Config:
    """The variables that members start with."""

    #: Name and peer URL of every member that a starting one must know of, by ordinal.
    initial_cluster: tuple[tuple[str, str], ...]
    existing: bool
    force_new_cluster: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry of the member list and the ordinal that it stands for; None: it is not ours."""

    member: Member
    ordinal: int | None


@dataclass(frozen=True, slots=True)
class Replica:
    """All that is known of one ordinal."""

    ordinal: int
    name: str
    peer_url: str
    pod: PodSeen | None = None
    claim: ClaimSeen | None = None
    status: Fact[MemberStatus] = field(default_factory=lambda: Unknown("there is no pod"))
    #: The entry in the quorum's list.
    listed: Listed | None = None

    @property
    def said(self) -> MemberStatus | None:
        """What its etcd said, if it answered."""
        return self.status.value if isinstance(self.status, Known) else None

    @property
    def votes(self) -> bool:
        """True when the quorum counts on it."""
        return self.listed is not None and not self.listed.member.learner


@dataclass(frozen=True, slots=True)
class View:
    """A cluster at one moment."""

    cluster: EtcdCluster
    now: float
    #: One for every ordinal that a pod, a claim, the workload, the list or the spec speaks of.
    replicas: tuple[Replica, ...] = ()
    #: Who is listed by a linearizable read: known means that there is a quorum.
    listed: Fact[tuple[Listed, ...]] = field(default_factory=lambda: Unknown("nobody answered"))
    #: What members list that cannot be the same cluster at the same moment, each in a few words.
    other_lists: frozenset[str] = frozenset()
    alarms: Fact[tuple[Alarm, ...]] = field(default_factory=lambda: Unknown("nobody answered"))
    auth_enabled: Fact[bool] = field(default_factory=lambda: Unknown("nobody answered"))
    workload: WorkloadSeen | None = None
    config: Config | None = None
    #: Whether the service is there by which members find each other.
    has_service: bool = True
    #: Names of claims that members would take, and that hold the data of another cluster.
    taken_claims: tuple[str, ...] = ()
    #: What is wrong with a secret that the spec names, in a sentence; empty: nothing.
    secret_flaw: str = ""
    #: The etcd that the wanted image holds; empty when it does not say.
    image_version: str = ""
    #: How many bytes a claim shall ask for; 0: data lies in an emptyDir.
    wanted_bytes: int = 0
    #: The same as people write it.
    wanted_size: str = ""

    # ---------------------------------------------------------------------------- what is wanted

    @property
    def wanted(self) -> int:
        """How many voters there shall be."""
        return self.cluster.spec.replicas

    # ---------------------------------------------------------------------------- who answers

    @property
    def reached(self) -> tuple[Replica, ...]:
        """The replicas whose etcd answered."""
        return tuple(it for it in self.replicas if it.said is not None)

    @property
    def cluster_ids(self) -> frozenset[str]:
        """The clusters that answered, in hex, and the one that this is known to be.

        Lists that contradict each other are of two clusters too, whatever they call themselves.
        """
        latched = self.cluster.status.cluster_id
        said = {f"{it.said.cluster_id:x}" for it in self.replicas if it.said is not None}
        return frozenset(said | self.other_lists | {latched} - {""})

    @property
    def has_quorum(self) -> bool:
        """True when a majority agreed to the member list just now."""
        return isinstance(self.listed, Known)

    @property
    def roster(self) -> tuple[Listed, ...]:
        """The quorum's list; empty when there is none, so ask for the quorum first."""
        return self.listed.value if isinstance(self.listed, Known) else ()

    @property
    def voters(self) -> tuple[Replica, ...]:
        """The replicas that the quorum counts on."""
        return tuple(it for it in self.replicas if it.votes)

    @property
    def learners(self) -> tuple[Replica, ...]:
        """The replicas that are listed and have no vote."""
        return tuple(it for it in self.replicas if it.listed is not None and not it.votes)

    @property
    def leader(self) -> Replica | None:
        """The voter that those who answered take for the leader."""
        for voter in self.voters:
            said = voter.said
            if said is not None and said.leader == said.member_id:
                return voter
        return None

    # ---------------------------------------------------------------------------- how they are

    def alarms_of(self, kind: AlarmKind, member_id: int | None = None) -> tuple[Alarm, ...]:
        """Return the alarms of a kind that are known to be on: one member's, or everybody's."""
        known = self.alarms.value if isinstance(self.alarms, Known) else ()
        return tuple(it for it in known if it.kind is kind and member_id in {None, it.member_id})

    def is_outdated(self, replica: Replica) -> bool:
        """Tell whether a pod was made from an older template than the one in force."""
        workload, pod = self.workload, replica.pod
        if workload is None or pod is None or not workload.update_revision:
            return False
        return pod.revision != workload.update_revision

    def is_healthy(self, replica: Replica) -> bool:
        """Tell whether a listed member answers as itself, has started, and follows the leader."""
        said, listed = replica.said, replica.listed
        if said is None or listed is None or not listed.member.started:
            return False
        if self.alarms_of(AlarmKind.CORRUPT, said.member_id):
            return False
        return said.member_id == listed.member.id and said.leader != 0

    @property
    def healthy_voters(self) -> tuple[Replica, ...]:
        """The voters that are healthy."""
        return tuple(it for it in self.voters if self.is_healthy(it))
