"""The operators that we ship, and what each is given to work with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from stateward.app.settings import Settings
from stateward.core.errors import UsageError
from stateward.core.ports import Ports
from stateward.etcd import operator as etcd
from stateward.etcd.addresses import AddressBook, ClusterDns
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.etcd.members.dialing import Connections
from stateward.example import operator as example
from stateward.example.api import TEAMS
from stateward.kube.client import Client
from stateward.kube.resources import Resource
from stateward.runtime.supervisor import Supervisor
from stateward.runtime.telling.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Site:
    """What one operator is given: a way to the cluster, time and chance, and its orders."""

    client: Client
    ports: Ports
    identity: str
    metrics: Metrics
    settings: Settings


@dataclass(frozen=True, slots=True)
class Product:
    """One operator: the kind that it keeps, and how it is put together."""

    name: str
    kind: Resource[Any]
    #: Gives the operator, ready to run, and clears away behind it.
    opened: Callable[[Site], AbstractAsyncContextManager[Supervisor]]


@asynccontextmanager
async def _example(site: Site) -> AsyncIterator[Supervisor]:
    place = example.Place(
        site.settings.namespaces, site.settings.selector, site.settings.lease("example")
    )
    yield example.assemble(site.client, site.ports, site.identity, site.metrics, place=place)


@asynccontextmanager
async def _etcd(site: Site) -> AsyncIterator[Supervisor]:
    dialer = Connections()
    options = etcd.EtcdOptions(
        dialer=dialer,
        book=_book(site.settings),
        namespaces=site.settings.namespaces,
        selector=site.settings.selector,
        rescue=site.settings.rescue,
        lease=site.settings.lease("etcd"),
    )
    try:
        yield etcd.assemble(site.client, site.ports, site.identity, site.metrics, options=options)
    finally:
        await dialer.close()


def _book(settings: Settings) -> AddressBook:
    """Return where members find each other."""
    if settings.local_cluster is None:
        return ClusterDns()
    try:
        # Only who works on a local cluster has what that needs installed.
        from stateward.app.etcd.addresses import LoopbackFile  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise UsageError(
            f"--addresses with a folder needs the package {error.name}, which is not installed",
            hint="pip install 'stateward[local]'",
        ) from None
    return LoopbackFile(settings.local_cluster)


PRODUCTS: Final = {
    it.name: it
    for it in (
        Product("etcd", ETCD_CLUSTERS, _etcd),
        Product("example", TEAMS, _example),
    )
}
#: What runs unless something else is asked for.
USUAL: Final = ("etcd",)


def chosen(settings: Settings) -> list[Product]:
    """Return the operators that are to run."""
    return [PRODUCTS[name] for name in settings.products]
