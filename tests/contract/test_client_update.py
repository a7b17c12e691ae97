"""Update: who may replace an object, what is kept whatever they send, and what counts as a change."""

from __future__ import annotations

from typing import Any

import pytest

from contract.backends import Kube
from contract.widgets import WIDGETS
from contract.words import (
    KINDS,
    config_map,
    deployment,
    key,
    lease,
    shown,
    stateful_set,
    whole,
    widget,
)
from fakes.names import named
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json, plain
from stateward.kube.errors import BadRequest, Conflict, Invalid, NotFound, ServerFailed
from stateward.kube.meta import Object, is_newer
from stateward.kube.resources import CONFIG_MAPS, DEPLOYMENTS, LEASES, STATEFUL_SETS


def at(version: Object, body: Json, **metadata: Any) -> Json:
    """Return the body with the revision of a version that was seen."""
    seen = {"resourceVersion": version.metadata.resource_version}
    return body | {"metadata": body["metadata"] | seen | metadata}


async def test_what_is_not_sent_is_gone(kube: Kube) -> None:
    first = config_map(kube, "a", {"x": "1"}, labels={"app": "shop"}, finalizers=["example.com/x"])
    made = await kube.client.create(CONFIG_MAPS, first)

    now = await kube.client.update(CONFIG_MAPS, at(made, config_map(kube, "a", {"y": "2"})))

    assert now.data == {"y": "2"}
    assert (now.metadata.labels, now.metadata.finalizers) == ({}, ())
    assert is_newer(now.metadata.resource_version, than=made.metadata.resource_version)


async def test_of_two_writers_the_second_must_look_again(kube: Kube) -> None:
    seen = await kube.client.create(CONFIG_MAPS, config_map(kube, "a"))
    await kube.client.update(CONFIG_MAPS, at(seen, config_map(kube, "a", {"by": "first"})))

    with pytest.raises(Conflict):
        await kube.rival.update(CONFIG_MAPS, at(seen, config_map(kube, "a", {"by": "second"})))

    now = await kube.rival.get(CONFIG_MAPS, key(kube, "a"))
    assert now.data == {"by": "first"}
    later = await kube.rival.update(CONFIG_MAPS, at(now, config_map(kube, "a", {"by": "second"})))
    assert later.data == {"by": "second"}


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret", "StatefulSet", "Deployment", "Service"])
async def test_some_kinds_may_be_replaced_unseen(kube: Kube, kind: str) -> None:
    resource, one = KINDS[kind]
    await kube.client.create(resource, one(kube, "a"))
    body = one(kube, "a")
    body["metadata"]["labels"] = {"new": "label"}

    now = await kube.client.update(resource, body)

    assert now.metadata.labels == {"new": "label"}


@pytest.mark.parametrize("kind", ["Lease", "PodDisruptionBudget", "Widget"])
async def test_others_must_have_been_seen(kube: Kube, kind: str) -> None:
    resource, one = KINDS[kind]
    await kube.client.create(resource, one(kube, "a"))

    with pytest.raises(Invalid) as refusal:
        await kube.client.update(resource, one(kube, "a"))

    assert [cause.field for cause in refusal.value.causes] == ["metadata.resourceVersion"]


async def test_revision_zero_is_none(kube: Kube) -> None:
    await kube.client.create(CONFIG_MAPS, config_map(kube, "a"))

    now = await kube.client.update(
        CONFIG_MAPS, config_map(kube, "a", {"x": "1"}, resourceVersion="0")
    )

    assert now.data == {"x": "1"}


async def test_a_revision_is_a_number(kube: Kube) -> None:
    await kube.client.create(CONFIG_MAPS, config_map(kube, "a"))

    with pytest.raises(ServerFailed):
        await kube.client.update(CONFIG_MAPS, config_map(kube, "a", resourceVersion="new"))


async def test_another_uid_is_another_object(kube: Kube) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a"))

    with pytest.raises(Conflict):
        await kube.client.update(CONFIG_MAPS, config_map(kube, "a", {"x": "1"}, uid="another"))

    assert await kube.client.get(CONFIG_MAPS, key(kube, "a")) == made


@pytest.mark.parametrize("kind", ["ConfigMap", "Widget", "StatefulSet", "Pod"])
async def test_what_is_not_there_cannot_be_replaced(kube: Kube, kind: str) -> None:
    resource, one = KINDS[kind]

    with pytest.raises(NotFound):
        await kube.client.update(resource, one(kube, "a"))


@pytest.mark.parametrize("kind", ["Lease", "Service"])
async def test_unless_its_kind_is_created_by_updates(kube: Kube, kind: str) -> None:
    resource, one = KINDS[kind]

    made = await kube.client.update(resource, one(kube, "a"))

    assert (await kube.client.get(resource, key(kube, "a"))).metadata.uid == made.metadata.uid != ""


async def test_but_not_if_a_certain_one_was_meant(kube: Kube) -> None:
    with pytest.raises(Conflict):
        await kube.client.update(LEASES, lease(kube, "a", uid="the-one-of-yesterday"))

    with pytest.raises(NotFound):
        await kube.client.get(LEASES, key(kube, "a"))


@pytest.mark.parametrize(
    ("field", "sent"), [("creationTimestamp", "2001-01-01T00:00:00Z"), ("generation", 7)]
)
async def test_what_only_the_server_sets_is_kept(kube: Kube, field: str, sent: Any) -> None:
    made = await kube.client.create(WIDGETS, widget(kube, "a", {"size": 1}))

    now = await kube.client.update(
        WIDGETS, at(made, widget(kube, "a", {"size": 1}), **{field: sent})
    )

    assert now.metadata == made.metadata


@pytest.mark.parametrize(
    ("field", "sent"),
    [("deletionTimestamp", "2001-01-01T00:00:00Z"), ("deletionGracePeriodSeconds", 5)],
)
async def test_nobody_writes_the_end_of_an_object(kube: Kube, field: str, sent: Any) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a"))

    with pytest.raises(Invalid):
        await kube.client.update(CONFIG_MAPS, config_map(kube, "a", **{field: sent}))

    assert await kube.client.get(CONFIG_MAPS, key(kube, "a")) == made


@pytest.mark.parametrize("who", ["client", "rival"])
@pytest.mark.parametrize(
    "nothing",
    [{}, {"labels": {}}, {"annotations": {}}, {"finalizers": []}, {"ownerReferences": []}],
    ids=shown,
)
async def test_a_change_of_nothing_writes_nothing(kube: Kube, who: str, nothing: Json) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", {"x": "1"}))

    now = await getattr(kube, who).update(CONFIG_MAPS, config_map(kube, "a", {"x": "1"}, **nothing))

    assert now == made


@pytest.mark.parametrize(
    ("resource", "body", "change", "counts"),
    [
        (WIDGETS, widget, {"spec": {"size": 2}}, True),
        (WIDGETS, widget, {"metadata": {"labels": {"a": "b"}}}, False),
        (WIDGETS, widget, {"metadata": {"annotations": {"a": "b"}}}, False),
        (WIDGETS, widget, {"metadata": {"finalizers": ["example.com/a"]}}, False),
        (STATEFUL_SETS, stateful_set, {"spec": {"minReadySeconds": 1}}, True),
        (STATEFUL_SETS, stateful_set, {"metadata": {"annotations": {"a": "b"}}}, False),
        (DEPLOYMENTS, deployment, {"spec": {"minReadySeconds": 1}}, True),
        (DEPLOYMENTS, deployment, {"metadata": {"labels": {"a": "b"}}}, False),
        (DEPLOYMENTS, deployment, {"metadata": {"annotations": {"a": "b"}}}, True),
    ],
    ids=named,
)
async def test_generations_count_what_is_asked_for(
    kube: Kube, resource: Any, body: Any, change: Json, counts: bool
) -> None:
    made = await kube.client.create(resource, body(kube, "a"))

    now = await kube.client.patch(resource, made.metadata.key, MergePatch(change))

    assert now.metadata.generation == made.metadata.generation + counts
    assert is_newer(now.metadata.resource_version, than=made.metadata.resource_version)


async def test_who_changed_what_is_remembered(kube: Kube) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", {"x": "1", "y": "1"}))

    body = at(made, config_map(kube, "a", {"x": "1", "y": "2"}))
    now = await kube.rival.update(whole(CONFIG_MAPS), body)

    owned = {it["manager"]: it["fieldsV1"]["f:data"] for it in now.metadata.managed_fields}
    assert owned == {"stateward": {".": {}, "f:x": {}}, "rival": {"f:y": {}}}


async def test_an_object_read_whole_may_be_written_back(kube: Kube) -> None:
    made = await kube.client.create(whole(WIDGETS), widget(kube, "a", {"size": 1, "tags": ["x"]}))

    now = await kube.client.update(whole(WIDGETS), plain(made))

    assert now == made


async def test_an_update_is_as_careful_as_a_create(kube: Kube) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a"))

    with pytest.raises(Invalid):
        await kube.client.update(CONFIG_MAPS, config_map(kube, "a", labels={"a": "b c"}))
    with pytest.raises(BadRequest):
        await kube.client.update(CONFIG_MAPS, config_map(kube, "a", labels={"a": 1}))

    assert await kube.client.get(CONFIG_MAPS, key(kube, "a")) == made
