"""Probes: what the kubelet and Prometheus are told."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from fakes.hand_clock import HandClock
from stateward.core.errors import UsageError
from stateward.runtime.telling import logs
from stateward.runtime.telling.metrics import Metrics
from stateward.runtime.telling.probes import Probes, metrics_app, serving


@pytest.fixture(autouse=True)
def said() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    logs.configure(stream, json=True, level="info", clock=HandClock())
    yield stream
    logs.reset()


class Asker:
    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self.session, self.port = session, port

    async def __call__(self, path: str, method: str = "GET", **more: str) -> tuple[int, str]:
        url = f"http://127.0.0.1:{self.port}{path}"
        async with self.session.request(method, url, headers=more) as answer:
            return answer.status, await answer.text()


@asynccontextmanager
async def asking(site: Probes | Metrics) -> AsyncIterator[Asker]:
    app = site.app() if isinstance(site, Probes) else metrics_app(site)
    async with serving(app) as port, aiohttp.ClientSession() as session:
        yield Asker(session, port)


async def test_with_nothing_to_check_all_is_well() -> None:
    async with asking(Probes()) as ask:
        assert await ask("/healthz") == (200, "ok\n")
        assert await ask("/readyz") == (200, "ok\n")
        assert (await ask("/readyz", "HEAD"))[0] == 200


async def test_readiness_names_what_is_missing() -> None:
    probes = Probes()
    missing: list[str] = ["pods are\nnot listed yet"]
    probes.ready_when("informers", lambda: missing[0] if missing else None)
    probes.ready_when("api", lambda: None)
    async with asking(probes) as ask:
        assert await ask("/readyz") == (
            503,
            "[+] api: ok\n[-] informers: pods are not listed yet\nfailed\n",
        )
        assert await ask("/healthz") == (200, "ok\n")  # restarting would not help
        missing.clear()
        assert await ask("/readyz") == (200, "ok\n")
        assert await ask("/readyz?verbose") == (200, "[+] api: ok\n[+] informers: ok\nok\n")


async def test_health_listens_to_watchdogs() -> None:
    probes = Probes()
    probes.alive_while("workers", lambda: "a pass has run for 2 h")
    async with asking(probes) as ask:
        assert await ask("/healthz") == (503, "[-] workers: a pass has run for 2 h\nfailed\n")
        probes.alive_while("workers", lambda: None)
        assert await ask("/healthz?verbose") == (200, "[+] workers: ok\nok\n")


async def test_a_check_that_breaks_is_a_check_that_failed(said: io.StringIO) -> None:
    def broken() -> str | None:
        raise ValueError("password=hunter2")

    probes = Probes()
    probes.ready_when("api", broken)
    async with asking(probes) as ask:
        status, text = await ask("/readyz", Accept="text/html")
    assert (status, text) == (503, "[-] api: the check itself failed with ValueError\nfailed\n")
    assert "password=***" in said.getvalue()


async def test_metrics_are_served() -> None:
    metrics = Metrics(HandClock())
    metrics.queue("etcd").depth(3)
    async with (
        serving(metrics_app(metrics)) as port,
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}/metrics") as answer,
    ):
        assert answer.headers["Content-Type"] == metrics.render()[1]
        assert await answer.read() == metrics.render()[0]


async def test_nobody_is_shown_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = Metrics(HandClock())

    def broken() -> tuple[bytes, str]:
        raise ValueError("hunter2")

    monkeypatch.setattr(metrics, "render", broken)
    asyncio.get_running_loop().set_debug(True)  # in which aiohttp would show one
    async with asking(metrics) as ask:
        answer = await ask("/metrics", Accept="text/html")
        assert answer == (500, "internal error, see the operator's log\n")
        assert (await ask("/healthz"))[0] == 404, "another door"
        assert (await ask("/metrics", "POST"))[0] == 405


async def test_a_port_that_is_taken() -> None:
    probes = Probes()
    async with serving(probes.app()) as port:
        with pytest.raises(UsageError) as caught:
            async with serving(probes.app(), port=port):
                pass
    assert caught.value.sentence() == (
        f"port {port} on 127.0.0.1 is already in use; "
        "stop what uses it, or choose another (--metrics-address, --probe-address)"
    )


@pytest.mark.parametrize(
    ("host", "port", "sentence"),
    [
        ("127.0.0.1", 70000, "a port must be between 0 and 65535, got 70000"),
        ("203.0.113.7", 0, "cannot listen on 203.0.113.7 port 0"),
    ],
)
async def test_an_address_that_cannot_be_had(host: str, port: int, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        async with serving(Probes().app(), host, port):
            pass


async def test_closing_frees_the_port_though_a_connection_is_kept_alive() -> None:
    probes = Probes()
    async with aiohttp.ClientSession() as session:
        async with serving(probes.app()) as port:
            assert (await Asker(session, port)("/healthz"))[0] == 200
        with pytest.raises(aiohttp.ClientConnectionError):
            await Asker(session, port)("/healthz")
        async with serving(probes.app(), port=port) as again:
            assert again == port
            assert (await Asker(session, port)("/healthz"))[0] == 200
