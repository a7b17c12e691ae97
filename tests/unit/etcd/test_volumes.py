"""The claims of a cluster, whatever somebody did to their labels."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.etcd.caches import OURS
from stateward.etcd.model.names import CLUSTER_UID_LABEL
from stateward.etcd.model.view import ClaimSeen
from stateward.etcd.volumes import Volumes
from stateward.kube.client import MergePatch, Selection
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import VOLUME_CLAIMS
from unit.etcd.moves.places import SHOP, Place

pytestmark = pytest.mark.virtual

MANAGER, INSTANCE = "app.kubernetes.io/managed-by", "app.kubernetes.io/instance"
ANOTHER = {"ownerReferences": None, "labels": {INSTANCE: "cafe", CLUSTER_UID_LABEL: "another"}}

#: What somebody did to the claim of shop-1, whether it is seen, and whether it is another's.
DONE_TO: dict[str, tuple[dict[str, Any], str, bool]] = {
    "nothing": ({}, "labelled", False),
    "not watched any more": ({"labels": {MANAGER: None}}, "bare", False),
    "named after nobody": ({"labels": {INSTANCE: None}}, "bare", False),
    "no label is left, and it goes with us": ({"labels": None}, "bare", False),
    "no owner is left": ({"labels": {MANAGER: None}, "ownerReferences": None}, "bare", False),
    "nothing speaks of us": ({"labels": None, "ownerReferences": None}, "", False),
    "it is of another cluster": (ANOTHER, "", True),
}


@pytest.mark.parametrize("case", DONE_TO)
async def test_a_claim_is_known_by_its_owner_or_by_its_label(case: str) -> None:
    change, expected, taken = DONE_TO[case]
    place = Place()
    made = await place.cluster(replicas=3)
    cluster = made.metadata
    for ordinal in range(2):
        await place.claim(made, ordinal)
    body = MergePatch({"metadata": change})
    await place.user.patch(VOLUME_CLAIMS, ObjectKey(SHOP.namespace, "data-shop-1"), body)
    place.claims.replace(await place.user.list(VOLUME_CLAIMS, Selection(labels=OURS)))
    volumes = Volumes(place.claims, place.user)
    found = volumes.watched(cluster, "data")
    found |= await volumes.strays(cluster, "data", {0, 1, 2} - set(found))
    assert {ordinal: _word(it) for ordinal, it in found.items()} == {
        0: "labelled",
        **({1: expected} if expected else {}),
    }
    assert list(volumes.taken(cluster, "data", range(3))) == (["data-shop-1"] if taken else [])


@pytest.mark.parametrize(("joining", "seen"), [((), ""), ({1}, "bare")], ids=["has one", "joins"])
async def test_a_claim_that_is_nobodys_is_seen_by_who_would_start_on_it(joining, seen) -> None:
    place = Place()
    made = await place.cluster(replicas=3)
    await place.claim(made, 1)
    bare = MergePatch({"metadata": {"labels": None, "ownerReferences": None}})
    await place.user.patch(VOLUME_CLAIMS, ObjectKey(SHOP.namespace, "data-shop-1"), bare)
    found = await Volumes(place.claims, place.user).strays(made.metadata, "data", {1}, joining)
    assert {ordinal: _word(it) for ordinal, it in found.items()} == ({1: seen} if seen else {})
    assert all(not it.cluster_uid and not it.owner_uid for it in found.values())


def _word(claim: ClaimSeen) -> str:
    return "labelled" if claim.labelled else "bare"
