"""Virtual time and seeded order."""

from __future__ import annotations

import asyncio
import gc

import pytest

from stateward.core.chance import Chance
from stateward.core.errors import HouseError
from stateward.sim import loop as sim_loop
from stateward.sim.process import SimProcess


def test_an_hour_costs_nothing():
    async def nap() -> float:
        await asyncio.sleep(3600)
        return asyncio.get_running_loop().time()

    assert sim_loop.run(nap()) == 3600


def test_timers_fire_in_order_of_their_moments_whatever_the_seed():
    async def race() -> list[int]:
        seen: list[int] = []

        async def runner(number: int) -> None:
            await asyncio.sleep(number)
            seen.append(number)

        await asyncio.gather(*(runner(n) for n in (3, 1, 2)))
        return seen

    for seed in range(20):
        assert sim_loop.run(race(), chance=Chance(seed)) == [1, 2, 3]


async def _order_of_equals() -> str:
    seen: list[str] = []

    async def runner(name: str) -> None:
        for _ in range(3):
            await asyncio.sleep(1)
            seen.append(name)

    async with asyncio.TaskGroup() as group:
        for name in "abcdef":
            group.create_task(runner(name))
    return "".join(seen)


def test_the_seed_decides_between_equals():
    first = [sim_loop.run(_order_of_equals(), chance=Chance(seed)) for seed in range(10)]
    again = [sim_loop.run(_order_of_equals(), chance=Chance(seed)) for seed in range(10)]

    assert first == again
    assert len(set(first)) > 5


def test_without_a_seed_it_is_first_come_first_served():
    assert sim_loop.run(_order_of_equals()) == "abcdef" * 3


def test_standing_still_for_ever_is_an_error():
    async def wait_for_nobody() -> None:
        await asyncio.Event().wait()

    with pytest.raises(sim_loop.NothingWillHappen):
        sim_loop.run(wait_for_nobody())


def test_waking_each_other_for_ever_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sim_loop, "LIVELOCK", 1000)

    async def spin() -> None:
        while True:  # noqa: ASYNC110 - the point is that nobody ever stops
            await asyncio.sleep(0)

    with pytest.raises(sim_loop.NothingWillHappen, match="time did not move"):
        sim_loop.run(spin())


@pytest.mark.parametrize(
    "reach_out",
    [
        lambda: asyncio.to_thread(print),
        lambda: asyncio.open_connection("127.0.0.1", 1),
        lambda: asyncio.start_server(lambda _r, _w: None, "127.0.0.1", 0),
        lambda: asyncio.create_subprocess_exec("true"),
    ],
)
def test_there_is_no_machine(reach_out):
    async def main() -> None:
        await reach_out()

    with pytest.raises(HouseError, match="must not"):
        sim_loop.run(main())


def test_the_collector_comes_back_after_a_run():
    async def collector() -> bool:
        return gc.isenabled()

    assert sim_loop.run(collector()) is False
    assert gc.isenabled()


def test_cancelling_a_group_has_the_same_order_in_every_process():
    async def cancel_all() -> list[int]:
        seen: list[int] = []

        async def runner(number: int) -> None:
            try:
                await asyncio.sleep(60)
            finally:
                seen.append(number)

        tasks = [asyncio.create_task(runner(n)) for n in range(12)]
        await asyncio.sleep(1)
        for task in set(tasks):
            task.cancel()
        await asyncio.wait(set(tasks))
        return seen

    assert sim_loop.run(cancel_all()) == list(range(12))


class Diary:
    """What a process did, and when."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def keep(self) -> None:
        try:
            while True:
                self.lines.append(f"{asyncio.get_running_loop().time():g}")
                await asyncio.sleep(1)
        finally:
            self.lines.append("finally")


def test_a_crash_runs_nothing_more_not_even_finally():
    diary = Diary()
    with sim_loop.running(sim_loop.SimLoop()) as loop:
        process = SimProcess(loop, "p")
        process.spawn(diary.keep())
        loop.run_until_complete(asyncio.sleep(2.5))
        process.crash()
        loop.run_until_complete(asyncio.sleep(10))

        assert diary.lines == ["0", "1", "2"]
        process.bury()


def test_a_paused_process_is_late_and_notices_nothing_else():
    diary = Diary()
    with sim_loop.running(sim_loop.SimLoop()) as loop:
        process = SimProcess(loop, "p")
        process.spawn(diary.keep())
        loop.run_until_complete(asyncio.sleep(1.5))
        process.pause(30)
        loop.run_until_complete(asyncio.sleep(31.5))

        assert diary.lines == ["0", "1", "31.5", "32.5"]


def test_a_second_pause_prolongs_the_first():
    diary = Diary()
    with sim_loop.running(sim_loop.SimLoop()) as loop:
        process = SimProcess(loop, "p")
        process.spawn(diary.keep())
        loop.run_until_complete(asyncio.sleep(0.5))
        process.pause(5)
        loop.run_until_complete(asyncio.sleep(1))
        process.pause(50)
        loop.run_until_complete(asyncio.sleep(51))

        assert diary.lines == ["0", "51.5", "52.5"][: len(diary.lines)]
        assert "51.5" in diary.lines


def test_the_skew_of_a_clock_shows_on_the_wall_but_not_in_measuring():
    with sim_loop.running(sim_loop.SimLoop()) as loop:
        clock = sim_loop.SimClock(loop, skew=30)

        assert clock.now() == sim_loop.EPOCH + 30
        assert clock.monotonic() == 0
