"""The door: who may come in, which paths there are, and how refusals look."""

from __future__ import annotations

import asyncio
import socket
import struct

import pytest

from stateward.core.chance import Chance
from stateward.core.clock import SystemClock
from stateward.core.errors import UsageError
from stateward.core.ports import Ports
from stateward.local.schema.served import served_api
from stateward.local.server.app import ApiServer
from unit.local.server.site import CONFIGS, PODS, TOKEN, serving

POD = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "main", "image": "none"}]}}


# ------------------------------------------------------------------ who may come in
@pytest.mark.parametrize("token", ["", "wrong", f"{TOKEN}x", "ünknown"], ids=repr)
async def test_without_the_token_nobody_comes_in(token: str) -> None:
    async with serving(token="") as site:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = await site.get(CONFIGS, **headers)

        assert answer.refusal == (401, "Unauthorized", "Unauthorized")


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/version"])
async def test_everybody_may_ask_how_the_server_is(path: str) -> None:
    async with serving(token="") as site:
        assert (await site.get(path)).status == 200


async def test_the_token_is_only_a_bearer_token() -> None:
    async with serving(token="") as site:
        assert (await site.get(CONFIGS, Authorization=f"Basic {TOKEN}")).status == 401


def test_a_server_without_a_token_is_none() -> None:
    with pytest.raises(UsageError, match="must have a token"):
        ApiServer(served_api(ports()), ports(), token="")


# ------------------------------------------------------------------ where it listens
def ports() -> Ports:
    return Ports(SystemClock(), Chance(1))


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.1", "::", "example.com", ""])
async def test_nobody_outside_can_reach_it(host: str) -> None:
    server = ApiServer(served_api(ports()), ports(), token="t")

    with pytest.raises(UsageError, match="loopback"):
        async with server.listening(host):
            pass


async def test_a_port_in_use_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        server = ApiServer(served_api(ports()), ports(), token="t")

        with pytest.raises(UsageError, match=f"127.0.0.1:{port} must be free") as caught:
            async with server.listening(port=port):
                pass

        assert "another port" in caught.value.hint


# ------------------------------------------------------------------ which paths there are
@pytest.mark.parametrize(
    "path",
    [
        "/api/v2/pods",
        "/api/v1/unicorns",
        "/apis/apps/v1beta9/deployments",
        "/api/v1/namespaces/default/nodes",
        "/api/v1/pods/without-a-namespace",
        "/api/v1/namespaces/default/pods/a/b/c",
        "/api/v1/namespaces//pods",
    ],
)
async def test_what_is_not_there(path: str) -> None:
    async with serving() as site:
        answer = await site.get(path)

        assert (answer.status, answer.json["reason"]) == (404, "NotFound")


@pytest.mark.parametrize("path", ["/nothing", "/apis/none.example.com", "/openapi/v3/apis/none/v1"])
async def test_what_nobody_has_heard_of(path: str) -> None:
    async with serving() as site:
        answer = await site.get(path)

        assert (answer.status, answer.text) == (404, "404 page not found\n")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/configmaps"),
        ("POST", f"{CONFIGS}/a"),
        ("PUT", CONFIGS),
        ("PATCH", CONFIGS),
        ("OPTIONS", CONFIGS),
        ("DELETE", f"{PODS}/a/status"),
        ("GET", f"{PODS}/a/eviction"),
        ("GET", f"{PODS}/a/exec"),
        ("POST", f"{PODS}/a/attach"),
        ("POST", f"{PODS}/a/portforward"),
        ("PATCH", f"{PODS}/a/ephemeralcontainers"),
        ("DELETE", "/version"),
        ("GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
    ],
)
async def test_verbs_that_are_not_there(method: str, path: str) -> None:
    async with serving() as site:
        code, reason, _ = (await site.ask(method, path)).refusal

        assert (code, reason) == (405, "MethodNotAllowed")


async def test_a_part_that_a_kind_does_not_have() -> None:
    async with serving() as site:
        assert (await site.get(f"{CONFIGS}/a/scale")).refusal[:2] == (404, "NotFound")


# ------------------------------------------------------------------ refusals
async def test_a_refusal_says_what_it_is_about() -> None:
    async with serving() as site:
        answer = await site.get("/apis/apps/v1/namespaces/default/deployments/web")

        assert answer.json == {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": 'deployments.apps "web" not found',
            "reason": "NotFound",
            "details": {"name": "web", "group": "apps", "kind": "deployments"},
            "code": 404,
        }


async def test_what_is_invalid_is_named_by_its_kind_and_place() -> None:
    async with serving() as site:
        sent = {"metadata": {"name": "bad"}, "spec": {"containers": []}}
        details = (await site.post(PODS, sent)).json["details"]

        assert (details["name"], details["kind"]) == ("bad", "Pod")
        assert "spec.containers" in [cause["field"] for cause in details["causes"]]


async def test_an_eviction_that_must_wait_says_so() -> None:
    async with serving() as site:
        labelled = {**POD, "metadata": {"name": "p", "labels": {"app": "db"}}}
        await site.post(PODS, labelled)
        running = {"status": {"phase": "Running"}}
        merge = {"Content_Type": "application/merge-patch+json"}
        await site.ask("PATCH", f"{PODS}/p/status", running, **merge)
        budget = {
            "metadata": {"name": "db"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "db"}}},
        }
        await site.post("/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget)

        answer = await site.post(f"{PODS}/p/eviction", {"metadata": {"name": "p"}})

        assert answer.refusal[:2] == (429, "TooManyRequests")
        assert int(answer.headers["Retry-After"]) == answer.json["details"]["retryAfterSeconds"]
        assert answer.json["details"]["causes"][0]["reason"] == "DisruptionBudget"


async def test_a_bug_is_an_answer_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as site:

        def broken(*_: object, **__: object) -> None:
            raise KeyError("spec")

        monkeypatch.setattr(site.api, "get", broken)

        assert (await site.get(f"{CONFIGS}/a")).refusal[:2] == (500, "InternalError")


async def test_who_hangs_up_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    async with serving() as site:
        host, port = site.url.removeprefix("http://").split(":")
        asked = (
            f"GET {CONFIGS}?watch=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        )
        for _ in range(20):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(asked.encode())
            await reader.readline()
            rude = struct.pack("ii", 1, 0)  # a reset instead of a goodbye
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, rude)
            writer.transport.abort()
        while len(site.server.streams):  # noqa: ASYNC110 - it ends with the connections
            await asyncio.sleep(0.001)

        assert (await site.get("/healthz")).text == "ok"
    assert caplog.records == []


async def test_the_end_of_a_server_is_the_end_of_its_watches() -> None:
    loop = asyncio.get_running_loop()
    async with serving() as site:
        watching = asyncio.create_task(site.lines(f"{CONFIGS}?watch=1&resourceVersion=1", 1))
        while not len(site.server.streams):  # noqa: ASYNC110 - it begins with a connection
            await asyncio.sleep(0.001)
        began = loop.time()
        site.server.streams.close()

        assert await watching == []
        assert loop.time() - began < 1


async def test_a_server_ends_soon_whoever_is_still_there() -> None:
    loop = asyncio.get_running_loop()
    server = ApiServer(served_api(ports()), ports(), token=TOKEN)
    async with server.listening() as url:
        host, port = url.removeprefix("http://").split(":")
        asked = (
            f"GET {CONFIGS}?watch=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        )
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(asked.encode())
        await reader.readuntil(b"\r\n\r\n")
        _, idle = await asyncio.open_connection(host, int(port))
        began = loop.time()

    assert loop.time() - began < 2
    assert (await reader.read()).endswith(b"0\r\n\r\n")  # a proper end of the chunks
    writer.close()
    idle.close()
