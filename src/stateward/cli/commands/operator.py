"""`stateward operator`: the process that a cluster runs, and that a developer may run instead."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from stateward.app import operator as app
from stateward.app import settings as read
from stateward.app.products import PRODUCTS, USUAL, Product, chosen
from stateward.app.settings import Settings
from stateward.cli import signals
from stateward.core.clock import SystemClock
from stateward.core.ports import Ports
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.kubeconfig import find_access
from stateward.runtime.telling import logs

F = TypeVar("F", bound=Callable[..., Any])

#: In a pod others must be able to ask; elsewhere nobody else should.
_HOST = "" if os.environ.get("KUBERNETES_SERVICE_HOST") else "127.0.0.1"


def _option(*names: str, **terms: Any) -> Callable[[F], F]:
    """Return an option that has a variable too: STATEWARD_LEASE_NAME for --lease-name."""
    variable = f"STATEWARD_{names[0].removeprefix('--').replace('-', '_').upper()}"
    return click.option(*names, envvar=variable, show_envvar=True, **terms)


#: Where FoundationDB's programs are.
binaries_option = _option(
    "--fdb-binaries",
    default=lambda: os.environ.get("FDB_BINARY_DIR") or read.FDB_BINARIES,
    show_default=f"$FDB_BINARY_DIR or {read.FDB_BINARIES}",
    metavar="DIR",
    help="Where FoundationDB's programs are, for each version in a folder of its name; several"
    f" with {os.pathsep} between. On a local cluster they are those of its pods.",
)


@click.command(short_help="Run our operators on a cluster, until told to end.")
@_option("--kubeconfig", default="", metavar="FILE", help="Use this file, not the usual ones.")
@_option("--context", default="", metavar="NAME", help="Use this context of the file.")
@_option(
    "--product",
    "products",
    multiple=True,
    type=click.Choice(list(PRODUCTS)),
    default=USUAL,
    show_default=True,
    help="Which operators; may be repeated.",
)
@_option(
    "--namespace",
    "namespaces",
    multiple=True,
    metavar="NAME",
    help="Look after this namespace only; may be repeated.  [default: all]",
)
@_option(
    "--selector",
    default="",
    metavar="LABELS",
    help="Look after clusters with these labels only, as in kubectl get -l.  [default: all]",
)
@_option(
    "--metrics-address",
    default=f"{_HOST}:8080",
    show_default=True,
    metavar="HOST:PORT",
    help="Where Prometheus asks; 0: nowhere.",
)
@_option(
    "--probe-address",
    default=f"{_HOST}:8081",
    show_default=True,
    metavar="HOST:PORT",
    help="Where the kubelet asks; 0: nowhere.",
)
@_option(
    "--lease-namespace",
    default="",
    metavar="NAME",
    help="Where the leases are.  [default: the namespace of our pod, or of the context]",
)
@_option(
    "--lease-name",
    default="stateward",
    show_default=True,
    metavar="NAME",
    help="How the leases' names begin: this, a dash and the product.",
)
@_option("--no-leader-election", is_flag=True, help="This is the only instance; take no lease.")
@_option(
    "--rescue-folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where snapshots go before a quorum is recovered.",
)
@_option(
    "--addresses",
    default=read.DNS,
    show_default=True,
    metavar="dns|DIR",
    help="How members find each other: cluster DNS, or the folder of a local cluster.",
)
@binaries_option
@_option(
    "--image",
    default="",
    metavar="IMAGE",
    help="Our own image, for jobs that look for missing processes; not said: none are made unless"
    " a cluster names one.",
)
@_option(
    "--service-account",
    default="",
    metavar="NAME",
    help="Our own account, for the same jobs.  [default: the usual one of their namespace]",
)
@_option(
    "--fdb-synchronization-window",
    type=click.FloatRange(0, 600),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="For how long operators that act together on a database must have said nothing new.",
)
@_option(
    "--log-format",
    type=click.Choice(["json", "text"]),
    help="How logs look.  [default: text on a terminal, else json]",
)
@_option("--log-level", type=click.Choice(list(logs.LEVELS)), default="info", show_default=True)
def operator(log_format: str | None, log_level: str, **words: Any) -> None:
    """Keep the clusters that are asked for, until SIGTERM or Ctrl-C; a second one ends at once.

    The cluster is found as kubectl finds it, or by the service account of our pod. Of several
    instances one acts and the others stand by.
    """
    access = find_access(os.environ, path=words["kubeconfig"], context=words["context"])
    settings = _settings(access, words)
    products = chosen(settings)
    json = log_format == "json" if log_format else not sys.stderr.isatty()
    logs.configure(sys.stderr, json=json, level=log_level, clock=SystemClock())
    asyncio.run(_run(settings, access, products))


def _settings(access: ClusterAccess, words: dict[str, Any]) -> Settings:
    namespace = words["lease_namespace"] or access.namespace
    alone = words["no_leader_election"]
    local = read.local_cluster("--addresses", words["addresses"])
    return Settings(
        products=tuple(dict.fromkeys(words["products"])),
        namespaces=read.namespaces("--namespace", words["namespaces"]),
        selector=read.selector("--selector", words["selector"]),
        metrics=read.address("--metrics-address", words["metrics_address"]),
        probes=read.address("--probe-address", words["probe_address"]),
        lease_namespace="" if alone else read.lease_namespace("--lease-namespace", namespace),
        lease_name=read.lease_name("--lease-name", words["lease_name"]),
        rescue=read.rescue_folder("--rescue-folder", words["rescue_folder"]),
        local_cluster=local,
        fdb_binaries=read.folders("--fdb-binaries", words["fdb_binaries"]),
        image=read.image("--image", words["image"], local=local is not None),
        service_account=read.service_account("--service-account", words["service_account"]),
        synchronization_window=words["fdb_synchronization_window"],
    )


async def _run(settings: Settings, access: ClusterAccess, products: list[Product]) -> None:
    stop = signals.stop_event_once()
    await app.run(settings, access, products, stop, Ports.of_this_machine())
