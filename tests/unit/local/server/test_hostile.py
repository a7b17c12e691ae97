"""Requests that mean harm, or are just wrong: each is answered soon, and with a reason."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from stateward.local.server import app, bodies
from unit.local.server.site import CONFIGS, PODS, TOKEN, Site, serving

YAML = {"Content_Type": "application/yaml"}
SHORT = 8.0  # seconds: what hangs takes far longer, and the machine may have much else to do


async def refused(site: Site, method: str, path: str, body: Any = None, **headers: str) -> str:
    """Return the code and the message of a refusal that comes soon."""
    async with asyncio.timeout(SHORT):
        code, _, message = (await site.ask(method, path, body, **headers)).refusal
    return f"{code} {message}"


async def raw(site: Site, text: str) -> bytes:
    """Return what the server says to bytes that no client would send."""
    host, port = site.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(text.encode().replace(b"\n", b"\r\n"))
    async with asyncio.timeout(SHORT):
        answer = await reader.read()
    writer.close()
    return answer


# ------------------------------------------------------------------ YAML
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: " + "[" * 50_000, "nested deeper than 100"),
        ("a: " + "{a: " * 50_000, "nested deeper than 100"),
        ("- " * 50_000, "nested deeper than 100"),
        ("a:\n" + "- b\n" * 100_000, "fewer than 60000 parts"),
        ("a: &x [1]\nb: *x", "aliases"),
        ("a: .nan", "finite"),
        ("a: -.inf", "finite"),
        ("a: 1e999", "finite"),
        ("a: !!binary aGk=", "no more than JSON can"),
        ("a: !!set {b}", "no more than JSON can"),
        ("a: !!python/none x", "no more than JSON can"),
        ("<<: {a: b}", "no more than JSON can"),
        ("a: !!int x", "must be of type int"),
        ("? [a]\n: b", "names in an object must be texts"),
        ("a: 1\n---\nb: 2", "one document only"),
        ("a: [1,", "did not find expected"),
    ],
    ids=lambda it: repr(it[:20]),
)
async def test_yaml_that_is_refused(text: str, why: str) -> None:
    async with serving() as site:
        assert why in (said := await refused(site, "POST", CONFIGS, text, **YAML))
        assert said.startswith("400 ")


async def test_applied_yaml_is_read_with_the_same_care() -> None:
    async with serving() as site:
        apply = {"Content_Type": "application/apply-patch+yaml"}
        said = await refused(
            site, "PATCH", f"{CONFIGS}/a?fieldManager=me", "a: " + "[" * 50_000, **apply
        )
        assert "nested deeper" in said


async def test_much_yaml_must_be_json() -> None:
    async with serving() as site:
        text = "a: '" + "x" * 2_000_000 + "'"
        assert (await refused(site, "POST", CONFIGS, text, **YAML)).startswith("413 ")


async def test_yaml_is_read_as_kubernetes_reads_it() -> None:
    text = (
        "metadata: {name: a, annotations: {1: '1', true: '2', when: 2001-01-01, at: 80:80}}\n"
        "immutable: yes\n"
        "data: {a: '1e3', n: no number}\n"
    )
    async with serving() as site:
        made = (await site.post(CONFIGS, text, **YAML)).json
        assert made["metadata"]["annotations"] == {
            "1": "1",
            "true": "2",
            "when": "2001-01-01",
            "at": "80:80",
        }
        assert (made["immutable"], made["data"]) == (True, {"a": "1e3", "false": "no number"})


# ------------------------------------------------------------------ names that are there twice
DOUBLED = '{"metadata": {"name": "a"}, "data": {"k": "1", "k": "2"}}'
DOUBLED_YAML = "metadata: {name: a}\ndata: {k: '1', k: '2'}"


@pytest.mark.parametrize(
    ("text", "kind"), [(DOUBLED, "application/json"), (DOUBLED_YAML, "application/yaml")]
)
async def test_a_name_that_is_there_twice(text: str, kind: str) -> None:
    async with serving() as site:
        sent = {"Content_Type": kind}
        said = await refused(site, "POST", f"{CONFIGS}?fieldValidation=Strict", text, **sent)
        assert said.startswith("400 ")
        assert said.endswith('strict decoding error: duplicate field "data.k"')

        warned = await site.post(f"{CONFIGS}?fieldValidation=Warn&dryRun=All", text, **sent)
        assert warned.headers["Warning"] == '299 - "duplicate field \\"data.k\\""'

        silent = await site.post(f"{CONFIGS}?fieldValidation=Ignore", text, **sent)
        assert (silent.headers.get("Warning"), silent.json["data"]) == (None, {"k": "2"})


async def test_it_is_said_where_a_name_is_twice() -> None:
    async with serving() as site:
        text = '{"metadata": {"name": "a"}, "x": [{"b": 1, "b": 2}]}'
        said = await refused(site, "POST", f"{CONFIGS}?fieldValidation=Strict", text)
        assert 'duplicate field "x[0].b"' in said


# ------------------------------------------------------------------ patches
OPERATIONS = {"Content_Type": "application/json-patch+json"}
STRATEGIC = {"Content_Type": "application/strategic-merge-patch+json"}


async def test_a_document_cannot_be_doubled_for_ever() -> None:
    async with serving() as site:
        await site.put_config("a")
        double = [{"op": "add", "path": "/data", "value": {"x": "y" * 1000}}]
        double += [{"op": "copy", "from": "", "path": f"/data/{i}"} for i in range(30)]
        said = await refused(site, "PATCH", f"{CONFIGS}/a", double, **OPERATIONS)
        assert said.startswith("422 ")
        assert "copies together must have at most" in said


async def test_a_patch_has_so_many_operations_at_most() -> None:
    async with serving() as site:
        await site.put_config("a")
        many = [{"op": "test", "path": "/kind", "value": "ConfigMap"}] * 10_001
        said = await refused(site, "PATCH", f"{CONFIGS}/a", many, **OPERATIONS)
        assert said.startswith("413 ")
        assert "allowed maximum operations in a JSON patch is 10000" in said


@pytest.mark.parametrize(
    "patch",
    [
        {"metadata": {"$deleteFromPrimitiveList/finalizers": 5}},
        {"metadata": {"$setElementOrder/finalizers": 5}},
        {"metadata": {"$setElementOrder/x": "y"}},
    ],
    ids=str,
)
async def test_directives_are_lists(patch: Any) -> None:
    async with serving() as site:
        await site.put_config("a")
        said = await refused(site, "PATCH", f"{CONFIGS}/a", patch, **STRATEGIC)
        assert said.startswith("500 ")
        assert "must be a list" in said


@pytest.mark.parametrize("kept", [5, [{}], [], "labels"], ids=str)
async def test_what_is_retained_is_a_list_of_names(kept: Any) -> None:
    async with serving() as site:
        await site.put_config("a")
        patch = {"metadata": {"$retainKeys": kept, "labels": {}}}
        said = await refused(site, "PATCH", f"{CONFIGS}/a", patch, **STRATEGIC)
        assert said.startswith("400 ")
        assert "$retainKeys must" in said


@pytest.mark.parametrize("metadata", [3, "x", [1]])
async def test_a_scale_with_no_metadata(metadata: Any) -> None:
    web = "/apis/apps/v1/namespaces/default/deployments"
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "main", "image": "none"}]},
    }
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    async with serving() as site:
        await site.post(web, {"metadata": {"name": "web"}, "spec": spec})
        sent = json.dumps({"metadata": metadata, "spec": {"replicas": 1}})
        apply = {"Content_Type": "application/apply-patch+yaml"}
        path = f"{web}/web/scale?fieldManager=me"
        assert (await refused(site, "PATCH", path, sent, **apply))[0] == "4"
        assert (await refused(site, "PUT", f"{web}/web/scale", sent))[0] == "4"


# ------------------------------------------------------------------ queries and paths
@pytest.mark.parametrize("number", ["--5", "-", "٣", "1_0", "+1", "1" * 30])
async def test_what_is_no_number(number: str) -> None:
    async with serving() as site:
        assert (await refused(site, "GET", f"{CONFIGS}?limit={number}")).startswith("400 ")
        said = await refused(site, "GET", f"{CONFIGS}?resourceVersion={number}")
        assert "must be a number" in said


@pytest.mark.parametrize(
    "path",
    [
        "//api/v1/pods",
        "/apis//v1/pods",
        "/apis/apps//deployments",
        "/api/v1//pods",
        f"{CONFIGS}/a%2fb",
        "/api/v1/namespaces/a%2Fb/pods",
    ],
)
async def test_no_such_path(path: str) -> None:
    async with serving() as site:
        answer = await raw(site, f"GET {path} HTTP/1.1\nHost: x\n{AUTHORIZED}\n")
        assert answer.startswith(b"HTTP/1.1 404 ")


AUTHORIZED = f"Authorization: Bearer {TOKEN}\nConnection: close\n"


async def test_a_request_may_name_the_server_as_well() -> None:
    async with serving() as site:
        answer = await raw(site, f"GET http://x{CONFIGS}?limit=1 HTTP/1.1\nHost: x\n{AUTHORIZED}\n")
        assert b'"kind":"ConfigMapList"' in answer


async def test_nobody_can_be_somebody_else() -> None:
    async with serving() as site:
        said = await refused(site, "GET", CONFIGS, Impersonate_User="jane")
        assert said.startswith("403 impersonation is not offered here")


@pytest.mark.parametrize("part", ["exec", "attach", "portforward"])
async def test_what_is_not_offered_says_what_to_do_instead(part: str) -> None:
    spec = {"containers": [{"name": "main", "image": "none"}]}
    async with serving() as site:
        await site.post(PODS, {"metadata": {"name": "p"}, "spec": spec})
        said = await refused(site, "POST", f"{PODS}/p/{part}")
        assert "status.podIP" in said

        status = {"status": {"podIP": "127.1.2.3"}}
        merge = {"Content_Type": "application/merge-patch+json"}
        await site.ask("PATCH", f"{PODS}/p/status", status, **merge)
        said = await refused(site, "POST", f"{PODS}/p/{part}")
        assert "reach it at 127.1.2.3, and read what it writes with: stateward local logs" in said


# ------------------------------------------------------------------ what is no request at all
POST = f"POST {CONFIGS} HTTP/1.1\nHost: x\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("GET * HTTP/1.1\nHost: x\n\n", 400),
        (f"GET /version HTTP/1.1\nHost: x\nX: {'a' * 70_000}\n\n", 431),
        (f"{POST}{AUTHORIZED}Content-Encoding: gzip\nContent-Length: 5\n\nhello", 400),
        (f"{POST}{AUTHORIZED}Content-Encoding: br\nContent-Length: 5\n\nhello", 400),
        (f"{POST}Content-Encoding: gzip\nContent-Length: 5\n\nhello", 401),
        (f"{POST}{AUTHORIZED}Transfer-Encoding: chunked\n\nZZ\n", 400),
        ("\x16\x03\x01 hello\n\n", 400),
    ],
    ids=lambda it: repr(it[-40:]) if isinstance(it, str) else str(it),
)
async def test_what_cannot_be_read_is_answered_without_a_fuss(
    text: str, code: int, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    async with serving() as site:
        head, _, body = (await raw(site, text)).partition(b"\r\n\r\n")
        assert head.split()[1] == str(code).encode()
        assert (json.loads(body)["kind"], json.loads(body)["code"]) == ("Status", code)
        assert (await site.get("/healthz")).text == "ok"
    assert caplog.records == []
    assert "Traceback" not in "".join(capfd.readouterr())


async def test_a_long_header_is_none_of_our_business() -> None:
    async with serving() as site:
        assert (await site.get("/version", X=("a" * 20_000))).status == 200


async def test_a_body_that_does_not_come_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bodies, "PATIENCE", 0.01)
    async with serving() as site:
        answer = await raw(site, f'{POST}{AUTHORIZED}Content-Length: 100\n\n{{"a"')
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"the body must arrive within" in answer


async def test_a_request_that_is_never_finished_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(app, "_IDLE", 0.05)
    async with serving() as site:
        assert await raw(site, f"GET {CONFIGS} HTTP/1.1\nHost: x\nX: a") == b""
