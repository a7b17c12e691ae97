"""Probes: when a container is asked, and from when on an answer counts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from stateward.kube.codec import Json
from stateward.local.agent.actions import (
    Actions,
    HttpRequest,
    Result,
    Target,
    http_request,
    port_of,
)
from stateward.local.agent.life.probes import Finding, Terms, watch
from stateward.local.agent.processes import Launch
from stateward.sim.loop import SimClock, SimLoop
from unit.local.agent.acting import Actors, Wire

TARGET = Target("127.1.2.3", {"web": 8080}, lambda words: Launch(words, {}, Path()))


def clock() -> SimClock:
    return SimClock(cast("SimLoop", asyncio.get_running_loop()))


async def told(terms: Terms, well_from: float, until: float, *, eager: bool) -> list[str]:
    """Return what is found when, of a container that is well from some moment on."""
    time, lines = clock(), []

    async def ask(_within: float) -> Result:
        return Result(time.monotonic() >= well_from)

    async def hear(finding: Finding) -> None:
        lines.append(f"{time.monotonic():g}s {finding.verdict}")

    work = asyncio.create_task(watch(terms, ask, hear, time, eager=eager))
    await asyncio.sleep(until)
    work.cancel()
    await asyncio.wait({work})
    return lines


@pytest.mark.virtual
@pytest.mark.parametrize(
    ("terms", "well_from", "eager", "lines"),
    [
        (Terms(), 0, False, ["0s True", "10s True", "20s True"]),
        (Terms(delay=5), 0, False, ["5s True", "15s True"]),
        (Terms(successes=2), 0, False, ["0s None", "10s True", "20s True"]),
        (Terms(failures=2), 99, False, ["0s None", "10s False", "20s False"]),
        (Terms(), 0.3, True, ["0.35s True", "10.35s True", "20.35s True"]),
        (Terms(failures=1), 99, True, ["10.15s False", "20.15s False"]),
    ],
    ids=str,
)
async def test_when_a_container_is_asked(
    terms: Terms, well_from: float, eager: bool, lines: list[str]
) -> None:
    assert await told(terms, well_from, 25, eager=eager) == lines


@pytest.mark.parametrize(
    ("probe", "terms"),
    [
        ({}, Terms(0, 10, 1, 1, 3)),
        (
            {
                "initialDelaySeconds": 1,
                "periodSeconds": 2,
                "timeoutSeconds": 3,
                "successThreshold": 4,
                "failureThreshold": 5,
            },
            Terms(1, 2, 3, 4, 5),
        ),
    ],
    ids=str,
)
def test_the_terms_of_a_probe(probe: Json, terms: Terms) -> None:
    assert Terms.of(probe) == terms


@pytest.mark.parametrize(
    ("part", "url"),
    [
        ({"port": 80}, "http://127.1.2.3:80/"),
        ({"port": "web", "path": "x"}, "http://127.1.2.3:8080/x"),
        ({"port": "443", "path": "/x?y", "scheme": "HTTPS", "host": "h"}, "https://h:443/x?y"),
        ({"port": "none"}, "http://127.1.2.3:0/"),
    ],
    ids=str,
)
def test_what_is_asked_over_http(part: Json, url: str) -> None:
    named = {"httpHeaders": [{"name": "X", "value": "1"}]}
    usual = {"User-Agent": "stateward-probe", "Accept": "*/*"}
    assert http_request({**part, **named}, TARGET) == HttpRequest(url, {**usual, "X": "1"})
    assert port_of("web", TARGET.ports) == 8080


def hangs(_acted: Any) -> None:
    pass


@pytest.mark.virtual
@pytest.mark.parametrize(
    ("action", "ok", "message"),
    [
        ({"exec": {"command": ["good"]}}, True, "exit code 0"),
        ({"exec": {"command": ["bad"]}}, False, "no luck"),
        ({"exec": {"command": ["hangs"]}}, False, "timed out after 2 s"),
        ({"exec": {"command": ["broken"]}}, False, "must be a program"),
        ({"tcpSocket": {"port": "web"}}, True, ""),
        ({"httpGet": {"port": 80}}, True, ""),
        ({"sleep": {"seconds": 1}}, True, ""),
        ({"grpc": {"port": 1}}, False, "not grpc"),
    ],
    ids=str,
)
async def test_what_an_action_finds(action: Json, ok: bool, message: str) -> None:
    def bad(acted: Any) -> None:
        acted.say("no\n  luck\n")
        acted.end(1)

    actors = Actors(good=lambda it: it.end(0), bad=bad, hangs=hangs)
    actors.broken.add("broken")
    result = await Actions(Wire(), actors, clock()).act(action, TARGET, 2)

    assert result.ok is ok
    assert message in result.message
    assert actors.running == []
