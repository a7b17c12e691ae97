"""`stateward local`: a Kubernetes small enough to run in this process."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import click

from stateward.app import homes
from stateward.app import local as app
from stateward.app.etcd import releases
from stateward.app.fdb import releases as fdb_releases
from stateward.app.images import known
from stateward.app.local import ControlPlane
from stateward.cli import signals
from stateward.cli.render.console import Output
from stateward.cli.render.local import differences_text, report_lines, welcome
from stateward.core.errors import StatewardError, UsageError
from stateward.core.ports import Ports
from stateward.kube.client import LogOptions
from stateward.kube.meta import ObjectKey
from stateward.local.cluster import Plan

_FOLDER = click.Path(path_type=Path, file_okay=False)
_data = click.option(
    "--data", type=_FOLDER, metavar="DIR", help="The folder of the cluster, when it has one."
)


@click.group()
def local() -> None:
    """Run and look at a Kubernetes that needs no containers, no root and no cluster.

    It is for trying things and for tests, never for data that you would miss.
    """


@local.command(short_help="Start a cluster and run it until Ctrl-C.")
@click.option(
    "--data",
    type=_FOLDER,
    metavar="DIR",
    help="Keep everything in this folder.  [default: nowhere]",
)
@click.option(
    "--control-plane",
    "kind",
    type=click.Choice([it.value for it in ControlPlane]),
    default=ControlPlane.EMBEDDED.value,
    show_default=True,
    help="Ours, or the programs of a real Kubernetes (see `make real`).",
)
@click.option("--nodes", type=click.IntRange(0, 100), default=3, show_default=True, metavar="N")
@click.option("--zones", type=click.IntRange(1, 100), default=3, show_default=True, metavar="N")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="PORT",
    help="Where the API server listens.  [default: a free one]",
)
def up(data: Path | None, kind: str, nodes: int, zones: int, port: int) -> None:
    """Start an API server, controllers and nodes; end with Ctrl-C, and so does all it started.

    With --data objects and volumes are there again next time.
    """
    images = asyncio.run(known())

    def plan(root: Path) -> Plan:
        durable = data is not None
        return Plan(root, durable=durable, nodes=nodes, zones=zones, port=port, images=images(root))

    asyncio.run(_up(data, ControlPlane(kind), plan))


@local.command(short_help="Say which clusters run and how they are.")
@_data
def status(data: Path | None) -> int:
    """Show every local cluster that runs: where it is, its nodes and its pods."""
    roots = [homes.the_one(data)] if data else homes.running() or [homes.the_one(None)]
    silent = 0
    for it in asyncio.run(app.reports(roots, Ports.of_this_machine())):
        if isinstance(it, StatewardError):
            click.echo(f"stateward: {it.sentence()}", err=True)
            silent += 1
            continue
        for line in report_lines(it):
            click.echo(line)
    return 1 if silent else 0


@local.command(short_help="Show the log of a pod.")
@click.argument("pod")
@_data
@click.option("-n", "--namespace", default="default", show_default=True, metavar="NAME")
@click.option("-c", "--container", default="", metavar="NAME")
@click.option("-f", "--follow", is_flag=True, help="Go on until the container ends.")
@click.option("-p", "--previous", is_flag=True, help="Of the run before the last restart.")
@click.option("--tail", type=click.IntRange(0), metavar="LINES", help="Only the last lines.")
def logs(
    pod: str,
    data: Path | None,
    namespace: str,
    container: str,
    *,
    follow: bool,
    previous: bool,
    tail: int | None,
) -> None:
    """Show what a container of POD has written."""
    options = LogOptions(container=container, follow=follow, previous=previous, tail_lines=tail)
    root = homes.the_one(data or _exported())
    asyncio.run(_print_log(root, ObjectKey(namespace, pod), options))


@local.command(short_help="Remove what a cluster kept in a folder.")
@click.option("--data", type=_FOLDER, required=True, metavar="DIR", help="The folder.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def reset(data: Path, *, yes: bool) -> int:
    """Remove the objects, volumes and logs that a cluster kept, and nothing else in the folder."""
    homes.check_resettable(data)
    question = f"Remove all objects and volumes of the cluster in {data}?"
    if not yes and not _agrees(question):
        click.echo("local: nothing was removed")
        return 1
    asyncio.run(app.end_what_is_left(data, Ports.of_this_machine()))
    removed = homes.reset(data)
    click.echo(f"local: removed {', '.join(removed)} from {data}")
    return 0


@local.command("get-etcd", short_help="Fetch an official release of etcd, after asking.")
@click.option("--version", default=releases.USUAL, show_default=True, metavar="X.Y.Z")
@click.option(
    "--from",
    "site",
    default="",
    metavar="URL",
    help=f"Where releases are.  [default: ${releases.SITE_VARIABLE}, or {releases.SITE}]",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
def get_etcd(version: str, site: str, *, yes: bool) -> int:
    """Download etcd for pods of local clusters, compare its checksum and keep it in the cache."""
    release = releases.release_of(version, site)
    place, name = releases.place_of(release), f"etcd {release.version}"
    wish = _Wish(name, str(release.archive), place, "etcd")
    return _get(wish, lambda: releases.look(release), releases.fetch, is_agreed=yes)


@local.command("get-fdb", short_help="Fetch an official release of FoundationDB, after asking.")
@click.option("--version", default=fdb_releases.USUAL, show_default=True, metavar="X.Y.Z")
@click.option(
    "--mirror",
    "site",
    default="",
    metavar="URL",
    help=f"Where releases are.  [default: ${fdb_releases.SITE_VARIABLE}, or {fdb_releases.SITE}]",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
def get_fdb(version: str, site: str, *, yes: bool) -> int:
    """Download FoundationDB's programs, compare their checksums and keep them in the cache."""
    release = fdb_releases.release_of(version, site)
    place, source = fdb_releases.place_of(release), f"{release.site}/{release.version}"
    wish = _Wish(f"FoundationDB {release.version}", source, place, "fdbserver")
    return _get(wish, lambda: fdb_releases.look(release), fdb_releases.fetch, is_agreed=yes)


@local.command(short_help="Say what it does not do.")
def differences() -> None:
    """List, honestly, how this differs from a real Kubernetes."""
    click.echo(differences_text())


def _agrees(question: str) -> bool:
    """Ask; whoever cannot answer has not agreed."""
    try:
        return click.confirm(question)
    except click.Abort:
        click.echo()
        return False


def _exported() -> Path | None:
    """Return the folder of the local cluster that KUBECONFIG leads to, if it is one of ours."""
    kubeconfig = Path(os.environ.get("KUBECONFIG", ""))
    return next((it for it in homes.running() if it == kubeconfig.parent.resolve()), None)


async def _up(data: Path | None, kind: ControlPlane, planned: Callable[[Path], Plan]) -> None:
    console = Output(highlight=False, soft_wrap=True)
    ports = Ports.of_this_machine()
    stop = signals.stop_event()
    began = ports.clock.monotonic()

    def tick(text: str) -> None:
        took = ports.clock.monotonic() - began
        console.print(f"[green]✔[/green] {text} [dim]({took:.1f} s)[/dim]")

    for left in homes.abandoned():
        count = await app.clear_away(left, ports)
        console.print(f"local: cleared away a killed cluster and {count} of its processes")
    async with AsyncExitStack() as stack:
        root = stack.enter_context(homes.a_home(data))
        starting = app.running(kind, planned(root), ports, tick=tick, say=console.print)
        cluster = await signals.unless(stop, stack.enter_async_context(starting))
        if cluster is not None:
            kept = f"kept in {data}" if data else "nothing is kept; --data DIR would"
            console.print(welcome(cluster, kept))
            await cluster.until(stop)
            console.print("local: ending the pods and everything else")
    console.print("local: nothing is left running")


@dataclass(frozen=True, slots=True)
class _Wish:
    """What to fetch: its name, whence, whither, and the program that tells whether it is there."""

    name: str
    source: str
    place: Path
    program: str


class _Sized(Protocol):
    """What is offered: its bytes, if the site says."""

    @property
    def size(self) -> int | None: ...


Offered = TypeVar("Offered", bound=_Sized)


def _get(
    wish: _Wish,
    look: Callable[[], Awaitable[Offered]],
    fetch: Callable[[Offered, Path], Awaitable[None]],
    *,
    is_agreed: bool,
) -> int:
    """Fetch a release unless it is there, after somebody agreed."""
    if (wish.place / wish.program).is_file():
        click.echo(f"local: {wish.name} is there already, in {wish.place}")
        return 0
    if not is_agreed and not sys.stdin.isatty():
        raise UsageError(
            f"somebody must agree to fetching {wish.source}, and there is no terminal to ask",
            hint="say --yes",
        )

    async def work() -> int:
        offer = await look()
        size = "of unknown size" if offer.size is None else f"{offer.size / 1e6:.1f} MB"
        click.echo(f"local: {wish.source}, {size}")
        if not is_agreed and not _agrees(f"Fetch it and keep it in {wish.place}?"):
            click.echo("local: nothing was fetched")
            return 1
        await fetch(offer, wish.place)
        click.echo(f"local: {wish.name} is in {wish.place}")
        return 0

    return asyncio.run(work())


async def _print_log(root: Path, key: ObjectKey, options: LogOptions) -> None:
    async with aclosing(app.log(root, Ports.of_this_machine(), key, options)) as pieces:
        async for piece in pieces:
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
