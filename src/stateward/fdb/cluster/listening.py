"""What is known of how processes listen, and of their certificates, brought to who judges it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from stateward.core.facts import Fact, Known
from stateward.fdb.api.checks.transport import lacks
from stateward.fdb.api.kind import FoundationDBCluster, FoundationDBProcessGroup
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.build.pod import pod_hash
from stateward.fdb.cluster.papers import Archive
from stateward.fdb.cluster.plans import Plans
from stateward.fdb.decide.tls import listeners
from stateward.fdb.groups.caches import GroupCaches
from stateward.fdb.groups.seen import claim_key
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import SPEC_HASH, certificate_key, config_map_name
from stateward.fdb.model.transport import Papers, Transport
from stateward.fdb.status.processes import Roster, roster
from stateward.fdb.status.reading import Status
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.configs import ConfigMap

_NO_CERTIFICATE = (
    "the operator itself must have a certificate to ask with TLS: FDB_TLS_CERTIFICATE_FILE,"
    " FDB_TLS_KEY_FILE and FDB_TLS_CA_FILE must name its files"
)


@dataclass(frozen=True, slots=True)
class Listening:
    """Looks at secrets and pods, where TLS is asked for; else at nothing."""

    caches: GroupCaches
    archive: Archive
    #: Whether the operator itself has a certificate.
    certified: bool = True

    async def judge(
        self,
        cluster: FoundationDBCluster,
        plans: Plans,
        groups: Mapping[str, FoundationDBProcessGroup],
        connection: ConnectionString | None,
        status: Status,
    ) -> Transport:
        """Return how processes listen from now on, and what keeps them from more."""
        spec, key = plans.spec(cluster), cluster.metadata.key
        staying = [it for it in groups.values() if not it.spec.remove]
        config_map = self.caches.configs.get(ObjectKey(key.namespace, config_map_name(key.name)))
        told = cluster.status.required_addresses
        kinds = ((True, told.tls), (False, told.non_tls))
        former, found = frozenset(it for it, is_so in kinds if is_so), roster(status)
        if not former and isinstance(found, Known):  # a status may have been wiped
            former = listeners.kinds_of(found.value)
        scene = listeners.Scene(
            asked=spec.main_container.enable_tls,
            connection=connection,
            former=former,
            roster=found,
            papers=_kept(await self._papers(cluster, plans, connection), spec, config_map),
            staying=frozenset(it.spec.process_group_id for it in staying),
        )
        if listeners.is_to_begin(scene):
            concerned = [it for it in groups.values() if not it.spec.remove or _reports(it, found)]
            scene = replace(scene, lacking=tuple(self._lacking(spec, concerned)))
        elif len(former) > 1:
            scene = replace(scene, absent=tuple(self._absent(staying, scene.roster)))
        return listeners.judge(scene)

    async def _papers(
        self, cluster: FoundationDBCluster, plans: Plans, connection: ConnectionString | None
    ) -> Papers:
        spec = plans.spec(cluster)
        main, beside = spec.main_container.enable_tls, spec.sidecar_container.enable_tls
        speaks = main or (beside and spec.image_type == "split")
        found = Papers()
        if speaks:
            found = await self.archive.look(cluster.metadata.namespace, spec, plans.counts(cluster))
        speaks = speaks or (connection is not None and connection.all_tls)
        if speaks and not self.certified:
            return replace(found, flaws=(*found.flaws, _NO_CERTIFICATE))
        return found

    def _absent(
        self, groups: Iterable[FoundationDBProcessGroup], found: Fact[Roster]
    ) -> Iterable[str]:
        """Yield who has run and does not report: it may know its coordinators of before alone."""
        there = found.value.groups if isinstance(found, Known) else {}
        for it in groups:
            key = it.metadata.key
            claim, pod = self.caches.claims.get(claim_key(key)), self.caches.pods.get(key)
            bound = claim is not None and claim.status.phase == "Bound"
            ran = bound or (pod is not None and bool(pod.status.pod_ip))
            if ran and len(there.get(it.spec.process_group_id, ())) < it.spec.servers_per_pod:
                yield it.metadata.name

    def _lacking(
        self, spec: FoundationDBClusterSpec, groups: Iterable[FoundationDBProcessGroup]
    ) -> Iterable[str]:
        """Yield whose pods have no certificates, or were made from what may not name them."""
        for it in groups:
            pod = self.caches.pods.get(it.metadata.key)
            told = pod.metadata.annotations.get(SPEC_HASH) if pod is not None else None
            is_other = pod is not None and told != pod_hash(it)
            if is_other or any(lacks(spec, it.spec.process_settings)):
                yield it.metadata.name


def _reports(group: FoundationDBProcessGroup, found: Fact[Roster]) -> bool:
    """Tell whether a group belongs to the database, or may: who shall go does so until it is gone.

    Without a certificate it would not follow coordinators that are found with TLS alone.
    """
    return not isinstance(found, Known) or group.spec.process_group_id in found.value.groups


def _kept(papers: Papers, spec: FoundationDBClusterSpec, config: ConfigMap | None) -> Papers:
    """Return the same with what sidecars were told to show, while nobody knows better.

    What cannot be used is not what they should read: they would be reached by nobody then.
    """
    if papers.sidecars or not (papers.flaws or papers.unknown) or config is None:
        return papers
    if not (spec.sidecar_container.enable_tls and spec.image_type == "split"):
        return papers
    keys = ((str(it), certificate_key(it)) for it in sorted(ProcessClass))
    told = tuple((name, config.data[key]) for name, key in keys if key in config.data)
    return replace(papers, sidecars=told)
