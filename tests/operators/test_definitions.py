"""Our kinds and our examples before a server: all are taken, without a warning, and explained."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from local.clusters import Kubectl, until
from real.clusters import RunningCluster
from stateward.app.kinds import definitions
from stateward.kube.crd.text import to_yaml

ROOT = Path(__file__).parents[2]
DEFINITIONS = sorted(definitions())
EXAMPLES = sorted((ROOT / "examples").rglob("*.yaml"))

#: What the definition of a kind says when all is well.
WELL = {"NamesAccepted": "True", "Established": "True"}


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_there_are_some() -> None:
    assert DEFINITIONS
    assert EXAMPLES


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the definitions are, those of examples too."""
    found = tmp_path_factory.mktemp("crds")
    for name, definition in definitions().items():
        (found / name).write_text(to_yaml(definition))
    return found


@pytest.mark.parametrize("file", DEFINITIONS)
def test_a_definition_is_taken_without_a_warning(
    cluster: RunningCluster, folder: Path, file: str
) -> None:
    kubectl, path = cluster.kubectl, folder / file
    name = path.stem
    rehearsed = kubectl("apply", "--server-side", "--dry-run=server", "-f", str(path))
    applied = kubectl("apply", "--server-side", "-f", str(path))

    assert (
        rehearsed
        == f"customresourcedefinition.apiextensions.k8s.io/{name} serverside-applied (server dry run)\n"
    )
    assert applied == f"customresourcedefinition.apiextensions.k8s.io/{name} serverside-applied\n"
    until("it is established", lambda: _conditions(kubectl, name) == WELL)


def _conditions(kubectl: Kubectl, name: str) -> dict[str, str]:
    found = kubectl.json("get", "crd", name).get("status", {}).get("conditions", [])
    return {it["type"]: it["status"] for it in found}


@pytest.mark.parametrize("file", DEFINITIONS)
def test_every_field_of_a_kind_is_explained(
    cluster: RunningCluster, folder: Path, file: str
) -> None:
    kubectl, path = cluster.kubectl, folder / file
    kubectl("apply", "--server-side", "-f", str(path))
    kubectl("wait", "--for=condition=Established", f"crd/{path.stem}", "--timeout=20s")
    spec = yaml.safe_load(path.read_text())["spec"]
    plural = spec["names"]["plural"]
    for version in spec["versions"]:
        schema = version["schema"]["openAPIV3Schema"]
        until("it is explained", lambda: "DESCRIPTION" in kubectl("explain", plural, code=None))
        told = kubectl(
            "explain", plural, "--recursive", f"--api-version={spec['group']}/{version['name']}"
        )
        assert [it for it in _fields(schema) if it not in told] == []
        for field, says in _described(schema):
            explained = " ".join(kubectl("explain", f"{plural}.{field}").split())
            assert " ".join(says.split()) in explained


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    """Yield the names of all fields below a schema."""
    for name, below in schema.get("properties", {}).items():
        yield name
        yield from _fields(below)
    if "items" in schema:
        yield from _fields(schema["items"])


def _described(schema: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the fields of spec and status with what they say of themselves."""
    return [
        (f"{part}.{name}", below["description"])
        for part in ("spec", "status")
        for name, below in schema["properties"][part]["properties"].items()
        if "description" in below
    ]


@pytest.mark.parametrize("path", EXAMPLES, ids=named)
def test_every_example_applies(cluster: RunningCluster, folder: Path, path: Path) -> None:
    """All of an example is taken as it is written, strictly, and nobody is warned."""
    kubectl = cluster.kubectl
    kubectl("apply", "--server-side", "-f", str(folder))
    namespace = f"example-{path.stem}"
    kubectl("create", "namespace", namespace)
    objects = [it for it in yaml.safe_load_all(path.read_text()) if it]

    told = kubectl("apply", "--validate=strict", "-n", namespace, "-f", str(path))

    assert [line.rpartition(" ")[2] for line in told.splitlines()] == ["created"] * len(objects)
    kubectl("delete", "namespace", namespace, "--wait=false")


def test_a_bad_object_is_refused_with_its_field(cluster: RunningCluster, folder: Path) -> None:
    kubectl = cluster.kubectl
    kubectl("apply", "--server-side", "-f", str(folder))
    kubectl(
        "wait", "--for=condition=Established", "crd/teams.example.stateward.dev", "--timeout=20s"
    )
    team = {
        "apiVersion": "example.stateward.dev/v1alpha1",
        "kind": "Team",
        "metadata": {"name": "t"},
    }

    for spec, said in (
        ({"size": 10, "motto": "x"}, "spec.size"),
        ({"size": 2}, "a team with members must have a motto"),
        ({"sise": 2, "motto": "x"}, 'unknown field "spec.sise"'),
    ):
        told = kubectl("apply", "-f", "-", stdin=json.dumps({**team, "spec": spec}), code=1)
        assert said in told
