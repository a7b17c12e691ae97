"""LEAK, ACK and K5 at rest: what must be so when nothing happens, however it came about."""

from __future__ import annotations

from collections.abc import Iterator

from stateward.fdb.api.backups.kinds import BACKUPS
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS, FoundationDBCluster
from stateward.fdb.model import exclusions
from stateward.fdb.model.names import pod_of_claim
from stateward.kube.codec import decode
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CRON_JOBS, DEPLOYMENTS, PODS, SERVICES, VOLUME_CLAIMS
from stateward.local.catalog import REPLICA_SETS
from stateward.sim.fdb.acts.people import FOREIGN
from stateward.sim.fdb.laws.claims import lost_without
from stateward.sim.fdb.laws.maintaining import is_ours
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.fdb.laws.several.agreeing import unsaid
from stateward.sim.laws.rates import Rates

#: Calls for one object in the last minute of a life: a database is asked about every 20 s.
MOST_CALLS = 60
#: The config map outlives a cluster together with its claims: it says how their data is found.
_OWNING = (DEPLOYMENTS, REPLICA_SETS)
_PARTS = (*_OWNING, PROCESS_GROUPS, PODS, SERVICES, CRON_JOBS)


def at_rest(scene: Scene, rates: Rates) -> Iterator[tuple[str, str]]:
    """Yield what is not as it should be, each with its law."""
    store = scene.it.world.api.store
    living = {it.uid: decode(it.text, FoundationDBCluster) for it in store.all(CLUSTERS.name)}
    yield from (("LEAK", it) for it in _leaks(scene, set(living)))
    for database in scene.it.realm.databases:
        if living and database.servers and lost_without(database, scene.truth.every_disk()):
            yield "ACK", "data that was there is on no disk any more"
    if living:
        yield from (("C-L3", it) for it in unsaid(scene))
    for cluster in living.values():
        yield from (("K5", it) for it in _words(scene, cluster))
    for who, about, calls in rates.of_late():
        if calls > MOST_CALLS:
            yield "K9", f"{who} is at rest and makes {calls} calls in a minute for {about}"


def _leaks(scene: Scene, living: set[str]) -> Iterator[str]:
    store = scene.it.world.api.store
    groups = {it.key for it in store.all(PROCESS_GROUPS.name)}
    # Who owns comes before what is owned.
    family = living | {it.uid for it in store.all(BACKUPS.name)}
    for resource in _PARTS:
        for it in store.all(resource.name):
            owned = [uid for uid in it.owners if uid in family]
            if owned and resource in _OWNING:
                family.add(it.uid)
            parted = resource in (PODS, SERVICES) and it.key in groups
            if not owned and not parted:
                yield f"{resource.kind} {it.key} is left of somebody who is gone"
    if living:
        yield from _left_over(scene, groups)


def _left_over(scene: Scene, groups: set[ObjectKey]) -> Iterator[str]:
    """Yield claims without a group, and exclusions of who is gone."""
    for it in scene.it.world.api.store.all(VOLUME_CLAIMS.name):
        name = pod_of_claim(it.key.name)
        if name and ObjectKey(it.key.namespace, name) not in groups:
            yield f"{it.key} is left without a group"
    known = exclusions.of_instance(FOREIGN)
    for database in scene.it.realm.databases:
        for entry in sorted(map(str, database.excluded - {known})):
            if database.servers:
                yield f"{entry} is left excluded"
        if database.servers and is_ours(scene, database):
            yield "a zone is left under maintenance"


def _words(scene: Scene, cluster: FoundationDBCluster) -> Iterator[str]:
    """Who is called reconciled has all its processes, and its database serves."""
    if cluster.status.generations.reconciled != cluster.metadata.generation:
        return
    for it in scene.truth.groups(cluster.metadata.key):
        running = scene.truth.processes(it.metadata.key)
        part = [one for one in running if one.database is not None]
        if len(part) < it.spec.servers_per_pod and not it.spec.remove:
            yield f"it is called reconciled, and {it.metadata.name} is part of no database"
