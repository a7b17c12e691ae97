"""A restore into a cluster: what is asked for once, and what has become of it."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import Meta

from stateward.fdb.api.backups import rules
from stateward.fdb.api.backups.stores import BlobStore, Parameters
from stateward.kube.codec import Part
from stateward.kube.crd.blockers import Blocker
from stateward.kube.crd.fields import Field, Rule
from stateward.kube.meta import Condition

# Nothing said is the first.
DestinationPolicy: TypeAlias = Literal["", "refuse", "clear"]


class KeyRange(Part):
    """Keys from one on and below another."""

    start: Annotated[
        str, Meta(max_length=10_000, pattern=rules.KEY), Field(description="The first key.")
    ]
    end: Annotated[
        str, Meta(max_length=10_000, pattern=rules.KEY), Field(description="The key after them.")
    ]


class FoundationDBRestoreSpec(Part):
    """What is restored, and where to; it counts as it was when the restore was begun."""

    RULES: ClassVar[tuple[Rule, ...]] = rules.RESTORE_RULES

    destination_cluster_name: Annotated[
        str, Meta(min_length=1, max_length=63), Field(description="Which cluster, beside it.")
    ]
    destination_cluster_uid: Annotated[
        str,
        Meta(max_length=64),
        Field(description="Which very cluster, by metadata.uid; not said: any of that name."),
    ] = msgspec.field(default="", name="destinationClusterUID")
    key_ranges: Annotated[
        tuple[KeyRange, ...],
        Field(description="What of it; not said: all.", list_type="atomic", max_items=1000),
    ] = ()
    destination_policy: Annotated[
        DestinationPolicy,
        Field(
            description="Where there are keys already: refuse; or clear, which deletes what is in"
            " keyRanges, or all, once, right before it is restored."
        ),
    ] = ""
    blob_store_configuration: Annotated[
        BlobStore | None, Field(description="Where the backup lies.")
    ] = None
    file_url: Annotated[
        str,
        Meta(max_length=1000, pattern=rules.FILE_URL),
        Field(description="Or which folder it is: the one that was made by starting it."),
    ] = msgspec.field(default="", name="fileURL")
    backup_name: Annotated[
        str,
        Meta(max_length=253),
        Field(description="Or the FoundationDBBackup beside it of which this restores."),
    ] = ""
    custom_parameters: Annotated[
        Parameters, Field(description="More arguments, as in knob_restore_write_tx_size=10000.")
    ] = ()
    encryption_key_path: Annotated[
        str, Meta(max_length=1000), Field(description="A file, with the key.")
    ] = ""
    backup_version: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Field(description="To which version; not said: the newest there is."),
    ] = None


class RestoreBegun(Part):
    """That it was to be begun: on record before anybody was asked to."""

    cluster_name: Annotated[str, Field(description="Into which cluster.")] = ""
    cluster_uid: Annotated[str, Field(description="Into which very cluster of that name.")] = ""
    at: Annotated[str | None, Field(description="When.", format="date-time")] = None
    generation: Annotated[int, Field(description="By which generation of the spec.")] = 0


class RestoreClearing(Part):
    """That keys are to be deleted before: on record a while before that is done."""

    at: Annotated[str | None, Field(description="Since when.", format="date-time")] = None
    done: Annotated[bool | None, Field(description="They are deleted.")] = None
    version: Annotated[
        int | None, Field(description="To which version it can be restored then.")
    ] = None
    url: Annotated[
        str, Field(description="From where, whatever becomes of the backup that spec names.")
    ] = ""


class RestoreProgress(Part):
    """How far a restore is."""

    blocks: Annotated[int, Field(description="How many blocks of files there are.")] = 0
    blocks_done: Annotated[int, Field(description="How many are read.")] = 0
    bytes_written: Annotated[int, Field(description="How much was written.")] = 0
    lag_versions: Annotated[
        int, Field(description="How many versions were read and are yet to be applied.")
    ] = 0
    percent: Annotated[int, Field(description="How many of a hundred blocks are read.")] = 0
    seconds_left: Annotated[
        int | None, Field(description="How long the other blocks take at this rate.")
    ] = None
    since: Annotated[
        str | None,
        Field(description="Since when agents were last seen to restore.", format="date-time"),
    ] = None
    blocks_before: Annotated[int, Field(description="How many blocks were read by then.")] = 0


class FoundationDBRestoreStatus(Part):
    """What a restore is."""

    observed_generation: Annotated[
        int, Field(description="The generation of the spec that this status speaks of.")
    ] = 0
    doing: Annotated[str, Field(description="What is going on, in plain words.")] = ""
    running: Annotated[bool | None, Field(description="It goes on.")] = None
    state: Annotated[
        str,
        Field(description="uninitialized, queued, starting, running, completed, aborted, unknown."),
    ] = ""
    tag: Annotated[str, Field(description="What the database calls it.")] = ""
    uid: Annotated[str, Field(description="Which restore of that tag.")] = ""
    begun: Annotated[RestoreBegun | None, Field(description="On record before it was begun.")] = (
        None
    )
    clearing: Annotated[
        RestoreClearing | None, Field(description="That keys are deleted before it is begun.")
    ] = None
    url: Annotated[str, Field(description="What is restored.")] = ""
    version: Annotated[int | None, Field(description="To which version.")] = None
    progress: Annotated[RestoreProgress | None, Field(description="How far it is.")] = None
    blockers: Annotated[
        tuple[Blocker, ...],
        Field(description="Whatever holds something back.", list_type="atomic"),
    ] = ()
    conditions: Annotated[
        tuple[Condition, ...],
        Field(
            description="Ready, Progressing, Degraded, Paused, Completed, Aborted, Failed.",
            list_type="map",
            keys=("type",),
        ),
    ] = ()
