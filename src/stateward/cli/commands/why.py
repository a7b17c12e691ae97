"""`stateward why NAME`: what an object waits for, since when, and what would unblock it."""

from __future__ import annotations

import asyncio
import os

import click

from stateward.app.views.finding import Wanted, find
from stateward.app.views.story import Story, story_of
from stateward.cli.reaching import ask, which_cluster
from stateward.cli.render.console import Output
from stateward.cli.render.why import screen
from stateward.core.ports import Ports
from stateward.kube import codec
from stateward.kube.http.kubeconfig import find_access

#: Something is held back, or is not as asked yet.
WAITING = 3


@click.command()
@click.argument("name", metavar="[KIND/]NAME")
@click.option(
    "-n",
    "--namespace",
    default="",
    metavar="NAME",
    help="Where it is.  [default: the namespace of the context]",
)
@which_cluster
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people, or for programs: a JSON document with one item an object.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, 3600, min_open=True),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Give up after.",
)
def why(name: str, namespace: str, output: str, timeout: float, **cluster: str) -> int:
    """Say why an object of ours is not as asked yet: everything that holds it back, since when,
    and what to do.

    KIND is called as kubectl calls it: etcd, fdb, fdbpg, fdbbackup, fdbrestore. Without one all
    objects of that name are told of. It needs the right to view them, and no other.

    Exit code 0: all is as asked; 3: something is waited for; 1: the cluster does not answer, or
    refuses; 2: there is no such object.
    """
    access = find_access(os.environ, path=cluster["kubeconfig"], context=cluster["context"])
    wanted = Wanted.parse(name, namespace or access.namespace)
    found = asyncio.run(ask(access, timeout, lambda client: find(client, wanted)))
    stories = [story_of(it) for it in found]
    _show(stories, output, Ports.of_this_machine().clock.now())
    return 0 if all(it.complete for it in stories) else WAITING


def _show(stories: list[Story], output: str, now: float) -> None:
    if output == "json":
        click.echo(codec.encode({"items": stories}).decode())
        return
    console = Output(highlight=False, soft_wrap=True)
    for story in stories:
        for line in screen(story, now):
            console.print(line)
