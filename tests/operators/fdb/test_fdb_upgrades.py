"""A FoundationDB cluster becomes another version while somebody writes: nothing is lost.

Processes of two lines of releases are the stand-in's: with one real version there is no upgrade.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest

from operators.fdb.fdb_hands import CLUSTER, pods, uids, watched
from operators.fdb.fdb_worlds import World, world
from stateward.app.fdb.available import NAMED
from stateward.core.errors import PeerError
from stateward.core.version import Version
from stateward.fdb.admin.session import Session
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import MAIN_CONTAINER, SIDECAR_CONTAINER

OLD, PATCH, NEW = "7.1.61", "7.1.67", "7.3.63"

pytestmark = pytest.mark.skipif(
    NAMED in os.environ, reason="an upgrade needs two versions, and real programs are of one"
)


@dataclass(slots=True)
class Writer:
    """Writes one key after another, with a library of both lines, and reads what it wrote."""

    it: World
    acknowledged: list[str] = field(default_factory=list)

    async def typed(self, line: str) -> str:
        """Ask with programs of either version; whoever answers runs."""
        cluster = await self.it.get(CLUSTER)
        string = ConnectionString.parse(cluster.status.connection_string)
        for version in (cluster.status.running_version, NEW, OLD):
            session = Session(self.it.shared, "writer", Version.parse(version))
            try:
                session.find_by(string)
                words = ["-C", str(session.file), "--exec", line, "--timeout", "20"]
                found = (await session.run("fdbcli", words, 40)).out
            finally:
                session.close()
            if "Committed" in found or " is " in found:
                return found
        return ""

    async def write(self) -> None:
        """Write until somebody ends it."""
        number = 0
        while True:
            number += 1
            with suppress(PeerError):
                if "Committed" in await self.typed(f"writemode on; set w{number} {number}"):
                    self.acknowledged.append(f"w{number}")
            await asyncio.sleep(0.2)

    async def lost(self) -> list[str]:
        """Return what was acknowledged and is not there."""
        return [
            key for key in self.acknowledged if f"`{key}' is" not in await self.typed(f"get {key}")
        ]


@asynccontextmanager
async def writing(it: World) -> AsyncGenerator[Writer, None]:
    """Have somebody write for the length of a block; nothing that was acknowledged is lost."""
    writer = Writer(it)
    task = asyncio.create_task(writer.write())
    try:
        yield writer
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert writer.acknowledged
    assert await writer.lost() == []


async def versions(it: World, container: str = MAIN_CONTAINER) -> set[str]:
    """Return the tags of a container in all pods."""
    return {
        one.image.rpartition(":")[2].removesuffix("-1")
        for pod in (await pods(it)).values()
        for one in pod.spec.containers
        if one.name == container
    }


@pytest.mark.parametrize("image_type", ["unified", "split"])
async def test_a_cluster_becomes_another_line_of_releases(plane: str, image_type: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create(
            CLUSTER,
            version=OLD,
            imageType=image_type,
            automationOptions={"waitBetweenRemovalsSeconds": 0},
        )
        await it.reconciled(CLUSTER)
        before, killed = await uids(it), it.asked("kill")
        async with writing(it):
            await it.edit(CLUSTER, version=NEW)
            await it.until(CLUSTER, lambda one: one.status.running_version == NEW)
            assert it.asked("kill") == killed + 1, "all at once"
            assert await versions(it, SIDECAR_CONTAINER) >= {NEW}
            # Before that sidecars start anew, in all pods at once.
            async with watched(it, "storage") as zones:
                await it.reconciled(CLUSTER)
        after = await uids(it)
        assert await versions(it) == {NEW}
        assert not {*before.values()} & {*after.values()}
        assert zones.together == [], "one zone at a time"
        assert it.asked("kill") == killed + 1


async def test_a_patch_release_is_rolled_and_a_downgrade_is_refused(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create(CLUSTER, version=OLD, automationOptions={"waitBetweenRemovalsSeconds": 0})
        await it.reconciled(CLUSTER)
        killed = it.asked("kill")
        async with writing(it):
            await it.edit(CLUSTER, version=PATCH)
            await it.reconciled(CLUSTER)
        assert await versions(it) == {PATCH}
        assert it.asked("kill") == killed, "nobody is restarted but with its pod"
        before = await uids(it)
        await it.edit(CLUSTER, version="7.4.5")
        held = await it.until(
            CLUSTER, lambda one: any(b.guard == "UpgradeSkipsVersions" for b in one.status.blockers)
        )
        assert any("7.3" in b.hint for b in held.status.blockers)
        await it.edit(CLUSTER, version=PATCH)
        await it.reconciled(CLUSTER)
        assert await uids(it) == before
