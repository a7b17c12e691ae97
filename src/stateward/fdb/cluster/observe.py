"""Looking at a cluster: its objects from the caches, and its database asked once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from stateward.core.errors import PeerError, SpecInvalid
from stateward.core.facts import Fact, Known, Unknown
from stateward.core.version import Version
from stateward.fdb.admin.ports import Admin, Databases
from stateward.fdb.api.checks.lines import must_tell_lines_apart
from stateward.fdb.api.kind import FoundationDBCluster, FoundationDBProcessGroup
from stateward.fdb.build.detection import WholeCronJob
from stateward.fdb.cluster.attention import Attention
from stateward.fdb.cluster.grounds import Grounds
from stateward.fdb.cluster.left import left_of, ownerless
from stateward.fdb.cluster.listening import Listening
from stateward.fdb.cluster.plans import Kinds, Plan, Plans
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.cluster.whereabouts import must_not_begin, whereabouts
from stateward.fdb.decide.groups import additions, leftovers
from stateward.fdb.decide.groups.leftovers import Left
from stateward.fdb.decide.groups.taints import Taints
from stateward.fdb.decide.layouts.sharing import locks_apart, rivals_of
from stateward.fdb.decide.upgrades import judging as upgrades
from stateward.fdb.groups.board import Posted
from stateward.fdb.groups.observe import Eyes
from stateward.fdb.groups.seen import cluster_uid
from stateward.fdb.groups.viewing import view_of
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.exclusions import ByAddress
from stateward.fdb.model.names import (
    ProcessGroupID,
    config_map_name,
    detection_job_name,
    headless_service_name,
)
from stateward.fdb.model.transport import Transport
from stateward.fdb.model.versions import are_compatible
from stateward.fdb.status import coordinators, exclusions, health, processes
from stateward.fdb.status.maintenance import maintenance
from stateward.fdb.status.processes import Roster
from stateward.fdb.status.reading import Status
from stateward.fdb.views import ClusterView
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.objects.network import Service
from stateward.runtime.cache import Cache

#: Taints of nodes.
_Ground: TypeAlias = Fact[Taints]
_NOBODY: Final = "there is nobody to ask: no coordinators were chosen yet"


@dataclass(frozen=True, slots=True)
class _Heard:
    """What a database said, and what follows from it for who asks it next."""

    status: Status
    admin: Admin | None
    running: Version
    connection: ConnectionString | None
    configured: bool
    #: The version whose programs pods are given, for all to change to it at once.
    staged: Version | None = None


@dataclass(frozen=True, slots=True)
class Sources:
    """Where everything is seen."""

    eyes: Eyes
    databases: Databases
    plans: Plans
    listening: Listening
    grounds: Grounds
    #: Jobs that look for missing processes.
    jobs: Cache[WholeCronJob]
    #: Says why jobs cannot be seen; nothing: they can.
    jobs_unseen: Callable[[], str] = str


class Observer:
    """Sees one cluster at a time, whole."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        #: Where databases were heard of last, each with the UID of its cluster.
        self._places: dict[ObjectKey, tuple[str, ConnectionString]] = {}
        self._attention = Attention(sources.eyes.clock)

    async def look(self, cluster: FoundationDBCluster, *, valid: bool = True) -> Seen:
        """Return the cluster as it is; what the database does not say is unknown, and says why.

        By a spec that is not valid nobody is judged: groups shall have the files that they have.
        """
        key, eyes = cluster.metadata.key, self._sources.eyes
        config_map = eyes.caches.configs.get(ObjectKey(key.namespace, config_map_name(key.name)))
        heard, objects = await self._hear(cluster, config_map), self._groups(cluster)
        transport, plan = await self._plan(cluster, heard, objects)
        if valid and heard.configured:
            must_tell_lines_apart(plan.spec, plan.counts, heard.running)
        config = self._sources.plans.config(plan, _kinds(objects.values()))
        data = config["data"] if valid else _data(config_map)
        taints = self._post(key, plan, heard, data, await self._sources.grounds.look(plan.spec))
        plans, around = self._sources.plans, eyes.around(key)
        view = ClusterView(
            key=key,
            generation=cluster.metadata.generation,
            spec=plan.spec,
            status=cluster.status,
            now=around.now,
            database=heard.status,
            groups=tuple(view_of(eyes.glance(it, around), eyes.memo) for it in objects.values()),
            counts=plan.counts,
            running_version=heard.running,
            connection=heard.connection,
            configured=heard.configured,
            transport=transport,
            staging=heard.staged is not None,
            taints_unknown=taints,
            watched=self._attention.paid(key),
        )
        return Seen(
            cluster=cluster,
            view=view,
            groups=objects,
            wanted=plan.wanted,
            outdated=_outdated(plans, plan, objects.values()),
            config=config,
            config_map=config_map,
            service=self._service(key),
            detection_job=self._detection_job(key),
            jobs_unseen=self._sources.jobs_unseen(),
            admin=heard.admin,
            left=self._left(cluster, plan, view),
            ownerless=ownerless(eyes.caches.of_cluster(key), cluster),
            program_missing=self._lacking(Version.parse(plan.spec.version), heard.running),
            rivals=() if objects else tuple(rivals_of(cluster, eyes.caches.clusters)),
            apart=tuple(locks_apart(cluster, eyes.caches.clusters)),
        )

    async def _plan(
        self,
        cluster: FoundationDBCluster,
        heard: _Heard,
        groups: dict[str, FoundationDBProcessGroup],
    ) -> tuple[Transport, Plan]:
        """Return how processes listen from now on, and what follows from it and from the spec."""
        if heard.connection is None:
            must_not_begin(cluster, groups.values())
        plans = self._sources.plans
        transport = await self._sources.listening.judge(
            cluster, plans, groups, heard.connection, heard.status
        )
        plan = plans.plan(
            cluster,
            heard.running,
            heard.connection,
            made=heard.configured,
            kinds=(transport.tls, transport.plain),
            certificates=transport.papers.sidecars,
            staged=heard.staged,
        )
        return transport, plan

    def _service(self, cluster: ObjectKey) -> Service | None:
        name = ObjectKey(cluster.namespace, headless_service_name(cluster.name))
        return self._sources.eyes.caches.services.get(name)

    def _detection_job(self, cluster: ObjectKey) -> WholeCronJob | None:
        name = ObjectKey(cluster.namespace, detection_job_name(cluster.name))
        return self._sources.jobs.get(name)

    def _left(self, cluster: FoundationDBCluster, plan: Plan, view: ClusterView) -> Left:
        """Return what was left or lost; a claim that cannot be read hides it, which may matter."""
        try:
            return left_of(self._sources.eyes.caches, cluster, plan.spec)
        except SpecInvalid:
            if leftovers.concerns(view) or additions.missing(view):
                raise
            return Left()

    def forget(self, cluster: ObjectKey) -> None:
        """Let go of what was kept for a cluster that is gone."""
        self._places.pop(cluster, None)
        self._attention.forget(cluster)
        self._sources.databases.forget(cluster)
        self._sources.eyes.board.forget(cluster)

    # ------------------------------------------------------------------ the database

    async def _hear(self, cluster: FoundationDBCluster, config_map: ConfigMap | None) -> _Heard:
        """Ask the database, once; whether it was made is its own to say, wherever it was found."""
        mine = self._sources.eyes.caches.of_cluster(cluster.metadata.key)
        groups = (it for it in mine if cluster_uid(it) == cluster.metadata.uid)
        found = whereabouts(cluster, self._sources.plans.spec(cluster), config_map, groups)
        key, version = cluster.metadata.key, found.running
        uid, last = self._places.get(key, ("", None))
        # Whoever wiped the status may have deleted the config map too; we were told before.
        connection = found.connection or (last if uid == cluster.metadata.uid else None)
        if connection is None:
            nothing = Status(self._sources.eyes.clock.now(), flaws={"": _NOBODY})
            return _Heard(nothing, None, version, None, configured=False)
        wanted = Version.parse(self._sources.plans.spec(cluster).version)
        version, said = await self._asked(key, connection, (version, found.staged, wanted))
        # Asked last for this one, so that it is reached by programs that it understands.
        admin = self._sources.databases.reach(key, connection, version)
        newest = coordinators.connection_string(said)
        made = health.is_configured(said)
        current = newest.value if isinstance(newest, Known) else connection
        self._places[key] = (cluster.metadata.uid, current)
        running = _running(processes.roster(said), version)
        return _Heard(
            said,
            admin,
            running,
            current,
            configured=found.made or (isinstance(made, Known) and made.value),
            staged=upgrades.staged(found.staged, wanted, running, heard=_is_heard(said)),
        )

    async def _asked(
        self,
        key: ObjectKey,
        connection: ConnectionString,
        candidates: tuple[Version, Version | None, Version],
    ) -> tuple[Version, Status]:
        """Return what the database said, by programs of which version.

        Programs of the version before see nothing but an outage once all have changed to another,
        and so do those of the new one before that. Whoever answers runs; if nobody does, what ran
        last is taken to run.
        """
        before = candidates[0]
        first = await self._status(key, connection, before)
        if _is_heard(first):
            return before, first
        others = [it for it in candidates[1:] if it is not None and not are_compatible(it, before)]
        for version in dict.fromkeys(others):
            said = await self._status(key, connection, version)
            if _is_heard(said):
                return version, said
        return before, first

    async def _status(
        self, key: ObjectKey, connection: ConnectionString, version: Version
    ) -> Status:
        try:
            return await self._sources.databases.reach(key, connection, version).status()
        except PeerError as error:
            return Status(self._sources.eyes.clock.now(), flaws={"": error.message})

    def _lacking(self, wanted: Version, running: Version) -> str:
        """Return why we could not see the database any more after an upgrade."""
        if are_compatible(wanted, running):
            return ""
        return self._sources.databases.lacking(wanted)

    def _post(
        self, cluster: ObjectKey, plan: Plan, heard: _Heard, data: dict[str, str], ground: _Ground
    ) -> str:
        """Let the controller of groups know what is true; return why taints are not known."""
        self._sources.eyes.board.post(cluster, _posted(plan, heard, data, ground))
        return ground.reason if isinstance(ground, Unknown) else ""

    # ------------------------------------------------------------------ process groups

    def _groups(self, cluster: FoundationDBCluster) -> dict[str, FoundationDBProcessGroup]:
        """Return the objects of this very cluster; those of an earlier one of its name are not."""
        found = self._sources.eyes.caches.of_cluster(cluster.metadata.key)
        return {
            it.metadata.name: it
            for it in found
            if cluster_uid(it) == cluster.metadata.uid and _is_named(it)
        }


def _posted(plan: Plan, heard: _Heard, data: dict[str, str], ground: _Ground) -> Posted:
    zone, available = maintenance(heard.status), health.is_available(heard.status)
    target = Version.parse(plan.spec.version)
    return Posted(
        at=heard.status.at,
        processes=processes.roster(heard.status),
        version=target if are_compatible(target, heard.running) else heard.running,
        maintenance_zone=zone.value.zone if isinstance(zone, Known) and zone.value else "",
        data=data,
        available=isinstance(available, Known) and available.value,
        skipped=plan.spec.skip,
        taints=ground.value if isinstance(ground, Known) else None,
        excluded=_excluded(plan, heard.status),
    )


def _excluded(plan: Plan, status: Status) -> frozenset[str] | None:
    """Return which hosts are excluded, where that matters to groups: where some stay after all."""
    if not plan.spec.automation_options.cancel_replacements_for_process_groups:
        return frozenset()
    found = exclusions.excluded(status)
    if not isinstance(found, Known):
        return None
    return frozenset(it.host for it in found.value if isinstance(it, ByAddress))


def _data(config_map: ConfigMap | None) -> dict[str, str]:
    return config_map.data if config_map is not None else {}


def _is_heard(said: Status) -> bool:
    """Tell whether a database spoke: an outage names no processes."""
    return isinstance(processes.roster(said), Known)


def _is_named(group: FoundationDBProcessGroup) -> bool:
    """Tell whether somebody's hand left a group with an id that is none."""
    try:
        ProcessGroupID.parse(group.spec.process_group_id)
    except ValueError:
        return False
    return True


def _outdated(
    plans: Plans, plan: Plan, groups: Iterable[FoundationDBProcessGroup]
) -> frozenset[str]:
    """Return the names of those that stay and are not what they would be made as now."""
    staying = (it for it in groups if not it.spec.remove)
    return frozenset(it.metadata.name for it in staying if not plans.is_shaped(plan, it))


def _kinds(objects: Iterable[FoundationDBProcessGroup]) -> Kinds:
    found = set()
    for it in objects:
        spec = it.spec
        process_class = ProcessGroupID.parse(spec.process_group_id).process_class
        found.add((process_class, spec.servers_per_pod, spec.image_type))
    return frozenset(found)


def _running(roster: Fact[Roster], former: Version) -> Version:
    """Return the version that most processes run, of two the newer; what ran, if nobody says."""
    if not isinstance(roster, Known):
        return former
    everybody = [*roster.value.nameless]
    for group in roster.value.groups.values():
        everybody.extend(group)
    versions = Counter(it.entry.version for it in everybody if isinstance(it.entry.version, str))
    found = []
    for text, many in versions.items():
        try:
            found.append((many, Version.parse(text)))
        except ValueError:
            continue
    return max(found, default=(0, former))[1]
