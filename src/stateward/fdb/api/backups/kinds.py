"""FoundationDBBackup and FoundationDBRestore as kinds of Kubernetes."""

from __future__ import annotations

from typing import Annotated, Final

from stateward.fdb.api.backups.backup import FoundationDBBackupSpec, FoundationDBBackupStatus
from stateward.fdb.api.backups.restore import FoundationDBRestoreSpec, FoundationDBRestoreStatus
from stateward.fdb.api.kind import VERSION
from stateward.fdb.model.names import GROUP
from stateward.kube.crd.fields import Field
from stateward.kube.crd.kind import Column, CustomKind, Version
from stateward.kube.meta import Object
from stateward.kube.resources import Resource

#: The longest name that leaves room for that of its deployment.
LONGEST_NAME: Final = 49


class FoundationDBBackup(Object, kw_only=True):
    """A backup of a FoundationDB cluster, and the agents that make it."""

    spec: Annotated[FoundationDBBackupSpec, Field(description="What it is asked to be.")]
    status: Annotated[FoundationDBBackupStatus, Field(description="What it is.")] = (
        FoundationDBBackupStatus()
    )


class FoundationDBRestore(Object, kw_only=True):
    """A backup that is restored into a FoundationDB cluster, once."""

    spec: Annotated[FoundationDBRestoreSpec, Field(description="What it is asked to be.")]
    status: Annotated[FoundationDBRestoreStatus, Field(description="What it is.")] = (
        FoundationDBRestoreStatus()
    )


BACKUPS: Final = Resource(
    GROUP,
    VERSION,
    "FoundationDBBackup",
    "foundationdbbackups",
    FoundationDBBackup,
    has_status=True,
)
RESTORES: Final = Resource(
    GROUP,
    VERSION,
    "FoundationDBRestore",
    "foundationdbrestores",
    FoundationDBRestore,
    has_status=True,
)
_DETAILS: Final = ".status.backupDetails"

BACKUP_KIND: Final = CustomKind(
    versions=(
        Version(
            resource=BACKUPS,
            columns=(
                Column(name="Generation", path=".metadata.generation", type="integer"),
                Column(name="Reconciled", path=".status.generations.reconciled", type="integer"),
                Column(name="Restorable", path=f"{_DETAILS}.restorable", type="boolean"),
                # How old the newest point is by now is how much would be lost.
                Column(name="Lag", path=f"{_DETAILS}.latestRestorable.time", type="date"),
                Column(name="Last Snapshot", path=f"{_DETAILS}.lastSnapshot.time", type="date"),
                Column(name="Tag", path=f"{_DETAILS}.tag"),
                Column(name="Cluster", path=".spec.clusterName", priority=1),
                Column(name="Agents", path=".status.agentCount", type="integer", priority=1),
                # How long ago a drill last restored it.
                Column(name="Proven", path=".status.drill.proven", type="date", priority=1),
                Column(name="Doing", path=".status.doing"),
                Column(name="Age", path=".metadata.creationTimestamp", type="date"),
            ),
            name_max_length=LONGEST_NAME,
        ),
    ),
    short_names=("fdbbackup",),
    categories=("stateward",),
)
RESTORE_KIND: Final = CustomKind(
    versions=(
        Version(
            resource=RESTORES,
            columns=(
                Column(name="Cluster", path=".spec.destinationClusterName"),
                Column(name="State", path=".status.state"),
                Column(name="Percent", path=".status.progress.percent", type="integer"),
                Column(name="Version", path=".status.version", type="integer", priority=1),
                Column(name="Doing", path=".status.doing"),
                Column(name="Age", path=".metadata.creationTimestamp", type="date"),
            ),
        ),
    ),
    short_names=("fdbrestore",),
    categories=("stateward",),
)
