"""The EtcdCluster as a kind of Kubernetes."""

from __future__ import annotations

from stateward.etcd.api.spec import EtcdClusterSpec
from stateward.etcd.api.status import EtcdClusterStatus
from stateward.etcd.model.names import GROUP
from stateward.kube.crd.kind import Column, CustomKind, Scale, Version
from stateward.kube.meta import Object
from stateward.kube.resources import Resource

#: The longest name: pods, claims and their labels are made from it.
LONGEST_NAME = 40


class EtcdCluster(Object):
    """A cluster of etcd members, each a pod with a volume."""

    spec: EtcdClusterSpec = EtcdClusterSpec()
    status: EtcdClusterStatus = EtcdClusterStatus()


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
            name_pattern=r"^[a-z]([-a-z0-9]*[a-z0-9])?$",
            name_max_length=LONGEST_NAME,
        ),
    ),
    short_names=("etcd",),
    categories=("stateward",),
)
