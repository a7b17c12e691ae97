"""What clients are told before they act: groups, resources, schemas; and questions they ask."""

from __future__ import annotations

from typing import Any

import pytest

from unit.local.server.site import TOKEN, Site, serving

GROUPS = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS: Any = {
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {
            "kind": "Widget",
            "plural": "widgets",
            "singular": "widget",
            "shortNames": ["wd"],
        },
        "versions": [
            {
                "name": name,
                "served": True,
                "storage": name == "v1",
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "properties": {"size": {"type": "integer"}}}
                        },
                    }
                },
            }
            for name in ("v1beta1", "v1")
        ],
    },
}


async def resources(site: Site, path: str) -> dict[str, Any]:
    return {it["name"]: it for it in (await site.get(path)).json["resources"]}


async def test_the_core() -> None:
    async with serving() as site:
        found = await resources(site, "/api/v1")

        assert (await site.get("/api")).json["versions"] == ["v1"]
        assert found["pods"]["shortNames"] == ["po"]
        assert found["pods"]["verbs"] == [
            *("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
        ]
        assert (found["pods/eviction"]["group"], found["pods/eviction"]["version"]) == (
            "policy",
            "v1",
        )
        assert found["namespaces"]["namespaced"] is False
        assert "namespaces/finalize" in found


async def test_groups() -> None:
    async with serving() as site:
        groups = {it["name"]: it for it in (await site.get("/apis")).json["groups"]}
        apps = await resources(site, "/apis/apps/v1")

        assert {
            "apps",
            "batch",
            "policy",
            "rbac.authorization.k8s.io",
            "authorization.k8s.io",
        } <= groups.keys()
        assert (await site.get("/apis/apps")).json["preferredVersion"]["groupVersion"] == "apps/v1"
        assert (apps["deployments/scale"]["group"], apps["deployments/scale"]["kind"]) == (
            "autoscaling",
            "Scale",
        )


async def test_everything_in_one_document() -> None:
    async with serving() as site:
        answer = await site.get("/apis", Accept=f"{GROUPS},application/json")
        groups = {it["metadata"]["name"]: it for it in answer.json["items"]}
        core = (await site.get("/api", Accept=GROUPS)).json["items"]

        assert answer.headers["Content-Type"] == GROUPS
        assert [it["metadata"] for it in core] == [{}]
        statefulset = next(
            it
            for it in groups["apps"]["versions"][0]["resources"]
            if it["resource"] == "statefulsets"
        )
        assert [it["subresource"] for it in statefulset["subresources"]] == ["scale", "status"]


async def test_a_new_kind_is_there_at_once() -> None:
    async with serving() as site:
        made = await site.post(CRDS, WIDGETS)
        assert made.status == 201, made.text

        group = (await site.get("/apis/example.com")).json
        assert [it["version"] for it in group["versions"]] == ["v1", "v1beta1"]
        assert (await resources(site, "/apis/example.com/v1"))["widgets"]["shortNames"] == ["wd"]
        assert "apis/example.com/v1" in (await site.get("/openapi/v3")).json["paths"]


async def test_every_version_shows_the_same_object() -> None:
    async with serving() as site:
        await site.post(CRDS, WIDGETS)
        old, new = (f"/apis/example.com/{v}/namespaces/default/widgets" for v in ("v1beta1", "v1"))
        types = {"apiVersion": "example.com/v1beta1", "kind": "Widget"}
        made = await site.post(old, types | {"metadata": {"name": "w"}, "spec": {"size": 1}})
        assert made.status == 201, made.text

        shown = [
            made.json,
            (await site.get(f"{new}/w")).json,
            (await site.get(old)).json["items"][0],
            (await site.lines(f"{old}?watch=1", 1))[0]["object"],
        ]
        versions = [it["apiVersion"].partition("/")[2] for it in shown]
        assert versions == ["v1beta1", "v1", "v1beta1", "v1beta1"]


# ------------------------------------------------------------------ schemas
async def test_the_address_of_a_schema_names_what_is_in_it() -> None:
    async with serving() as site:
        before = (await site.get("/openapi/v3")).json["paths"]
        await site.post(CRDS, WIDGETS)
        after = (await site.get("/openapi/v3")).json["paths"]

        assert before["api/v1"] == after["api/v1"]
        assert "?hash=" in after["apis/example.com/v1"]["serverRelativeURL"]


@pytest.mark.parametrize(
    "place", ["api/v1", "apis/apps/v1", "apis/batch/v1", "apis/example.com/v1"]
)
async def test_schemas_are_whole(place: str) -> None:
    async with serving() as site:
        await site.post(CRDS, WIDGETS)
        document = (await site.get(f"/openapi/v3/{place}")).json
        schemas = document["components"]["schemas"]
        mentioned = set(references(document))

        assert mentioned <= {f"#/components/schemas/{name}" for name in schemas}


def references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [it for inner in value.values() for it in references(inner)]
    return [it for inner in value for it in references(inner)] if isinstance(value, list) else []


async def test_clients_learn_what_a_patch_may_be() -> None:
    async with serving() as site:
        paths = (await site.get("/openapi/v3/apis/apps/v1")).json["paths"]
        patch = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]

        assert {it["name"] for it in patch["parameters"]} >= {
            "dryRun",
            "fieldValidation",
            "fieldManager",
        }
        assert patch["x-kubernetes-group-version-kind"] == {
            "group": "apps",
            "version": "v1",
            "kind": "Deployment",
        }
        assert "application/strategic-merge-patch+json" in patch["requestBody"]["content"]


# ------------------------------------------------------------------ questions
MAY: dict[str, Any] = {"resourceAttributes": {"verb": "get", "resource": "pods"}}
MAY_HERE: dict[str, Any] = {
    "user": "x",
    "resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "a"},
}


@pytest.mark.parametrize(
    ("place", "sent", "status"),
    [
        ("authorization.k8s.io/v1/selfsubjectaccessreviews", MAY, {"allowed": True}),
        ("authorization.k8s.io/v1/subjectaccessreviews", {"user": "x"} | MAY, {"allowed": True}),
        (
            "authorization.k8s.io/v1/namespaces/a/localsubjectaccessreviews",
            MAY_HERE,
            {"allowed": True},
        ),
        ("authorization.k8s.io/v1/selfsubjectrulesreviews", {}, {"incomplete": False}),
        ("authentication.k8s.io/v1/tokenreviews", {"token": TOKEN}, {"authenticated": True}),
        ("authentication.k8s.io/v1/tokenreviews", {"token": "guess"}, {"authenticated": False}),
    ],
)
async def test_questions_are_answered_and_not_kept(place: str, sent: Any, status: Any) -> None:
    async with serving() as site:
        before = site.api.store.revision
        answer = await site.post(f"/apis/{place}", {"spec": sent})

        assert answer.status == 201
        assert status.items() <= answer.json["status"].items()
        assert answer.json["spec"] == sent
        assert site.api.store.revision == before


async def test_who_am_i() -> None:
    async with serving() as site:
        answer = await site.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {})

        assert answer.json["status"]["userInfo"]["username"] == "stateward-local"
