"""Pods as we make them for FoundationDB, run by the node agent: they are a database.

Where this machine has no FoundationDB 7.3 it is the stand-in, and each test says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stateward.app.etcd.addresses import Loopback
from stateward.app.fdb.programs import add_fdb
from stateward.core.clock import SystemClock
from stateward.core.facts import Known
from stateward.core.ports import Ports
from stateward.core.version import Version
from stateward.emulate.fdb.programs import shims
from stateward.fdb.admin.binaries import Binaries
from stateward.fdb.admin.fdbcli import Fdbcli
from stateward.fdb.admin.session import Session, Shared
from stateward.fdb.admin.turns import Turns
from stateward.fdb.api.defaults import normalized
from stateward.fdb.api.kind import FoundationDBProcessGroup
from stateward.fdb.api.processes import ImageType
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.build.claim import claim
from stateward.fdb.build.config_map import conf_text, config_map
from stateward.fdb.build.pod import pod
from stateward.fdb.build.servers.commandlines import Untold, expected, same
from stateward.fdb.build.servers.environment import environment
from stateward.fdb.build.services import headless_service
from stateward.fdb.build.wanted import Wanted
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.configuration import Configuration
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import ProcessGroupID, pod_name
from stateward.fdb.status import processes
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.resources import CONFIG_MAPS, PODS, SERVICES, VOLUME_CLAIMS
from stateward.local.agent.images import built_in
from stateward.local.client import MemoryClient
from stateward.local.cluster import Plan, running
from stateward.local.documents import loosely

VERSION = "7.3.79"
PATIENCE = 60.0
GROUPS = [ProcessGroupID.parse(it) for it in ("storage-1", "storage-2", "storage-3", "stateless-1")]
#: Four pods must fit on this machine.
SMALL: Json = {"requests": {"cpu": "10m", "memory": "64Mi"}}
LAYOUTS: tuple[ImageType, ...] = ("unified", "split")


def cluster(layout: ImageType, connection: ConnectionString) -> Wanted:
    said: Json = {
        "version": VERSION,
        "imageType": layout,
        "storageServersPerPod": 2,
        "faultDomain": {"key": "foundationdb.org/none"},
        "routing": {"useDNSInClusterFile": False, "headlessService": True},
        "processes": {
            "general": {
                "customParameters": ["knob_disable_posix_kernel_aio=1", "locality_x=$MINE.y"],
                "podTemplate": {
                    "spec": {
                        "terminationGracePeriodSeconds": 5,
                        "containers": [
                            {
                                "name": "foundationdb",
                                "env": [{"name": "MINE", "value": "z"}],
                                "resources": SMALL,
                            },
                        ],
                    }
                },
            }
        },
    }
    spec = normalized(msgspec.convert(said, FoundationDBClusterSpec))
    return Wanted("shop", "default", "uid", spec, Version.parse(VERSION), False, True, connection)


def group(of: Wanted, identity: ProcessGroupID) -> FoundationDBProcessGroup:
    metadata = ObjectMeta(
        name=pod_name(of.name, identity),
        namespace=of.namespace,
        uid="none",
        labels=of.group_labels(identity),
    )
    return FoundationDBProcessGroup(metadata=metadata, spec=of.group(identity))


def unowned(document: Json) -> Json:
    """Return a document whose owner need not be there."""
    document["metadata"].pop("ownerReferences", None)
    return document


class World:
    """A local cluster with the objects of one database."""

    def __init__(self, client: MemoryClient, admin: Fdbcli, of: Wanted) -> None:
        self.client, self.admin, self.of = client, admin, of
        self.groups = [group(of, it) for it in GROUPS]
        specs = [it.spec for it in self.groups]
        kinds = [
            (ProcessClass(it.process_class), it.servers_per_pod, it.image_type) for it in specs
        ]
        self.config = config_map(of, kinds)

    async def create(self) -> None:
        await self.client.create(CONFIG_MAPS, unowned(self.config))
        await self.client.create(SERVICES, unowned(headless_service(self.of)))
        for it in self.groups:
            if (found := claim(it, None)) is not None:
                await self.client.create(VOLUME_CLAIMS, found)
            await self.client.create(loosely(PODS), unowned(pod(it)))

    async def wrong(self) -> list[str]:
        """Return which processes do not run as they should."""
        roster = processes.roster(await self.admin.status())
        found = roster.value.groups if isinstance(roster, Known) else {}
        return [
            f"{it.metadata.name}: {' '.join(words)}"
            for it in self.groups
            for words in await self.expected(it)
            if not any(
                same(words, one.entry.command_line or "")
                for one in found.get(it.spec.process_group_id, ())
            )
        ]

    async def expected(self, one: FoundationDBProcessGroup) -> tuple[tuple[str, ...], ...]:
        there = await self.client.get(PODS, ObjectKey("default", one.metadata.name))
        text = conf_text(self.config["data"], one.spec)
        assert text is not None
        asked = one.spec
        values = environment(one, there)
        try:
            return expected(text, asked.image_type, asked.servers_per_pod, values)
        except Untold as error:  # its pod has no address yet
            return ((str(error),),)


@asynccontextmanager
async def world(root: Path, layout: ImageType) -> AsyncIterator[World]:
    plan = Plan(root / "cluster", images=add_fdb(built_in(), (), root / "cluster"))
    programs = shims.install(root / "bin", VERSION)
    session = Session(
        Shared(Binaries([programs]), Turns(2), SystemClock()), "here", Version.parse(VERSION)
    )
    async with running(plan, Ports.of_this_machine(), tick=_hear, say=_hear) as there:
        book = Loopback(there.agent)
        names = [ObjectKey("default", pod_name("shop", it)) for it in GROUPS[:3]]
        addresses = [Address(book.host(it, "shop"), 4501) for it in names]
        connection = ConnectionString("here", "abcdefgh", tuple(addresses))
        session.find_by(connection)
        it = World(MemoryClient(there.api), Fdbcli(session), cluster(layout, connection))
        await it.create()
        try:
            yield it
        finally:
            session.close()


def _hear(_text: str) -> None:
    return


async def until(holds: Callable[[], Awaitable[Any]], what: Callable[[], Awaitable[Any]]) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                if await holds():
                    return
                await asyncio.sleep(0.2)
    except TimeoutError:
        raise AssertionError(f"not within {PATIENCE:g} s: {await what()}") from None


@pytest.mark.parametrize("layout", LAYOUTS)
async def test_what_is_made_is_a_database_that_runs_as_expected(
    tmp_path: Path, layout: ImageType
) -> None:
    async with world(tmp_path, layout) as it:
        await it.admin.create(Configuration(redundancy="double", storage_engine="ssd-2", logs=2))

        async def is_right() -> bool:
            return not await it.wrong()

        await until(is_right, it.wrong)
        roster = processes.roster(await it.admin.status())
        assert isinstance(roster, Known)
        assert sorted(map(len, roster.value.groups.values())) == [1, 2, 2, 2]
