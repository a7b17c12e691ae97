"""`stateward demo`: watch an operator and real processes on an embedded Kubernetes."""

from __future__ import annotations

import asyncio
import shutil

import click
from rich.console import Console
from rich.live import Live

from stateward.app.demo.stage import Stage, stage
from stateward.app.demo.story import story
from stateward.app.local import table
from stateward.cli import signals
from stateward.cli.render.demo import screen, summary
from stateward.cli.render.local import welcome
from stateward.core.ports import Ports
from stateward.kube.resources import NODES, PODS


@click.command()
def demo() -> None:
    """Tell a short story on an embedded Kubernetes: servers that survive, a team that grows, a
    leader that is lost.

    On a terminal the picture is live and the cluster stays, for kubectl, until Ctrl-C; elsewhere
    the story is told in lines. It ends in failure if a chapter does not come true.
    """
    asyncio.run(_tell())


async def _tell() -> None:
    console = Console(highlight=False)
    stop = signals.stop_event()
    told = asyncio.Event()
    telling = asyncio.create_task(_perform(console, stop, told))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait((telling, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not telling.done() and not told.is_set():
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
        raise KeyboardInterrupt
    await telling


async def _perform(console: Console, stop: asyncio.Event, told: asyncio.Event) -> None:
    ports = Ports.of_this_machine()
    began = ports.clock.monotonic()

    def tick(text: str) -> None:
        took = ports.clock.monotonic() - began
        console.print(f"[green]✔[/green] {text} [dim]({took:.1f} s)[/dim]")

    async with stage(ports, tick=tick, say=console.print) as it:
        chapters = await (_live if console.is_terminal else _in_lines)(console, it)
        console.print()
        console.print(await _whole_cluster(it), soft_wrap=True, markup=False)
        took = ports.clock.monotonic() - began
        console.print(f"demo: all {chapters} chapters came true ({took:.0f} s)", style="bold green")
        if console.is_terminal:
            console.print(welcome(it.cluster, "nothing is kept"), soft_wrap=True)
            told.set()
            await it.cluster.until(stop)
    if console.is_terminal:
        console.print("demo: nothing is left running")


async def _in_lines(console: Console, it: Stage) -> int:
    chapters = story(it)
    for chapter in chapters:
        began = it.ports.clock.monotonic()
        await chapter.act()
        await it.until(chapter.title, chapter.holds)
        took = it.ports.clock.monotonic() - began
        console.print(f"[green]✔[/green] {chapter.title} [dim]({took:.1f} s)[/dim]")
        console.print(f"    {summary(it.picture())}", soft_wrap=True, markup=False)
    return len(chapters)


async def _live(console: Console, it: Stage) -> int:
    done: list[str] = []
    now = ""
    # The picture is asked for again at every refresh, so it moves while a chapter is under way.
    with Live(
        console=console,
        get_renderable=lambda: screen(it.picture(), done, now),
        refresh_per_second=10,
        transient=False,
    ):
        chapters = story(it)
        for chapter in chapters:
            now = chapter.title
            await chapter.act()
            await it.until(chapter.title, chapter.holds)
            await it.ports.clock.sleep(1.0)
            done.append(chapter.title)
            now = ""
    return len(chapters)


async def _whole_cluster(it: Stage) -> str:
    """Return what kubectl shows of the cluster, or the same without kubectl."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        return table(it.cluster.api, it.ports.clock.now(), NODES, PODS)
    words = ("--kubeconfig", str(it.cluster.kubeconfig), "get", "nodes,pods", "-A")
    process = await asyncio.create_subprocess_exec(
        kubectl, *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    told, _ = await process.communicate()
    return f"$ kubectl get nodes,pods -A\n{told.decode(errors='replace').rstrip()}"
