"""Every move there is. One is chosen in a pass; its name reaches status, events, logs, metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from stateward.etcd.model.members import Alarm
from stateward.etcd.model.view import ClaimSeen, Config, PodSeen, Replica


@dataclass(frozen=True, slots=True)
class WriteConfig:
    """Write the variables that members start with."""

    name: ClassVar = "WriteConfig"
    config: Config
    why: str

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        return f"writing what members start with: {self.why}"


@dataclass(frozen=True, slots=True)
class WriteWorkload:
    """Write the StatefulSet with so many pods, from an ordinal on."""

    name: ClassVar = "WriteWorkload"
    replicas: int
    why: str
    start: int = 0
    #: Leave the rest of it as it is.
    size_only: bool = False

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        pods = "one pod" if self.replicas == 1 else f"{self.replicas} pods"
        return f"writing the StatefulSet with {pods}: {self.why}"


@dataclass(frozen=True, slots=True)
class RecreateWorkload:
    """Delete the StatefulSet and leave its pods, so that a new one can say what this cannot."""

    name: ClassVar = "RecreateWorkload"
    uid: str
    why: str

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        return f"making the StatefulSet anew around its pods: {self.why}"


@dataclass(frozen=True, slots=True)
class AddLearner:
    """Add a member without a vote; ``config`` must be in place before."""

    name: ClassVar = "AddLearner"
    ordinal: int
    member: str
    peer_url: str

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        return f"adding {self.member} as a learner"


@dataclass(frozen=True, slots=True)
class Promote:
    """Give a learner its vote."""

    name: ClassVar = "Promote"
    member_id: int
    member: str

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        return f"giving {self.member} its vote"


@dataclass(frozen=True, slots=True)
class RemoveMember:
    """Take a member off the list, for good."""

    name: ClassVar = "RemoveMember"
    member_id: int
    member: str
    why: str
    #: Only if this claim is still there: it is why the member must go.
    off: ClaimSeen | None = None
    #: Only if this pod is still there and no readier: that it says nothing is why it must go.
    silent: PodSeen | None = None

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        return f"removing {self.member}: {self.why}"


@dataclass(frozen=True, slots=True)
class MoveLeader:
    """Hand leadership from one healthy voter to another."""

    name: ClassVar = "MoveLeader"
    leader: Replica
    to: Replica
    why: str

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        return f"moving leadership from {self.leader.name} to {self.to.name}: {self.why}"


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete a pod; the StatefulSet makes it again."""

    name: ClassVar = "DeletePod"
    pod: PodSeen
    why: str
    #: Only if this claim is still there: it is why the pod must go.
    off: ClaimSeen | None = None
    #: Only as it was seen: what it did then is why it must go, and it may be well by now.
    as_seen: bool = False

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        return f"restarting {self.pod.name}: {self.why}"


@dataclass(frozen=True, slots=True)
class DeleteClaim:
    """Delete the claim of a replica that the quorum does not list, or lists as never started."""

    name: ClassVar = "DeleteClaim"
    claim: ClaimSeen
    why: str
    #: The pod that may be there still, if it is this one: it is let go next, and the claim goes
    #: after it.
    under: PodSeen | None = None

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        return f"deleting volume claim {self.claim.name}: {self.why}"


@dataclass(frozen=True, slots=True)
class LeaveClaim:
    """Note on a claim whose data it holds, before that member is removed: nobody else needs it."""

    name: ClassVar = "LeaveClaim"
    claim: ClaimSeen
    member_id: int

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        return f"noting that volume claim {self.claim.name} is left by member {self.member_id:x}"


@dataclass(frozen=True, slots=True)
class OwnClaim:
    """Tie a claim to the cluster, so that it goes with it, or untie it, so that it stays."""

    name: ClassVar = "OwnClaim"
    claim: ClaimSeen
    owned: bool

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        fate = "goes with the cluster" if self.owned else "outlives the cluster"
        return f"noting that volume claim {self.claim.name} {fate}"


@dataclass(frozen=True, slots=True)
class GrowClaim:
    """Ask for a larger volume."""

    name: ClassVar = "GrowClaim"
    claim: ClaimSeen
    size: str

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        return f"asking for {self.size} for volume claim {self.claim.name}"


@dataclass(frozen=True, slots=True)
class Compact:
    """Forget history, so that a full database has room."""

    name: ClassVar = "Compact"
    revision: int

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        return f"the database is full: forgetting the history before revision {self.revision}"


@dataclass(frozen=True, slots=True)
class Defragment:
    """Give freed space of one member back."""

    name: ClassVar = "Defragment"
    replica: Replica

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        return f"the database is full: giving freed space of {self.replica.name} back"


@dataclass(frozen=True, slots=True)
class Disarm:
    """Take an alarm back whose cause is gone."""

    name: ClassVar = "Disarm"
    alarm: Alarm

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        return f"taking the alarm {self.alarm.kind.name} of member {self.alarm.member_id:x} back"


@dataclass(frozen=True, slots=True)
class SetAuth:
    """Turn logins on or off."""

    name: ClassVar = "SetAuth"
    enabled: bool

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        return f"turning logins {'on' if self.enabled else 'off'}"


@dataclass(frozen=True, slots=True)
class SaveSurvivor:
    """Save the data of the member that a cluster without a majority shall go on from."""

    name: ClassVar = "SaveSurvivor"
    replica: Replica

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        return f"saving the data of {self.replica.name} before going on from it"


@dataclass(frozen=True, slots=True)
class Await:
    """Do nothing until something changes, or for some seconds."""

    reason: str
    message: str
    #: Seconds; None: an event of Kubernetes tells.
    after: float | None = None

    @property
    def name(self) -> str:
        """What is waited for."""
        return self.reason


@dataclass(frozen=True, slots=True)
class Refuse:
    """Do nothing until a person acts."""

    reason: str
    message: str
    hint: str

    @property
    def name(self) -> str:
        """Which guard refuses."""
        return self.reason


@dataclass(frozen=True, slots=True)
class Rest:
    """Nothing is left to do."""

    name: ClassVar = "Rest"

    @property
    def message(self) -> str:
        """What is done, in plain words."""
        return "nothing to do"


Act: TypeAlias = (
    WriteConfig
    | WriteWorkload
    | RecreateWorkload
    | AddLearner
    | Promote
    | RemoveMember
    | MoveLeader
    | DeletePod
    | DeleteClaim
    | LeaveClaim
    | OwnClaim
    | GrowClaim
    | Compact
    | Defragment
    | Disarm
    | SetAuth
    | SaveSurvivor
)
Move: TypeAlias = Act | Await | Refuse | Rest
