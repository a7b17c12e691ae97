"""`stateward demo`: watch an operator work on an embedded Kubernetes, without a cluster."""

from __future__ import annotations

import asyncio

import click
from rich.console import Console
from rich.live import Live

from stateward.app import demo as app
from stateward.cli.render.demo import screen
from stateward.core.ports import Ports


@click.command(short_help="Watch an operator work, without a cluster.")
def demo() -> None:
    """Tell a short story on an embedded Kubernetes: create, change, lose the leader, shrink,
    delete.

    On a terminal the picture is live; elsewhere the story is told in lines. It ends by itself, in
    failure if a chapter does not come true.
    """
    asyncio.run(_tell())


async def _tell() -> None:
    console = Console()
    ports = Ports.of_this_machine()
    console.print(
        "The example operator (two instances) on an embedded Kubernetes, in this process."
    )
    started = ports.clock.monotonic()
    async with app.stage(ports) as stage:
        if console.is_terminal:
            chapters = await _live(console, stage)
        else:
            chapters = await _in_lines(console, stage)
    took = ports.clock.monotonic() - started
    console.print(f"demo: all {chapters} chapters came true ({took:.0f} s)", style="bold green")


async def _in_lines(console: Console, stage: app.Stage) -> int:
    chapters = app.story(stage)
    for chapter in chapters:
        started = stage.ports.clock.monotonic()
        await chapter.act()
        await stage.until(chapter)
        picture = stage.picture()
        members = ", ".join(f"{m.metadata.name}={m.data['motto']!r}" for m in picture.members)
        took = stage.ports.clock.monotonic() - started
        leader = picture.leader
        console.print(f"✔ {chapter.title} ({took:.1f} s; leader {leader})", highlight=False)
        console.print(f"    {members or 'nothing is left'}", highlight=False, soft_wrap=True)
    return len(chapters)


async def _live(console: Console, stage: app.Stage) -> int:
    done: list[str] = []
    now = ""
    # The picture is asked for again at every refresh, so it moves while a chapter is under way.
    with Live(
        console=console,
        get_renderable=lambda: screen(stage.picture(), done, now),
        refresh_per_second=10,
        transient=False,
    ):
        chapters = app.story(stage)
        for chapter in chapters:
            now = chapter.title
            await chapter.act()
            await stage.until(chapter)
            await stage.ports.clock.sleep(1.0)
            done.append(chapter.title)
            now = ""
    return len(chapters)
