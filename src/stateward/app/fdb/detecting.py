"""What `stateward fdb detect-missing` works with: a client, and programs of FoundationDB."""

from __future__ import annotations

from contextlib import AsyncExitStack

from stateward.app.products import fdb_binaries
from stateward.app.settings import Settings
from stateward.core.ports import Ports
from stateward.fdb.admin.databases import ProgramDatabases
from stateward.fdb.admin.session import Shared
from stateward.fdb.admin.turns import Turns
from stateward.fdb.cluster.detecting import Detected, Means, detect
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.client import HttpClient
from stateward.kube.meta import ObjectKey


async def run(access: ClusterAccess, settings: Settings, key: ObjectKey, ports: Ports) -> Detected:
    """Look once at a cluster, as its operator does."""
    name = "stateward-detect-missing"
    async with AsyncExitStack() as stack:
        client = HttpClient(access, ports.clock, ports.chance.stream(name), field_manager=name)
        await stack.enter_async_context(client)
        binaries = await stack.enter_async_context(fdb_binaries(settings))
        databases = ProgramDatabases(Shared(binaries, Turns(1), ports.clock))
        stack.callback(databases.close)
        resolve = settings.local_cluster is None
        return await detect(Means(client, databases, ports.clock, names_resolve=resolve), key)
