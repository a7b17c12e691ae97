"""Rarer things that befall clusters and that users ask for: what is done, and when it is over."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.model.members import AlarmKind
from stateward.etcd.moves.rescue import Rescue
from stateward.kube.codec import Json, decode
from stateward.kube.resources import VOLUME_CLAIMS

if TYPE_CHECKING:
    from stateward.sim.etcd.world import EtcdWorld

#: What a user writes to have larger volumes.
LARGER: Final[Json] = {
    "volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
}


class Shelf(Rescue):
    """Where a survivor's data goes in a world without files."""

    def __init__(self) -> None:
        super().__init__(None)
        self.kept: dict[str, bytes] = {}

    async def save(self, name: str, pieces: AsyncIterator[bytes]) -> Path:
        """Keep a snapshot, if all of it came."""
        self.kept[name] = b"".join([it async for it in pieces])
        return Path("/shelf") / f"{name}.db"


def fill_up(it: EtcdWorld) -> None:
    """Fill every database with what was deleted and not given back; one member cries."""
    for server in it.universe.servers:
        server.disk.slack += server.start.quota
    it.universe.raise_alarm(it.universe.servers[0], AlarmKind.NO_SPACE)


def has_room(it: EtcdWorld) -> bool:
    """Tell whether no member cries any more, and none has reason to."""
    servers = it.universe.servers
    is_full = any(server.disk.slack >= server.start.quota for server in servers)
    return not is_full and not any(server.state.alarms for server in servers)


def has_larger_claims(it: EtcdWorld) -> bool:
    """Tell whether every claim asks for as much as a user wants by now."""
    claims = [stored.document() for stored in it.world.api.store.all(VOLUME_CLAIMS.name)]
    sizes = {claim["spec"]["resources"]["requests"]["storage"] for claim in claims}
    return sizes == {"2Gi"}


def says_lost(it: EtcdWorld) -> bool:
    """Tell whether a person was told that a majority is lost, if it is."""
    told = {blocker.guard for found in _clusters(it) for blocker in found.status.blockers}
    return not it.lost or "QuorumLost" in told


def is_recovered(it: EtcdWorld) -> bool:
    """Tell whether a recovery that a person approved is done, if there was anything to recover."""
    reports = [found.status.recovery for found in _clusters(it)]
    return not it.lost or all(it is not None and it.done for it in reports)


def _clusters(it: EtcdWorld) -> list[EtcdCluster]:
    stored = it.world.api.store.all(ETCD_CLUSTERS.name)
    return [decode(it.text, EtcdCluster) for it in stored]
