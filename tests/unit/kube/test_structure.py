"""How objects merge, as Kubernetes' own schemas and ours say."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.kube.crd import fields
from stateward.kube.crd.schema import schema_of
from stateward.kube.meta import Object
from stateward.kube.structure import Shape, Structure, structure_of_kind, structure_of_schema


def built_in(kind: str) -> Structure:
    """The structure of a kind, named ``apps/v1 StatefulSet``."""
    place, _, name = kind.rpartition(" ")
    group, _, version = place.rpartition("/")
    found = structure_of_kind(group, version, name)
    assert found is not None
    return found


def shape(structure: Structure, path: str) -> Shape | None:
    found = structure.at(path)
    return None if found is None else found.shape


@pytest.mark.parametrize(
    ("kind", "path", "expected"),
    [
        ("v1 Pod", "spec", Shape.STRUCT),
        ("v1 Pod", "apiVersion", Shape.SCALAR),
        ("v1 Pod", "metadata.labels", Shape.MAP),
        ("v1 Pod", "metadata.labels.app", Shape.SCALAR),
        ("v1 Pod", "metadata.finalizers", Shape.LIST_SET),
        ("v1 Pod", "metadata.creationTimestamp", Shape.SCALAR),
        ("v1 Pod", "metadata.managedFields[].fieldsV1", Shape.UNKNOWN),
        ("v1 Pod", "metadata.managedFields[].fieldsV1.f:spec.f:containers", Shape.UNKNOWN),
        ("v1 Pod", "spec.containers", Shape.LIST_MAP),
        ("v1 Pod", "spec.containers[]", Shape.STRUCT),
        ("v1 Pod", "spec.containers[].args", Shape.LIST_ATOMIC),
        ("v1 Pod", "spec.containers[].args[]", Shape.SCALAR),
        ("v1 Pod", "spec.containers[].resources.limits.cpu", Shape.SCALAR),
        ("v1 Pod", "spec.containers[].livenessProbe.httpGet.port", Shape.SCALAR),
        ("v1 Pod", "spec.nodeSelector", Shape.ATOMIC_MAP),
        ("v1 Pod", "spec.containers[].env[].valueFrom.secretKeyRef", Shape.ATOMIC_MAP),
        ("v1 Pod", "spec.containers[].env[].valueFrom.secretKeyRef.name", Shape.SCALAR),
        ("v1 PersistentVolume", "spec.claimRef", Shape.STRUCT),
        ("v1 ConfigMap", "data", Shape.MAP),
        ("apps/v1 StatefulSet", "spec.template.spec.volumes", Shape.LIST_MAP),
        ("apps/v1 StatefulSet", "spec.selector", Shape.ATOMIC_MAP),
        ("apps/v1 ControllerRevision", "data", Shape.ATOMIC_MAP),
        ("discovery.k8s.io/v1 EndpointSlice", "endpoints", Shape.LIST_ATOMIC),
    ],
)
def test_built_in_kinds_merge_as_kubernetes_says(kind: str, path: str, expected: Shape) -> None:
    assert shape(built_in(kind), path) is expected


@pytest.mark.parametrize(
    "path", ["nothing", "spec.nothing", "spec.containers.name", "spec.containers[].nothing.deeper"]
)
def test_a_place_that_is_not_there_has_no_structure(path: str) -> None:
    assert built_in("v1 Pod").at(path) is None


def test_a_kind_that_we_do_not_ship_has_no_structure() -> None:
    assert structure_of_kind("apps", "v1", "DaemonSet") is None


def test_items_are_told_apart_by_keys_that_may_have_defaults() -> None:
    ports = built_in("v1 Pod").at("spec.containers[].ports")
    services = built_in("v1 Service").at("spec.ports")

    assert ports is not None
    assert ports.keys == ("containerPort", "protocol")
    assert ports.key_defaults == {"containerPort": 0, "protocol": "TCP"}
    assert services is not None
    assert services.key_defaults["protocol"] == "TCP"


@pytest.mark.parametrize(
    ("path", "strategies", "key"),
    [
        ("spec.containers", ("merge",), "name"),
        ("spec.containers[].ports", ("merge",), "containerPort"),
        ("spec.containers[].volumeMounts", ("merge",), "mountPath"),
        ("spec.volumes", ("merge", "retainKeys"), "name"),
        ("metadata.finalizers", ("merge",), ""),
        ("spec.tolerations", (), ""),
        ("spec", (), ""),
    ],
)
def test_strategic_merge_patches_have_words_of_their_own(
    path: str, strategies: tuple[str, ...], key: str
) -> None:
    found = built_in("v1 Pod").at(path)

    assert found is not None
    assert (found.patch_strategies, found.patch_merge_key) == (strategies, key)


def test_a_strategy_beside_a_reference_is_seen() -> None:
    strategy = built_in("apps/v1 Deployment").at("spec.strategy")

    assert strategy is not None
    assert (strategy.shape, strategy.patch_strategies) == (Shape.STRUCT, ("retainKeys",))


def test_types_that_contain_themselves_are_followed_as_far_as_asked() -> None:
    crd = built_in("apiextensions.k8s.io/v1 CustomResourceDefinition")
    schema = "spec.versions[].schema.openAPIV3Schema"

    assert shape(crd, schema + ".properties.a" * 20) is Shape.STRUCT
    assert shape(crd, schema + ".properties.a.default") is Shape.UNKNOWN
    assert shape(crd, schema + ".properties.a.required") is Shape.LIST_ATOMIC


def test_children_are_made_once() -> None:
    pod = built_in("v1 Pod")
    labels = pod.at("metadata.labels")

    assert pod is built_in("v1 Pod")
    assert labels is not None
    assert labels is pod.at("metadata.labels")
    assert labels.child("one") is labels.child("two")


def custom(**spec: Any) -> Structure:
    return structure_of_schema({"type": "object", "properties": {"spec": spec}})


TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (TEXT, Shape.SCALAR),
        ({"type": "number"}, Shape.SCALAR),
        ({"anyOf": [{"type": "integer"}, TEXT], "x-kubernetes-int-or-string": True}, Shape.SCALAR),
        ({"type": "object", "properties": {"a": TEXT}}, Shape.STRUCT),
        ({"type": "object", "additionalProperties": TEXT}, Shape.MAP),
        ({"type": "object", "properties": {"a": TEXT}, "x-kubernetes-map-type": "atomic"}, Shape.ATOMIC_MAP),
        ({"type": "object"}, Shape.UNKNOWN),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, Shape.UNKNOWN),
        ({"x-kubernetes-preserve-unknown-fields": True}, Shape.UNKNOWN),
        ({"type": "array", "items": TEXT}, Shape.LIST_ATOMIC),
        ({"type": "array", "items": TEXT, "x-kubernetes-list-type": "atomic"}, Shape.LIST_ATOMIC),
        ({"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}, Shape.LIST_SET),
        (
            {
                "type": "array",
                "items": {"type": "object", "properties": {"a": TEXT}},
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["a"],
            },
            Shape.LIST_MAP,
        ),
    ],
)  # fmt: skip
def test_custom_kinds_merge_as_their_schema_says(schema: dict[str, Any], expected: Shape) -> None:
    assert shape(custom(**schema), "spec") is expected


def test_an_open_object_knows_some_fields_and_keeps_the_others() -> None:
    known = {"type": "object", "properties": {"a": TEXT}}
    opened = custom(**known, **{"x-kubernetes-preserve-unknown-fields": True})

    assert shape(opened, "spec.a") is Shape.SCALAR
    assert shape(opened, "spec.b") is Shape.UNKNOWN
    assert shape(custom(**known), "spec.b") is None


def test_every_custom_object_has_the_metadata_of_kubernetes() -> None:
    found = structure_of_schema({"type": "object", "properties": {"metadata": {"type": "object"}}})

    assert shape(found, "metadata.finalizers") is Shape.LIST_SET
    assert shape(found, "apiVersion") is Shape.SCALAR


def test_an_embedded_resource_has_it_too() -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True}
    opened = custom(**embedded, **{"x-kubernetes-preserve-unknown-fields": True})

    assert shape(opened, "spec.metadata.finalizers") is Shape.LIST_SET
    assert shape(opened, "spec.anything.else") is Shape.UNKNOWN


class Podded(Object, kw_only=True):
    template: fields.PodTemplate


def test_a_pod_template_in_a_custom_kind_merges_as_a_pod_does() -> None:
    found = structure_of_schema(schema_of(Podded))
    pod = built_in("v1 Pod")
    for path in ("spec", "spec.containers", "spec.containers[].ports", "spec.tolerations"):
        ours, theirs = found.at(f"template.{path}"), pod.at(path)

        assert ours is not None
        assert theirs is not None
        assert (ours.shape, ours.keys, ours.names) == (theirs.shape, theirs.keys, theirs.names)


def test_the_fields_of_a_struct_are_named() -> None:
    assert set(built_in("v1 ConfigMap").names) == {
        "apiVersion",
        "binaryData",
        "data",
        "immutable",
        "kind",
        "metadata",
    }
