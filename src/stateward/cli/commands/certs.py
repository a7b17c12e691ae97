"""`stateward certs`: the secrets of an etcd cluster that speaks TLS, and what its spec must say."""

from __future__ import annotations

import ipaddress
import re
import time
from pathlib import Path
from typing import Final

import click

from stateward.app import certs as making
from stateward.app.install.generated import as_text
from stateward.core.errors import UsageError
from stateward.core.naming import dns_label_problem
from stateward.kube.crd.text import to_yaml
from stateward.kube.meta import ObjectKey

_LABEL: Final = r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HOST: Final = re.compile(rf"(\*\.)?{_LABEL}(\.{_LABEL})*")
_NUMBERS: Final = re.compile(r"[0-9.]+")


@click.command(short_help="Print certificates for an etcd cluster, as secrets.")
@click.argument("cluster")
@click.option("--namespace", default="default", show_default=True, help="Where the cluster is.")
@click.option("--days", type=click.IntRange(1, 3650), default=365, show_default=True)
@click.option("--host", "hosts", multiple=True, metavar="NAME", help="One more name, or address.")
@click.option("--folder", type=Path, metavar="FOLDER", help="Keep the authority here.")
def certs(
    cluster: str, namespace: str, days: int, hosts: tuple[str, ...], folder: Path | None
) -> None:
    """Print the secrets of CLUSTER for kubectl apply -f -, and what its spec must say.

    One authority signs for members, for clients and for root, as whom the operator logs in. Without
    --folder its key is forgotten, and the next call makes another authority. Nothing is changed in
    any cluster.
    """
    for option, value in (("CLUSTER", cluster), ("--namespace", namespace)):
        if (problem := dns_label_problem(value)) is not None:
            raise UsageError(f"{option} {problem}")
    if odd := [it for it in hosts if not _is_host(it)]:
        raise UsageError(f"--host must be a name of a host, or an address; got {odd[0]!r}")
    wish = making.Wish(ObjectKey(namespace, cluster), days, hosts, folder)
    click.echo(as_text(making.secrets(wish, time.time())), nl=False)
    spec = {"spec": {"security": {"tls": making.settings(cluster)}}}
    click.echo(f"stateward: EtcdCluster {cluster} finds them by this:", err=True)
    click.echo(to_yaml(spec), nl=False, err=True)


def _is_host(text: str) -> bool:
    """Tell whether somebody can be called so: by an address or by a name, without a port.

    >>> [_is_host(it) for it in ("10.9.8.7", "::1", "*.shop.svc", "shop:2379", "300.1.1.1", "a..b")]
    [True, True, True, False, False, False]
    """
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return bool(_HOST.fullmatch(text)) and not _NUMBERS.fullmatch(text)
    return True
