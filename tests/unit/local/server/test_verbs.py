"""The verbs over HTTP: codes, options, bodies of all kinds."""

from __future__ import annotations

from typing import Any

import pytest

from unit.local.server.site import CONFIGS, PODS, serving

MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
TEMPLATE: Any = {"spec": {"restartPolicy": "Never", "containers": [{"name": "m", "image": "none"}]}}


async def test_an_object_from_beginning_to_end() -> None:
    async with serving() as site:
        made = await site.post(CONFIGS, {"metadata": {"name": "a"}, "data": {"x": "1"}})
        changed = await site.ask("PUT", f"{CONFIGS}/a", made.json | {"data": {"x": "2"}})
        patched = await site.ask("PATCH", f"{CONFIGS}/a", {"data": {"y": "3"}}, Content_Type=MERGE)
        seen = await site.get(f"{CONFIGS}/a")
        gone = await site.ask("DELETE", f"{CONFIGS}/a")
        after = await site.get(f"{CONFIGS}/a")

        codes = [it.status for it in (made, changed, patched, seen, gone, after)]
        assert codes == [201, 200, 200, 200, 200, 404]
        assert seen.json["data"] == {"x": "2", "y": "3"}
        uid = made.json["metadata"]["uid"]
        assert gone.json["status"] == "Success"
        assert gone.json["details"] == {"name": "a", "kind": "configmaps", "uid": uid}


async def test_what_is_held_is_shown_when_it_is_deleted() -> None:
    async with serving() as site:
        await site.post(CONFIGS, {"metadata": {"name": "a", "finalizers": ["example.com/hold"]}})
        left = await site.ask("DELETE", f"{CONFIGS}/a")

        assert left.json["kind"] == "ConfigMap"
        assert left.json["metadata"]["deletionTimestamp"]


@pytest.mark.parametrize(
    ("query", "body", "left"),
    [
        ("?propagationPolicy=Foreground", None, ["foregroundDeletion"]),
        ("?propagationPolicy=Orphan", None, ["orphan"]),
        ("?orphanDependents=true", None, ["orphan"]),
        ("", {"propagationPolicy": "Foreground"}, ["foregroundDeletion"]),
        ("?propagationPolicy=Orphan", {"propagationPolicy": "Foreground"}, ["foregroundDeletion"]),
        ("?dryRun=All", None, []),
    ],
)
async def test_how_something_is_deleted(query: str, body: Any, left: list[str]) -> None:
    async with serving() as site:
        await site.put_config("a")
        await site.ask("DELETE", f"{CONFIGS}/a{query}", body)

        assert (await site.get(f"{CONFIGS}/a")).json["metadata"].get("finalizers", []) == left


@pytest.mark.parametrize(
    "body",
    [
        {"gracePeriodSeconds": "soon"},
        {"kind": "Pod"},
        [],
        "nonsense",
    ],
    ids=str,
)
async def test_options_of_a_deletion_that_make_no_sense(body: Any) -> None:
    async with serving() as site:
        await site.put_config("a")
        json = {"Content_Type": "application/json"}

        assert (await site.ask("DELETE", f"{CONFIGS}/a", body, **json)).refusal[0] == 400


async def test_jobs_leave_their_pods_behind_and_say_so() -> None:
    async with serving() as site:
        made = await site.post(JOBS, {"metadata": {"name": "j"}, "spec": {"template": TEMPLATE}})
        assert made.status == 201, made.text
        gone = await site.ask("DELETE", f"{JOBS}/j")

        assert gone.json["metadata"]["finalizers"] == ["orphan"]
        assert "child pods are preserved" in gone.headers["Warning"]


async def test_a_whole_collection_is_deleted() -> None:
    async with serving() as site:
        await site.put_config("a", app="x")
        await site.put_config("b", app="x")
        await site.put_config("c")
        gone = await site.ask("DELETE", f"{CONFIGS}?labelSelector=app%3Dx")

        assert [it["metadata"]["name"] for it in gone.json["items"]] == ["a", "b"]
        assert gone.json["kind"] == "ConfigMapList"
        assert [it["metadata"]["name"] for it in (await site.get(CONFIGS)).json["items"]] == ["c"]


# ------------------------------------------------------------------ patches
@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (MERGE, '{"data": {"x": "2"}}'),
        ("application/json-patch+json", '[{"op": "replace", "path": "/data/x", "value": "2"}]'),
        ("application/strategic-merge-patch+json", '{"data": {"x": "2"}}'),
        (APPLY, '{"apiVersion": "v1", "kind": "ConfigMap", "data": {"x": "2"}}'),
        (APPLY, 'apiVersion: v1\nkind: ConfigMap\ndata:\n  x: "2"\n'),
    ],
)
async def test_a_patch_of_every_kind(content_type: str, body: str) -> None:
    async with serving() as site:
        await site.post(CONFIGS, {"metadata": {"name": "a"}, "data": {"x": "1"}})
        query = "?fieldManager=me&force=true" if content_type == APPLY else ""
        answer = await site.ask("PATCH", f"{CONFIGS}/a{query}", body, Content_Type=content_type)

        assert (answer.status, answer.json["data"]) == (200, {"x": "2"})


async def test_what_is_applied_and_not_there_is_created() -> None:
    async with serving() as site:
        applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
        path = f"{CONFIGS}/a?fieldManager=me"

        codes = [
            (await site.ask("PATCH", path, applied, Content_Type=APPLY)).status for _ in range(2)
        ]
        assert codes == [201, 200]


@pytest.mark.parametrize(
    ("query", "content_type", "body", "refusal"),
    [
        ("", APPLY, "{}", (422, "Invalid")),
        ("?force=true", MERGE, "{}", (422, "Invalid")),
        ("", MERGE, "[]", (400, "BadRequest")),
        ("", "application/json-patch+json", "{}", (400, "BadRequest")),
        ("", "application/json", "{}", (415, "UnsupportedMediaType")),
        ("", "", "{}", (415, "UnsupportedMediaType")),
        ("?fieldManager=" + "m" * 129, MERGE, "{}", (422, "Invalid")),
        ("?fieldManager=a%00b", MERGE, "{}", (422, "Invalid")),
        ("?dryRun=Some", MERGE, "{}", (422, "Invalid")),
        ("?fieldValidation=Maybe", MERGE, "{}", (422, "Invalid")),
    ],
)
async def test_patches_that_are_refused(
    query: str, content_type: str, body: str, refusal: tuple[int, str]
) -> None:
    async with serving() as site:
        await site.put_config("a")
        answer = await site.ask("PATCH", f"{CONFIGS}/a{query}", body, Content_Type=content_type)

        assert answer.refusal[:2] == refusal


# ------------------------------------------------------------------ bodies
@pytest.mark.parametrize(
    ("content_type", "body", "code"),
    [
        ("application/json", "{", 400),
        ("application/json", "[]", 400),
        ("application/json", "", 400),
        ("application/json", '{"metadata": {"name": "a"}, "data": {"x": "\x01"}}', 400),
        ("application/json", "[" * 100_000, 400),
        ("application/json", '{"a":' * 5_000 + "1" + "}" * 5_000, 400),
        ("application/json", '{"metadata": {"name": "a", "annotations": ' + '{"a":' * 400, 400),
        ("application/json", " " * (3 * 1024 * 1024 + 1), 413),
        ("application/yaml", "a: &a [1]\nb: *a\n", 400),
        ("application/yaml", "a: [", 400),
        ("application/yaml", "- a", 400),
        ("application/yaml", "[" * 5_000, 400),
        ("application/vnd.kubernetes.protobuf", "{}", 400),
        ("text/plain", "{}", 415),
        ("application/x-www-form-urlencoded", "a=b", 415),
    ],
    ids=lambda it: str(it)[:30],
)
async def test_bodies_that_are_refused(content_type: str, body: str, code: int) -> None:
    async with serving() as site:
        answer = await site.post(CONFIGS, body, Content_Type=content_type)

        assert answer.refusal[0] == code, answer.text
        assert (await site.get(CONFIGS)).json["items"] == []


async def test_a_manifest_as_people_write_it() -> None:
    async with serving() as site:
        text = "metadata:\n  name: a\n  annotations: {at: 2024-01-01}\ndata: {x: 'yes'}\n"
        made = await site.post(CONFIGS, text, Content_Type="application/yaml")

        assert made.json["data"] == {"x": "yes"}
        assert made.json["metadata"]["annotations"] == {"at": "2024-01-01"}


# ------------------------------------------------------------------ who writes, and how
@pytest.mark.parametrize(
    ("query", "agent", "manager"),
    [
        ("", "kubectl/v1.32.4 (linux/amd64)", "kubectl"),
        ("?fieldManager=me", "kubectl/v1.32.4", "me"),
        ("", "", "unknown"),
        ("", "x" * 300, "x" * 128),
    ],
)
async def test_who_writes(query: str, agent: str, manager: str) -> None:
    async with serving() as site:
        made = await site.post(
            f"{CONFIGS}{query}", {"metadata": {"name": "a"}, "data": {"x": "1"}}, User_Agent=agent
        )

        assert made.json["metadata"]["managedFields"][0]["manager"] == manager


async def test_a_rehearsal_keeps_nothing() -> None:
    async with serving() as site:
        made = await site.post(f"{CONFIGS}?dryRun=All", {"metadata": {"name": "a"}})

        assert (made.status, (await site.get(f"{CONFIGS}/a")).status) == (201, 404)


@pytest.mark.parametrize(
    ("strictness", "status", "warned"),
    [("Strict", 400, False), ("Warn", 201, True), ("Ignore", 201, False)],
)
async def test_unknown_fields(strictness: str, status: int, warned: bool) -> None:
    async with serving() as site:
        sent = {"metadata": {"name": "a"}, "dtaa": {"x": "1"}}
        answer = await site.post(f"{CONFIGS}?fieldValidation={strictness}", sent)

        assert answer.status == status
        assert ("Warning" in answer.headers) is warned
        if warned:
            assert answer.headers["Warning"] == '299 - "unknown field \\"dtaa\\""'


# ------------------------------------------------------------------ parts of objects
async def test_a_pod_gets_its_node() -> None:
    async with serving() as site:
        await site.post("/api/v1/nodes", {"metadata": {"name": "n1"}})
        pod = {"metadata": {"name": "p"}, "spec": TEMPLATE["spec"]}
        await site.post(PODS, pod)
        binding = {"kind": "Binding", "metadata": {"name": "p"}, "target": {"name": "n1"}}
        bound = await site.post(f"{PODS}/p/binding", binding)

        assert (bound.status, bound.json["status"]) == (201, "Success")
        assert (await site.get(f"{PODS}/p")).json["spec"]["nodeName"] == "n1"


@pytest.mark.parametrize(
    "sent",
    [{"kind": "Pod"}, {"metadata": {"name": "other"}, "target": {"name": "n"}}, {"target": {}}, {}],
    ids=str,
)
async def test_a_binding_that_makes_no_sense(sent: Any) -> None:
    async with serving() as site:
        assert (await site.post(f"{PODS}/p/binding", sent)).refusal[0] == 400


async def test_scales() -> None:
    async with serving() as site:
        sets = "/apis/apps/v1/namespaces/default/deployments"
        template = {
            "metadata": {"labels": {"app": "x"}},
            "spec": {"containers": [{"name": "m", "image": "none"}]},
        }
        spec = {"replicas": 2, "selector": {"matchLabels": {"app": "x"}}, "template": template}
        await site.post(sets, {"metadata": {"name": "web"}, "spec": spec})
        scale = (await site.get(f"{sets}/web/scale")).json
        await site.ask("PATCH", f"{sets}/web/scale", {"spec": {"replicas": 5}}, Content_Type=MERGE)

        assert (scale["apiVersion"], scale["kind"], scale["spec"]) == (
            "autoscaling/v1",
            "Scale",
            {"replicas": 2},
        )
        assert (await site.get(f"{sets}/web")).json["spec"]["replicas"] == 5
