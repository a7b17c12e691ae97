"""Programs that mean no good, and servers that answer oddly: the agent stays awake and tidies up."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from stateward.core.ports import Ports
from stateward.local.agent import orphans
from stateward.local.agent.actions import HttpRequest, LocalNetwork
from unit.local.agent.stage import Stage, sh, state


def stage_in(folder: Path) -> Stage:
    return Stage(Ports.of_this_machine(), folder)


def running(*words: str) -> set[int]:
    """Return the processes with exactly these words."""
    wanted = b"\0".join(it.encode() for it in words) + b"\0"
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cmdline").read_bytes() == wanted:
                found.add(int(entry.name))
        except OSError:
            continue  # it ended
    return found


async def until(holds: Callable[[], Any], within: float = 10.0) -> None:
    async with asyncio.timeout(within):
        while not holds():  # noqa: ASYNC110 - processes ring no bell
            await asyncio.sleep(0.02)


async def test_a_daemon_that_never_stops_talking_does_not_hold_the_agent_up(
    tmp_path: Path,
) -> None:
    stage = stage_in(tmp_path)
    async with stage.running():
        await stage.make("p", sh("setsid yes & sleep 0.3; exit 0"), restartPolicy="Never")
        await stage.until("p", lambda it: it["phase"] == "Succeeded")
        await until(lambda: not orphans.marked(orphans.name_of(tmp_path)))


async def test_programs_that_talk_all_the_time_leave_time_for_others(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    async with stage.running():
        for name in ("a", "b"):
            await stage.make(name, sh("exec yes"))
            await stage.ready(name)
        loop = asyncio.get_running_loop()
        began, turns = loop.time(), 0
        while loop.time() < began + 1:
            await asyncio.sleep(0)
            turns += 1
        assert turns > 200
        async with asyncio.timeout(5):
            assert await stage.log("a", tail_lines=3) == "y\ny\ny\n"


async def test_everything_that_a_program_says_is_kept_however_much(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    async with stage.running():
        await stage.make("p", sh("seq 1 60000"), restartPolicy="Never")
        await stage.until("p", lambda it: it["phase"] == "Succeeded")
        assert (await stage.log("p")).split() == [str(it) for it in range(1, 60_001)]


@pytest.mark.parametrize(
    "planting",
    ["rm $F; mkfifo $F", "ln -sf /dev/zero $F", "ln -sf $OUT $F"],
    ids=["pipe", "endless", "link"],
)
async def test_last_words_that_are_no_file_harm_nobody(tmp_path: Path, planting: str) -> None:
    stage = stage_in(tmp_path / "agent")
    precious = tmp_path / "precious"
    precious.write_text("kept")
    env = [
        {"name": "F", "value": "/dev/termination-log"},
        {"name": "OUT", "value": str(precious)},
    ]
    async with stage.running():
        await stage.make("p", sh(f"{planting}; exit 1", env=env))
        status = await stage.until("p", lambda it: it["containerStatuses"][0]["restartCount"] >= 2)
        assert "message" not in status["containerStatuses"][0]["lastState"]["terminated"]
    assert precious.read_text() == "kept"


@pytest.mark.parametrize(
    "script",
    [
        "setsid env -i sleep {0} & sleep 0.3",
        "setsid env -i sleep {0} >/dev/null 2>&1 & sleep 0.3",
        "(setsid env -i sh -c 'cd /; sleep {0} & sleep {0}' >/dev/null 2>&1 &) ; sleep 0.3",
    ],
    ids=["own-session", "silent", "grandchildren"],
)
async def test_what_hides_from_us_ends_with_the_pod(tmp_path: Path, script: str) -> None:
    stage = stage_in(tmp_path)
    number = str(700_000 + os.getpid())
    async with stage.running():
        await stage.make("p", sh(f"{script.format(number)}; exec sleep 60"))
        await until(lambda: running("sleep", number))
        await stage.delete("p", grace=1)
        await stage.gone("p")
        await until(lambda: not running("sleep", number))


async def test_children_of_other_parts_of_this_program_are_left_alone(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    other = await asyncio.create_subprocess_exec("sleep", "60", start_new_session=True)
    try:
        async with stage.running():
            await stage.make("p", sh("setsid env -i sleep 60 & exit 0"), restartPolicy="Never")
            await stage.until("p", lambda it: it["phase"] == "Succeeded")
        assert orphans.start_time(other.pid) is not None
    finally:
        other.kill()
        await other.wait()


async def test_a_program_that_is_not_there_does_not_make_its_image_unknown(tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    async with stage.running():
        missing = {**sh(""), "command": ["/no/such/program"]}
        await stage.make("p", missing, restartPolicy="Never")
        status = await stage.until("p", lambda it: it["phase"] == "Failed")
        ended = state(status)["terminated"]
        assert (ended["exitCode"], ended["reason"]) == (128, "StartError")
        assert '"/no/such/program" must be one' in ended["message"]


@asynccontextmanager
async def serving() -> AsyncGenerator[tuple[str, list[str]], None]:
    """Serve answers of all kinds; what was asked is written down."""
    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request.path)
        match request.path:
            case "/sick":
                return web.Response(status=503)
            case "/away":
                return web.Response(status=302, headers={"Location": "http://127.0.0.2:1/x"})
            case "/circle":
                return web.Response(status=302, headers={"Location": "/circle"})
            case "/once":
                return web.Response(status=307, headers={"Location": "/sick"})
            case "/slow":
                await asyncio.sleep(5)
        return web.Response()

    app = web.Application()
    app.router.add_get("/{rest:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    try:
        yield f"http://127.0.0.1:{port}", asked
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("path", "ok", "message", "times"),
    [
        ("/fine", True, "HTTP status 200", 1),
        ("/sick", False, "HTTP status 503", 1),
        ("/once", False, "HTTP status 503", 2),
        ("/away", True, "HTTP status 302", 1),
        ("/circle", False, "/circle: more than 10 redirects", 11),
        ("/slow", False, "/slow: timed out after 0.5 s", 1),
    ],
)
async def test_what_is_made_of_an_answer(path: str, ok: bool, message: str, times: int) -> None:
    network = LocalNetwork()
    async with serving() as (url, asked):
        result = await network.get(HttpRequest(url + path, {}), 0.5)
        await network.close()
    assert result.ok is ok
    assert result.message.removeprefix(url) == message
    assert len(asked) == times


async def test_nobody_there_is_said_in_plain_words() -> None:
    network = LocalNetwork()
    got = await network.get(HttpRequest("http://127.0.0.1:1/x", {}), 1)
    assert got.message == "http://127.0.0.1:1/x: connection refused"
    odd = await network.get(HttpRequest("http://127.0.0.1:99999/", {}), 1)
    assert odd.message == "http://127.0.0.1:99999/: not an address that can be asked"
    connected = await network.connect("127.0.0.1", 1, 1)
    assert connected.message == "127.0.0.1:1: connection refused"
    await network.close()
