"""A drill of a backup: it is restored into a throw-away cluster now and then, to prove that it can.

What is asked for is small; what has become of it is on record before anything of it is done, so
that whoever comes later goes on where somebody else ended.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from stateward.fdb.api.backups import rules
from stateward.kube.codec import Part
from stateward.kube.crd.fields import Field, Quantity, definition

#: How long one may take, if nobody says so: six hours.
DEFAULT_TIMEOUT = 21_600
#: How many agents restore, if nobody says so.
DEFAULT_AGENTS = 1

Resources: TypeAlias = Annotated[
    dict[str, Any], definition("io.k8s.api.core.v1.ResourceRequirements")
]


class DrillCounts(Part, rename=None):
    """How many pods of each class the throw-away cluster has; 0: one."""

    storage: Annotated[int, Meta(ge=0, le=1000), Field(description="Storage servers.")] = 0
    log: Annotated[int, Meta(ge=0, le=1000), Field(description="Logs.")] = 0
    stateless: Annotated[int, Meta(ge=0, le=1000), Field(description="Whatever keeps no data.")] = 0


class BackupDrill(Part):
    """When it is proved that the backup can be restored, and into what."""

    schedule: Annotated[
        str,
        Meta(min_length=1, max_length=100, pattern=rules.SCHEDULE),
        Field(description="When one is begun, as in 0 5 * * 0, or @weekly, in UTC."),
    ]
    timeout_seconds: Annotated[
        Annotated[int, Meta(ge=60, le=31_536_000)] | None,
        Field(description="After how long one is ended that proved nothing; not said: six hours."),
    ] = None
    process_counts: Annotated[
        DrillCounts, Field(description="How many pods the throw-away cluster has.")
    ] = DrillCounts()
    resources: Annotated[
        Resources | None,
        Field(description="What its fdbserver containers ask for; not said: as in the cluster."),
    ] = None
    storage: Annotated[
        Quantity | None,
        Field(description="How large its volumes are; not said: as in the cluster."),
    ] = None
    agent_count: Annotated[
        Annotated[int, Meta(ge=1, le=10_000)] | None,
        Field(description="How many agents restore; not said: 1."),
    ] = None


# ------------------------------------------------------------------ what has become of it
#: What one does now; nothing: none goes on.
DrillPhase: TypeAlias = Literal["MakingCluster", "MakingAgents", "Restoring", "Verifying", "Ending"]


class DrillRun(Part):
    """A drill that goes on."""

    phase: Annotated[DrillPhase, Field(description="What it does.")]
    began: Annotated[str, Field(description="Since when.", format="date-time")] = ""
    version: Annotated[
        int | None, Field(description="To which version; not said: the newest there is.")
    ] = None
    version_time: Annotated[
        str | None, Field(description="When the database was that.", format="date-time")
    ] = None
    url: Annotated[str, Field(description="What is restored.")] = ""
    cluster_uid: Annotated[str, Field(description="Its throw-away cluster.")] = msgspec.field(
        default="", name="clusterUID"
    )
    agents_uid: Annotated[str, Field(description="The object of its agents.")] = msgspec.field(
        default="", name="agentsUID"
    )
    restore_uid: Annotated[str, Field(description="Its restore.")] = msgspec.field(
        default="", name="restoreUID"
    )


class DrillResult(Part):
    """What a drill has shown."""

    began: Annotated[str, Field(description="Since when.", format="date-time")] = ""
    ended: Annotated[str, Field(description="Until when.", format="date-time")] = ""
    seconds: Annotated[int, Field(description="How long it took.")] = 0
    proven: Annotated[bool, Field(description="It could be restored.")] = False
    version: Annotated[int | None, Field(description="To which version.")] = None
    version_time: Annotated[
        str | None, Field(description="When the database was that.", format="date-time")
    ] = None
    bytes_written: Annotated[int, Field(description="How much was written.")] = 0
    keys_seen: Annotated[
        int | None,
        Field(description="How many of the first hundred keys were there; not said: unknown."),
    ] = None
    reason: Annotated[str, Field(description="What came of it, in a word.")] = ""
    trouble: Annotated[str, Field(description="Why it could not be restored.")] = ""


class BackupDrills(Part):
    """What has become of drills."""

    since: Annotated[
        str | None,
        Field(description="Up to when all moments are dealt with.", format="date-time"),
    ] = None
    next: Annotated[
        str | None, Field(description="When the next one is begun.", format="date-time")
    ] = None
    skipped: Annotated[
        str | None,
        Field(
            description="Which moment was last left out: the one before went on.",
            format="date-time",
        ),
    ] = None
    run: Annotated[DrillRun | None, Field(description="The one that goes on.")] = None
    last: Annotated[DrillResult | None, Field(description="What the last one has shown.")] = None
    proven: Annotated[
        str | None, Field(description="When it was last restored.", format="date-time")
    ] = None
    proven_version: Annotated[int | None, Field(description="To which version, then.")] = None
