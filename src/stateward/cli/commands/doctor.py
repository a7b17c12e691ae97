"""`stateward doctor`: can we reach the cluster that the user means, and as whom?"""

from __future__ import annotations

import asyncio
import os

import click

from stateward.app.etcd.available import available
from stateward.core.errors import PeerUnreachable
from stateward.core.ports import Ports
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.client import HttpClient, Limits
from stateward.kube.http.kubeconfig import find_access


@click.command()
@click.option(
    "--kubeconfig", default="", metavar="FILE", help="Use this file instead of the usual ones."
)
@click.option("--context", default="", metavar="NAME", help="Use this context of the file.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, 3600, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Give up after.",
)
def doctor(kubeconfig: str, context: str, timeout: float) -> None:
    """Find the cluster as kubectl would, connect, and say what was found."""
    _tell_etcds()
    access = find_access(os.environ, path=kubeconfig, context=context)
    click.echo(f"✔ configured by {access.origin}")
    click.echo(f"✔ server {access.server}, namespace {access.namespace}")
    version = asyncio.run(_ask(access, timeout))
    click.echo(f"✔ reachable: Kubernetes {version}")
    click.echo("doctor: all is well")


def _tell_etcds() -> None:
    """Say with which etcds a local cluster could be run; no other cluster needs them."""
    found = available()
    for it in found:
        click.echo(f"✔ for local clusters: {it}" + (f" ({it.caveat})" if it.caveat else ""))
    if not found:
        click.echo("- for local clusters: no etcd; `stateward local get-etcd` fetches one")


async def _ask(access: ClusterAccess, patience: float) -> str:
    ports = Ports.of_this_machine()
    limits = Limits(deadline=patience, attempts=1)
    try:
        async with (
            asyncio.timeout(patience),
            HttpClient(access, ports.clock, ports.chance, limits=limits) as client,
        ):
            return (await client.server_version()).git_version
    except TimeoutError:
        raise PeerUnreachable(
            f"{access.server} must answer within {patience:g} s, logging in included",
            hint="check the server and the credentials of the context, or give it more --timeout",
        ) from None
