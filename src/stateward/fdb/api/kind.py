"""The FoundationDBCluster and the FoundationDBProcessGroup as kinds of Kubernetes."""

from __future__ import annotations

from typing import Annotated, ClassVar

from stateward.fdb.api.group import FoundationDBProcessGroupSpec, FoundationDBProcessGroupStatus
from stateward.fdb.api.rules import ROOT_RULES
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.api.status import FoundationDBClusterStatus
from stateward.fdb.model.names import GROUP
from stateward.kube.crd.fields import Field, Rule
from stateward.kube.crd.kind import Column, CustomKind, Version
from stateward.kube.meta import Object
from stateward.kube.resources import Resource

VERSION = "v1beta2"
#: The longest name that leaves room for the shortest pod name that every cluster may need.
LONGEST_NAME = 55


class FoundationDBCluster(Object, kw_only=True):
    """A FoundationDB cluster, or the part of one that lies in this namespace."""

    RULES: ClassVar[tuple[Rule, ...]] = ROOT_RULES

    spec: Annotated[FoundationDBClusterSpec, Field(description="What it is asked to be.")]
    status: Annotated[FoundationDBClusterStatus, Field(description="What it is.")] = (
        FoundationDBClusterStatus()
    )


class FoundationDBProcessGroup(Object, kw_only=True):
    """A pod of a FoundationDB cluster with its volume, its service and its processes."""

    spec: Annotated[FoundationDBProcessGroupSpec, Field(description="What it is asked to be.")]
    status: Annotated[FoundationDBProcessGroupStatus, Field(description="What it is.")] = (
        FoundationDBProcessGroupStatus()
    )


CLUSTERS = Resource(
    GROUP,
    VERSION,
    "FoundationDBCluster",
    "foundationdbclusters",
    FoundationDBCluster,
    has_status=True,
)
PROCESS_GROUPS = Resource(
    GROUP,
    VERSION,
    "FoundationDBProcessGroup",
    "foundationdbprocessgroups",
    FoundationDBProcessGroup,
    has_status=True,
)


def _condition(type_: str) -> str:
    return f'.status.conditions[?(@.type=="{type_}")].status'


CLUSTER_KIND = CustomKind(
    versions=(
        Version(
            resource=CLUSTERS,
            columns=(
                Column(name="Generation", path=".metadata.generation", type="integer"),
                Column(name="Reconciled", path=".status.generations.reconciled", type="integer"),
                Column(name="Available", path=".status.health.available", type="boolean"),
                Column(
                    name="FullReplication", path=".status.health.fullReplication", type="boolean"
                ),
                Column(
                    name="ReconciledProcessGroups",
                    path=".status.reconciledProcessGroups",
                    type="integer",
                    priority=1,
                ),
                Column(
                    name="DesiredProcessGroups",
                    path=".status.desiredProcessGroups",
                    type="integer",
                    priority=1,
                ),
                Column(name="Version", path=".status.runs"),
                Column(name="Doing", path=".status.doing"),
                Column(name="Age", path=".metadata.creationTimestamp", type="date"),
            ),
            name_max_length=LONGEST_NAME,
        ),
    ),
    short_names=("fdb",),
    categories=("stateward",),
)
PROCESS_GROUP_KIND = CustomKind(
    versions=(
        Version(
            resource=PROCESS_GROUPS,
            columns=(
                Column(name="Cluster", path=".spec.clusterName"),
                Column(name="ID", path=".spec.processGroupID"),
                Column(name="Class", path=".spec.processClass", priority=1),
                Column(name="Ready", path=_condition("Ready")),
                Column(name="Zone", path=".status.faultDomain"),
                Column(name="Node", path=".status.nodeName", priority=1),
                Column(name="Remove", path=".spec.remove", type="boolean"),
                Column(name="Excluded", path=".spec.excluded", type="boolean"),
                Column(name="Doing", path=".status.doing"),
                Column(name="Age", path=".metadata.creationTimestamp", type="date"),
            ),
            selectable=(".spec.clusterName", ".spec.processClass", ".spec.processGroupID"),
        ),
    ),
    short_names=("fdbpg",),
    categories=("stateward",),
)
