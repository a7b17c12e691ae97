"""One look at a cluster from outside of its operator, which is woken if somebody is missing.

Everything is listed once, and judged as the operator judges it: what it would replace, if that were
to last, is missing. Whether it is replaced, and when, is the operator's to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from stateward.core.clock import Clock
from stateward.core.errors import UsageError
from stateward.core.facts import Unknown
from stateward.core.moments import to_rfc3339
from stateward.fdb.admin.ports import Databases
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS, FoundationDBCluster
from stateward.fdb.api.questions import crash_loops
from stateward.fdb.api.validation import hindering
from stateward.fdb.build.detection import WHOLE_CRON_JOBS
from stateward.fdb.cluster.grounds import Grounds
from stateward.fdb.cluster.listening import Listening
from stateward.fdb.cluster.observe import Observer, Sources
from stateward.fdb.cluster.papers import Archive
from stateward.fdb.cluster.plans import Plans
from stateward.fdb.decide.groups.failures import FAILURES
from stateward.fdb.groups.board import Board
from stateward.fdb.groups.caches import GroupCaches, by_cluster, by_instance
from stateward.fdb.groups.memo import Memo
from stateward.fdb.groups.observe import Eyes
from stateward.fdb.model.names import INSTANCE_LABEL, MISSING_DETECTED, OURS
from stateward.fdb.status.processes import roster
from stateward.fdb.views import ClusterView
from stateward.kube.client import Client, Listing, MergePatch, Selection
from stateward.kube.errors import NotFound
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import CONFIG_MAPS, PODS, SERVICES, VOLUME_CLAIMS, Resource
from stateward.runtime.cache import Cache, Index

T = TypeVar("T", bound=Object)


@dataclass(frozen=True, slots=True)
class Missing:
    """A process group that does not serve: what is wrong with it, and for how many seconds."""

    group: str
    condition: GroupConditionType
    lasts: float

    def __str__(self) -> str:
        return f"{self.group}: {self.condition} for {self.lasts:.0f} s"


@dataclass(frozen=True, slots=True)
class Detected:
    """What one look at a cluster came to."""

    missing: tuple[Missing, ...]
    #: Why nobody knows which processes report; empty: the database said it.
    unheard: str = ""
    #: What the cluster was told; empty: nothing, since nobody is missing.
    told: str = ""


def missing(view: ClusterView) -> tuple[Missing, ...]:
    """Return who is missing; whoever shall fail or go is not, though it may have failed."""
    found = []
    for it in view.unwell:
        if it.marked or it.leaving or crash_loops(view.spec, it.id):
            continue
        lasting = [(it.lasts(kind, view.now), kind) for kind in FAILURES]
        told = [(lasts, kind) for lasts, kind in lasting if lasts is not None]
        if told:
            lasts, kind = max(told, key=lambda one: one[0])
            found.append(Missing(str(it.id), kind, lasts))
    return tuple(sorted(found, key=lambda one: (-one.lasts, one.group)))


@dataclass(frozen=True, slots=True)
class Means:
    """What is looked with."""

    client: Client
    databases: Databases
    clock: Clock
    #: Whether names of pods lead to them; not so where there is no DNS.
    names_resolve: bool = True


async def detect(means: Means, key: ObjectKey) -> Detected:
    """Look at a cluster; if somebody is missing, say so on it, by which its operator is woken."""
    client, clock = means.client, means.clock
    cluster = await _cluster(client, key)
    if cluster.metadata.deleting:
        return Detected(())
    view = await _look(means, cluster)
    heard, found = roster(view.database), missing(view)
    unheard = heard.reason if isinstance(heard, Unknown) else ""
    if not found:
        return Detected((), unheard)
    now = to_rfc3339(clock.now())
    body = {"metadata": {"uid": cluster.metadata.uid, "annotations": {MISSING_DETECTED: now}}}
    await client.patch(CLUSTERS, key, MergePatch(body))
    return Detected(found, unheard, now)


async def _cluster(client: Client, key: ObjectKey) -> FoundationDBCluster:
    try:
        return await client.get(CLUSTERS, key)
    except NotFound:
        raise UsageError(
            f"there must be a FoundationDBCluster {key.name} in namespace {key.namespace}",
            hint=f"kubectl -n {key.namespace} get foundationdbclusters",
        ) from None


async def _look(means: Means, cluster: FoundationDBCluster) -> ClusterView:
    client, clock, key = means.client, means.clock, cluster.metadata.key
    parts = Selection(key.namespace, f"{OURS},{INSTANCE_LABEL}={key.name}")
    clusters = Cache(CLUSTERS)
    clusters.put(cluster)
    caches = GroupCaches(
        groups=await _listed(client, PROCESS_GROUPS, Selection(key.namespace), by_cluster()),
        clusters=clusters,
        pods=await _listed(client, PODS, parts),
        claims=await _listed(client, VOLUME_CLAIMS, parts, by_instance()),
        services=await _listed(client, SERVICES, parts),
        configs=await _listed(client, CONFIG_MAPS, parts),
    )
    eyes = Eyes(caches, Board(), Memo(), clock)
    listening = Listening(caches, Archive(client, clock))
    plans = Plans(names_resolve=means.names_resolve)
    grounds, jobs = Grounds(client, clock), Cache(WHOLE_CRON_JOBS)
    sources = Sources(eyes, means.databases, plans, listening, grounds=grounds, jobs=jobs)
    seen = await Observer(sources).look(cluster, valid=not hindering(cluster))
    return seen.view


async def _listed(
    client: Client, resource: Resource[T], selection: Selection, *indexes: Index[Any]
) -> Cache[T]:
    found: Listing[T] = await client.list(resource, selection)
    cache = Cache(resource, indexes)
    cache.replace(found)
    return cache
