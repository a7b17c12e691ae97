"""What is true of a world of FoundationDB, whatever its operators know of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from stateward.emulate.fdb import data
from stateward.emulate.fdb.database import Database
from stateward.fdb.api.kind import (
    CLUSTERS,
    PROCESS_GROUPS,
    FoundationDBCluster,
    FoundationDBProcessGroup,
)
from stateward.fdb.model.names import pod_of_claim
from stateward.kube.codec import decode
from stateward.kube.meta import ObjectKey
from stateward.local.store import Stored
from stateward.sim.fdb.realm import Process, Volume
from stateward.sim.fdb.world import FdbWorld
from stateward.sim.laws.watchman import leaves


class Truth:
    """One world as it is now."""

    def __init__(self, it: FdbWorld) -> None:
        self._it = it
        self._store = it.world.api.store

    # ------------------------------------------------------------------ objects

    def group(self, pod: ObjectKey) -> FoundationDBProcessGroup | None:
        """Return the process group whose pod has a name."""
        stored = self._store.get(PROCESS_GROUPS.name, pod)
        return decode(stored.text, FoundationDBProcessGroup) if stored is not None else None

    def group_of_claim(self, claim: ObjectKey) -> FoundationDBProcessGroup | None:
        """Return the process group whose data a claim holds."""
        name = pod_of_claim(claim.name)
        return self.group(ObjectKey(claim.namespace, name)) if name is not None else None

    def cluster(self, group: FoundationDBProcessGroup) -> FoundationDBCluster | None:
        """Return the cluster of a group, if it is there and stays."""
        key = ObjectKey(group.metadata.namespace, group.spec.cluster_name)
        stored = self._store.get(CLUSTERS.name, key)
        if stored is None or leaves(stored) or stored.uid not in _owners(group):
            return None
        return decode(stored.text, FoundationDBCluster)

    def groups(self, cluster: ObjectKey) -> list[FoundationDBProcessGroup]:
        """Return the process groups of a cluster."""
        every = self._store.all(PROCESS_GROUPS.name, cluster.namespace)
        found = (decode(it.text, FoundationDBProcessGroup) for it in every)
        return [it for it in found if it.spec.cluster_name == cluster.name]

    # ------------------------------------------------------------------ data

    def processes(self, pod: ObjectKey) -> list[Process]:
        """Return the processes of a pod that run."""
        program = self._it.pods.program(pod)
        children = program.children.values() if program is not None else ()
        return [it.process for it in children if it.process is not None]

    def disks(self, claim: Stored) -> set[str]:
        """Return the data folders on the volume of a claim."""
        volume = self._it.volumes.content.get(claim.uid)
        return {it.process_id for it in volume.disks.values()} if volume is not None else set()

    def every_disk(self) -> set[str]:
        """Return every data folder that there is, on whatever volume."""
        volumes: list[Volume] = [
            it for site in self._it.sites for it in site.volumes.content.values()
        ]
        volumes += [it.volume for it in self._it.realm.processes]
        return {disk.process_id for it in volumes for disk in it.disks.values()}

    def needing(self, disks: Collection[str]) -> Iterator[tuple[Database, str]]:
        """Yield databases that have something on some disks, and what."""
        for database in self._it.realm.databases:
            if any(it in disks for it in database.shards.holders()):
                yield database, "data"
            elif any(disk in disks for one in database.logs for disk in one.every):
                yield database, "logs"

    def coordinates(self, pod: Stored) -> bool:
        """Tell whether a pod is one by whom a database is found."""
        ips = (pod.document().get("status") or {}).get("podIPs") or ()
        mine = {it["ip"] for it in ips}
        for database in self._it.realm.databases:
            hosts = {it.host for it in database.string.coordinators}
            named = any(it.startswith(f"{pod.key.name}.") for it in hosts)
            if database.settings is not None and (mine & hosts or named):
                return True
        return False


def stands_without(database: Database, disks: Collection[str]) -> str:
    """Return what a database would lack if the processes of some disks ended; empty: nothing."""
    there = [it for it in database.servers if it not in disks]
    if database.settings is None:
        return ""
    if not database.shards.fewest_copies(there):
        return "a copy of some data"
    if any(_spare(database, one.disks, one.copies, disks) < 0 for one in database.logs):
        return "a copy of the logs"
    left = [it for disk, it in database.servers.items() if disk not in disks]
    answering = sum(any(one.listens_at(at) for one in left) for at in database.string.coordinators)
    return "" if answering >= database.string.quorum else "a majority of its coordinators"


def _spare(database: Database, logs: Collection[str], copies: int, gone: Collection[str]) -> int:
    lost = sum(disk in gone and disk in database.servers for disk in logs)
    return data.spare(database, logs, copies) - lost


def _owners(group: FoundationDBProcessGroup) -> set[str]:
    return {it.uid for it in group.metadata.owner_references}
