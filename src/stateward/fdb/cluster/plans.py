"""What a cluster wants, worked out once and not in every pass: only what it follows from counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from stateward.core.memory import Memory
from stateward.core.version import Version
from stateward.fdb.api import questions
from stateward.fdb.api.defaults import normalized
from stateward.fdb.api.kind import FoundationDBCluster, FoundationDBProcessGroup
from stateward.fdb.api.processes import ImageType
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.build.config_map import config_map
from stateward.fdb.build.wanted import Wanted
from stateward.fdb.decide import configuration
from stateward.fdb.decide.counts import Share, Wish, process_counts
from stateward.fdb.decide.groups.shape import same_shape
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.configuration import Redundancy
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import ProcessGroupID, headless_service_name
from stateward.fdb.model.versions import are_compatible
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectMeta

#: Clusters that are kept in mind, and process groups.
_LIMIT: Final = 1000
_GROUPS: Final = 20_000
#: Classes with how many processes a pod has, and by which images.
Kinds = frozenset[tuple[ProcessClass, int, ImageType]]


@dataclass(frozen=True, slots=True)
class Plan:
    """The spec with everything said, how many groups of each class, and what they are made from."""

    spec: FoundationDBClusterSpec
    counts: Mapping[ProcessClass, int]
    wanted: Wanted


class Plans:
    """Keeps plans and config maps in mind for as long as they follow from the same."""

    def __init__(self, *, names_resolve: bool = True) -> None:
        self._names_resolve = names_resolve
        self._specs: Memory[int, FoundationDBClusterSpec] = Memory(_LIMIT)
        self._plans: Memory[object, Plan] = Memory(_LIMIT)
        self._counts: Memory[int, Mapping[ProcessClass, int]] = Memory(_LIMIT)
        self._configs: Memory[object, Json] = Memory(_LIMIT)
        self._shaped: Memory[object, bool] = Memory(_GROUPS)

    def spec(self, cluster: FoundationDBCluster) -> FoundationDBClusterSpec:
        """Return the spec with everything said."""
        metadata = cluster.metadata
        return self._specs.recall(metadata.uid, metadata.generation, lambda: self._spec(cluster))

    def plan(
        self,
        cluster: FoundationDBCluster,
        running: Version,
        connection: ConnectionString | None,
        *,
        made: bool = False,
        kinds: tuple[bool, bool] | None = None,
        certificates: tuple[tuple[str, str], ...] = (),
        staged: Version | None = None,
    ) -> Plan:
        """Return what a cluster wants while a version runs and it is found by this.

        ``kinds`` says whether processes listen with TLS, and without; ``certificates`` what
        sidecars show; ``staged`` is the version whose programs pods are given, for all to change
        to it at once.
        """
        spec, metadata = self.spec(cluster), cluster.metadata
        kinds = kinds or listeners(spec, connection)
        listen = (kinds, certificates)
        asked = (metadata.generation, running, connection, made, listen, staged)
        found = _Found(connection, made, *kinds, certificates)
        understood = _named(_understood(spec, running, staged), metadata, connection)
        return self._plans.recall(
            metadata.uid,
            asked,
            lambda: Plan(
                spec,
                process_counts(wish_of(spec)),
                _wanted(cluster, understood, running, found),
            ),
        )

    def counts(self, cluster: FoundationDBCluster) -> Mapping[ProcessClass, int]:
        """Return how many groups of each class there shall be."""
        metadata = cluster.metadata
        return self._counts.recall(
            metadata.uid, metadata.generation, lambda: process_counts(wish_of(self.spec(cluster)))
        )

    def config(self, plan: Plan, kinds: Kinds) -> Json:
        """Return the config map for groups of these kinds."""
        for process_class in plan.counts:
            servers = questions.servers_per_pod(plan.spec, process_class)
            kinds |= {(process_class, servers, plan.spec.image_type or "unified")}
        ordered = sorted(kinds)
        uid = plan.wanted.uid
        return self._configs.recall(
            uid, (plan.wanted, kinds), lambda: config_map(plan.wanted, ordered)
        )

    def is_shaped(self, plan: Plan, group: FoundationDBProcessGroup) -> bool:
        """Tell whether a group is what it would be made as now."""
        asked = (group.metadata.generation, plan.wanted)
        return self._shaped.recall(group.metadata.uid, asked, lambda: _is_shaped(plan, group))

    def _spec(self, cluster: FoundationDBCluster) -> FoundationDBClusterSpec:
        """Names that nobody resolves are not written where processes look for each other."""
        spec = normalized(cluster.spec)
        if self._names_resolve:
            return spec
        by_address = msgspec.structs.replace(spec.routing, use_dns_in_cluster_file=False)
        return msgspec.structs.replace(spec, routing=by_address)


@dataclass(frozen=True, slots=True)
class _Found:
    """How a database is found, whether it was made, and how its processes listen."""

    connection: ConnectionString | None
    made: bool
    tls: bool
    plain: bool
    certificates: tuple[tuple[str, str], ...]


def _wanted(
    cluster: FoundationDBCluster, spec: FoundationDBClusterSpec, running: Version, found: _Found
) -> Wanted:
    metadata = cluster.metadata
    return Wanted(
        name=metadata.name,
        namespace=metadata.namespace,
        uid=metadata.uid,
        spec=spec,
        running=running,
        tls=found.tls,
        plain=found.plain,
        connection=found.connection,
        made=found.made,
        certificates=found.certificates,
    )


def _is_shaped(plan: Plan, group: FoundationDBProcessGroup) -> bool:
    id_ = ProcessGroupID.parse(group.spec.process_group_id)
    return same_shape(group.spec, plan.wanted.group(id_))


def _understood(
    spec: FoundationDBClusterSpec, running: Version, staged: Version | None
) -> FoundationDBClusterSpec:
    """Return the spec that objects are made from: never of a version that processes cannot join.

    To get there all of them must be restarted at once; a pod that has its programs before that was
    decided would start one that nobody understands.
    """
    if staged is not None:
        return msgspec.structs.replace(spec, version=str(staged))
    if are_compatible(Version.parse(spec.version), running):
        return spec
    return msgspec.structs.replace(spec, version=str(running))


def listeners(
    spec: FoundationDBClusterSpec, connection: ConnectionString | None
) -> tuple[bool, bool]:
    """Return whether processes listen with TLS, and without: as asked, and as coordinators do."""
    used: Iterable[bool] = [it.tls for it in connection.coordinators] if connection else ()
    kinds = {spec.main_container.enable_tls, *used}
    return True in kinds, False in kinds


def wish_of(spec: FoundationDBClusterSpec) -> Wish:
    """Return what a spec says that bears on counts."""
    database = spec.database_configuration
    told = msgspec.structs.asdict(spec.process_counts)
    classes = {ProcessClass(name): many for name, many in told.items() if name != "tester"}
    return Wish(
        configuration=configuration.model_of(database),
        storage=database.storage if database.storage > 0 else None,
        counts=classes,
        data_center=spec.data_center,
        share=_share(spec),
    )


def _share(spec: FoundationDBClusterSpec) -> Share | None:
    domain = spec.fault_domain
    if domain.key != questions.EVERY_CLUSTER:
        return None
    mode = Redundancy(spec.database_configuration.redundancy_mode)
    return Share(domain.zone_index, domain.zone_count or mode.fault_domains + mode.fault_tolerance)


def _named(
    spec: FoundationDBClusterSpec, of: ObjectMeta, connection: ConnectionString | None
) -> FoundationDBClusterSpec:
    """Return the spec with names for pods while coordinators are found by these.

    Others change first: a pod that is made anew without its name would not be found any more, nor
    would any without the service below which names are.
    """
    below = f".{headless_service_name(of.name)}.{of.namespace}.svc."
    if connection is None or not any(below in it.host for it in connection.coordinators):
        return spec
    routing = msgspec.structs.replace(
        spec.routing, headless_service=True, define_dns_locality_fields=True
    )
    return msgspec.structs.replace(spec, routing=routing)
