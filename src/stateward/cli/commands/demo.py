"""`stateward demo`: watch the operators keep etcd and FoundationDB, on an embedded Kubernetes."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, TypeAlias

import click
from rich.console import Console
from rich.live import Live

from stateward.app.demo import foundationdb
from stateward.app.demo.performance import Performance, Step, failure_of
from stateward.app.demo.report import report, report_of_many
from stateward.app.demo.session import Session, many, the_story
from stateward.app.demo.stage import LEDGER, Stage, stage, the_etcd
from stateward.app.local import table
from stateward.cli import signals
from stateward.cli.render import demo as render
from stateward.cli.render.console import Output
from stateward.core.errors import UsageError
from stateward.core.ports import Ports
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.fdb.api.kind import CLUSTERS
from stateward.kube.codec import Json
from stateward.kube.resources import PODS

#: Seconds between two pictures of the live screen.
_REFRESH = 0.25
#: Seconds for which an answer is waited for.
_ANSWERED = 10.0
#: The largest number that can be given as a seed, and how many stories at most.
_SEEDS, _MANY = 2**31 - 1, 1000


@click.command()
@click.option(
    "--check", is_flag=True, help="Print a report in JSON; the exit code says pass or fail."
)
@click.option("--seed", type=click.IntRange(0, _SEEDS), help="Kill members by chance, as it says.")
@click.option("--seeds", type=click.IntRange(1, _MANY), help="With --check: a short story each.")
def demo(*, check: bool, seed: int | None, seeds: int | None) -> int:
    """Tell the story of an etcd cluster: born, scaled, killed, wiped, changed, always written to.

    And of a FoundationDB beside it, real where this machine has one and else emulated.

    On a terminal the picture is live and the cluster stays, for kubectl, until Ctrl-C; elsewhere
    the story is told in lines. It ends in failure if a chapter does not come true or a write that
    was acknowledged is lost.
    """
    if seeds is not None and not check:
        raise UsageError("--seeds must come with --check", hint="--seed N kills in a single story")
    if check:
        return asyncio.run(_unless_stopped(lambda _: _check(seed, seeds)))
    console = Output(highlight=False)
    show = _live if console.is_terminal else _in_lines
    return asyncio.run(_unless_stopped(lambda acts: show(console, acts, seed)))


class _Acts:
    """What the two sides of a demonstration tell each other."""

    def __init__(self) -> None:
        #: The user wants it to end.
        self.stop = signals.stop_event()
        #: All was told: to end now is no interruption.
        self.told = asyncio.Event()


_Work: TypeAlias = Callable[[_Acts], Awaitable[int]]


async def _unless_stopped(work: _Work) -> int:
    """Return what the work returns; asked to stop before all is told, clear up and be interrupted.

    A second Ctrl-C changes nothing: clearing up takes a moment and must come to its end.
    """
    acts = _Acts()
    telling = asyncio.ensure_future(work(acts))
    stopping = asyncio.create_task(acts.stop.wait())
    await asyncio.wait((telling, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not telling.done() and not acts.told.is_set():
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
        raise KeyboardInterrupt
    return await telling


# -------------------------------------------------------------------------- without a terminal


async def _check(seed: int | None, seeds: int | None) -> int:
    """Print the report, and nothing else, on standard output; how far it is goes to the other."""
    ports, etcd = Ports.of_this_machine(), the_etcd()
    began = ports.clock.monotonic()
    say = _to_stderr
    async with stage(ports, etcd, tick=say, say=say) as it:
        if seeds is None:
            found = await _check_one(it, seed, began)
        else:
            first = 1 if seed is None else seed
            told = await many(it, range(first, first + seeds), _tell_of_many)
            found = report_of_many(etcd, told, seconds=ports.clock.monotonic() - began)
    click.echo(json.dumps(found, indent=2, ensure_ascii=False))
    return 0 if found["ok"] else 1


async def _check_one(it: Stage, seed: int | None, began: float) -> Json:
    clock = it.ports.clock
    moments: list[float] = []

    def heard(step: Step) -> None:
        moments.append(clock.monotonic() - began)
        for line in render.step_lines(step, session.play.picture()):
            _to_stderr(line)

    async with the_story(it, seed) as session:
        await session.performance.run(heard)
    told, seconds = session.performance, clock.monotonic() - began
    ready_after = moments[0] if told.steps and told.steps[0].ok else None
    return report(it.etcd, it.fdb, told, seconds=seconds, ready_after=ready_after)


def _tell_of_many(told: Performance, step: Step) -> None:
    for line in render.step_lines(step, told.actors.picture()):
        _to_stderr(f"seed {told.seed}: {line}")


def _to_stderr(text: str) -> None:
    click.echo(text, err=True)


async def _in_lines(console: Console, _: _Acts, seed: int | None) -> int:
    ports, etcd = Ports.of_this_machine(), the_etcd()
    began = ports.clock.monotonic()
    for line in render.headline(etcd):
        console.print(line, soft_wrap=True)
    tick = _ticker(console, ports)
    await foundationdb.prepare(None, tick)
    async with stage(ports, etcd, tick=tick, say=console.print) as it:
        async with the_story(it, seed) as session:
            await session.performance.run(lambda step: _print_step(console, session, step))
        console.print()
        console.print(_whole_cluster(it), soft_wrap=True, markup=False)
    if (failure := failure_of(session.performance)) is not None:
        raise failure
    took = ports.clock.monotonic() - began
    console.print(render.result(session.performance, took), style="bold green", soft_wrap=True)
    return 0


def _ticker(console: Console, ports: Ports) -> Callable[[str], None]:
    began = ports.clock.monotonic()

    def tick(text: str) -> None:
        took = ports.clock.monotonic() - began
        console.print(f"[green]✔[/green] {text} [dim]({took:.1f} s)[/dim]", soft_wrap=True)

    return tick


def _print_step(console: Console, session: Session, step: Step) -> None:
    for line in render.step_lines(step, session.play.picture()):
        console.print(line, soft_wrap=True, markup=False)


def _whole_cluster(it: Stage) -> str:
    """Return what kubectl would show of the cluster."""
    shown = table(it.cluster.api, it.ports.clock.now(), ETCD_CLUSTERS, CLUSTERS, PODS)
    return f"as `kubectl get etcd,fdb,pods -A` shows it; {it.fdb}:\n\n{shown}\n"


# -------------------------------------------------------------------------- on a terminal


async def _live(console: Console, acts: _Acts, seed: int | None) -> int:
    ports, etcd = Ports.of_this_machine(), the_etcd()
    tick = _ticker(console, ports)
    can_answer = sys.stdin is not None and sys.stdin.isatty()
    await foundationdb.prepare(partial(_agrees, console) if can_answer else None, tick)
    async with (
        stage(ports, etcd, tick=tick, say=console.print) as it,
        the_story(it, seed) as session,
    ):
        with Live(console=console, auto_refresh=False) as live:
            drawing = asyncio.create_task(_draw(live, session))
            try:
                await _tell_and_stay(live, session, acts, drawing)
            finally:
                drawing.cancel()
                await asyncio.gather(drawing, return_exceptions=True)
                live.update(_screen(session), refresh=True)
        console.print("demo: ending it")
    console.print("demo: nothing is left running")
    return 0


async def _agrees(console: Console, question: str) -> bool:
    """Ask; who says nothing for a while has not agreed."""
    console.print(f"{question} [y/N, or wait {_ANSWERED:g} s] ", end="", markup=False)
    typed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    loop, place = asyncio.get_running_loop(), sys.stdin.fileno()

    def heard() -> None:
        loop.remove_reader(place)
        typed.set_result(sys.stdin.readline())

    loop.add_reader(place, heard)
    try:
        async with asyncio.timeout(_ANSWERED):
            return (await typed).strip().lower() in ("y", "yes")
    except TimeoutError:
        console.print()
        return False
    finally:
        loop.remove_reader(place)


async def _tell_and_stay(
    live: Live, session: Session, acts: _Acts, drawing: asyncio.Task[None]
) -> None:
    """Tell the story; then the cluster is the user's, until Ctrl-C."""
    await session.performance.run()
    if (failure := failure_of(session.performance)) is not None:
        raise failure
    acts.told.set()
    cluster = session.play.stage.cluster
    lines = render.invitation(str(cluster.kubeconfig), session.play.key, LEDGER)
    live.console.print(lines, soft_wrap=True, markup=False)
    await _first_of(cluster.until(acts.stop), drawing)


async def _first_of(work: Coroutine[Any, Any, None], other: asyncio.Task[None]) -> None:
    """Wait until one of two has ended; raise what it raised."""
    working = asyncio.create_task(work)
    done, _ = await asyncio.wait((working, other), return_when=asyncio.FIRST_COMPLETED)
    working.cancel()
    for task in done:
        task.result()


async def _draw(live: Live, session: Session) -> None:
    # In this task and not in a thread of rich's: the picture is of what other tasks change.
    while True:
        live.update(_screen(session), refresh=True)
        await session.performance.clock.sleep(_REFRESH)


def _screen(session: Session) -> render.Screen:
    told, play = session.performance, session.play
    under_way = told.clock.monotonic() - told.began
    return render.Screen(play.stage.etcd, play.picture(), told, under_way, str(play.stage.fdb))
