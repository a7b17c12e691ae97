"""`stateward fdb`: what is done to one FoundationDB cluster from outside of its operator."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import click

from stateward.app import settings as read
from stateward.app.fdb import detecting
from stateward.cli.commands.operator import binaries_option
from stateward.cli.reaching import which_cluster
from stateward.core.errors import UsageError
from stateward.core.naming import dns_label_problem
from stateward.core.ports import Ports
from stateward.fdb.cluster.detecting import Detected
from stateward.kube.http.kubeconfig import find_access
from stateward.kube.meta import ObjectKey


@click.group()
def fdb() -> None:
    """Look at a FoundationDB cluster from outside of its operator."""


@fdb.command("detect-missing", short_help="Look for missing processes, and wake the operator.")
@click.option(
    "--namespace",
    default="",
    metavar="NAME",
    help="Where the cluster is.  [default: the namespace of our pod, or of the context]",
)
@click.option("--cluster", required=True, metavar="NAME", help="Which FoundationDBCluster.")
@which_cluster
@click.option(
    "--addresses",
    default=read.DNS,
    show_default=True,
    metavar="dns|DIR",
    help="How processes are reached: in a cluster, or by the folder of a local one.",
)
@binaries_option
def detect_missing(namespace: str, cluster: str, **words: Any) -> int:
    """Look once at all processes of a cluster, as its operator does.

    If some are missing, the cluster gets the annotation foundationdb.org/missing-processes-detected
    with the time, by which its operator is woken; it says whether they are replaced, and when. The
    CronJob of a cluster with automatic replacements runs this.

    Exit code 0: nobody is missing, or the cluster was told; 1: that could not be found out, or
    told; 2: there is no such cluster, or an option is wrong.
    """
    name = _name("--cluster", cluster)
    access = find_access(os.environ, path=words["kubeconfig"], context=words["context"])
    key = ObjectKey(_name("--namespace", namespace or access.namespace), name)
    settings = read.Settings(
        products=(),
        local_cluster=read.local_cluster("--addresses", words["addresses"]),
        fdb_binaries=read.folders("--fdb-binaries", words["fdb_binaries"]),
    )
    found = asyncio.run(detecting.run(access, settings, key, Ports.of_this_machine()))
    return _told(key, found)


def _name(option: str, text: str) -> str:
    if (problem := dns_label_problem(text)) is not None:
        raise UsageError(f"{option} {problem}")
    return text


def _told(key: ObjectKey, found: Detected) -> int:
    for it in found.missing:
        click.echo(str(it))
    if found.unheard:
        click.echo(f"{key}: the database must say who reports: {found.unheard}", err=True)
    if found.told:
        click.echo(f"{key}: {len(found.missing)} missing, which its operator was told {found.told}")
    elif not found.unheard:
        click.echo(f"{key}: nobody is missing")
    return 1 if found.unheard and not found.told else 0
