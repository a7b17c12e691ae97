"""The scale of an object: one number, whatever the kind."""

from __future__ import annotations

import pytest

from contract.backends import Kube
from contract.words import config_map, deployment, key, stateful_set, whole
from stateward.kube.client import JsonPatch, MergePatch
from stateward.kube.errors import Conflict, Invalid, NotFound
from stateward.kube.resources import CONFIG_MAPS, DEPLOYMENTS, STATEFUL_SETS

SCALED = whole(DEPLOYMENTS)


async def test_a_scale_is_patched_alone(kube: Kube) -> None:
    await kube.client.create(SCALED, deployment(kube, "a"))

    patch = MergePatch({"spec": {"replicas": 0}})
    scale = await kube.client.patch(SCALED, key(kube, "a"), patch, subresource="scale")

    assert scale.spec.get("replicas", 0) == 0
    assert scale.status["selector"] == "app=a"


@pytest.mark.parametrize(
    "patch",
    [
        MergePatch({"spec": {"replicas": 3}}),
        JsonPatch(({"op": "add", "path": "/spec/replicas", "value": 3},)),
    ],
    ids=["merge", "json"],
)
async def test_what_is_scaled_counts(kube: Kube, patch: MergePatch | JsonPatch) -> None:
    where, sets = key(kube, "a"), whole(STATEFUL_SETS)
    made = await kube.client.create(sets, stateful_set(kube, "a"))

    await kube.client.patch(sets, where, patch, subresource="scale", dry_run=False)

    found = await kube.client.get(sets, where)
    assert found.spec["replicas"] == 3
    assert found.metadata.generation > made.metadata.generation


async def test_who_scales_owns_the_replicas(kube: Kube) -> None:
    where = key(kube, "a")
    await kube.client.create(SCALED, deployment(kube, "a"))

    await kube.rival.patch(
        SCALED, where, MergePatch({"spec": {"replicas": 1}}), subresource="scale"
    )

    found = await kube.client.get(SCALED, where)
    entry = next(it for it in found.metadata.managed_fields if it["manager"] == "rival")
    assert (entry["subresource"], entry["fieldsV1"]) == ("scale", {"f:spec": {"f:replicas": {}}})


async def test_a_scale_is_a_whole_number_from_zero(kube: Kube) -> None:
    await kube.client.create(SCALED, deployment(kube, "a"))

    with pytest.raises(Invalid):
        await kube.client.patch(
            SCALED, key(kube, "a"), MergePatch({"spec": {"replicas": -1}}), subresource="scale"
        )


async def test_a_stale_scale_is_a_conflict(kube: Kube) -> None:
    await kube.client.create(SCALED, deployment(kube, "a"))
    stale = MergePatch({"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 1}})

    with pytest.raises(Conflict):
        await kube.client.patch(SCALED, key(kube, "a"), stale, subresource="scale")


async def test_not_everything_can_be_scaled(kube: Kube) -> None:
    await kube.client.create(CONFIG_MAPS, config_map(kube, "a"))

    with pytest.raises(NotFound):
        await kube.client.patch(
            CONFIG_MAPS, key(kube, "a"), MergePatch({"spec": {"replicas": 1}}), subresource="scale"
        )
