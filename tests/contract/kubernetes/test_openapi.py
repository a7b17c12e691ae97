"""OpenAPI 3: where the documents are, and what they say of a kind."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.custom import NUMBER, TEXT, fields, keyed, things
from contract.kubernetes.wire import Answer, Wire

_APPS = "/openapi/v3/apis/apps/v1"
_SETS = "/apis/apps/v1/namespaces/{namespace}/statefulsets"


def schema(document: Answer, name: str) -> dict[str, Any]:
    found: dict[str, Any] = document.body["components"]["schemas"][name]
    return found


async def test_an_index_says_where_the_documents_are(wire: Wire) -> None:
    index = (await wire.get("/openapi/v3")).ok()

    where = index.body["paths"]["apis/apps/v1"]["serverRelativeURL"]
    path, _, digest = where.partition("?hash=")
    assert path == _APPS
    document = (await wire.get(path, hash=digest)).ok()
    assert (document["openapi"], document["info.title"]) == ("3.0.0", "Kubernetes")


async def test_a_schema_says_which_kind_it_is_of(wire: Wire) -> None:
    document = (await wire.get(_APPS)).ok()

    found = schema(document, "io.k8s.api.apps.v1.StatefulSet")
    gvk = {"group": "apps", "version": "v1", "kind": "StatefulSet"}
    assert found["x-kubernetes-group-version-kind"] == [gvk]
    assert found["properties"].keys() == {"apiVersion", "kind", "metadata", "spec", "status"}
    reference = "#/components/schemas/io.k8s.api.apps.v1.StatefulSetSpec"
    assert found["properties"]["spec"]["allOf"] == [{"$ref": reference}]


async def test_a_schema_says_what_is_needed_and_how_lists_merge(wire: Wire) -> None:
    document = (await wire.get(_APPS)).ok()

    spec = schema(document, "io.k8s.api.apps.v1.StatefulSetSpec")
    containers = schema(document, "io.k8s.api.core.v1.PodSpec")["properties"]["containers"]
    assert {"selector", "template"} <= set(spec["required"])
    assert spec["properties"]["replicas"]["format"] == "int32"
    assert containers["x-kubernetes-list-type"] == "map"
    assert containers["x-kubernetes-list-map-keys"] == ["name"]
    assert containers["x-kubernetes-patch-merge-key"] == "name"


async def test_paths_say_what_can_be_asked(wire: Wire) -> None:
    paths = (await wire.get(_APPS)).ok().body["paths"]

    one = paths[f"{_SETS}/{{name}}"]
    assert {"get", "put", "patch", "delete"} <= one.keys()
    assert {"get", "post"} <= paths[_SETS].keys()
    assert one["get"]["x-kubernetes-action"] == "get"
    gvk = {"group": "apps", "version": "v1", "kind": "StatefulSet"}
    assert one["get"]["x-kubernetes-group-version-kind"] == gvk
    assert {"application/apply-patch+yaml", "application/json-patch+json"} <= set(
        one["patch"]["requestBody"]["content"]
    )
    told = {it["name"] for it in one["patch"]["parameters"]}
    assert {"dryRun", "fieldManager", "fieldValidation", "force"} <= told


async def test_a_custom_kind_is_described_as_it_was_defined(wire: Wire) -> None:
    spec = fields(size=NUMBER, parts=keyed("name", name=TEXT))
    async with things(wire, spec) as kind:
        place = f"/openapi/v3/apis/{kind.group}/v1"

        async def is_described() -> Answer | None:
            answer = await wire.get(place)
            return answer if answer.code == 200 and answer["components"] else None

        document = await wire.until(is_described)

        name = ".".join([*reversed(kind.group.split(".")), "v1", "Thing"])
        found = schema(document, name)
        gvk = {"group": kind.group, "version": "v1", "kind": "Thing"}
        assert found["x-kubernetes-group-version-kind"] == [gvk]
        assert found["properties"]["spec"] == spec
        assert found["properties"]["kind"]["type"] == "string"


async def test_a_document_that_is_not_there(wire: Wire) -> None:
    assert (await wire.get("/openapi/v3/apis/unicorns.example/v1")).code == 404


@pytest.mark.differs("its answers may not be kept")
async def test_a_document_that_is_named_by_its_hash_may_be_kept(wire: Wire) -> None:
    index = (await wire.get("/openapi/v3")).ok()
    path, _, digest = index.body["paths"]["apis/apps/v1"]["serverRelativeURL"].partition("?hash=")

    first = (await wire.get(path, hash=digest)).ok()
    known = {"If-None-Match": first.headers.get("Etag", "")}
    again = await wire.ask("GET", path, headers=known, hash=digest)

    assert first.headers["Cache-Control"] == "public, immutable"
    assert again.code == 304


@pytest.mark.differs("it does not name the paths of status and scale")
async def test_paths_of_parts_are_named_too(wire: Wire) -> None:
    document = (await wire.get(_APPS)).ok()

    assert {f"{_SETS}/{{name}}/status", f"{_SETS}/{{name}}/scale"} <= document.body["paths"].keys()
