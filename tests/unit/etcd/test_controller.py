"""Whatever goes wrong in a pass reaches the status, and keeps nothing else from being done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from fakes.etcd_views import picture
from stateward.core.errors import HouseError, NotLeader, PeerUnreachable, UsageError
from stateward.core.outcome import DONE, Outcome, Retry
from stateward.etcd.addresses import ClusterDns
from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.build import documents
from stateward.etcd.caches import Caches, indexes
from stateward.etcd.controller import EtcdReconciler, Voices
from stateward.etcd.decide import moves
from stateward.etcd.decide.chart import Judgement
from stateward.etcd.moves.fence import Fence
from stateward.etcd.moves.rescue import Rescue
from stateward.etcd.moves.tools import Tools
from stateward.etcd.moves.writing import Applier
from stateward.etcd.seen import Seen
from stateward.etcd.tell.metrics import COUNTERS, GAUGES, EtcdMetrics
from stateward.etcd.wanting import Wants
from stateward.kube import conditions
from stateward.kube.crd.findings import Problem
from stateward.kube.errors import Conflict, Forbidden, Unavailable
from stateward.runtime.cache import Cache
from stateward.runtime.election import Leadership, Terms
from stateward.runtime.telling.journal import Journal
from stateward.runtime.telling.metrics import Metrics
from stateward.runtime.telling.recorder import Recorder
from stateward.runtime.telling.teller import Ears, Teller
from unit.etcd.moves.places import SHOP, Place

pytestmark = pytest.mark.virtual
HEALTHY = picture("3: L f f")
LONE = HEALTHY.replicas[0]
DELETE = moves.DeletePod(HEALTHY.replicas[2].pod, "it is outdated")  # type: ignore[arg-type]


class Observer:
    """Sees a picture, or fails."""

    def __init__(self) -> None:
        self.move: moves.Move = moves.Rest()
        self.error: Exception | None = None

    def problems(self, cluster: EtcdCluster) -> tuple[Problem, ...]:
        return Wants(ClusterDns(), lambda *_: False).of(cluster).problems

    async def look(self, cluster: EtcdCluster) -> Seen:
        if self.error is not None:
            raise self.error
        seen = Seen(
            replace(HEALTHY, cluster=cluster),
            {it.ordinal: object() for it in HEALTHY.replicas},  # type: ignore[misc]
            wanted=documents.around(cluster, voters=3, members=3),
        )
        vars(seen)["judgement"] = Judgement(self.move, "1")
        return seen


class Desk(Place):
    """A reconciler, an API server in memory, and eyes that see what they are told."""

    def __init__(self) -> None:
        super().__init__()
        leadership = Leadership(self.clock, Terms())
        leadership.renewed(self.clock.monotonic())
        tools = Tools(self.client, Applier(self.client), Rescue(None), Fence(leadership))
        metrics = Metrics(self.clock)
        recorder = Recorder(self.user, self.clock, "test", metrics.events())
        teller = Teller(Ears(Journal(), metrics.steps("etcd"), recorder), self.clock)
        self.clusters: Cache[EtcdCluster] = Cache(ETCD_CLUSTERS, indexes())
        caches = Caches(self.clusters, *[self.claims] * 6)  # type: ignore[arg-type]
        self.observer: Any = Observer()
        voices = Voices(teller, EtcdMetrics(metrics.objects(GAUGES, COUNTERS)))
        self.reconciler = EtcdReconciler(caches, self.observer, tools, voices, self.clock)

    async def reconcile(self) -> Outcome:
        if await self.now() is None:
            await self.cluster(replicas=3)
        self.clusters.replace(await self.user.list(ETCD_CLUSTERS))
        return await self.reconciler.reconcile(SHOP)

    async def ready(self) -> tuple[str, str]:
        """What the condition Ready says, in the API server."""
        cluster = await self.user.get(ETCD_CLUSTERS, SHOP)
        found = conditions.find(cluster.status.conditions, "Ready")
        return (found.status, found.reason) if found else ("", "")

    async def doing(self) -> str:
        return (await self.user.get(ETCD_CLUSTERS, SHOP)).status.doing


async def test_a_cluster_that_is_well_is_ready() -> None:
    desk = Desk()
    assert await desk.reconcile() == DONE
    assert await desk.ready() == ("True", "AllMembersHealthy")


# -------------------------------------------------------------------------- steps that fail


async def test_a_service_that_is_refused_is_told_and_the_move_is_made() -> None:
    desk = Desk()
    desk.doorman.refusals["patch services"] = Forbidden("exceeded quota")
    desk.observer.move = DELETE
    assert isinstance(await desk.reconcile(), Retry)
    assert await desk.ready() == ("False", "ObjectRefused")
    assert "delete pods default/shop-2" in desk.doorman.writes


async def test_a_move_that_is_refused_is_told() -> None:
    desk = Desk()
    desk.doorman.refusals["delete pods"] = Forbidden("you may not")
    desk.observer.move = DELETE
    await desk.reconcile()
    assert await desk.ready() == ("False", "ObjectRefused")


async def test_a_move_that_fails_is_told_and_then_raised() -> None:
    desk = Desk()
    desk.doorman.refusals["delete pods"] = Unavailable("the server does not take requests")
    desk.observer.move = DELETE
    with pytest.raises(Unavailable):
        await desk.reconcile()
    assert "the server does not take requests" in await desk.doing()


async def test_a_bug_is_told_and_then_raised() -> None:
    desk = Desk()
    desk.doorman.refusals["delete pods"] = HouseError("a promise was broken")  # type: ignore[assignment]
    desk.observer.move = DELETE
    with pytest.raises(HouseError):
        await desk.reconcile()
    assert await desk.ready() == ("False", "InternalError")


@pytest.mark.parametrize("error", [NotLeader("another leads"), Conflict("somebody was faster")])
async def test_who_may_not_tell_or_looks_again_at_once_writes_nothing(error: Any) -> None:
    desk = Desk()
    desk.doorman.refusals["delete pods"] = error
    desk.observer.move = DELETE
    with pytest.raises(type(error)):
        await desk.reconcile()
    assert await desk.ready() == ("", "")


async def test_a_status_that_cannot_be_written_does_not_hide_why() -> None:
    desk = Desk()
    desk.doorman.refusals["delete pods"] = Unavailable("the cause")
    desk.doorman.refusals["patch etcdclusters"] = Unavailable("the consequence")
    desk.observer.move = DELETE
    with pytest.raises(Unavailable, match="the cause"):
        await desk.reconcile()


async def test_a_survivor_that_cannot_be_saved_is_told() -> None:
    desk = Desk()
    desk.observer.move = moves.SaveSurvivor(LONE)
    observed = desk.observer.look

    async def with_a_door(cluster: EtcdCluster) -> Seen:
        seen = await observed(cluster)
        door = msgspec.defstruct("Door", ["snapshot"])(_no_snapshot)
        told = replace(seen, doors={0: door})
        vars(told)["judgement"] = seen.judgement
        return told

    desk.observer.look = with_a_door
    await desk.reconcile()
    assert await desk.ready() == ("False", "RescueImpossible")


async def _no_snapshot() -> Any:
    yield b""


# -------------------------------------------------------------------------- eyes that fail

BLIND: dict[str, tuple[Callable[[], Exception], str]] = {
    "secrets must not be read": (lambda: Forbidden("secrets is forbidden"), "ObjectRefused"),
    "a file of ours is broken": (lambda: UsageError("the file must be JSON"), "UsageError"),
}


@pytest.mark.parametrize("case", BLIND)
async def test_what_keeps_us_from_looking_is_told(case: str) -> None:
    desk = Desk()
    make, reason = BLIND[case]
    desk.observer.error = make()
    assert isinstance(await desk.reconcile(), Retry)
    assert await desk.ready() == ("False", reason)


async def test_a_bug_in_looking_is_told_and_then_raised() -> None:
    desk = Desk()
    desk.observer.error = KeyError("shop-7")
    with pytest.raises(KeyError):
        await desk.reconcile()
    assert await desk.ready() == ("False", "InternalError")


async def test_a_moment_of_trouble_in_looking_changes_no_status() -> None:
    desk = Desk()
    await desk.reconcile()
    desk.observer.error = PeerUnreachable("the API server is away")
    with pytest.raises(PeerUnreachable):
        await desk.reconcile()
    assert await desk.ready() == ("True", "AllMembersHealthy")


# -------------------------------------------------------------------------- volumes


async def test_volumes_are_kept_also_where_nothing_can_be_seen() -> None:
    desk = Desk()
    cluster = await desk.cluster(replicas=3, retainVolumesOnDelete=True)
    await desk.claim(cluster, 0)
    desk.observer.error = UsageError("blind")
    for _ in range(3):
        await desk.reconcile()
    assert await desk.tied() == []
    assert (await desk.user.get(ETCD_CLUSTERS, SHOP)).metadata.finalizers == ()


async def test_claims_that_stay_tied_are_told_and_a_deletion_waits_for_them() -> None:
    desk = Desk()
    cluster = await desk.cluster(replicas=3, retainVolumesOnDelete=True)
    await desk.claim(cluster, 0)
    desk.doorman.refusals["patch persistentvolumeclaims"] = Forbidden("you may not")
    await desk.reconcile()
    assert await desk.ready() == ("False", "VolumesTied")
    await desk.user.delete(ETCD_CLUSTERS, SHOP, uid=cluster.metadata.uid)
    assert isinstance(await desk.reconcile(), Retry)
    assert await desk.ready() == ("False", "VolumesTied")
    desk.doorman.refusals.clear()
    for _ in range(2):
        await desk.reconcile()
    assert await desk.now() is None
