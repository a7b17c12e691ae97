"""What a user is told: the status of an EtcdCluster."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from stateward.kube.codec import Part
from stateward.kube.crd.blockers import Blocker
from stateward.kube.crd.fields import Field
from stateward.kube.meta import Condition


class MemberReport(Part):
    """One member as it was seen last.

    Defaults are not written. What is asked of every member, and may be 0 or false, has None for
    one, which no report of ours says.
    """

    name: Annotated[str, Field(description="The name of its pod.")]
    id: Annotated[str, Field(description="Its number in etcd, in hex.")] = ""
    ordinal: Annotated[
        int | None, Field(description="The number of its pod; -1: it is no pod of this cluster.")
    ] = None
    role: Annotated[str, Field(description="leader, follower, learner, joining, or unknown.")] = ""
    learner: Annotated[bool | None, Field(description="True while it has no vote.")] = None
    healthy: Annotated[
        bool | None, Field(description="Whether it answers and follows the leader.")
    ] = None
    unhealthy_since: Annotated[
        str | None, Field(description="Since when it is not healthy.", format="date-time")
    ] = None
    version: Annotated[str, Field(description="The etcd that it runs.")] = ""
    db_size: Annotated[str, Field(description="How large its database is, rounded.")] = ""
    index_lag: Annotated[
        int, Field(description="How many entries of the log it is behind, rounded.")
    ] = 0
    message: Annotated[str, Field(description="What is wrong with it, in plain words.")] = ""


class KnownMember(Part):
    """One entry of the last member list that a quorum agreed to."""

    name: Annotated[str, Field(description="The name of its pod.")] = ""
    id: Annotated[str, Field(description="Its number in etcd, in hex.")] = ""
    learner: Annotated[bool, Field(description="True when it had no vote.")] = False


class RecoveryReport(Part):
    """A recovery that a person approved: made once, and made again only by a new approval."""

    survivor: Annotated[str, Field(description="The member that the cluster goes on from.")] = ""
    pod_uid: Annotated[str, Field(description="Its pod, before it was started again.")] = ""
    snapshot: Annotated[str, Field(description="Where its data was saved before.")] = ""
    done: Annotated[bool, Field(description="True when the cluster has a quorum again.")] = False


class Progress(Part):
    """How far work that takes several steps is."""

    step: Annotated[str, Field(description="What is under way.")] = ""
    done: Annotated[int, Field(description="How many parts are done.")] = 0
    of: Annotated[int, Field(description="How many parts there are.")] = 0


class EtcdClusterStatus(Part):
    """What a cluster is."""

    observed_generation: Annotated[
        int, Field(description="The generation of the spec that this status speaks of.")
    ] = 0
    doing: Annotated[str, Field(description="What is going on, in plain words.")] = ""
    replicas: Annotated[int, Field(description="How many members vote.")] = 0
    ready_members: Annotated[str, Field(description="Healthy voters of those wanted.")] = ""
    selector: Annotated[str, Field(description="Selects the pods, for scaling.")] = ""
    cluster_id: Annotated[
        str, Field(description="Which etcd cluster this is, in hex; never changes.")
    ] = ""
    beginning: Annotated[
        int,
        Field(description="How many members were told to begin together, until a quorum is seen."),
    ] = 0
    leader: Annotated[str, Field(description="The member that leads.")] = ""
    version: Annotated[
        str, Meta(max_length=64), Field(description="The oldest etcd that a member runs.")
    ] = ""
    members: Annotated[
        tuple[MemberReport, ...],
        Field(description="The members as seen last.", list_type="map", keys=("name",)),
    ] = ()
    last_known_members: Annotated[
        tuple[KnownMember, ...],
        Field(description="The last list that a quorum agreed to.", list_type="atomic"),
    ] = ()
    revision: Annotated[
        int, Field(description="A revision of the data that was seen; less means lost data.")
    ] = 0
    auth_enabled: Annotated[
        bool, Field(description="Whether logins are on by our doing, or about to be.")
    ] = False
    last_defragmentation: Annotated[
        str | None, Field(description="When space was last reclaimed.", format="date-time")
    ] = None
    recovery: Annotated[
        RecoveryReport | None, Field(description="How far an approved recovery of quorum is.")
    ] = None
    blockers: Annotated[
        tuple[Blocker, ...],
        Field(description="Every guard that holds something back.", list_type="atomic"),
    ] = ()
    progress: Annotated[Progress | None, Field(description="How far long work is.")] = None
    conditions: Annotated[
        tuple[Condition, ...],
        Field(
            description="Ready, Available, Quorate, Progressing, Degraded, Paused.",
            list_type="map",
            keys=("type",),
        ),
    ] = ()
