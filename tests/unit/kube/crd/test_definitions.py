"""Kubernetes' own types as parts of a custom kind."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.kube import schemas
from stateward.kube.codec import encode
from stateward.kube.crd import checks, definitions, fields
from stateward.kube.crd.nodes import find, nodes
from stateward.kube.crd.problems import SchemaInvalid
from stateward.kube.crd.schema import schema_of
from stateward.kube.meta import Object

TEMPLATE = "io.k8s.api.core.v1.PodTemplateSpec"
CORE = "io.k8s.api.core.v1"


class Podded(Object, kw_only=True):
    spec: fields.PodTemplate


def problems_with(schema: dict[str, Any]) -> list[str]:
    root = {"type": "object", "properties": {"spec": schema}}
    return [str(problem) for problem in checks.problems(root)]


def test_the_release_is_said_in_the_file() -> None:
    assert schemas.vendored().kubernetes.startswith("1.35.")
    assert len(schemas.definitions()) > 250


@pytest.mark.parametrize(
    ("group", "version", "kind"),
    [
        ("", "v1", "Pod"),
        ("", "v1", "Event"),
        ("apps", "v1", "ControllerRevision"),
        ("batch", "v1", "CronJob"),
        ("policy", "v1", "Eviction"),
        ("discovery.k8s.io", "v1", "EndpointSlice"),
        ("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
        ("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"),
    ],
)
def test_every_kind_that_the_embedded_server_serves_is_there(
    group: str, version: str, kind: str
) -> None:
    name = schemas.name_of_kind(group, version, kind)

    assert name is not None
    assert name in schemas.definitions()


def test_a_kind_that_we_do_not_ship_has_no_name() -> None:
    assert schemas.name_of_kind("apps", "v1", "DaemonSet") is None


def test_every_reference_leads_somewhere() -> None:
    def references(schema: dict[str, Any]) -> set[str]:
        here = {schema["$ref"]} if "$ref" in schema else set()
        parts = [*schema.get("properties", {}).values()]
        parts += [schema[k] for k in ("items", "additionalProperties") if k in schema]
        return here.union(*(references(part) for part in parts))

    wanted = set().union(*(references(schema) for schema in schemas.definitions().values()))

    assert wanted <= schemas.definitions().keys()


def test_every_finite_definition_becomes_a_structural_schema() -> None:
    finite = [name for name in schemas.definitions() if "apiextensions" not in name]

    assert {
        name: found for name in finite if (found := problems_with(definitions.inline(name)))
    } == {}


def test_a_pod_template_is_complete_and_small() -> None:
    schema = definitions.inline(TEMPLATE)
    size = len(encode(schema))

    assert 50_000 < size < 80_000
    assert len(find(schema, ".spec")["properties"]) > 35  # type: ignore[index]
    assert not any("description" in node.schema for node in nodes(schema))
    assert not any("$ref" in node.schema for node in nodes(schema))


def test_nothing_in_a_pod_template_is_open_so_typing_errors_are_found() -> None:
    open_places = [
        node.path
        for node in nodes(definitions.inline(TEMPLATE))
        if "x-kubernetes-preserve-unknown-fields" in node.schema
    ]

    assert open_places == []


def test_lists_of_a_pod_template_merge_by_key() -> None:
    keys = {
        node.path: node.schema["x-kubernetes-list-map-keys"]
        for node in nodes(definitions.inline(TEMPLATE))
        if "x-kubernetes-list-map-keys" in node.schema
    }

    assert keys["spec.containers"] == ["name"]
    assert keys["spec.containers[].env"] == ["name"]
    assert keys["spec.containers[].ports"] == ["containerPort", "protocol"]
    assert keys["spec.topologySpreadConstraints"] == ["topologyKey", "whenUnsatisfiable"]
    assert len(keys) == 25


def test_only_keys_that_may_be_left_out_keep_their_defaults() -> None:
    defaults = {
        node.path: node.schema["default"]
        for node in nodes(definitions.inline(TEMPLATE))
        if "default" in node.schema
    }

    assert defaults == {
        "spec.containers[].ports[].protocol": "TCP",
        "spec.initContainers[].ports[].protocol": "TCP",
        "spec.ephemeralContainers[].ports[].protocol": "TCP",
        "spec.imagePullSecrets[].name": "",
    }


def test_a_key_without_a_default_becomes_required() -> None:
    secrets = definitions.inline(f"{CORE}.ServiceAccount")["properties"]["secrets"]

    assert secrets["x-kubernetes-list-map-keys"] == ["name"]
    assert secrets["items"]["required"] == ["name"]


def test_metadata_in_a_template_is_a_small_explicit_object() -> None:
    metadata = find(definitions.inline(TEMPLATE), ".metadata")

    assert metadata is not None
    assert sorted(metadata["properties"]) == [
        "annotations",
        "finalizers",
        "labels",
        "name",
        "namespace",
    ]
    assert metadata["properties"]["labels"]["additionalProperties"] == {"type": "string"}


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        (
            "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
            {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True},
        ),
        (
            "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
            {"type": "string", "format": "date-time"},
        ),
        (
            "io.k8s.apimachinery.pkg.runtime.RawExtension",
            {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        ),
        (
            "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
            {"x-kubernetes-preserve-unknown-fields": True},
        ),
    ],
)  # fmt: skip
def test_some_types_are_respelled(name: str, schema: dict[str, Any]) -> None:
    assert definitions.inline(name) == schema


@pytest.mark.parametrize(
    ("quantity", "fits"),
    [("1", True), ("1.5Gi", True), ("-100m", True), (".5", True), ("1e3", True), ("1 Gi", False), ("1GB", False), ("", False)],
)  # fmt: skip
def test_quantities_are_checked(quantity: str, fits: bool) -> None:
    schema = schema_of(fields.Quantity) | {"default": quantity}

    assert (problems_with(schema) == []) is fits


@pytest.mark.parametrize(
    ("alias", "names"),
    [
        (fields.PodTemplate, {"metadata", "spec"}),
        (fields.VolumeClaimTemplate, {"metadata", "spec"}),
        (fields.VolumeClaimSpec, {"accessModes", "resources", "storageClassName"}),
        (fields.ServiceSpec, {"type", "ports", "selector"}),
        (fields.TemplateMetadata, {"labels", "annotations"}),
    ],
)
def test_an_alias_has_the_schema_of_its_type(alias: Any, names: set[str]) -> None:
    assert schema_of(alias)["properties"].keys() >= names


def test_a_kind_with_a_pod_template_is_structural() -> None:
    assert list(checks.problems(schema_of(Podded))) == []


def test_a_definition_that_contains_itself_is_refused() -> None:
    props = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"

    with pytest.raises(SchemaInvalid) as caught:
        definitions.inline(props)

    assert "preserve_unknown" in caught.value.hint


def test_a_misspelt_name_is_answered_with_a_suggestion() -> None:
    with pytest.raises(SchemaInvalid) as caught:
        definitions.inline("io.k8s.api.core.v1.PodTemplatSpec")

    assert caught.value.hint == f"did you mean {TEMPLATE}?"


def test_what_is_handed_out_belongs_to_the_caller() -> None:
    mine = definitions.inline(TEMPLATE)
    mine["properties"]["metadata"]["properties"].clear()
    mine["properties"]["spec"]["required"].clear()

    assert definitions.inline(TEMPLATE)["properties"]["metadata"]["properties"]
    assert definitions.inline(TEMPLATE)["properties"]["spec"]["required"] == ["containers"]
