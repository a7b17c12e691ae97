"""What an API server says to an EtcdCluster: every field and every change, before anybody acts on it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from operators.etcd_manifests import (
    BAD,
    BAD_CHANGES,
    COMPATIBLE,
    FINE_CHANGES,
    Bad,
    BadChange,
    Fine,
    manifest,
    says,
)
from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.etcd.api.kind import ETCD_CLUSTER_KIND, ETCD_CLUSTERS
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json, plain
from stateward.kube.crd.kind import crd
from stateward.kube.errors import ApiError
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CUSTOM_RESOURCES
from stateward.local.rules.admission import Author, Strictness
from stateward.local.schema.served import served_api
from stateward.sim.loop import SimClock

pytestmark = pytest.mark.virtual
SHOP = ObjectKey("default", "shop")
DEFINITION = crd(ETCD_CLUSTER_KIND)


def strict() -> Author:
    return Author(strictness=Strictness.STRICT)


def door() -> Any:
    """An API server that knows the kind."""
    api = served_api(Ports(SimClock(asyncio.get_running_loop()), Chance(1)))
    api.create(CUSTOM_RESOURCES, "", plain(DEFINITION), strict())
    return api


def standing(spec: Json, status: Json | None) -> Any:
    """The same, with a cluster that stands already."""
    api = door()
    api.create(ETCD_CLUSTERS, "default", plain(manifest(spec)), strict())
    if status is not None:
        api.patch(
            ETCD_CLUSTERS, SHOP, MergePatch({"status": status}), strict(), subresource="status"
        )
    return api


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.title)
async def test_refused(bad: Bad) -> None:
    with pytest.raises(ApiError) as refusal:
        door().create(ETCD_CLUSTERS, "default", plain(manifest(bad.spec, bad.name)), strict())

    assert refusal.value.code in {400, 422}
    assert bad.says in str(refusal.value)


@pytest.mark.parametrize("bad", BAD_CHANGES, ids=lambda bad: bad.title)
async def test_a_change_refused(bad: BadChange) -> None:
    api = standing(bad.was, bad.status)
    with pytest.raises(ApiError) as refusal:
        api.patch(ETCD_CLUSTERS, SHOP, MergePatch({"spec": bad.patch}), strict())

    assert refusal.value.code == 422
    assert bad.says in str(refusal.value)


@pytest.mark.parametrize("fine", FINE_CHANGES, ids=lambda fine: fine.title)
async def test_a_change_taken(fine: Fine) -> None:
    api = standing(fine.was, fine.status)
    api.patch(ETCD_CLUSTERS, SHOP, MergePatch({"spec": fine.patch}), strict())

    assert api.get(ETCD_CLUSTERS, SHOP).document()["metadata"]["generation"] == 2


@pytest.mark.parametrize("spec", COMPATIBLE.values(), ids=COMPATIBLE)
async def test_what_is_written_for_the_compatible_operator_is_taken(spec: Json) -> None:
    author = strict()
    made = door().create(ETCD_CLUSTERS, "default", plain(manifest(spec)), author)

    assert author.warnings == []
    assert says(made.document()["spec"], spec)


async def test_defaults_can_be_seen() -> None:
    body = manifest({})
    del body["spec"]
    made = door().create(ETCD_CLUSTERS, "default", body, strict())

    assert made.document()["spec"] == {
        "replicas": 3,
        "storage": {
            "volumeClaimTemplate": {
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "4Gi"}},
                }
            }
        },
        "paused": False,
        "unhealthyMemberGracePeriod": "60s",
        "retainVolumesOnDelete": False,
    }


async def test_a_status_can_always_be_written() -> None:
    """Whatever version members turn out to run, the operator must be able to say so."""
    api = standing({"version": "3.5.10"}, {"version": "3.5.10"})
    status = {"status": {"version": "3.6.16", "doing": "wondering"}}
    api.patch(ETCD_CLUSTERS, SHOP, MergePatch(status), strict(), subresource="status")

    assert api.get(ETCD_CLUSTERS, SHOP).document()["status"]["version"] == "3.6.16"
