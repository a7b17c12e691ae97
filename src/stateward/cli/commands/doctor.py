"""`stateward doctor`: what is there to work with: databases of this machine, the user's cluster.

An etcd or a cluster is enough: with an etcd, `stateward local up` gives a cluster.
"""

from __future__ import annotations

import asyncio
import os

import click

from stateward.app.etcd.available import available
from stateward.app.fdb import available as fdb
from stateward.cli.reaching import ask, which_cluster
from stateward.kube.http.client import HttpClient
from stateward.kube.http.kubeconfig import NotConfigured, find_access


@click.command()
@which_cluster
@click.option(
    "--timeout",
    type=click.FloatRange(0, 3600, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Give up after.",
)
def doctor(kubeconfig: str, context: str, timeout: float) -> int:
    """Say which databases are here, find the cluster as kubectl would, and connect.

    Without any kubeconfig the etcds must do. Exit code 1: the cluster does not answer, or there is
    neither; 2: what names a cluster is wrong.
    """
    has_etcd = _tell_etcds()
    _tell_fdbs()
    try:
        access = find_access(os.environ, path=kubeconfig, context=context)
    except NotConfigured:
        if kubeconfig or context or os.environ.get("KUBECONFIG"):
            raise
        return _without_cluster(has_etcd=has_etcd)
    click.echo(f"✔ configured by {access.origin}")
    click.echo(f"✔ server {access.server}, namespace {access.namespace}")
    version = asyncio.run(ask(access, timeout, _ask))
    click.echo(f"✔ reachable: Kubernetes {version}")
    click.echo("doctor: all is well")
    return 0


def _without_cluster(*, has_etcd: bool) -> int:
    click.echo("- no cluster: there is no kubeconfig; `stateward local up` starts a cluster here")
    if has_etcd:
        click.echo("doctor: all is well for a local cluster")
        return 0
    click.echo("doctor: there must be a cluster, or an etcd to run on a local one")
    return 1


def _tell_etcds() -> bool:
    """Say with which etcds a local cluster could be run; no other cluster needs them."""
    found = available()
    for it in found:
        click.echo(f"✔ for local clusters: {it}" + (f" ({it.caveat})" if it.caveat else ""))
    if not found:
        click.echo("- for local clusters: no etcd; `stateward local get-etcd` fetches one")
    return bool(found)


def _tell_fdbs() -> None:
    """Say which FoundationDB is here; nothing runs it yet, so none is no trouble."""
    found = asyncio.run(fdb.available())
    for it in found:
        click.echo(f"✔ {it}")
    if not found:
        click.echo(
            "- no FoundationDB: it is EMULATED; `stateward local get-fdb` fetches a real one"
        )


async def _ask(client: HttpClient) -> str:
    return (await client.server_version()).git_version
