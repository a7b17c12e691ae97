"""Create: what the server adds, what it ignores, what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from contract.backends import Kube
from contract.widgets import WIDGETS
from contract.words import KINDS, config_map, key, names, pod, stateful_set, whole, widget
from stateward.kube.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Invalid,
    NotFound,
    ServerFailed,
)
from stateward.kube.meta import is_newer
from stateward.kube.resources import CONFIG_MAPS, PODS, STATEFUL_SETS

OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "p"}


async def test_a_new_object_has_an_identity(kube: Kube) -> None:
    made = (await kube.client.create(CONFIG_MAPS, config_map(kube, "a", {"x": "1"}))).metadata

    assert (made.namespace, made.name) == (kube.namespace, "a")
    assert made.uid
    assert made.creation_timestamp.endswith("Z")
    assert made.resource_version.isdecimal()


async def test_a_later_object_has_another_uid_and_a_newer_revision(kube: Kube) -> None:
    a, b = [await kube.client.create(CONFIG_MAPS, config_map(kube, n)) for n in "ab"]

    assert a.metadata.uid != b.metadata.uid
    assert is_newer(b.metadata.resource_version, than=a.metadata.resource_version)


async def test_what_was_created_is_there(kube: Kube) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", {"x": "1"}))

    assert await kube.client.get(CONFIG_MAPS, key(kube, "a")) == made
    assert made.data == {"x": "1"}


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        ("uid", "mine"),
        ("creationTimestamp", "2001-01-01T00:00:00Z"),
        ("deletionTimestamp", "2001-01-01T00:00:00Z"),
        ("generation", 7),
    ],
)
async def test_what_only_the_server_sets_is_ignored(kube: Kube, field: str, sent: Any) -> None:
    body = widget(kube, "a", {"size": 1}, **{field: sent})

    made = (await kube.client.create(WIDGETS, body)).metadata

    assert made.uid != sent
    assert made.creation_timestamp != sent
    assert not made.deleting
    assert made.generation == 1


@pytest.mark.parametrize(
    ("kind", "generation"),
    [
        pytest.param("Pod", 1, marks=pytest.mark.since("1.33")),
        ("StatefulSet", 1),
        ("Deployment", 1),
        ("PodDisruptionBudget", 1),
        ("Widget", 1),
        ("ConfigMap", 0),
        ("Secret", 0),
        ("Service", 0),
        ("Lease", 0),
    ],
)
async def test_some_kinds_count_generations(kube: Kube, kind: str, generation: int) -> None:
    resource, one = KINDS[kind]

    made = await kube.client.create(resource, one(kube, "a"))

    assert made.metadata.generation == generation


async def test_a_name_can_be_left_to_the_server(kube: Kube) -> None:
    body = config_map(kube, "", generateName="cache-")

    one, two = [await kube.client.create(whole(CONFIG_MAPS), body) for _ in range(2)]

    assert one.metadata.name != two.metadata.name
    for made in (one, two):
        assert made.metadata.name.startswith("cache-")
        assert len(made.metadata.name) == len("cache-") + 5
        assert made.metadata.generate_name == "cache-"


async def test_a_generated_name_is_never_too_long_for_a_label(kube: Kube) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "", generateName="x" * 100))

    assert len(made.metadata.name) == 63


async def test_a_given_name_wins_over_a_generated_one(kube: Kube) -> None:
    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", generateName="b-"))

    assert made.metadata.name == "a"


async def test_a_name_is_taken_once(kube: Kube) -> None:
    first = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", {"x": "1"}))

    with pytest.raises(AlreadyExists):
        await kube.rival.create(CONFIG_MAPS, config_map(kube, "a", {"x": "2"}))

    assert await kube.client.get(CONFIG_MAPS, key(kube, "a")) == first


async def test_a_name_may_be_taken_again_elsewhere(kube: Kube) -> None:
    body = config_map(kube, "a")
    here = await kube.client.create(CONFIG_MAPS, body)

    there = await kube.client.create(
        CONFIG_MAPS, {"metadata": body["metadata"] | {"namespace": kube.elsewhere}}
    )

    assert here.metadata.uid != there.metadata.uid


async def test_a_new_object_has_no_revision_yet(kube: Kube) -> None:
    # Kubernetes answers 500 here, without a reason: its storage refuses, not its rules.
    with pytest.raises(ServerFailed):
        await kube.client.create(CONFIG_MAPS, config_map(kube, "a", resourceVersion="5"))

    assert await names(kube) == []


@pytest.mark.parametrize(
    ("what", "metadata"),
    [
        ("no name", {"name": ""}),
        ("capitals", {"name": "Shop"}),
        ("an underscore", {"name": "a_b"}),
        ("a long name", {"name": "a" * 254}),
        ("a blank in a label", {"labels": {"app": "a b"}}),
        ("a long label", {"labels": {"app": "a" * 64}}),
        ("a label without a name", {"labels": {"example.com/": "a"}}),
        ("an annotation without a name", {"annotations": {"example.com/": "a"}}),
        ("an owner without uid", {"ownerReferences": [OWNER]}),
        ("an owner without name", {"ownerReferences": [OWNER | {"name": "", "uid": "1"}]}),
        (
            "two controllers",
            {"ownerReferences": [OWNER | {"uid": uid, "controller": True} for uid in "12"]},
        ),
        ("a blank in a finalizer", {"finalizers": ["example.com/a b"]}),
    ],
    ids=lambda it: it if isinstance(it, str) else "",
)
async def test_invalid(kube: Kube, what: str, metadata: dict[str, Any]) -> None:
    body = config_map(kube, "a")
    body["metadata"] |= metadata

    with pytest.raises(Invalid) as refusal:
        await kube.client.create(CONFIG_MAPS, body)

    assert all(cause.field.startswith("metadata.") for cause in refusal.value.causes)
    assert await names(kube) == []


@pytest.mark.parametrize(
    ("what", "wrong"),
    [
        ("another kind", {"kind": "Secret"}),
        ("another group", {"apiVersion": "apps/v1"}),
        ("a label that is a number", {"metadata": {"labels": {"app": 1}}}),
        ("a list of labels", {"metadata": {"labels": ["app"]}}),
    ],
    ids=lambda it: it if isinstance(it, str) else "",
)
async def test_nonsense(kube: Kube, what: str, wrong: dict[str, Any]) -> None:
    body = config_map(kube, "a")
    metadata = body["metadata"] | wrong.get("metadata", {})

    with pytest.raises(BadRequest):
        await kube.client.create(CONFIG_MAPS, body | wrong | {"metadata": metadata})

    assert await names(kube) == []


@pytest.mark.parametrize(
    ("resource", "body"),
    [
        (WIDGETS, lambda kube: widget(kube, "a", {"size": 1})),
        (STATEFUL_SETS, lambda kube: stateful_set(kube, "a")),
    ],
    ids=["Widget", "StatefulSet"],
)
async def test_nobody_is_born_with_a_status(kube: Kube, resource: Any, body: Any) -> None:
    born = body(kube) | {"status": {"phase": "Ready", "readyReplicas": 3}}

    made = await kube.client.create(whole(resource), born)

    assert not made.status.get("phase")
    assert not made.status.get("readyReplicas")


async def test_a_new_pod_is_pending(kube: Kube) -> None:
    made = await kube.client.create(PODS, pod(kube, "a") | {"status": {"phase": "Running"}})

    assert made.status.phase == "Pending"


async def test_an_owner_named_twice_is_one_owner(kube: Kube) -> None:
    owner = OWNER | {"uid": "1"}

    made = await kube.client.create(CONFIG_MAPS, config_map(kube, "a", ownerReferences=[owner] * 2))

    assert [it.uid for it in made.metadata.owner_references] == ["1"]


async def test_finalizers_owners_and_labels_are_kept_as_written(kube: Kube) -> None:
    body = config_map(
        kube,
        "a",
        labels={"app": "shop"},
        annotations={"note": "any text, even\nwith lines"},
        finalizers=["example.com/hold"],
    )

    made = (await kube.client.create(CONFIG_MAPS, body)).metadata

    assert made.labels == {"app": "shop"}
    assert made.annotations == {"note": "any text, even\nwith lines"}
    assert made.finalizers == ("example.com/hold",)


@pytest.mark.parametrize(("kind", "is_taken"), [("ConfigMap", False), ("Widget", True)])
async def test_a_finalizer_of_a_built_in_kind_has_a_domain(
    kube: Kube, kind: str, is_taken: bool
) -> None:
    resource, one = KINDS[kind]
    body = one(kube, "a")
    body["metadata"]["finalizers"] = ["plain"]

    if is_taken:
        assert (await kube.client.create(resource, body)).metadata.finalizers == ("plain",)
    else:
        with pytest.raises(Invalid):
            await kube.client.create(resource, body)


@pytest.mark.parametrize(
    ("kind", "name", "is_taken"),
    [
        ("ConfigMap", "a.b", True),
        ("ConfigMap", "a" * 253, True),
        ("Widget", "a.b", True),
        ("Service", "a.b", False),
        ("Service", "a" * 64, False),
        ("Service", "0a", False),
    ],
)
async def test_some_names_must_be_one_part_of_a_domain(
    kube: Kube, kind: str, name: str, is_taken: bool
) -> None:
    resource, one = KINDS[kind]

    if is_taken:
        assert (await kube.client.create(resource, one(kube, name))).metadata.name == name
    else:
        with pytest.raises(Invalid):
            await kube.client.create(resource, one(kube, name))


async def test_a_refused_object_is_nowhere(kube: Kube) -> None:
    with pytest.raises(ApiError):
        await kube.client.create(CONFIG_MAPS, config_map(kube, "A"))

    with pytest.raises(NotFound):
        await kube.client.get(CONFIG_MAPS, key(kube, "a"))


async def test_who_created_is_remembered(kube: Kube) -> None:
    made = await kube.client.create(whole(CONFIG_MAPS), config_map(kube, "a", {"x": "1"}))

    (entry,) = made.metadata.managed_fields
    assert (entry["manager"], entry["operation"]) == ("stateward", "Update")
    assert entry["fieldsV1"] == {"f:data": {".": {}, "f:x": {}}}
