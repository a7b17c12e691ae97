"""Objects are read by their schemas: what is unknown is dropped, what makes no sense is refused."""

from __future__ import annotations

from typing import Any

import pytest

from contract.backends import Kube
from contract.widgets import WIDGETS
from contract.words import (
    config_map,
    deployment,
    job,
    key,
    lease,
    pod,
    service,
    shown,
    stateful_set,
    volume_claim,
    whole,
    widget,
)
from stateward.kube.client import Apply, JsonPatch, MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import ApiError, BadRequest, Invalid, ServerFailed
from stateward.kube.patch import merge_patch
from stateward.kube.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    DISRUPTION_BUDGETS,
    JOBS,
    LEASES,
    PODS,
    SECRETS,
    SERVICES,
    STATEFUL_SETS,
    VOLUME_CLAIMS,
    Resource,
)

_MAIN = {"name": "main", "image": "none"}


def bare(kube: Kube, name: str) -> Json:
    return {"metadata": {"namespace": kube.namespace, "name": name}}


# ------------------------------------------------------------------ unknown fields
@pytest.mark.parametrize(
    ("resource", "body"), [(DEPLOYMENTS, deployment), (WIDGETS, widget)], ids=shown
)
async def test_unknown_fields_are_dropped(kube: Kube, resource: Resource[Any], body: Any) -> None:
    document = merge_patch(body(kube, "a"), {"spec": {"colour": "red"}})

    made = await kube.client.create(whole(resource), document)

    assert "colour" not in made.spec


async def test_unknown_fields_of_a_patch_are_dropped(kube: Kube) -> None:
    await kube.client.create(WIDGETS, widget(kube, "a", {"size": 1}))

    left = await kube.client.patch(
        WIDGETS, key(kube, "a"), MergePatch({"spec": {"colour": "red", "size": 2}})
    )

    assert left.spec == {"size": 2}


@pytest.mark.parametrize("resource", [DEPLOYMENTS, WIDGETS], ids=shown)
async def test_nobody_applies_unknown_fields(kube: Kube, resource: Resource[Any]) -> None:
    body = {"metadata": {"name": "a", "namespace": kube.namespace}, "spec": {"colour": "red"}}

    with pytest.raises(ApiError, match=r"\.spec\.colour: field not declared in schema"):
        await kube.client.patch(resource, key(kube, "a"), Apply(body, "us"))


async def test_who_applies_unknown_fields_is_told_where_they_are(kube: Kube) -> None:
    other = {"name": "other", "image": "none", "ports": [{"containerPort": 80, "x": 1}]}
    body = deployment(kube, "a", _MAIN | {"imge": "x"}, other)

    with pytest.raises(ServerFailed) as refusal:
        await kube.client.patch(DEPLOYMENTS, key(kube, "a"), Apply(body, "us"))

    containers, message = ".spec.template.spec.containers", refusal.value.message
    what = f"({kube.namespace}/a; apps/v1, Kind=Deployment): errors:"
    assert message.startswith(f"failed to create typed patch object {what}\n  ")
    for where in ('[name="main"].imge', '[name="other"].ports[containerPort=80,protocol="TCP"].x'):
        assert f"\n  {containers}{where}: field not declared in schema" in message


async def test_null_says_nothing(kube: Kube) -> None:
    document = merge_patch(deployment(kube, "a"), {})
    document["spec"]["template"]["metadata"]["creationTimestamp"] = None
    document["spec"]["minReadySeconds"] = None

    made = await kube.client.create(whole(DEPLOYMENTS), document)

    assert made.spec.get("minReadySeconds", 0) == 0


async def test_a_moment_that_is_null_changes_nothing(kube: Kube) -> None:
    made = await kube.client.create(whole(DEPLOYMENTS), deployment(kube, "a"))
    template = made.spec["template"]
    undone = {"metadata": template["metadata"] | {"creationTimestamp": None}}

    now = await kube.client.patch(
        whole(DEPLOYMENTS),
        key(kube, "a"),
        JsonPatch(({"op": "replace", "path": "/spec/template", "value": template | undone},)),
    )

    assert (now.spec, now.metadata.generation) == (made.spec, made.metadata.generation)


# ------------------------------------------------------------------ wrong types
MISTYPED: list[tuple[Resource[Any], Any, Json]] = [
    (DEPLOYMENTS, deployment, {"spec": {"replicas": "two"}}),
    (DEPLOYMENTS, deployment, {"spec": {"replicas": 2**40}}),
    (DEPLOYMENTS, deployment, {"spec": {"template": []}}),
    (PODS, pod, {"spec": {"containers": [_MAIN | {"resources": {"limits": {"cpu": "much"}}}]}}),
    (PODS, pod, {"spec": {"hostNetwork": "yes"}}),
    (CONFIG_MAPS, config_map, {"data": {"a": 1}}),
    (SECRETS, bare, {"data": {"a": "not base64!"}}),
    (LEASES, lease, {"spec": {"renewTime": "noon"}}),
]


@pytest.mark.parametrize(("resource", "body", "change"), MISTYPED, ids=shown)
async def test_wrong_types_cannot_be_read(
    kube: Kube, resource: Resource[Any], body: Any, change: Json
) -> None:
    with pytest.raises(BadRequest, match="cannot be handled as a"):
        await kube.client.create(whole(resource), merge_patch(body(kube, "a"), change))


@pytest.mark.parametrize("subresource", ["", "scale"])
@pytest.mark.parametrize(
    "patch",
    [
        MergePatch({"spec": {"replicas": "two"}}),
        JsonPatch(({"op": "replace", "path": "/spec/replicas", "value": "two"},)),
    ],
    ids=shown,
)
async def test_a_patch_cannot_bring_in_wrong_types(
    kube: Kube, patch: Any, subresource: str
) -> None:
    await kube.client.create(whole(DEPLOYMENTS), deployment(kube, "a"))

    with pytest.raises(Invalid) as refusal:
        await kube.client.patch(whole(DEPLOYMENTS), key(kube, "a"), patch, subresource=subresource)

    (cause,) = refusal.value.causes
    assert (cause.field, cause.reason) == ("patch", "FieldValueInvalid")


# ------------------------------------------------------------------ what makes no sense
NONSENSE: list[tuple[Resource[Any], Any, Json, str, str]] = [
    (PODS, pod, {"spec": {"containers": []}}, "spec.containers", "FieldValueRequired"),
    (
        PODS,
        pod,
        {"spec": {"containers": [{"name": "a"}]}},
        "spec.containers[0].image",
        "FieldValueRequired",
    ),
    (
        PODS,
        pod,
        {"spec": {"containers": [_MAIN | {"name": "A"}]}},
        "spec.containers[0].name",
        "FieldValueInvalid",
    ),
    (
        PODS,
        pod,
        {"spec": {"containers": [_MAIN, _MAIN]}},
        "spec.containers[1].name",
        "FieldValueDuplicate",
    ),
    (
        PODS,
        pod,
        {"spec": {"restartPolicy": "Sometimes"}},
        "spec.restartPolicy",
        "FieldValueNotSupported",
    ),
    (
        PODS,
        pod,
        {"spec": {"containers": [_MAIN | {"volumeMounts": [{"name": "x", "mountPath": "/x"}]}]}},
        "spec.containers[0].volumeMounts[0].name",
        "FieldValueNotFound",
    ),
    (
        PODS,
        pod,
        {"spec": {"containers": [_MAIN | {"ports": [{"containerPort": 70_000}]}]}},
        "spec.containers[0].ports[0].containerPort",
        "FieldValueInvalid",
    ),
    (
        PODS,
        pod,
        {
            "spec": {
                "containers": [
                    _MAIN | {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}
                ]
            }
        },
        "spec.containers[0].resources.requests",
        "FieldValueInvalid",
    ),
    (DEPLOYMENTS, deployment, {"spec": {"replicas": -1}}, "spec.replicas", "FieldValueInvalid"),
    (DEPLOYMENTS, deployment, {"spec": {"selector": None}}, "spec.selector", "FieldValueRequired"),
    (
        STATEFUL_SETS,
        stateful_set,
        {"spec": {"template": {"metadata": {"labels": {"app": "other"}}}}},
        "spec.template.metadata.labels",
        "FieldValueInvalid",
    ),
    (
        DEPLOYMENTS,
        deployment,
        {"spec": {"template": {"spec": {"restartPolicy": "Never"}}}},
        "spec.template.spec.restartPolicy",
        "FieldValueNotSupported",
    ),
    (
        JOBS,
        job,
        {"spec": {"template": {"spec": {"restartPolicy": None}}}},
        "spec.template.spec.restartPolicy",
        "FieldValueRequired",
    ),
    (
        SERVICES,
        service,
        {"spec": {"clusterIP": None, "ports": None}},
        "spec.ports",
        "FieldValueRequired",
    ),
    (
        SERVICES,
        service,
        {"spec": {"ports": [{"port": 0}]}},
        "spec.ports[0].port",
        "FieldValueInvalid",
    ),
    (
        SERVICES,
        service,
        {"spec": {"ports": [{"port": 1}, {"port": 2, "name": "b"}]}},
        "spec.ports[0].name",
        "FieldValueRequired",
    ),
    (SERVICES, service, {"spec": {"type": "Magic"}}, "spec.type", "FieldValueNotSupported"),
    (
        DISRUPTION_BUDGETS,
        bare,
        {"spec": {"minAvailable": 1, "maxUnavailable": 1}},
        "spec",
        "FieldValueInvalid",
    ),
    (
        VOLUME_CLAIMS,
        volume_claim,
        {"spec": {"accessModes": None}},
        "spec.accessModes",
        "FieldValueRequired",
    ),
    (
        VOLUME_CLAIMS,
        volume_claim,
        {"spec": {"resources": None}},
        "spec.resources[storage]",
        "FieldValueRequired",
    ),
    (CONFIG_MAPS, config_map, {"data": {"a b": "c"}}, "data[a b]", "FieldValueInvalid"),
    (WIDGETS, widget, {"spec": {"size": "two"}}, "spec.size", "FieldValueTypeInvalid"),
    (
        WIDGETS,
        widget,
        {"spec": {"parts": [{"color": "red"}]}},
        "spec.parts[0].name",
        "FieldValueRequired",
    ),
    (WIDGETS, widget, {"spec": {"tags": ["a", "a"]}}, "spec.tags[1]", "FieldValueDuplicate"),
]


@pytest.mark.parametrize(
    ("resource", "body", "change", "field", "reason"),
    NONSENSE,
    ids=[f"{case[0].kind} {case[3]} {case[4]}" for case in NONSENSE],
)
async def test_nonsense_is_refused_with_its_place(
    kube: Kube, resource: Resource[Any], body: Any, change: Json, field: str, reason: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        await kube.client.create(whole(resource), merge_patch(body(kube, "a"), change))

    assert (field, reason) in {(cause.field, cause.reason) for cause in refusal.value.causes}
