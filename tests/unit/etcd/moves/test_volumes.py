"""Volumes that shall outlive their cluster are untied from it, whatever state it is in."""

from __future__ import annotations

import pytest

from stateward.core.outcome import DONE, Blocked, Retry
from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.build.claims import FINALIZER
from stateward.etcd.moves.volumes import KeepVolumes
from stateward.kube.client import MergePatch
from stateward.kube.errors import Forbidden, Unavailable
from stateward.kube.resources import VOLUME_CLAIMS
from unit.etcd.moves.places import SHOP, Place

pytestmark = pytest.mark.virtual
MAY_NOT = Forbidden("you may not")


async def shop(*tied: bool, **spec: object) -> tuple[Place, EtcdCluster]:
    """A cluster with claims, which are tied to it or not."""
    place = Place()
    made = await place.cluster(**spec)
    for ordinal, is_tied in enumerate(tied):
        await place.claim(made, ordinal, tied=is_tied)
    return place, made


async def settled(place: Place, passes: int = 5) -> list[object]:
    """Settle again and again, and return what was said until nothing is left to do."""
    said = []
    for _ in range(passes):
        cluster = await place.now()
        if cluster is None:
            break
        _, outcome = await KeepVolumes(place.client, place.claims).settle(cluster)
        said.append(outcome)
    return said


async def finalizers(place: Place) -> tuple[str, ...]:
    return (await place.user.get(ETCD_CLUSTERS, SHOP)).metadata.finalizers


STATES = {
    "as it is": {},
    "asleep": {"replicas": 0},
    "paused": {"paused": True},
    "of one": {"replicas": 1},
}


@pytest.mark.parametrize("state", STATES)
async def test_claims_are_untied_and_then_nothing_is_left(state: str) -> None:
    place, _ = await shop(True, False, True, retainVolumesOnDelete=True, **STATES[state])
    said = await settled(place)
    assert [type(it) for it in said[:2]] == [Retry, type(DONE)]
    assert (await place.tied(), await finalizers(place)) == ([], ())
    assert place.doorman.writes[0].startswith("patch etcdclusters"), "it is held before"
    before = list(place.doorman.writes)
    await settled(place)
    assert place.doorman.writes == before, "at rest nothing is written"


async def test_nobody_is_untied_and_held_who_may_go() -> None:
    place, _ = await shop(True, True)
    assert set(await settled(place)) == {DONE}
    assert place.doorman.writes == []


async def test_the_cluster_that_came_back_is_the_one_to_go_on_with() -> None:
    """Its status is written onto the version that has the finalizer."""
    place, _ = await shop(True, retainVolumesOnDelete=True)
    cluster = await place.now()
    assert cluster is not None
    after, _ = await KeepVolumes(place.client, place.claims).settle(cluster)
    live = await place.user.get(ETCD_CLUSTERS, SHOP)
    assert after.metadata.resource_version == live.metadata.resource_version
    assert after.metadata.finalizers == (FINALIZER,)


async def test_what_stays_tied_is_told_and_holds_the_cluster_until_it_is_not() -> None:
    place, made = await shop(True, True, retainVolumesOnDelete=True)
    place.doorman.refusals["patch persistentvolumeclaims default/data-shop-1"] = MAY_NOT
    said = await settled(place)
    assert {it.reason for it in said if isinstance(it, Blocked)} == {"VolumesTied"}
    assert await place.tied() == ["data-shop-1"], "one that cannot be untied keeps no other tied"
    await place.user.delete(ETCD_CLUSTERS, SHOP, uid=made.metadata.uid)
    await settled(place)
    assert await finalizers(place) == (FINALIZER,), "deleted, and not gone"
    place.doorman.refusals.clear()
    await settled(place)
    assert await place.now() is None
    assert await place.tied() == []


async def test_a_mind_that_changes_lets_a_held_cluster_go() -> None:
    place, made = await shop(True, retainVolumesOnDelete=True)
    place.doorman.refusals["patch persistentvolumeclaims"] = MAY_NOT
    await settled(place)
    await place.user.delete(ETCD_CLUSTERS, SHOP, uid=made.metadata.uid)
    await place.edit(retainVolumesOnDelete=False)
    await settled(place)
    assert await place.now() is None
    assert len((await place.user.list(VOLUME_CLAIMS)).items) == 1


async def test_finalizers_of_others_are_left_alone() -> None:
    place, _ = await shop(True, retainVolumesOnDelete=True)
    theirs = {"metadata": {"finalizers": ["example.com/theirs"]}}
    await place.user.patch(ETCD_CLUSTERS, SHOP, MergePatch(theirs))
    await settled(place)
    assert await finalizers(place) == ("example.com/theirs",)


async def test_claims_are_untied_also_where_the_cluster_cannot_be_held() -> None:
    place, _ = await shop(True, retainVolumesOnDelete=True)
    place.doorman.refusals["patch etcdclusters"] = MAY_NOT
    said = await settled(place)
    assert isinstance(said[0], Blocked)
    assert said[-1] == DONE
    assert await place.tied() == []


async def test_a_claim_that_the_cache_does_not_show_yet_is_untied_before_the_cluster_goes() -> None:
    place, _ = await shop(True, retainVolumesOnDelete=True)
    held = {"metadata": {"finalizers": [FINALIZER]}}
    cluster = await place.user.patch(ETCD_CLUSTERS, SHOP, MergePatch(held))
    assert len(place.claims) == 0
    _, outcome = await KeepVolumes(place.client, place.claims).settle(cluster)
    assert isinstance(outcome, Retry)
    assert (await place.tied(), await finalizers(place)) == ([], (FINALIZER,))


async def test_a_new_wish_is_heard_by_claims_that_the_cache_does_not_show_yet() -> None:
    place, cluster = await shop(True, retainVolumesOnDelete=True)
    assert len(place.claims) == 0
    held, outcome = await KeepVolumes(place.client, place.claims).settle(cluster)
    assert isinstance(outcome, Retry)
    assert (await place.tied(), held.metadata.finalizers) == ([], (FINALIZER,))


async def test_a_server_in_trouble_is_asked_again_and_nothing_is_raised() -> None:
    place, _ = await shop(True, retainVolumesOnDelete=True)
    place.doorman.refusals["patch"] = Unavailable("not now")
    said = await settled(place, passes=1)
    assert [it.reason for it in said if isinstance(it, Retry)] == ["ServiceUnavailable"]
