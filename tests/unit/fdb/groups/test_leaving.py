"""A group that leaves loses its pod, then its claim, then its service; and nothing before it may."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.core.moments import to_rfc3339
from stateward.core.outcome import DONE, Retry
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.model import names
from stateward.kube.client import MergePatch
from stateward.kube.resources import PODS, SERVICES, VOLUME_CLAIMS
from stateward.kube.selector import LabelSelector
from unit.fdb.groups.desks import DATA, SHOP, STORAGE, Desk, kinds

BY_SERVICE = {"routing": {"publicIPSource": "service"}}
EMPTY = {"remove": True, "excluded": True}
#: What holds a claim while a pod uses it.
PROTECTED = {"metadata": {"finalizers": ["kubernetes.io/pvc-protection"]}}


async def emptied(desk: Desk, age: float = 0.0, **said: Any) -> None:
    """A group that holds nothing any more and is deleted by its cluster's controller."""
    await desk.settled(**{**BY_SERVICE, **said})
    await desk.user.patch(VOLUME_CLAIMS, DATA, MergePatch(PROTECTED))
    await desk.edit(**EMPTY, exclusionTimestamp=to_rfc3339(desk.clock.now() - age))
    await desk.delete(PROCESS_GROUPS, STORAGE)


def taken(desk: Desk) -> list[str]:
    """What was deleted or let go, in this order."""
    return [it for it in kinds(desk.doorman.writes) if it.startswith("delete") or it == DROPPED]


DROPPED = "patch foundationdbprocessgroups.apps.foundationdb.org"


async def test_each_thing_goes_when_the_one_before_it_is_really_gone() -> None:
    desk = Desk()
    await emptied(desk)
    assert isinstance(await desk.passes(), Retry)
    assert taken(desk) == ["delete pods"]
    await desk.end(PODS, STORAGE)
    await desk.passes()
    assert taken(desk) == ["delete pods", "delete persistentvolumeclaims"]
    await desk.end(VOLUME_CLAIMS, DATA)
    await desk.passes()
    assert taken(desk) == [
        "delete pods",
        "delete persistentvolumeclaims",
        "delete services",
        DROPPED,
    ]
    assert await desk.there(PROCESS_GROUPS, STORAGE) is None


async def test_what_a_cache_does_not_show_is_not_gone() -> None:
    desk = Desk()
    await emptied(desk)
    await desk.passes()
    every: tuple[tuple[Any, Any], ...] = (
        (PODS, STORAGE),
        (VOLUME_CLAIMS, DATA),
        (SERVICES, STORAGE),
    )
    for resource, key in every:
        bare = {"metadata": {"labels": {"app.kubernetes.io/managed-by": None}}}
        await desk.user.patch(resource, key, MergePatch(bare))
    await desk.passes()
    assert taken(desk) == ["delete pods"]
    await desk.end(PODS, STORAGE)
    await desk.passes()
    await desk.end(VOLUME_CLAIMS, DATA)
    await desk.passes()
    assert await desk.there(SERVICES, STORAGE) is None


KEPT: dict[str, dict[str, bool]] = {
    "it stays": {},
    "it shall go and holds data": {"remove": True},
    "it is empty and shall stay": {"excluded": True},
}


@pytest.mark.parametrize("case", KEPT)
async def test_a_group_that_is_deleted_too_early_goes_on(case: str) -> None:
    desk = Desk()
    await desk.settled()
    await desk.edit(**KEPT[case])
    await desk.delete(PROCESS_GROUPS, STORAGE)
    await desk.delete(PODS, STORAGE)
    await desk.end(PODS, STORAGE)
    await desk.passes()
    assert taken(desk) == []
    assert await desk.pod() is not None
    assert "another one" in (await desk.now()).status.doing


async def test_a_decision_that_is_taken_back_deletes_nothing() -> None:
    desk = Desk()
    await emptied(desk)
    await desk.see()
    await desk.edit(excluded=False, exclusionTimestamp=None)  # the caches do not show it yet
    await desk.reconciler.reconcile(STORAGE)
    await desk.passes()
    assert taken(desk) == []


async def test_an_old_proof_lets_nothing_go_until_there_is_a_new_one() -> None:
    desk = Desk()
    await emptied(desk, age=900.0)
    found = await desk.passes()
    assert isinstance(found, Retry)
    assert "proved anew" in found.message
    assert taken(desk) == []
    await desk.edit(exclusionTimestamp=to_rfc3339(desk.clock.now()))
    await desk.passes()
    assert taken(desk) == ["delete pods"]
    desk.clock.advance(900)
    await desk.end(PODS, STORAGE)
    await desk.passes()
    assert taken(desk) == ["delete pods", "delete persistentvolumeclaims"]


@pytest.mark.parametrize("moment", ["2026-01-01T00:00:01Z", "2099-01-01T00:00:00Z", None])
@pytest.mark.parametrize("has_pod", [True, False])
async def test_what_somebody_wrote_is_no_proof(moment: str | None, *, has_pod: bool) -> None:
    desk = Desk()
    await desk.settled()
    said = {"spec": {**EMPTY, "exclusionTimestamp": moment}}
    await desk.user.patch(PROCESS_GROUPS, STORAGE, MergePatch(said))
    await desk.delete(PROCESS_GROUPS, STORAGE)
    if not has_pod:
        await desk.delete(PODS, STORAGE)
        await desk.end(PODS, STORAGE)
    found = await desk.passes()
    assert isinstance(found, Retry)
    assert found.reason == "ProofIsMissing"
    assert taken(desk) == []


async def test_who_goes_with_what_it_holds_needs_no_proof_but_its_turn() -> None:
    desk = Desk()
    await desk.settled()
    await desk.edit(remove=True, exclusionSkipped=True)
    await desk.delete(PROCESS_GROUPS, STORAGE)
    found = await desk.passes()
    assert isinstance(found, Retry)
    assert taken(desk) == []
    await desk.edit(exclusionTimestamp=to_rfc3339(desk.clock.now() - 900))
    await desk.passes()
    assert taken(desk) == [], "what was allowed then may not be now"
    await desk.edit(exclusionTimestamp=to_rfc3339(desk.clock.now()))
    await desk.passes()
    assert taken(desk) == ["delete pods"]


async def test_a_claim_without_a_pod_waits_for_the_turn_of_its_group_too() -> None:
    desk = Desk()
    await desk.settled()
    await desk.edit(remove=True, exclusionSkipped=True)
    await desk.end(PODS, STORAGE)
    await desk.delete(PROCESS_GROUPS, STORAGE)
    await desk.passes()
    assert taken(desk) == []
    await desk.edit(exclusionTimestamp=to_rfc3339(desk.clock.now()))
    await desk.passes()
    assert "delete persistentvolumeclaims" in taken(desk)


async def test_a_pod_that_does_not_end_keeps_its_claim() -> None:
    desk = Desk()
    await emptied(desk)
    for _ in range(5):
        await desk.passes()
        desk.clock.advance(600)
    assert taken(desk) == ["delete pods"]
    assert [it.type for it in (await desk.now()).status.conditions if it.status == "True"] == [
        "ResourcesTerminating"
    ]


async def test_a_pod_that_is_isolated_is_kept_until_somebody_has_seen_enough() -> None:
    desk = Desk()
    await emptied(desk)
    note = {"metadata": {"annotations": {names.ISOLATED: "true"}}}
    await desk.user.patch(PODS, STORAGE, MergePatch(note))
    await desk.passes()
    assert taken(desk) == []
    assert "isolated" in (await desk.now()).status.doing
    note = {"metadata": {"annotations": {names.ISOLATED: "false"}}}
    await desk.user.patch(PODS, STORAGE, MergePatch(note))
    await desk.passes()
    assert taken(desk) == ["delete pods"]


async def test_a_cluster_that_is_skipped_lets_nothing_go() -> None:
    desk = Desk()
    await emptied(desk)
    await desk.user.patch(CLUSTERS, SHOP, MergePatch({"spec": {"skip": True}}))
    await desk.passes()
    assert taken(desk) == []


async def test_a_cluster_that_is_not_ours_to_see_loses_nothing() -> None:
    desk = Desk()
    await emptied(desk)
    await desk.see()
    desk.caches.clusters.remove(SHOP)
    await desk.reconciler.reconcile(STORAGE)
    assert taken(desk) == []


# ------------------------------------------------------------------ a cluster that goes


async def without_cluster(desk: Desk, **said: Any) -> None:
    """A group whose cluster was deleted, so that the collector deletes the group."""
    await desk.settled(**said)
    await desk.delete(CLUSTERS, SHOP)
    await desk.delete(PROCESS_GROUPS, STORAGE)
    await desk.passes()
    await desk.end(PODS, STORAGE)
    await desk.passes()


async def test_with_its_cluster_a_group_goes_and_its_data_stays() -> None:
    desk = Desk()
    await without_cluster(desk)
    assert taken(desk) == ["delete pods", DROPPED]
    assert await desk.there(PROCESS_GROUPS, STORAGE) is None
    assert await desk.there(VOLUME_CLAIMS, DATA) is not None


async def test_data_goes_too_if_that_was_asked_for() -> None:
    desk = Desk()
    await without_cluster(desk, deletionPolicy="Delete")
    assert taken(desk) == ["delete pods", "delete persistentvolumeclaims"]
    await desk.end(VOLUME_CLAIMS, DATA)
    await desk.passes()
    assert taken(desk) == ["delete pods", "delete persistentvolumeclaims", DROPPED]


async def test_a_claim_that_is_to_stay_is_untied_first() -> None:
    desk = Desk()
    await desk.settled(deletionPolicy="Delete")
    await desk.delete(CLUSTERS, SHOP)
    await desk.edit(deletionPolicy="Retain")
    await desk.delete(PROCESS_GROUPS, STORAGE)
    await desk.passes()
    await desk.end(PODS, STORAGE)
    await desk.passes()
    assert (await desk.there(VOLUME_CLAIMS, DATA)).metadata.owner_references == ()
    assert taken(desk) == ["delete pods", DROPPED]


async def test_a_cluster_that_only_a_cache_does_not_show_is_there() -> None:
    desk = Desk()
    await desk.settled()
    await desk.delete(PROCESS_GROUPS, STORAGE)
    await desk.see()
    desk.caches.clusters.remove(SHOP)
    outcome = await desk.reconciler.reconcile(STORAGE)
    assert isinstance(outcome, Retry)
    assert outcome.reason == "ClusterUnseen"
    assert taken(desk) == []


@pytest.mark.parametrize("owned", [True, False], ids=["owned", "nobody's"])
async def test_a_group_of_a_cluster_of_another_operator_is_not_touched(*, owned: bool) -> None:
    """Two who tell how it is would never agree, and neither would come to rest."""
    desk = Desk()
    await desk.settled()
    await desk.delete(PODS, STORAGE)
    if not owned:
        nobody = {"metadata": {"ownerReferences": None}}
        await desk.user.patch(PROCESS_GROUPS, STORAGE, MergePatch(nobody))
    desk.ours = LabelSelector.parse("place=dc2")
    desk.start()
    await desk.see()
    desk.caches.clusters.remove(SHOP)
    assert await desk.reconciler.reconcile(STORAGE) == DONE
    assert desk.doorman.writes == []


async def test_another_cluster_of_the_same_name_is_not_its_own() -> None:
    desk = Desk()
    await desk.settled()
    await desk.delete(CLUSTERS, SHOP)
    await desk.cluster()
    await desk.delete(PODS, STORAGE)
    await desk.end(PODS, STORAGE)
    await desk.passes()
    assert await desk.pod() is None  # nothing is made for a cluster that is gone
    await desk.delete(PROCESS_GROUPS, STORAGE)
    await desk.passes()
    assert await desk.there(PROCESS_GROUPS, STORAGE) is None
    assert await desk.there(VOLUME_CLAIMS, DATA) is not None


async def test_a_group_that_nobody_owns_is_left_alone() -> None:
    desk = Desk()
    await desk.cluster()
    group = await desk.group()
    nobody = {"metadata": {"uid": group.metadata.uid, "ownerReferences": None}}
    await desk.user.patch(PROCESS_GROUPS, STORAGE, MergePatch(nobody))
    await desk.passes()
    assert not desk.wrote("create", "delete")


async def test_what_is_not_ours_is_not_deleted() -> None:
    desk = Desk()
    await desk.cluster()
    await desk.group(**EMPTY)
    await desk.delete(PROCESS_GROUPS, STORAGE)
    bare = {"namespace": STORAGE.namespace}
    spec = {"containers": [{"name": "a", "image": "a"}]}
    await desk.user.create(PODS, {"metadata": {**bare, "name": STORAGE.name}, "spec": spec})
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {**bare, "name": DATA.name, "labels": {names.CLUSTER_UID_LABEL: "another"}}
    await desk.user.create(VOLUME_CLAIMS, {"metadata": metadata, "spec": claim})
    await desk.passes()
    assert taken(desk) == [DROPPED]
    assert await desk.there(VOLUME_CLAIMS, DATA) is not None
    assert await desk.pod() is not None
