"""What must change of a config map so that it is as wanted."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.fdb.cluster.hands.writing import difference
from stateward.fdb.model.names import CLUSTER_UID_LABEL
from stateward.kube.codec import Json, plain
from stateward.kube.meta import ObjectMeta, OwnerReference
from stateward.kube.objects.configs import ConfigMap


def owner(uid: str, *, controls: bool = True) -> OwnerReference:
    return OwnerReference(
        api_version="apps.foundationdb.org/v1beta2",
        kind="FoundationDBCluster",
        name="shop",
        uid=uid,
        controller=controls,
        block_owner_deletion=controls,
    )


OURS, OTHER = owner("ours"), owner("other", controls=False)


def live(*owners: OwnerReference, uid: str = "ours", **data: str) -> ConfigMap:
    metadata = ObjectMeta(
        name="shop-config",
        namespace="prod",
        uid="u",
        resource_version="7",
        labels={CLUSTER_UID_LABEL: uid, "theirs": "stays"},
        owner_references=owners,
    )
    return ConfigMap(metadata=metadata, data=data)


def wanted(*owners: OwnerReference, **data: str) -> Json:
    metadata: Json = {"name": "shop-config", "labels": {CLUSTER_UID_LABEL: "ours"}}
    if owners:
        metadata["ownerReferences"] = [plain(it) for it in owners]
    return {"metadata": metadata, "data": data}


EXACTLY = {"uid": "u", "resourceVersion": "7"}


@pytest.mark.parametrize(
    ("is_now", "shall"),
    [((), ()), ((OURS,), (OURS,)), ((OTHER,), ()), ((OTHER, OURS), (OURS,))],
)
def test_what_is_as_wanted_is_not_written(is_now: Any, shall: Any) -> None:
    assert difference(live(*is_now, a="1"), wanted(*shall, a="1")) is None


@pytest.mark.parametrize(
    ("is_now", "shall", "then"),
    [
        pytest.param((), (OURS,), (OURS,), id="tied"),
        pytest.param((OURS,), (), (), id="untied"),
        pytest.param((OTHER,), (OURS,), (OTHER, OURS), id="tied beside another"),
        pytest.param((OTHER, OURS), (), (OTHER,), id="untied beside another"),
    ],
)
def test_it_is_tied_to_its_cluster_and_untied(is_now: Any, shall: Any, then: Any) -> None:
    found = difference(live(*is_now), wanted(*shall))
    assert found == {"metadata": {**EXACTLY, "ownerReferences": [plain(it) for it in then]}}


def test_one_of_an_earlier_cluster_is_taken_over_whole() -> None:
    found = difference(live(uid="before", a="1", old="x"), wanted(a="2"))
    labels = {CLUSTER_UID_LABEL: "ours"}
    assert found == {
        "metadata": {**EXACTLY, "labels": labels},
        "data": {"a": "2", "old": None},
    }
