"""Rarer things that befall clusters and that users ask for: what is done, and when it is over."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stateward.core import moments
from stateward.core.quantity import Quantity
from stateward.emulate.etcd.council import Leaderless
from stateward.emulate.etcd.servers import Server
from stateward.emulate.etcd.state import State
from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.api.storage import ClaimTemplate
from stateward.etcd.model.members import AlarmKind
from stateward.etcd.moves.rescue import Rescue
from stateward.kube.codec import Json, decode
from stateward.kube.resources import VOLUME_CLAIMS

if TYPE_CHECKING:
    from stateward.sim.etcd.world import EtcdWorld

#: Seconds between two writes of a client.
_WRITING: Final = 10.0
#: What a user writes to have larger volumes.
LARGER: Final[Json] = {
    "volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
}
#: Seconds.
_LONG: Final = 20.0


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
    """Fill every database with what was deleted and not given back; one member cries.

    Another one does with the next write, should the first be gone by then.
    """
    for server in it.universe.servers:
        server.disk.slack += server.start.quota
    _write_on(it)


def cram(it: EtcdWorld) -> None:
    """Fill every database with what clients still need: only more room, or they, can help."""
    for server in it.universe.servers:
        with suppress(Leaderless):
            it.universe.commit(server, partial(_used_up, quota=server.start.quota))
    _write_on(it)


def _used_up(state: State, quota: int) -> State:
    return replace(state, used=max(state.used, quota))


def _write_on(it: EtcdWorld) -> None:
    """Have a client write now and then, as long as a database is full."""
    full = _full(it)
    if full and not _cry(it):
        it.universe.raise_alarm(full[0], AlarmKind.NO_SPACE)
    if full:
        it.world.later(_WRITING, lambda: _write_on(it))


def has_room(it: EtcdWorld) -> bool:
    """Tell whether no member cries any more, and none has reason to."""
    return not _full(it) and not _cry(it)


def _full(it: EtcdWorld) -> list[Server]:
    return [
        server
        for server in it.universe.servers
        if max(server.disk.slack, server.state.used) >= server.start.quota
    ]


def _cry(it: EtcdWorld) -> bool:
    return any(server.state.alarms for server in it.universe.servers)


def has_larger_volumes(it: EtcdWorld) -> bool:
    """Tell whether every volume is as large as a user wants by now, and every etcd may fill it."""
    wanted = {_size(found.spec.storage.volume_claim_template) for found in _clusters(it)}
    claims = [stored.document() for stored in it.world.api.store.all(VOLUME_CLAIMS.name)]
    sizes = {claim["status"].get("capacity", {}).get("storage") for claim in claims}
    quotas = {server.start.quota for server in it.universe.servers}
    return sizes == wanted and quotas == {_quota(it) for it in wanted}


def _size(template: ClaimTemplate | None) -> str:
    return str(template.spec["resources"]["requests"]["storage"]) if template is not None else "0"


def _quota(size: str) -> int:
    return int(Quantity.parse(size)) * 95 // 100


def is_long_ill(it: EtcdWorld) -> bool:
    """Tell whether a member is said to be ill for so long that it misses much, if it is ill."""
    now = it.world.clock.now()
    reports = [report for found in _clusters(it) for report in found.status.members]
    since = [moments.from_rfc3339(it.unhealthy_since) for it in reports if it.unhealthy_since]
    return any(now - it > _LONG for it in since) or not it.troubled


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
