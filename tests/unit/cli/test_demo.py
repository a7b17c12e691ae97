"""`stateward demo` without a cluster: what it draws, what it prints, and how it ends."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fakes import cardboard as paper
from stateward.app.demo.performance import Performance, Step, Struck
from stateward.app.demo.picture import Picture
from stateward.app.demo.session import Session
from stateward.cli.commands import demo as command
from stateward.cli.main import main
from stateward.cli.render.demo import Screen, invitation, step_lines
from stateward.kube.meta import ObjectKey

GOLDEN = Path(__file__).parent / "demo"


def busy() -> tuple[Picture, Performance]:
    """Return a cluster of four in the middle of a story of five chapters."""
    names = ("bootstrap", "scale", "kill", "wipe", "roll")
    told = paper.told(*(paper.chapter(name) for name in names))
    for chapter in told.chapters[:2]:
        told.steps.append(Step(chapter, 4.2, 0.1, (Struck(1.0, "shop-2"),)))
    told.now = told.chapters[2]
    learner = paper.member(
        3, role="learner", learner=True, healthy=False, version="", dbSize="", message="starts"
    )
    rows = [*(paper.member(number) for number in range(3)), learner]
    doing = "waiting for shop-3 to join: its etcd starts, and has not answered so far"
    etcd = paper.etcd(4, members=rows, readyMembers="3/4", doing=doing)
    events = (
        paper.event("AddLearner", "shop-3 is added as a learner"),
        paper.event("WriteWorkload", "the StatefulSet gets 4 pods: the highest member is 3"),
    )
    return Picture(etcd, paper.pods(4), events, "operator-b"), told


def drawn(screen: Screen, columns: int, rows: int = 40) -> str:
    console = Console(file=io.StringIO(), width=columns, height=rows, color_system=None)
    console.print(screen)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_screen(columns: int) -> None:
    picture, told = busy()

    shown = drawn(Screen(paper.ETCD, picture, told, 3.14), columns)

    assert shown == (GOLDEN / f"screen-{columns}.txt").read_text()
    assert max(map(len, shown.splitlines())) <= columns


@pytest.mark.parametrize("columns", [20, 40, 200])
@pytest.mark.parametrize("rows", [8, 16, 24])
def test_a_small_terminal_gets_what_is_under_way_and_the_members(columns: int, rows: int) -> None:
    picture, told = busy()

    shown = drawn(Screen(paper.OLD, picture, told, 3.14), columns, rows).splitlines()

    assert max(map(len, shown)) <= columns
    assert any(line.startswith("… the c") for line in shown)
    assert sum(line.startswith(" s") for line in shown) == 4
    assert rows < 20 or len(shown) < rows


@pytest.mark.parametrize("columns", [60, 120])
def test_before_anything_is_there_and_after_all_is_told(columns: int) -> None:
    told = paper.told(paper.chapter("bootstrap"))

    nothing = drawn(Screen(paper.OLD, Picture(), told), columns)
    told.steps.append(Step(told.chapters[0], 4.2, 0.1))
    told.lost = 0
    all_told = drawn(Screen(paper.ETCD, Picture(paper.etcd()), told), columns)

    assert "no EtcdCluster yet" in nothing
    assert "nobody yet leads" in nothing
    assert "note: etcd 3.5.0 to 3.5.2 can lose consistency" in nothing
    assert "✔ all 1 chapters came true  4 s" in all_told
    assert "1865 acknowledged, 2 failed, 0 lost" in all_told


def test_the_lines_of_a_chapter() -> None:
    chapter, picture = paper.chapter("kill"), Picture(paper.etcd())
    fine = Step(chapter, 4.23, 0.1, (Struck(1.0, "shop-2"), Struck(2.0, "")))
    broken = Step(chapter, 90.0, 0.1, complaint="waited for kill to be done", stood=("3 wanted",))

    assert list(step_lines(fine, picture)) == [
        "✔ the chapter kill (4.2 s), killed shop-2",
        "    shop-0 follower, shop-1 leader, shop-2 follower",
    ]
    assert list(step_lines(broken, picture)) == [
        "✖ the chapter kill (90.0 s)",
        "    waited for kill to be done",
        "    3 wanted",
    ]


def test_the_lines_of_a_chapter_say_which_foundationdb_runs() -> None:
    pods = paper.on_nodes(paper.pods(3), "a", "b", "c")
    picture = Picture(paper.etcd(), fdb=paper.fdb(runs="7.3.79 EMULATED"), fdb_pods=pods)
    *_, last = step_lines(Step(paper.chapter("make"), 4.2, 0.1), picture)
    said = "double, 3/3 pods ready on 3 zones, nothing to do"
    assert last == f"    FoundationDB 7.3.79 EMULATED: {said}"


def test_the_invitation_has_lines_to_copy() -> None:
    ledger = ObjectKey("demo", "ledger")
    lines = [it.strip() for it in invitation("/tmp/x/kubeconfig", paper.KEY, ledger).splitlines()]

    assert "export KUBECONFIG=/tmp/x/kubeconfig" in lines
    assert "kubectl -n demo get etcd -w" in lines
    assert "kubectl -n demo scale etcd/shop --replicas 5" in lines
    assert "kubectl -n demo delete pod shop-0" in lines
    assert "kubectl -n demo describe etcd/shop" in lines
    assert "kubectl -n demo describe fdb/ledger" in lines


# -------------------------------------------------------------------------- how it ends

STORIES = {
    "came true": ((paper.chapter("a"), paper.chapter("b")), [], 0),
    "refused": (
        (paper.chapter("a", fails=command.UsageError("no pod")), paper.chapter("b")),
        [],
        1,
    ),
    "lost a write": ((paper.chapter("a"),), [7], 1),
}


def test_the_foundationdb_beside_it_is_a_line_that_says_that_it_is_emulated() -> None:
    pods = paper.on_nodes(paper.pods(3), "a", "b", "c")
    picture = Picture(paper.etcd(), fdb=paper.fdb(), fdb_pods=pods)
    shown = drawn(Screen(paper.ETCD, picture, paper.told(), fdb=str(paper.FDB)), 120)
    assert (
        "beside    FoundationDB 7.3.79, EMULATED: double, 3/3 pods ready on 3 zones, nothing to do"
        in shown
    )


@pytest.fixture(params=STORIES)
def story(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let the command tell a story on a stage of cardboard."""
    chapters, gone, _ = STORIES[request.param]
    play_with(monkeypatch, chapters, gone)
    name: str = request.param
    return name


def play_with(monkeypatch: pytest.MonkeyPatch, chapters: Any, gone: list[int]) -> None:
    @asynccontextmanager
    async def the_story(stage: Any, seed: int | None) -> AsyncGenerator[Session, None]:
        writes = paper.PaperWrites(gone=gone)
        play: Any = paper.PaperPlay(Picture(paper.etcd()), writes, stage=stage)
        yield Session(play, paper.told(*chapters, play=play, seed=seed))

    monkeypatch.setattr(command, "stage", paper.paper_stage)
    monkeypatch.setattr(command, "the_etcd", lambda: paper.ETCD)
    monkeypatch.setattr(command, "the_story", the_story)
    monkeypatch.setattr(command, "table", lambda *_: "NAME   READY")


def test_a_check_prints_a_report_alone_and_its_exit_code_says_the_same(
    story: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["demo", "--check", "--seed", "3"])

    told, progress = capsys.readouterr()
    found = json.loads(told)
    assert (code, found["ok"]) == (STORIES[story][2], code == 0)
    assert found["seed"] == 3
    assert "the chapter a" in progress
    assert (found["readyAfterSeconds"] is None) == (story == "refused")


def test_told_in_lines_it_ends_with_a_verdict(
    story: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["demo"])

    told, complaint = capsys.readouterr()
    assert code == STORIES[story][2]
    assert ("demo: all 2 chapters came true" in told) == (story == "came true")
    assert (
        complaint.strip()
        == {
            "came true": "",
            "refused": "stateward: the chapter a: no pod; 3 wanted, 3/3 ready; doing: nothing: all 3"
            " members are healthy and up to date; shop-0: follower; shop-1: leader; shop-2: follower;"
            " please report it",
            "lost a write": "stateward: 1 acknowledged writes are lost; please report it",
        }[story]
    )


def test_on_a_terminal_it_stays_until_it_is_told_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    play_with(monkeypatch, (paper.chapter("a"),), [])
    console = Console(file=io.StringIO(), force_terminal=True, width=80, height=24, highlight=False)

    async def watch() -> int:
        acts = command._Acts()
        showing = asyncio.create_task(command._live(console, acts, None))
        async with asyncio.timeout(20):
            await acts.told.wait()
            assert not showing.done()
            acts.stop.set()
            return await showing

    assert asyncio.run(watch()) == 0
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "export KUBECONFIG=kubeconfig" in shown
    assert "demo: nothing is left running" in shown


def test_interrupted_before_all_is_told_it_clears_up_first() -> None:
    cleared: list[str] = []

    async def work(_: Any) -> int:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(60)
        finally:
            os.kill(os.getpid(), signal.SIGINT)  # an impatient second one
            await asyncio.sleep(0.05)
            cleared.append("all")
        return 0

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(command._unless_stopped(work))
    assert cleared == ["all"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--seeds", "3"], "--seeds must come with --check; --seed N kills in a single story"),
        (["--check", "--seeds", "0"], "0 is not in the range 1<=x<=1000"),
        (["--seed", "-1"], "-1 is not in the range 0<=x<=2147483647"),
    ],
)
def test_what_makes_no_sense_is_refused(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", *words]) == 2
    assert complaint in capsys.readouterr().err


def test_without_any_etcd_it_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("stateward.app.etcd.available.available", lambda: ())

    assert main(["demo", "--check"]) == 2
    told, complaint = capsys.readouterr()
    assert told == ""
    assert "`stateward local get-etcd` fetches one" in complaint
