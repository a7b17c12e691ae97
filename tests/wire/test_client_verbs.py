"""Every verb over the wire: what is sent, and what comes back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stateward import __version__
from stateward.core.chance import Chance
from stateward.core.errors import HouseError, PeerConfused
from stateward.kube import client as port
from stateward.kube.client import (
    Apply,
    JsonPatch,
    LogOptions,
    MergePatch,
    Propagation,
    Read,
    Selection,
)
from stateward.kube.errors import Conflict, Gone
from stateward.kube.http.access import (
    BearerToken,
    ClusterAccess,
    ExecPlugin,
    Impersonation,
    UserPassword,
)
from stateward.kube.http.client import HttpClient, Limits
from stateward.kube.http.exec_plugin import PluginFailed
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.resources import CONFIG_MAPS, NODES, PODS
from wire.scripted import (
    EagerClock,
    Scripted,
    answers,
    pod,
    pod_list,
    refuses,
    streams,
)
from wire.talk import KEY, talking


async def test_it_is_a_client() -> None:
    client: port.Client = HttpClient(ClusterAccess("http://nowhere"), EagerClock(), Chance(1))

    assert isinstance(
        client, HttpClient
    )  # what counts is that the type checker takes the line above


async def test_get() -> None:
    async with talking(answers(pod("a", 7))) as (client, server):
        found = await client.get(PODS, KEY)

    assert (found.metadata.name, found.metadata.resource_version) == ("a", "7")
    assert str(server.seen[0]) == "GET /api/v1/namespaces/shop/pods/a"
    assert server.seen[0].header("User-Agent") == f"stateward/{__version__}"
    assert server.seen[0].header("Accept").startswith("application/json")


async def test_get_takes_a_content_type_with_parameters() -> None:
    async with talking(answers(pod("a"), content_type="application/json; charset=utf-8")) as (c, _):
        assert (await c.get(PODS, KEY)).metadata.name == "a"


async def test_an_object_without_a_name_is_none() -> None:
    async with talking(answers({})) as (client, _):
        with pytest.raises(PeerConfused, match="must have a name"):
            await client.get(PODS, KEY)


async def test_a_server_behind_a_path() -> None:
    async with Scripted().plays(answers(pod("a"))) as server:
        where = ClusterAccess(f"{server.url}/k8s/clusters/c-1")
        async with HttpClient(where, EagerClock(), Chance(1)) as client:
            await client.get(PODS, KEY)

    assert server.seen[0].path == "/k8s/clusters/c-1/api/v1/namespaces/shop/pods/a"


async def test_list_selects() -> None:
    async with talking(answers(pod_list(pod("a"), pod("b")))) as (client, server):
        selection = Selection("shop", labels="app=a,tier!=b", fields="spec.nodeName=n 1")
        listing = await client.list(PODS, selection)

    assert [p.metadata.name for p in listing.items] == ["a", "b"]
    assert listing.revision == "100"
    assert server.seen[0].path == "/api/v1/namespaces/shop/pods"
    assert server.seen[0].query == {
        "labelSelector": "app=a,tier!=b",
        "fieldSelector": "spec.nodeName=n 1",
        "limit": "500",
    }


async def test_list_walks_through_pages() -> None:
    scripts = (
        answers(pod_list(pod("a"), next_page="p/2=")),
        answers(pod_list(pod("b"), next_page="p3", revision="100")),
        answers(pod_list(pod("c"))),
    )
    async with talking(*scripts, limits=Limits(page=1)) as (client, server):
        listing = await client.list(PODS, read=Read.CACHE)

    assert [p.metadata.name for p in listing.items] == ["a", "b", "c"]
    assert [s.query for s in server.seen] == [
        {"limit": "1", "resourceVersion": "0"},
        {"limit": "1", "continue": "p/2="},
        {"limit": "1", "continue": "p3"},
    ]
    assert server.connections == 1


async def test_list_begins_again_without_pages_when_they_expire() -> None:
    scripts = (
        answers(pod_list(pod("old"), next_page="p2")),
        refuses(410, "Expired"),
        answers(pod_list(pod("a"), pod("b"), revision="200")),
    )
    async with talking(*scripts) as (client, server):
        listing = await client.list(PODS)

    assert [p.metadata.name for p in listing.items] == ["a", "b"]
    assert listing.revision == "200"
    assert server.seen[2].query == {}


async def test_list_gives_up_when_expiry_has_nothing_to_do_with_pages() -> None:
    async with talking(refuses(410, "Expired")) as (client, _):
        with pytest.raises(Gone):
            await client.list(PODS)


async def test_one_poisoned_object_hides_no_other() -> None:
    bad = pod("bad", 9, spec={"containers": "none"})
    async with talking(answers(pod_list(pod("a"), bad, pod("b")))) as (client, _):
        listing = await client.list(PODS)

    assert [p.metadata.name for p in listing.items] == ["a", "b"]
    (malformed,) = listing.malformed
    assert malformed.metadata.key == ObjectKey("shop", "bad")
    assert malformed.metadata.uid == "uid-bad"
    assert "$.spec.containers" in malformed.problem


async def test_an_object_nested_too_deep_still_has_a_name() -> None:
    deep = "[" * 200_000 + "]" * 200_000
    text = b'{"metadata":{"resourceVersion":"5"},"items":[%s,%s]}' % (
        b'{"metadata":{"name":"a"}}',
        b'{"x":%s,"metadata":{"managedFields":%s,"name":"bad"}}' % (deep.encode(), deep.encode()),
    )
    async with talking(answers(text)) as (client, _):
        listing = await client.list(PODS)

    assert [p.metadata.name for p in listing.items] == ["a"]
    assert [m.metadata.name for m in listing.malformed] == ["bad"]


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "PodList", "metadata": {"resourceVersion": "1"}},
        {"kind": "PodList", "items": []},
        {"kind": "PodList", "metadata": {}, "items": []},
        {"kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": {}},
        [],
    ],
)
async def test_what_is_no_list_does_not_pass_for_an_empty_one(body: Any) -> None:
    async with talking(answers(body)) as (client, _):
        with pytest.raises(PeerConfused):
            await client.list(PODS)


async def test_a_list_of_null_is_empty() -> None:
    body = {"metadata": {"resourceVersion": "1"}, "items": None}
    async with talking(answers(body)) as (client, _):
        assert (await client.list(PODS)).items == ()


async def test_create() -> None:
    async with talking(answers(pod("a"), code=201), field_validation="Strict") as (client, server):
        body = {"metadata": {"name": "a", "namespace": "shop"}, "spec": {}}
        await client.create(PODS, body, dry_run=True)

    seen = server.seen[0]
    assert str(seen) == "POST /api/v1/namespaces/shop/pods"
    assert seen.query == {
        "fieldManager": "stateward",
        "fieldValidation": "Strict",
        "dryRun": "All",
    }
    assert seen.json == {"apiVersion": "v1", "kind": "Pod", **body}
    assert seen.header("Content-Type") == "application/json"


async def test_create_takes_typed_documents() -> None:
    async with talking(answers(pod("a"), code=201), field_manager="me") as (client, server):
        body = ConfigMap(metadata=ObjectMeta(name="a", namespace="shop"), data={"x": "1"})
        await client.create(CONFIG_MAPS, body)

    assert server.seen[0].query == {"fieldManager": "me"}
    assert server.seen[0].json == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "shop"},
        "data": {"x": "1"},
    }


async def test_update_of_a_subresource() -> None:
    async with talking(answers(pod("a"))) as (client, server):
        await client.update(PODS, pod("a", 3), subresource="status")

    assert str(server.seen[0]) == "PUT /api/v1/namespaces/shop/pods/a/status"
    assert server.seen[0].json["metadata"]["resourceVersion"] == "3"


@pytest.mark.parametrize(
    ("patch", "content_type", "query", "body"),
    [
        (
            MergePatch({"metadata": {"labels": {"a": None}}}),
            "application/merge-patch+json",
            {"fieldManager": "stateward"},
            {"metadata": {"labels": {"a": None}}},
        ),
        (
            JsonPatch(({"op": "remove", "path": "/spec/x"},)),
            "application/json-patch+json",
            {"fieldManager": "stateward"},
            [{"op": "remove", "path": "/spec/x"}],
        ),
        (
            Apply({"metadata": {"name": "a"}}, manager="shop-status", force=True),
            "application/apply-patch+yaml",
            {"fieldManager": "shop-status", "force": "true"},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}},
        ),
    ],
)
async def test_patch(patch: port.Patch, content_type: str, query: Any, body: Any) -> None:
    async with talking(answers(pod("a"))) as (client, server):
        await client.patch(PODS, KEY, patch)

    seen = server.seen[0]
    assert str(seen) == "PATCH /api/v1/namespaces/shop/pods/a"
    assert seen.header("Content-Type") == content_type
    assert (seen.query, seen.json) == (query, body)


async def test_delete_says_exactly_what_is_meant() -> None:
    async with talking(answers({"kind": "Status", "status": "Success"})) as (client, server):
        await client.delete(
            PODS,
            KEY,
            uid="u-1",
            resource_version="9",
            propagation=Propagation.ORPHAN,
            grace_seconds=0,
            dry_run=True,
        )

    assert str(server.seen[0]) == "DELETE /api/v1/namespaces/shop/pods/a"
    assert server.seen[0].json == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": "u-1", "resourceVersion": "9"},
        "propagationPolicy": "Orphan",
        "gracePeriodSeconds": 0,
        "dryRun": ["All"],
    }


async def test_evict() -> None:
    done = answers({"kind": "Status", "status": "Success"}, code=201)
    async with talking(done) as (client, server):
        await client.evict(KEY, uid="u-1", grace_seconds=30)

    assert str(server.seen[0]) == "POST /api/v1/namespaces/shop/pods/a/eviction"
    assert server.seen[0].json == {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "a", "namespace": "shop"},
        "deleteOptions": {"preconditions": {"uid": "u-1"}, "gracePeriodSeconds": 30},
    }


async def test_bind() -> None:
    done = answers({"kind": "Status", "status": "Success"}, code=201)
    async with talking(done) as (client, server):
        await client.bind(KEY, "n1", uid="u-1")

    assert str(server.seen[0]) == "POST /api/v1/namespaces/shop/pods/a/binding"
    assert server.seen[0].json == {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "a", "namespace": "shop", "uid": "u-1"},
        "target": {"kind": "Node", "name": "n1"},
    }


async def test_log() -> None:
    script = streams(b"line 1\nli", b"ne 2\n", content_type="text/plain")
    async with talking(script) as (client, server):
        options = LogOptions("etcd", tail_lines=5, since_seconds=0, previous=True, timestamps=True)
        text = b"".join([chunk async for chunk in client.log(KEY, options)])

    assert text == b"line 1\nline 2\n"
    assert server.seen[0].path == "/api/v1/namespaces/shop/pods/a/log"
    assert server.seen[0].query == {
        "container": "etcd",
        "tailLines": "5",
        "sinceSeconds": "0",
        "previous": "true",
        "timestamps": "true",
    }


async def test_server_version() -> None:
    body = {"major": "1", "minor": "35", "gitVersion": "v1.35.4"}
    async with talking(answers(body)) as (client, server):
        version = await client.server_version()

    assert (version.major, version.minor, version.git_version) == ("1", "35", "v1.35.4")
    assert server.seen[0].path == "/version"


async def test_who_we_are_and_whom_we_act_as() -> None:
    acting = Impersonation("ann", "u-7", ("dev", "ops"), (("Scopes/x", "a"), ("Scopes/x", "b")))
    access = {"credentials": BearerToken("t0ken"), "impersonation": acting}
    async with talking(answers(pod("a")), access=access) as (client, server):
        await client.get(PODS, KEY)

    seen = server.seen[0]
    assert seen.headers["authorization"] == ["Bearer t0ken"]
    assert seen.headers["impersonate-user"] == ["ann"]
    assert seen.headers["impersonate-uid"] == ["u-7"]
    assert seen.headers["impersonate-group"] == ["dev", "ops"]
    assert seen.headers["impersonate-extra-scopes%2fx"] == ["a", "b"]


async def test_a_password() -> None:
    access = {"credentials": UserPassword("ann", "s3cret")}
    async with talking(answers(pod("a")), access=access) as (client, server):
        await client.get(PODS, KEY)

    assert server.seen[0].header("Authorization") == "Basic YW5uOnMzY3JldA=="


async def test_a_plugin_that_fails_is_not_run_again_and_again() -> None:
    clock = EagerClock()
    access = {"credentials": ExecPlugin("client.authentication.k8s.io/v1", "false")}
    async with talking(access=access, clock=clock) as (client, server):
        with pytest.raises(PluginFailed):
            await client.get(PODS, KEY)
        with pytest.raises(PluginFailed):
            await client.create(PODS, pod("a"))

    assert clock.slept == []
    assert server.seen == []


async def test_requests_go_through_the_proxy() -> None:
    async with Scripted().plays(answers(pod("a"))) as proxy:
        where = ClusterAccess("http://api.invalid:8080", proxy=f"http://127.0.0.1:{proxy.port}")
        async with HttpClient(where, EagerClock(), Chance(1)) as client:
            assert (await client.get(PODS, KEY)).metadata.name == "a"

    assert proxy.seen[0].header("Host") == "api.invalid:8080"


async def test_warnings_and_observations_are_passed_on() -> None:
    warnings: list[str] = []
    observed: list[tuple[str, str, float]] = []
    scripts = (
        answers(pod("a"), headers=('Warning: 299 - "field \\"x\\" is old"', 'Warning: 299 - "b"')),
        refuses(409, "Conflict"),
    )
    async with talking(
        *scripts, warn=warnings.append, observe=lambda *seen: observed.append(seen)
    ) as (client, _):
        await client.get(PODS, KEY)
        with pytest.raises(Conflict):
            await client.update(PODS, pod("a"))

    assert warnings == ['field "x" is old', "b"]
    assert [(method, code) for method, code, _ in observed] == [("GET", "200"), ("PUT", "409")]


@pytest.mark.parametrize(
    "key", [ObjectKey("shop", ""), ObjectKey("", "a"), ObjectKey("shop", "..")]
)
async def test_a_path_that_would_mean_something_else_is_refused(key: ObjectKey) -> None:
    async with talking() as (client, _):
        with pytest.raises(HouseError):
            await client.delete(PODS, key, uid="u")
        with pytest.raises(HouseError):
            await client.get(PODS, key)


async def test_a_deletion_without_a_uid_is_refused() -> None:
    async with talking() as (client, _):
        with pytest.raises(HouseError, match="UID"):
            await client.delete(NODES, ObjectKey("", "n1"), uid="")


async def test_many_requests_at_once_are_not_queued() -> None:
    async with Scripted().plays(*[answers(pod("a"))] * 150) as server:
        async with HttpClient(ClusterAccess(server.url), EagerClock(), Chance(1)) as client:
            await asyncio.gather(*(client.get(PODS, KEY) for _ in range(150)))

        assert server.connections > 100


async def test_a_closed_client_says_so() -> None:
    client = HttpClient(ClusterAccess("http://nowhere"), EagerClock(), Chance(1))
    await client.close()

    with pytest.raises(HouseError, match="closed"):
        await client.get(PODS, KEY)
