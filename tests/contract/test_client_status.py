"""The status endpoint: one object, two doors, and each changes only its own half."""

from __future__ import annotations

from typing import Any

import pytest

from contract.backends import Kube
from contract.widgets import WIDGETS
from contract.words import config_map, deployment, key, pod, shown, stateful_set, whole, widget
from stateward.kube.client import JsonPatch, MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import Conflict, Invalid, NotFound
from stateward.kube.meta import is_newer
from stateward.kube.resources import CONFIG_MAPS, DEPLOYMENTS, PODS, STATEFUL_SETS

#: A resource, an object of it, and a spec that differs from the object's.
BOTH = pytest.mark.parametrize(
    ("resource", "body", "spec"),
    [
        (whole(WIDGETS), widget, {"size": 5}),
        (whole(STATEFUL_SETS), stateful_set, {"minReadySeconds": 5}),
    ],
    ids=["Widget", "StatefulSet"],
)


@BOTH
async def test_the_main_door_changes_no_status(
    kube: Kube, resource: Any, body: Any, spec: Json
) -> None:
    made = await kube.client.create(resource, body(kube, "a"))
    lies = {"phase": "Ready", "readyReplicas": 9}

    now = await kube.client.patch(
        resource, made.metadata.key, MergePatch({"spec": spec, "status": lies})
    )

    assert now.spec.items() >= spec.items()
    assert not lies.items() & now.status.items()
    if resource.name == WIDGETS.name:  # of a StatefulSet its controller may have told meanwhile
        assert now.status == made.status


@BOTH
async def test_the_status_door_changes_nothing_else(
    kube: Kube, resource: Any, body: Any, spec: Json
) -> None:
    made = await kube.client.create(resource, body(kube, "a"))
    change = MergePatch({"spec": spec, "status": {"phase": "Ready", "replicas": 9}})

    now = await kube.client.patch(resource, made.metadata.key, change, subresource="status")

    assert now.spec == made.spec
    assert now.metadata.generation == made.metadata.generation
    assert now.status != made.status


async def test_a_status_is_written_at_its_door(kube: Kube) -> None:
    made = await kube.client.create(WIDGETS, widget(kube, "a", {"size": 1}))
    seen = {"resourceVersion": made.metadata.resource_version}
    body = widget(kube, "a", {"size": 9}, **seen) | {"status": {"phase": "Ready"}}

    now = await kube.client.update(WIDGETS, body, subresource="status")

    assert (now.spec, now.status) == ({"size": 1}, {"phase": "Ready"})
    assert is_newer(now.metadata.resource_version, than=made.metadata.resource_version)
    assert now.metadata.generation == 1
    assert await kube.client.get(WIDGETS, key(kube, "a")) == now


async def test_an_update_at_the_main_door_keeps_the_status(kube: Kube) -> None:
    made = await kube.client.create(WIDGETS, widget(kube, "a", {"size": 1}))
    ready = MergePatch({"status": {"phase": "Ready"}})
    told = await kube.client.patch(WIDGETS, made.metadata.key, ready, subresource="status")
    seen = {"resourceVersion": told.metadata.resource_version}

    now = await kube.client.update(WIDGETS, widget(kube, "a", {"size": 2}, **seen))

    assert (now.spec, now.status) == ({"size": 2}, {"phase": "Ready"})
    assert now.metadata.generation == 2


@pytest.mark.parametrize(
    "metadata",
    [{"labels": {"a": "b"}}, {"annotations": {"a": "b"}}, {"finalizers": ["example.com/a"]}],
    ids=shown,
)
async def test_the_status_door_of_a_custom_kind_changes_no_metadata(
    kube: Kube, metadata: Json
) -> None:
    made = await kube.client.create(WIDGETS, widget(kube, "a"))
    change = MergePatch({"metadata": metadata, "status": {"phase": "Ready"}})

    now = (
        await kube.client.patch(WIDGETS, made.metadata.key, change, subresource="status")
    ).metadata

    assert (now.labels, now.annotations, now.finalizers) == ({}, {}, ())


async def test_a_status_said_again_writes_nothing(kube: Kube) -> None:
    made = await kube.client.create(WIDGETS, widget(kube, "a"))
    ready = MergePatch({"status": {"phase": "Ready"}})
    once = await kube.client.patch(WIDGETS, made.metadata.key, ready, subresource="status")

    again = await kube.client.patch(WIDGETS, made.metadata.key, ready, subresource="status")

    assert again == once


async def test_a_status_of_a_version_that_is_no_more(kube: Kube) -> None:
    made = await kube.client.create(WIDGETS, widget(kube, "a", {"size": 1}))
    await kube.rival.patch(WIDGETS, made.metadata.key, MergePatch({"spec": {"size": 2}}))
    seen = {"resourceVersion": made.metadata.resource_version}

    with pytest.raises(Conflict):
        await kube.client.update(
            WIDGETS,
            widget(kube, "a", **seen) | {"status": {"phase": "Ready"}},
            subresource="status",
        )


async def test_a_status_of_no_version(kube: Kube) -> None:
    await kube.client.create(WIDGETS, widget(kube, "a"))

    with pytest.raises(Invalid):
        await kube.client.update(WIDGETS, widget(kube, "a"), subresource="status")


async def test_a_status_can_be_taken_back(kube: Kube) -> None:
    made = await kube.client.create(WIDGETS, widget(kube, "a"))
    ready = MergePatch({"status": {"phase": "Ready"}})
    await kube.client.patch(WIDGETS, made.metadata.key, ready, subresource="status")

    forget = JsonPatch(({"op": "remove", "path": "/status/phase"},))
    now = await kube.client.patch(WIDGETS, made.metadata.key, forget, subresource="status")

    assert now.status == {}


async def test_the_status_of_nothing(kube: Kube) -> None:
    ready = MergePatch({"status": {"phase": "Ready"}})

    with pytest.raises(NotFound):
        await kube.client.patch(WIDGETS, key(kube, "none"), ready, subresource="status")


async def test_a_kind_without_a_status_has_no_such_door(kube: Kube) -> None:
    await kube.client.create(CONFIG_MAPS, config_map(kube, "a"))

    with pytest.raises(NotFound):
        await kube.client.patch(
            CONFIG_MAPS, key(kube, "a"), MergePatch({"data": {}}), subresource="status"
        )


async def test_whose_words_a_status_is_made_of(kube: Kube) -> None:
    made = await kube.client.create(WIDGETS, widget(kube, "a", {"size": 1}))
    ready = MergePatch({"status": {"phase": "Ready"}})

    now = await kube.client.patch(whole(WIDGETS), made.metadata.key, ready, subresource="status")

    records = {it.get("subresource", ""): it for it in now.metadata.managed_fields}
    assert records["status"]["fieldsV1"] == {"f:status": {".": {}, "f:phase": {}}}
    assert "f:status" not in records[""]["fieldsV1"]


async def test_the_status_door_of_a_built_in_kind_lets_metadata_through(kube: Kube) -> None:
    made = await kube.client.create(STATEFUL_SETS, stateful_set(kube, "a"))
    change = {"labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["example.com/e"]}

    now = await kube.client.patch(
        STATEFUL_SETS, made.metadata.key, MergePatch({"metadata": change}), subresource="status"
    )

    assert now.metadata.labels == {"a": "b"}
    assert now.metadata.annotations == {"c": "d"}
    assert now.metadata.finalizers == ("example.com/e",)
    assert now.metadata.generation == 1


@pytest.mark.parametrize(
    ("resource", "body", "metadata"),
    [
        (DEPLOYMENTS, deployment, {"labels": {"a": "b"}}),
        (
            PODS,
            pod,
            {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "1"}]},
        ),
    ],
    ids=["Deployment", "Pod"],
)
async def test_but_not_all_of_it(kube: Kube, resource: Any, body: Any, metadata: Json) -> None:
    made = await kube.client.create(resource, body(kube, "a"))

    now = await kube.client.patch(
        resource, made.metadata.key, MergePatch({"metadata": metadata}), subresource="status"
    )

    assert (now.metadata.labels, now.metadata.owner_references) == ({}, ())


async def test_notes_count_as_a_change_at_the_main_door_only(kube: Kube) -> None:
    made = await kube.client.create(whole(DEPLOYMENTS), deployment(kube, "a"))
    note = MergePatch({"metadata": {"annotations": {"note": "1"}}})

    there = await kube.client.patch(whole(DEPLOYMENTS), key(kube, "a"), note, subresource="status")
    other = MergePatch({"metadata": {"annotations": {"note": "2"}}})
    here = await kube.client.patch(whole(DEPLOYMENTS), key(kube, "a"), other)

    first = made.metadata.generation
    assert (there.metadata.annotations["note"], there.metadata.generation) == ("1", first)
    assert (here.metadata.annotations["note"], here.metadata.generation) == ("2", first + 1)
