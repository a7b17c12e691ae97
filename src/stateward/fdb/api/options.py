"""How a cluster lies in its surroundings: fault domains, routing, locks, labels, faults."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from stateward.fdb.api.automation import GroupID
from stateward.kube.codec import Part
from stateward.kube.crd.fields import Field

PublicIPSource: TypeAlias = Literal["pod", "service"]
LabelKey: TypeAlias = Annotated[str, Meta(min_length=1, max_length=317)]


class PartialConnectionString(Part):
    """Parts of the first connection string that shall be as they are said here."""

    database_name: Annotated[
        str, Meta(max_length=100), Field(description="What stands before the colon.")
    ] = ""
    generation_id: Annotated[
        str, Meta(max_length=64), Field(description="What stands before the @.")
    ] = ""
    coordinators: Annotated[
        tuple[Annotated[str, Meta(max_length=300)], ...],
        Field(description="Addresses.", list_type="atomic", max_items=100),
    ] = ()


class FaultDomain(Part):
    """What fails at once, and so may hold one copy only."""

    key: Annotated[
        str,
        Meta(max_length=317),
        Field(
            description="A label of nodes, foundationdb.org/none (every pod), or"
            " foundationdb.org/kubernetes-cluster; not said: nodes."
        ),
    ] = ""
    value: Annotated[
        str, Meta(max_length=253), Field(description="The zone of all pods, with the last.")
    ] = ""
    value_from: Annotated[
        str,
        Meta(max_length=253),
        Field(description="Where a pod finds its zone: a field, or $VARIABLE."),
    ] = ""
    zone_count: Annotated[
        int, Meta(ge=0, le=1000), Field(description="How many Kubernetes clusters there are.")
    ] = 0
    zone_index: Annotated[
        int, Meta(ge=-1, le=999), Field(description="Which of them this is, from 0.")
    ] = 0


class DenyListEntry(Part):
    """Another operator of the same database that must not act, or may again."""

    id: Annotated[str, Meta(max_length=253), Field(description="Its processGroupIDPrefix.")] = ""
    allow: Annotated[bool, Field(description="True: it may again.")] = False


class LockOptions(Part):
    """How operators of one database take turns."""

    disable_locks: Annotated[
        bool | None,
        Field(description="Not said: locks are used where there can be other operators."),
    ] = None
    lock_key_prefix: Annotated[
        str,
        Meta(max_length=1000),
        Field(description=r"Below which keys they are kept; \xff\x02/NAME is out of users' reach."),
    ] = ""
    lock_duration_minutes: Annotated[
        int, Meta(ge=1, le=1440), Field(description="For how long one is taken.", default=10)
    ] = 10
    deny_list: Annotated[
        tuple[DenyListEntry, ...],
        Field(description="Who must not act.", list_type="atomic", max_items=100),
    ] = ()


class Routing(Part):
    """By what processes and clients find each other."""

    headless_service: Annotated[
        bool | None, Field(description="Whether pods have names; implied by names in use.")
    ] = None
    public_ip_source: Annotated[
        PublicIPSource | None, Field(description="Whose addresses are told: pod or service.")
    ] = None
    pod_ip_family: Annotated[
        Literal[4, 6] | None, Field(description="Which addresses of a pod.")
    ] = None
    use_dns_in_cluster_file: Annotated[
        bool, Field(description="Whether coordinators go by name.", default=True)
    ] = msgspec.field(default=True, name="useDNSInClusterFile")
    define_dns_locality_fields: Annotated[
        bool | None, Field(description="Whether processes tell their name; implied by the former.")
    ] = msgspec.field(default=None, name="defineDNSLocalityFields")
    dns_domain: Annotated[
        str,
        Meta(max_length=253),
        Field(description="The domain of the Kubernetes cluster.", default="cluster.local"),
    ] = "cluster.local"


class Services(Part):
    """Deprecated: use routing."""

    headless: Annotated[bool | None, Field(description="Use routing.headlessService.")] = None
    public_ip_source: Annotated[
        PublicIPSource | None, Field(description="Use routing.publicIPSource.")
    ] = None


GroupIDs: TypeAlias = Annotated[tuple[GroupID, ...], Field(list_type="atomic", max_items=500)]


class CrashLoopContainer(Part):
    """A container that shall not start."""

    container_name: Annotated[str, Meta(max_length=253), Field(description="Which container.")] = ""
    targets: Annotated[GroupIDs, Field(description="Of which groups; * for all.")] = ()


class Buggify(Part):
    """Faults that are asked for, to see what happens."""

    no_schedule: Annotated[GroupIDs, Field(description="Pods that find no node.")] = ()
    crash_loop: Annotated[GroupIDs, Field(description="Deprecated: use crashLoopContainers.")] = ()
    crash_loop_containers: Annotated[
        tuple[CrashLoopContainer, ...],
        Field(description="Containers that do not start.", list_type="atomic", max_items=8),
    ] = ()
    empty_monitor_conf: Annotated[bool, Field(description="Let no process run.")] = False
    ignore_during_restart: Annotated[
        GroupIDs, Field(description="Groups that are not started anew.")
    ] = ()
    block_removal: Annotated[GroupIDs, Field(description="Groups that stay once excluded.")] = ()


class Labels(Part):
    """By what the operator's objects are found, and what else is said of them."""

    match_labels: Annotated[
        dict[str, str], Field(description="What they are selected by.", max_properties=32)
    ] = {}
    resource_labels: Annotated[
        dict[str, str], Field(description="What is only said of them.", max_properties=32)
    ] = {}
    process_group_id_labels: Annotated[
        tuple[LabelKey, ...],
        Field(description="Under which keys the id is.", list_type="atomic", max_items=100),
    ] = ()
    process_class_labels: Annotated[
        tuple[LabelKey, ...],
        Field(description="Under which keys the class is.", list_type="atomic", max_items=100),
    ] = ()
    filter_on_owner_reference: Annotated[
        bool | None, Field(description="Deprecated: owners always count.")
    ] = None


class CoordinatorSelection(Part):
    """A class that coordinators may be of."""

    process_class: Annotated[str, Meta(max_length=32), Field(description="The class.")] = ""
    priority: Annotated[int, Field(description="The higher, the sooner.")] = 0
