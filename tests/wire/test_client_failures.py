"""What goes wrong on the wire, and what the caller hears: nothing done, perhaps done, or refused."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from stateward.core.chance import Chance
from stateward.core.clock import SystemClock
from stateward.core.errors import OutcomeUnknown, PeerConfused, PeerError, PeerUnreachable
from stateward.kube.client import Apply, MergePatch
from stateward.kube.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Conflict,
    EvictionRefused,
    Forbidden,
    Gone,
    Invalid,
    MethodNotAllowed,
    NotFound,
    ServerFailed,
    TooLarge,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    WrongType,
)
from stateward.kube.http.access import BearerToken, ClusterAccess, TokenFile
from stateward.kube.http.client import HttpClient, Limits
from stateward.kube.resources import PODS
from wire.scripted import (
    EagerClock,
    Exchange,
    Script,
    Scripted,
    answers,
    breaks_off,
    cuts,
    hangs,
    pod,
    pod_list,
    refuses,
    resets,
    trickles,
    whole,
)
from wire.talk import KEY, talking

Call = Callable[[HttpClient], Awaitable[Any]]

READS: dict[str, Call] = {
    "get": lambda client: client.get(PODS, KEY),
    "list": lambda client: client.list(PODS),
    "version": lambda client: client.server_version(),
}
WRITES: dict[str, Call] = {
    "create": lambda client: client.create(PODS, pod("a")),
    "update": lambda client: client.update(PODS, pod("a")),
    "merge": lambda client: client.patch(PODS, KEY, MergePatch({})),
    "apply": lambda client: client.patch(PODS, KEY, Apply({}, "me")),
    "delete": lambda client: client.delete(PODS, KEY, uid="u"),
    "evict": lambda client: client.evict(KEY, uid="u"),
    "bind": lambda client: client.bind(KEY, "n1", uid="u"),
}
every_read = pytest.mark.parametrize("call", READS.values(), ids=READS)
every_write = pytest.mark.parametrize("call", WRITES.values(), ids=WRITES)
every_call = pytest.mark.parametrize("call", (READS | WRITES).values(), ids=READS | WRITES)
ONCE = Limits(attempts=1)

get, create = READS["get"], WRITES["create"]


async def failure(client: HttpClient, call: Call) -> PeerError:
    with pytest.raises(PeerError) as caught:
        await call(client)
    return caught.value


# ---------------------------------------------------------------------------- nothing was sent


@every_call
async def test_nobody_listens(call: Call) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        where = ClusterAccess(f"http://127.0.0.1:{reserved.getsockname()[1]}")
        async with HttpClient(where, EagerClock(), Chance(1)) as client:
            error = await failure(client, call)

    assert type(error) is PeerUnreachable
    assert "must be reachable" in error.message


async def test_no_such_name(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nobody_knows(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", nobody_knows)
    async with HttpClient(ClusterAccess("http://api.invalid"), EagerClock(), Chance(1)) as client:
        error = await failure(client, create)

    assert type(error) is PeerUnreachable
    assert "name cannot be resolved" in error.message


async def test_a_proxy_that_refuses() -> None:
    async with Scripted().plays(answers(b"who?", code=407)) as proxy:
        where = ClusterAccess(
            "https://api.invalid", proxy=f"http://ann:s3cret@127.0.0.1:{proxy.port}"
        )
        async with HttpClient(where, EagerClock(), Chance(1)) as client:
            error = await failure(client, create)

    assert type(error) is PeerUnreachable
    assert "the proxy answered 407" in error.message
    assert "s3cret" not in error.sentence() + repr(error) + repr(where)


async def test_a_proxy_that_goes_away() -> None:
    async with Scripted().plays(cuts) as proxy:
        where = ClusterAccess("https://api.invalid", proxy=f"http://127.0.0.1:{proxy.port}")
        async with HttpClient(where, EagerClock(), Chance(1)) as client:
            assert type(await failure(client, create)) is PeerUnreachable


# ---------------------------------------------------------------------------- sent, no whole answer


@pytest.mark.parametrize(
    "script", [cuts, resets, breaks_off(pod("a"))], ids=["cut", "reset", "broken off"]
)
@every_write
async def test_a_write_without_a_whole_answer_is_sent_once(call: Call, script: Script) -> None:
    async with talking(script) as (client, server):
        assert type(await failure(client, call)) is OutcomeUnknown

    assert len(server.seen) == 1


@pytest.mark.parametrize("script", [cuts, resets], ids=["cut", "reset"])
@every_write
async def test_a_write_on_a_kept_connection_is_sent_once(call: Call, script: Script) -> None:
    async with talking(answers(pod("a")), script) as (client, server):
        await client.get(PODS, KEY)
        assert type(await failure(client, call)) is OutcomeUnknown

    assert [seen.connection for seen in server.seen] == [1, 1]


@pytest.mark.parametrize("script", [hangs, trickles(pod("a"))], ids=["no head", "no body"])
async def test_a_write_without_an_answer_in_time(script: Script) -> None:
    scripts = (answers(pod("a")), script)
    async with talking(*scripts, clock=SystemClock(), limits=Limits(deadline=0.2)) as (client, _):
        await client.get(
            PODS, KEY
        )  # makes the connection, so that all of the time is for the answer
        error = await failure(client, create)

    assert type(error) is OutcomeUnknown
    assert "the deadline passed" in error.message
    assert "read the object back" in error.hint


@pytest.mark.parametrize("script", [hangs, trickles(pod("a"))], ids=["no head", "no body"])
async def test_a_read_without_an_answer_in_time(script: Script) -> None:
    limits = Limits(deadline=0.2)
    async with talking(script, clock=SystemClock(), limits=limits) as (client, server):
        assert type(await failure(client, get)) is PeerUnreachable

    assert len(server.seen) == 1


async def test_a_list_may_take_long_but_not_be_silent() -> None:
    limits = Limits(deadline=0.2, attempts=1)
    async with talking(trickles(pod_list(pod("a"))), limits=limits) as (client, _):
        error = await failure(client, READS["list"])

    assert type(error) is PeerUnreachable
    assert "nothing more was heard" in error.message


@pytest.mark.parametrize(
    "script", [cuts, resets, breaks_off(pod("a"))], ids=["cut", "reset", "broken off"]
)
async def test_a_read_is_tried_again(script: Script) -> None:
    clock = EagerClock()
    async with talking(script, script, answers(pod("a")), clock=clock) as (client, server):
        assert (await client.get(PODS, KEY)).metadata.name == "a"

    assert len(server.seen) == 3
    assert [0 < pause < 1 for pause in clock.slept] == [True, True]


@every_read
async def test_a_read_is_not_tried_for_ever(call: Call) -> None:
    async with talking(cuts, cuts, cuts, cuts) as (client, _):
        assert type(await failure(client, call)) is PeerUnreachable


async def test_a_read_is_not_tried_after_its_deadline() -> None:
    clock = EagerClock()
    async with talking(cuts, clock=clock, limits=Limits(deadline=0.1)) as (client, _):
        assert type(await failure(client, get)) is PeerUnreachable

    assert clock.slept == []


async def test_a_write_on_its_way_may_be_called_off() -> None:
    observed: list[Any] = []
    asked = asyncio.Event()

    async def script(exchange: Exchange) -> None:
        asked.set()
        await exchange.hang()

    async with talking(script, observe=lambda *seen: observed.append(seen[:2])) as (client, _):
        task = asyncio.create_task(client.create(PODS, pod("a")))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert observed == [("POST", "Cancelled")]


# ---------------------------------------------------------------------------- answers that make no sense

PAGE = b"<html>\n  <h1>Welcome</h1>\n</html>"
NONSENSE = {
    "a page": answers(PAGE, content_type="text/html"),
    "broken JSON": answers(b'{"metadata":{"name"'),
    "other JSON": answers([1, 2]),
    "not UTF-8": answers(b'{"kind":"\xff","metadata":{"name":"\xff"},"gitVersion":"\xff"}'),
    "nothing": answers(b""),
    "a redirect": answers(b"", code=302, headers=("Location: https://login.example",)),
}


@pytest.mark.parametrize("script", NONSENSE.values(), ids=NONSENSE)
@every_read
async def test_nonsense_for_a_read(call: Call, script: Script) -> None:
    async with talking(script) as (client, _):
        assert type(await failure(client, call)) is PeerConfused


@pytest.mark.parametrize("script", NONSENSE.values(), ids=NONSENSE)
@every_write
async def test_nonsense_for_a_write(call: Call, script: Script) -> None:
    async with talking(script) as (client, server):
        assert type(await failure(client, call)) is OutcomeUnknown

    assert len(server.seen) == 1


async def test_the_excerpt_is_one_short_line() -> None:
    script = answers(PAGE + b"x" * 5000, content_type="text/html")
    async with talking(script) as (client, _):
        message = (await failure(client, get)).message

    assert "<html> <h1>Welcome</h1> </html>xxx" in message
    assert "\n" not in message
    assert len(message) < 300


@pytest.mark.parametrize(
    ("call", "kind"), [(get, PeerConfused), (create, OutcomeUnknown)], ids=["get", "create"]
)
async def test_what_is_no_http(call: Call, kind: type[PeerError]) -> None:
    async def script(exchange: Exchange) -> None:
        await exchange.send(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        exchange.cut()

    async with talking(script, limits=ONCE) as (client, _):
        assert type(await failure(client, call)) is kind


# ---------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (400, "BadRequest", BadRequest),
        (403, "Forbidden", Forbidden),
        (404, "NotFound", NotFound),
        (405, "MethodNotAllowed", MethodNotAllowed),
        (409, "AlreadyExists", AlreadyExists),
        (409, "Conflict", Conflict),
        (410, "Expired", Gone),
        (413, "RequestEntityTooLarge", TooLarge),
        (415, "UnsupportedMediaType", WrongType),
        (418, "Teapot", ApiError),
        (422, "Invalid", Invalid),
        (429, "TooManyRequests", TooManyRequests),
        (500, "InternalError", ServerFailed),
        (503, "ServiceUnavailable", Unavailable),
        (504, "Timeout", ServerFailed),
    ],
)
@pytest.mark.parametrize("call", [get, create], ids=["get", "create"])
async def test_a_status_document(call: Call, code: int, reason: str, kind: type[ApiError]) -> None:
    async with talking(refuses(code, reason, message="not today")) as (client, _):
        error = await failure(client, call)

    assert type(error) is kind
    assert isinstance(error, ApiError)
    assert (error.message, error.code) == ("not today", code)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (400, BadRequest),
        (403, Forbidden),
        (404, ApiError),  # nobody said that the object is not there
        (409, Conflict),
        (413, TooLarge),
        (429, TooManyRequests),
        (500, ServerFailed),
        (502, ServerFailed),
        (503, ServerFailed),  # a proxy may have lost the server half-way
        (504, ServerFailed),
    ],
)
@pytest.mark.parametrize("call", [get, create], ids=["get", "create"])
async def test_a_code_without_a_status_document(
    call: Call, code: int, kind: type[ApiError]
) -> None:
    script = answers(b"<h1>Some\nproxy</h1>", code=code, content_type="text/html")
    async with talking(script) as (client, _):
        error = await failure(client, call)

    assert type(error) is kind
    assert f"was answered with {code}: '<h1>Some proxy</h1>'" in error.message


@pytest.mark.parametrize("body", [{"error": "x"}, b"{", b"", {"kind": "Status", "code": "many"}])
async def test_json_that_is_no_status_document(body: Any) -> None:
    async with talking(answers(body, code=409)) as (client, _):
        assert type(await failure(client, create)) is Conflict


async def test_a_refusal_that_breaks_off_is_a_refusal() -> None:
    async with talking(breaks_off({"kind": "Status"}, code=409)) as (client, _):
        assert type(await failure(client, create)) is Conflict


async def test_causes_are_kept() -> None:
    cause = {"reason": "FieldValueInvalid", "message": "must be odd", "field": "spec.size"}
    async with talking(refuses(422, "Invalid", causes=[cause])) as (client, _):
        error = await failure(client, create)

    assert isinstance(error, Invalid)
    assert [(c.field, c.message) for c in error.causes] == [("spec.size", "must be odd")]


async def test_a_disruption_budget_refuses() -> None:
    cause = {"reason": "DisruptionBudget", "message": "needs 2 healthy pods"}
    script = refuses(429, "TooManyRequests", causes=[cause], headers=("Retry-After: 10",))
    async with talking(script) as (client, _):
        error = await failure(client, WRITES["evict"])

    assert type(error) is EvictionRefused
    assert error.retry_after == 10


# ---------------------------------------------------------------------------- come back later


@pytest.mark.parametrize("code", [429, 503])
@pytest.mark.parametrize(
    ("header", "pause"), [("7", 7.0), ("Tue, 14 Nov 2023 22:13:25 GMT", 5.0), ("0", 0.0)]
)
async def test_a_read_comes_back_when_it_is_asked_to(code: int, header: str, pause: float) -> None:
    clock = EagerClock()
    later = answers(b"later", code=code, headers=(f"Retry-After: {header}",))
    async with talking(later, answers(pod("a")), clock=clock) as (client, _):
        await client.get(PODS, KEY)

    assert clock.slept == [pause]


async def test_retry_after_in_the_status_document() -> None:
    clock = EagerClock()
    later = refuses(429, "TooManyRequests", retryAfterSeconds=3)
    async with talking(later, answers(pod_list()), clock=clock) as (client, _):
        await client.list(PODS)

    assert clock.slept == [3]


async def test_a_read_does_not_wait_beyond_its_deadline() -> None:
    clock = EagerClock()
    later = refuses(429, "TooManyRequests", headers=("Retry-After: 31",))
    async with talking(later, clock=clock) as (client, _):
        error = await failure(client, get)

    assert isinstance(error, TooManyRequests)
    assert error.retry_after == 31
    assert clock.slept == []


async def test_a_read_does_not_come_back_for_ever() -> None:
    later = refuses(503, "ServiceUnavailable", headers=("Retry-After: 1",))
    async with talking(later, later, later, later) as (client, _):
        assert type(await failure(client, get)) is Unavailable


@pytest.mark.parametrize("code", [429, 503])
@every_write
async def test_a_write_does_not_come_back_by_itself(call: Call, code: int) -> None:
    clock = EagerClock()
    later = answers(b"later", code=code, headers=("Retry-After: 1",))
    async with talking(later, clock=clock) as (client, _):
        error = await failure(client, call)

    assert isinstance(error, TooManyRequests | Unavailable)
    assert error.retry_after == 1
    assert clock.slept == []


# ---------------------------------------------------------------------------- who are you?


@every_call
async def test_an_expired_token_is_renewed_and_the_request_repeated(
    call: Call, tmp_path: Any
) -> None:
    token = tmp_path / "token"
    token.write_text("old")
    any_answer = pod_list() | pod("a") | {"gitVersion": "v1", "items": []}
    any_answer["metadata"] |= {"resourceVersion": "1"}
    access = {"credentials": TokenFile(token)}
    async with talking(answers(pod("a")), access=access) as (client, server):
        await client.get(PODS, KEY)
        token.write_text("new")
        server.plays(refuses(401, "Unauthorized"), answers(any_answer))
        await call(client)

    _, first, second = server.seen
    assert (first.method, first.path, first.body) == (second.method, second.path, second.body)
    assert first.header("Authorization") == "Bearer old"
    assert second.header("Authorization") == "Bearer new"


async def test_it_is_repeated_once(tmp_path: Any) -> None:
    token = tmp_path / "token"
    token.write_text("old")

    async def renews_and_refuses(exchange: Exchange) -> None:
        token.write_text(f"token {len(exchange.seen.header('Authorization'))}")
        await refuses(401, "Unauthorized")(exchange)

    access = {"credentials": TokenFile(token)}
    async with talking(renews_and_refuses, renews_and_refuses, access=access) as (client, _):
        assert type(await failure(client, create)) is Unauthorized


@pytest.mark.parametrize("call", [get, create], ids=["get", "create"])
async def test_a_token_that_cannot_change_is_not_tried_again(call: Call) -> None:
    access = {"credentials": BearerToken("t0ken")}
    async with talking(refuses(401, "Unauthorized"), access=access) as (client, _):
        error = await failure(client, call)

    assert type(error) is Unauthorized
    assert "t0ken" not in repr(error) + error.sentence()


# ---------------------------------------------------------------------------- what is counted


async def test_every_attempt_is_observed() -> None:
    observed: list[tuple[str, str]] = []
    later = answers(whole(b"later"), code=503, headers=("Retry-After: 1",))
    scripts = (cuts, later, answers(pod("a")), cuts, breaks_off(pod("a")))
    async with talking(*scripts, observe=lambda *seen: observed.append(seen[:2])) as (client, _):
        await client.get(PODS, KEY)
        await failure(client, create)
        await failure(client, WRITES["update"])

    assert observed == [
        ("GET", "PeerUnreachable"),
        ("GET", "503"),
        ("GET", "200"),
        ("POST", "OutcomeUnknown"),
        ("PUT", "OutcomeUnknown"),
    ]
