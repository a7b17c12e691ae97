"""Somebody who looks at everything that an operator of FoundationDB does, and keeps what is wrong.

It knows what no operator knows: where each byte is, and who coordinates at this very moment.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from stateward.core.moments import from_rfc3339
from stateward.emulate.fdb.database import Database
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.model.names import claim_name
from stateward.kube.client import Change
from stateward.kube.interception import Call
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import EVENTS, LEASES, PODS, VOLUME_CLAIMS
from stateward.local.store import StoreEvent
from stateward.sim.fdb.databases import FdbCall
from stateward.sim.fdb.realm import Volume
from stateward.sim.fdb.world import FdbWorld
from stateward.sim.network import Asked


@dataclass
class Watcher:
    """Counts what operators write, and judges what they take away."""

    it: FdbWorld
    #: What should never have happened.
    wrong: list[str] = field(default_factory=list)
    #: What was written, in words; leases are not told.
    writes: list[str] = field(default_factory=list)
    #: What was asked of databases that may change them.
    commands: list[str] = field(default_factory=list)
    #: UIDs of pods that an operator deleted, in order.
    deleted_pods: list[str] = field(default_factory=list)
    #: Names of claims that an operator deleted, in order.
    deleted_claims: list[str] = field(default_factory=list)
    #: Zones whose pods were to be made anew, in order.
    zones: list[str] = field(default_factory=list)
    #: Whether pods may be taken from several zones at a time: faults are asked for.
    careless: bool = False
    seen: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.it.world.weather.listeners.append(self._call)
        store = self.it.world.api.store
        store.listen(self._on_pod, PODS.name)
        store.listen(self._on_claim, VOLUME_CLAIMS.name)
        store.listen(self._on_group, PROCESS_GROUPS.name)

    @property
    def is_acting(self) -> bool:
        """Whether an operator does it that happens now."""
        return self.it.world.weather.acting is not None

    def _call(self, _who: str, call: Asked) -> None:
        if not call.writes:
            return
        if isinstance(call, Call):
            if call.resource in (LEASES, EVENTS):
                self.seen[call.resource.name] += 1
                return
            self.seen[f"{call.verb} {call.resource.name}"] += 1
        elif isinstance(call, FdbCall):
            self.commands.append(call.line)
        self.writes.append(str(call))

    # ------------------------------------------------------------------ pods
    def _on_pod(self, event: StoreEvent) -> None:
        before = event.before
        if not self.is_acting or before is None or not _goes(event):
            return
        self.deleted_pods.append(event.now.uid)
        group = self._group(event.now.key)
        if group is None or not group["spec"].get("remove") or not self._has_cluster(group):
            return
        ips = addresses_of(before.document())
        for database in self.it.realm.databases:
            if database.settings is not None and coordinates(database, event.now.key.name, ips):
                self.wrong.append(f"pod {event.now.key} went, and coordinates at one of {ips}")

    def _has_cluster(self, group: Any) -> bool:
        """Tell whether the cluster of a group is there: with one that is deleted all pods go."""
        uid = group["metadata"]["ownerReferences"][0]["uid"]
        return any(it.uid == uid for it in self.it.world.api.store.all(CLUSTERS.name))

    def _group(self, key: ObjectKey) -> Any:
        stored = self.it.world.api.store.get(PROCESS_GROUPS.name, key)
        return None if stored is None else stored.document()

    # ------------------------------------------------------------------ data
    def _on_claim(self, event: StoreEvent) -> None:
        if not self.is_acting or event.before is None or not _goes(event):
            return
        name = event.now.key.name
        self.deleted_claims.append(name)
        volume = self.it.volumes.content.get(event.now.uid)
        if volume is None:
            return
        key = ObjectKey(event.now.key.namespace, name.removesuffix(claim_name("")))
        group = self._group(key)
        skipped = group is not None and group["spec"].get("exclusionSkipped", False)
        for database in self.it.realm.databases:
            if lost := _lost_with(database, volume, skipped=skipped):
                self.wrong.append(f"claim {name} went, and {lost}")

    # ------------------------------------------------------------------ zones
    def _on_group(self, event: StoreEvent) -> None:
        now = event.now.document()
        uid = now["spec"].get("obsoletePod", "")
        before = event.before.document() if event.before is not None else {"spec": {}}
        same = before["spec"].get("obsoletePod", "") == uid
        same = same and before["spec"].get("obsoleteUntil") == now["spec"].get("obsoleteUntil")
        if not uid or same or self.careless:
            return
        zone = now.get("status", {}).get("faultDomain", "")
        self.zones.append(zone)
        for stored in self.it.world.api.store.all(PROCESS_GROUPS.name):
            other = stored.document()
            if other["spec"].get("remove") or "deletionTimestamp" in other["metadata"]:
                continue
            elsewhere = other.get("status", {}).get("faultDomain", "") != zone
            if elsewhere and self._is_away(stored.key, self._ordered(other["spec"])):
                self.wrong.append(f"{event.now.key}'s zone {zone} goes while {stored.key} is away")

    def _ordered(self, spec: Any) -> str:
        """Return which pod is to go; an order that is past is none."""
        until = spec.get("obsoleteUntil")
        is_past = until is not None and self.it.world.clock.now() > from_rfc3339(until)
        return "" if is_past else spec.get("obsoletePod", "")

    def _is_away(self, key: ObjectKey, obsolete: str) -> bool:
        """Tell whether a group's pod is there no longer, or not yet."""
        pod = self.it.world.api.store.get(PODS.name, key)
        if pod is None or b'"deletionTimestamp"' in pod.text:
            return True
        return bool(obsolete) and obsolete == pod.uid


def _goes(event: StoreEvent) -> bool:
    """Tell whether it begins to go, or is gone at once."""
    if event.before is not None and b'"deletionTimestamp"' in event.before.text:
        return False
    return event.change is Change.DELETED or b'"deletionTimestamp"' in event.now.text


def addresses_of(pod: Any) -> set[str]:
    """Return the addresses of a pod, of every family."""
    return {it["ip"] for it in pod.get("status", {}).get("podIPs") or ()}


def coordinates(database: Database, pod: str, addresses: set[str]) -> bool:
    """Tell whether a pod coordinates, by its name or by one of its addresses."""
    return any(
        it.host in addresses or it.host.split(".")[0] == pod for it in database.string.coordinators
    )


def _lost_with(database: Database, volume: Volume, *, skipped: bool) -> str:
    """Return what would be lost with a volume; nothing: nothing would."""
    mine = {it.process_id for it in volume.disks.values()}
    if database.settings is None:
        return ""
    for piece in database.shards.pieces:
        if not mine & {*piece.team}:
            continue
        if not skipped:
            return "data is on it"
        if not ({*piece.team} - mine) & {*database.servers}:
            return "the last copy of some data is on it"
    if not skipped and any(mine & {*it.every} for it in database.logs):
        return "logs are on it that are needed"
    return ""
