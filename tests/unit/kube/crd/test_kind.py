"""The document around the schema."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from stateward.kube.codec import Part
from stateward.kube.crd.kind import Column, CustomKind, Scale, Version, crd
from stateward.kube.crd.problems import SchemaInvalid
from stateward.kube.crd.text import to_yaml
from stateward.kube.meta import Object
from stateward.kube.resources import Resource


class ShipSpec(Part):
    masts: int = 3
    name: str = ""
    cargo: dict[str, str] = {}


class ShipStatus(Part):
    masts: int = 0
    selector: str = ""


class Ship(Object):
    """Sails."""

    spec: ShipSpec = ShipSpec()
    status: ShipStatus = ShipStatus()


class Broken(Object):
    spec: list[int] | None = None
    wrong: int = 0


SHIPS = Resource("sea.example", "v1", "Ship", "ships", Ship)
FLEET = CustomKind(versions=(Version(resource=SHIPS),))


def document(**version: Any) -> dict[str, Any]:
    """The one version of the kind, as the document has it."""
    found = crd(CustomKind(versions=(Version(resource=SHIPS, **version),)))
    return dict(found["spec"]["versions"][0])


def said(kind: CustomKind) -> list[str]:
    with pytest.raises(SchemaInvalid) as caught:
        crd(kind)
    return [str(problem) for problem in caught.value.problems]


def test_names_follow_from_the_kind() -> None:
    assert crd(FLEET)["metadata"] == {"name": "ships.sea.example"}
    assert crd(FLEET)["spec"]["scope"] == "Namespaced"
    assert crd(FLEET)["spec"]["names"] == {
        "kind": "Ship",
        "listKind": "ShipList",
        "plural": "ships",
        "singular": "ship",
    }


def test_names_may_be_chosen() -> None:
    kind = replace(
        FLEET, singular="vessel", list_kind="Fleet", short_names=("sh",), categories=("all",)
    )

    assert crd(kind)["spec"]["names"] == {
        "kind": "Ship",
        "listKind": "Fleet",
        "plural": "ships",
        "singular": "vessel",
        "shortNames": ["sh"],
        "categories": ["all"],
    }


def test_a_kind_of_no_namespace_has_cluster_scope() -> None:
    kind = CustomKind(versions=(Version(resource=replace(SHIPS, namespaced=False)),))

    assert crd(kind)["spec"]["scope"] == "Cluster"


def test_one_version_is_served_and_stored_without_being_told() -> None:
    version = document()

    assert sorted(version) == ["name", "schema", "served", "storage"]
    assert (version["name"], version["served"], version["storage"]) == ("v1", True, True)
    assert version["schema"]["openAPIV3Schema"]["description"] == "Sails."


def test_columns_say_only_what_they_were_told() -> None:
    columns = (
        Column(name="Masts", path=".spec.masts", type="integer", format="int32", priority=1),
        Column(name="Age", path=".metadata.creationTimestamp", type="date", description="Since."),
    )

    assert document(columns=columns)["additionalPrinterColumns"] == [
        {
            "name": "Masts",
            "type": "integer",
            "jsonPath": ".spec.masts",
            "format": "int32",
            "priority": 1,
        },
        {
            "name": "Age",
            "type": "date",
            "jsonPath": ".metadata.creationTimestamp",
            "description": "Since.",
        },
    ]


def test_subresources_are_those_that_the_resource_has() -> None:
    scale = Scale(spec_path=".spec.masts", status_path=".status.masts")
    labelled = replace(scale, selector_path=".status.selector")
    with_status = CustomKind(versions=(Version(resource=replace(SHIPS, has_status=True)),))

    assert crd(with_status)["spec"]["versions"][0]["subresources"] == {"status": {}}
    assert document(scale=scale)["subresources"] == {
        "scale": {"specReplicasPath": ".spec.masts", "statusReplicasPath": ".status.masts"}
    }
    assert document(scale=labelled)["subresources"]["scale"]["labelSelectorPath"] == (
        ".status.selector"
    )


def test_names_of_objects_may_be_limited() -> None:
    schema = document(name_pattern="^s", name_max_length=20)["schema"]["openAPIV3Schema"]

    assert schema["properties"]["metadata"] == {
        "type": "object",
        "properties": {"name": {"type": "string", "pattern": "^s", "maxLength": 20}},
    }


def test_several_versions() -> None:
    old = Version(
        resource=replace(SHIPS, version="v1beta1"), storage=False, deprecation="use v1 instead"
    )
    older = Version(resource=replace(SHIPS, version="v1alpha1"), storage=False, served=False)
    kind = CustomKind(versions=(*FLEET.versions, old, older))
    versions = crd(kind)["spec"]["versions"]

    assert kind.resource is SHIPS
    assert [(v["name"], v["served"], v["storage"]) for v in versions] == [
        ("v1", True, True),
        ("v1beta1", True, False),
        ("v1alpha1", False, False),
    ]
    assert [v.get("deprecationWarning") for v in versions] == [None, "use v1 instead", None]


def versioned(*versions: Resource[Any], storage: int = 0) -> CustomKind:
    return CustomKind(
        versions=tuple(
            Version(resource=resource, storage=index == storage)
            for index, resource in enumerate(versions)
        )
    )


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (versioned(SHIPS, storage=1), "versions: must have exactly one version that is stored"),
        (versioned(), "versions: must have exactly one version that is stored"),
        (versioned(SHIPS, SHIPS), "versions: must have different names"),
        (
            versioned(SHIPS, replace(SHIPS, version="v2", namespaced=False)),
            "versions: must agree on names and scope, unlike sea.example/v2",
        ),
        (
            versioned(SHIPS, replace(SHIPS, version="v2", plural="shipses")),
            "versions: must agree on names and scope, unlike sea.example/v2",
        ),
        (versioned(replace(SHIPS, group="sea")), "group: must be a domain with a dot in it, not 'sea'"),
        (replace(FLEET, list_kind="Ship"), "names.listKind: must differ from the kind"),
        (
            replace(FLEET, short_names=("SH",)),
            "names: must be letters, digits and -, in lower case, not 'SH'",
        ),
    ],
)  # fmt: skip
def test_names_that_the_server_refuses_are_found(kind: CustomKind, message: str) -> None:
    assert said(kind) == [message]


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (
            {"columns": (Column(name="Sails", path=".spec.sails"),)},
            "column Sails: must show a field that is there, not .spec.sails",
        ),
        (
            {"columns": (Column(name="Sails", path='.status.sails[?(@.type=="a")].b'),)},
            "column Sails: must show a field that is there, not .status.sails",
        ),
        (
            {"scale": Scale(spec_path=".spec.sails", status_path=".status.masts")},
            "scale: must point at an integer below .spec., not at .spec.sails",
        ),
        (
            {"scale": Scale(spec_path=".status.masts", status_path=".status.masts")},
            "scale: must point at an integer below .spec., not at .status.masts",
        ),
        ({"selectable": (".spec.cargo",)}, "selectable: must point at a text, number or boolean, not at .spec.cargo"),
        ({"selectable": (".metadata.name",)}, "selectable: must point at a text, number or boolean, not at .metadata.name"),
        ({"selectable": (".spec.name",) * 9}, "selectable: must be no more than 8 paths"),
    ],
)  # fmt: skip
def test_paths_that_lead_nowhere_are_found(version: dict[str, Any], message: str) -> None:
    assert said(CustomKind(versions=(Version(resource=SHIPS, **version),))) == [message]


def test_all_problems_of_a_schema_are_said_at_once() -> None:
    version = Version(resource=SHIPS, name_pattern="(?=a)", columns=(Column(name="X", path=".x"),))

    assert said(CustomKind(versions=(version,))) == [
        "metadata.name: must have a pattern without (?=, which the server does not know",
        "column X: must show a field that is there, not .x",
    ]


def test_the_same_kind_gives_the_same_text() -> None:
    assert to_yaml(crd(FLEET)) == to_yaml(crd(FLEET))


def test_text_has_no_aliases_and_keeps_the_order() -> None:
    shared = {"b": 1, "a": [1]}

    assert to_yaml({"two": shared, "one": shared}) == (
        "two:\n  b: 1\n  a:\n  - 1\none:\n  b: 1\n  a:\n  - 1\n"
    )


@pytest.mark.parametrize(
    "text", ["1e3", "0o7", "y", "N", "1_000", "yes", "null", "~", "1.0", ".5", "-", "", "a: b", "ü"]
)
def test_a_text_stays_a_text(text: str) -> None:
    assert yaml.safe_load(to_yaml({"text": text})) == {"text": text}


@pytest.mark.parametrize("text", ["1e3", "0o7", "y", "n", "+1", "1Gi"])
def test_what_readers_disagree_about_is_quoted(text: str) -> None:
    assert to_yaml({"text": text}) == f"text: '{text}'\n"


def test_several_documents_are_one_text() -> None:
    assert to_yaml({"a": 1}, {"b": 2}) == "---\na: 1\n---\nb: 2\n"
