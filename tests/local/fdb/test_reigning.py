"""One process that controls its cluster, and is held up, or goes wrong meanwhile."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from stateward.core.chance import Chance
from stateward.core.clock import SystemClock
from stateward.emulate.fdb.programs import joining
from stateward.emulate.fdb.programs.coordinator import TERM, Coordinator
from stateward.emulate.fdb.programs.pace import Pace
from stateward.emulate.fdb.programs.worker import Worker
from stateward.emulate.fdb.talk import wire
from stateward.emulate.fdb.talk.council import Speaker
from stateward.emulate.fdb.talk.messages import Join
from stateward.emulate.fdb.talk.seeker import Seeker
from stateward.emulate.fdb.talk.tls import Security
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString

PROTOCOL = "0fdb00b073000000"


def free_address() -> Address:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return Address("127.0.0.1", found.getsockname()[1])


class Forgetful(Seeker):
    """Is never told who controls the cluster, as when a term has run out."""

    async def look(self) -> Address | None:
        await super().look()
        return None


@asynccontextmanager
async def living(
    folder: Path, seeker: type[Seeker]
) -> AsyncIterator[tuple[Worker, asyncio.Task[None]]]:
    """Have a process that coordinates itself."""
    address = free_address()
    security = Security("", "", "")
    speaker = Speaker(PROTOCOL, security)
    worker = Worker(
        about=Join("a" * 32, str(address), "stateless", {}, "7.3.79", "fdbserver", 0.0),
        address=address,
        seeker=seeker(ConnectionString.parse(f"lab:abcdefgh@{address}"), speaker),
        coordinator=Coordinator(folder, asyncio.get_running_loop().time),
        pace=Pace(SystemClock()),
        chance=Chance(1),
        joined=lambda: None,
        ended=lambda _seconds: None,
    )
    server = await wire.listen(address, security, PROTOCOL, worker.serve, worker.met)
    life = asyncio.create_task(worker.live())
    try:
        while worker.controller is None and not life.done():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        yield worker, life
    finally:
        server.close()
        life.cancel()
        await asyncio.gather(life, return_exceptions=True)


async def test_who_reigns_does_not_begin_another_reign(tmp_path: Path) -> None:
    async with living(tmp_path, Forgetful) as (worker, life):
        first = worker.controller
        await asyncio.wait([life], timeout=TERM)
        assert not life.done()
        assert worker.controller is first
        await worker.resign()


async def test_a_reign_that_goes_wrong_ends_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(*_args: object) -> None:
        raise RuntimeError("the model is wrong")

    async with living(tmp_path, Seeker) as (_worker, life):
        monkeypatch.setattr(joining.Awaited, "look", wrong)
        await asyncio.wait([life], timeout=10)
        with pytest.raises(RuntimeError, match="the model is wrong"):
            life.result()
