"""The EtcdCluster as a kind of Kubernetes."""

from __future__ import annotations

from typing import Annotated, ClassVar

from stateward.etcd.api.rules import ROOT_RULES
from stateward.etcd.api.spec import EtcdClusterSpec
from stateward.etcd.api.status import EtcdClusterStatus
from stateward.etcd.model.names import GROUP
from stateward.kube.crd.fields import Field, Rule
from stateward.kube.crd.kind import Column, CustomKind, Scale, Version
from stateward.kube.meta import Object
from stateward.kube.resources import Resource

#: The longest name: pods, claims and their labels are made from it.
LONGEST_NAME = 40


class EtcdCluster(Object):
    """A cluster of etcd members, each a pod with a volume."""

    RULES: ClassVar[tuple[Rule, ...]] = ROOT_RULES

    spec: Annotated[EtcdClusterSpec, Field(description="What it is asked to be.", default={})] = (
        EtcdClusterSpec()
    )
    status: Annotated[EtcdClusterStatus, Field(description="What it is.")] = EtcdClusterStatus()


ETCD_CLUSTERS = Resource(
    GROUP, "v1alpha1", "EtcdCluster", "etcdclusters", EtcdCluster, has_status=True
)


def _condition(type_: str) -> str:
    return f'.status.conditions[?(@.type=="{type_}")].status'


ETCD_CLUSTER_KIND = CustomKind(
    versions=(
        Version(
            resource=ETCD_CLUSTERS,
            columns=(
                Column(name="Ready", path=_condition("Ready")),
                Column(name="Quorum", path=_condition("Quorate")),
                Column(name="Members", path=".status.readyMembers"),
                Column(name="Leader", path=".status.leader"),
                Column(name="Version", path=".status.version"),
                Column(name="Doing", path=".status.doing"),
                Column(name="Age", path=".metadata.creationTimestamp", type="date"),
            ),
            scale=Scale(
                spec_path=".spec.replicas",
                status_path=".status.replicas",
                selector_path=".status.selector",
            ),
            name_max_length=LONGEST_NAME,
        ),
    ),
    short_names=("etcd",),
    categories=("stateward",),
)
