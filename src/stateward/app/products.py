"""The operators that we ship, and what each is given to work with."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
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
from stateward.fdb import operator as fdb
from stateward.fdb.admin.backups.databases import ProgramBackupDatabases
from stateward.fdb.admin.binaries import Binaries
from stateward.fdb.admin.databases import ProgramDatabases
from stateward.fdb.admin.pod_agent.http import HttpAgents
from stateward.fdb.admin.pod_agent.pods import by_pod
from stateward.fdb.admin.session import Shared, Tls
from stateward.fdb.admin.turns import Turns
from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.build.detection import Detector
from stateward.kube.client import Client
from stateward.kube.resources import Resource
from stateward.runtime.supervisor import Supervisor
from stateward.runtime.telling import logs
from stateward.runtime.telling.metrics import Metrics

_log: Final = logs.get("operator")
#: Says that sidecars are believed whatever their certificates call them.
_ANY_HOST: Final = "DISABLE_SIDECAR_TLS_CHECK"
#: How many programs of FoundationDB run at once; those of a sick database wait out their deadline.
_PROGRAMS: Final = 8


@dataclass(frozen=True, slots=True)
class Site:
    """What one operator is given: a way to the cluster, time and chance, and its orders."""

    client: Client
    #: Another way to the cluster, under another name, for as long as a block lasts.
    connected: Callable[[str], AbstractAsyncContextManager[Client]]
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


@asynccontextmanager
async def _foundationdb(site: Site) -> AsyncIterator[Supervisor]:
    async with AsyncExitStack() as stack:
        binaries = await stack.enter_async_context(fdb_binaries(site.settings))
        meter = site.metrics.programs("fdb")
        databases = ProgramDatabases(Shared(binaries, Turns(_PROGRAMS), site.ports.clock, meter))
        stack.callback(databases.close)
        backups = ProgramBackupDatabases(
            Shared(binaries, Turns(_PROGRAMS), site.ports.clock, meter)
        )
        stack.callback(backups.close)
        tls = Tls.told(os.environ)
        agents = HttpAgents(tls, checks_hosts=not _any_host())
        stack.push_async_callback(agents.close)
        options = fdb.FdbOptions(
            databases=databases,
            groups_client=await stack.enter_async_context(site.connected("groups")),
            agents=by_pod(agents),
            namespaces=site.settings.namespaces,
            selector=site.settings.selector,
            names_resolve=site.settings.local_cluster is None,
            certified=tls is not None,
            own=tls.read if tls is not None else None,
            backups=backups,
            detector=Detector(site.settings.image, site.settings.service_account),
            window=site.settings.synchronization_window,
            lease=site.settings.lease("foundationdb"),
        )
        yield fdb.assemble(site.client, site.ports, site.identity, site.metrics, options=options)


def _any_host() -> bool:
    """Tell whether certificates of sidecars need not name their pods, as somebody asked for."""
    if os.environ.get(_ANY_HOST) != "1":
        return False
    _log.warning(
        f"{_ANY_HOST}=1: certificates of sidecars need not name their pods; who signed them is"
        " asked for all the same"
    )
    return True


def _book(settings: Settings) -> AddressBook:
    """Return where members find each other."""
    if settings.local_cluster is None:
        return ClusterDns()
    try:
        # Only who works on a local cluster has what that needs installed.
        from stateward.app.etcd.addresses import LoopbackFile  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _not_installed(error) from None
    return LoopbackFile(settings.local_cluster)


@asynccontextmanager
async def fdb_binaries(settings: Settings) -> AsyncIterator[Binaries]:
    """Provide the programs by which databases are asked: of their own kind on a local cluster."""
    if settings.local_cluster is None:
        yield Binaries(settings.fdb_binaries)
        return
    try:
        from stateward.app.fdb.binaries import local_binaries  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _not_installed(error) from None
    async with local_binaries() as found:
        yield found


def _not_installed(error: ModuleNotFoundError) -> UsageError:
    return UsageError(
        f"--addresses with a folder needs the package {error.name}, which is not installed",
        hint="pip install 'stateward[local]'",
    )


PRODUCTS: Final = {
    it.name: it
    for it in (
        Product("etcd", ETCD_CLUSTERS, _etcd),
        Product("foundationdb", CLUSTERS, _foundationdb),
        Product("example", TEAMS, _example),
    )
}
#: What runs unless something else is asked for.
USUAL: Final = ("etcd", "foundationdb")


def chosen(settings: Settings) -> list[Product]:
    """Return the operators that are to run."""
    return [PRODUCTS[name] for name in settings.products]
