"""A FoundationDB cluster becomes another version while somebody writes: nothing is lost.

Processes of two lines of releases are the stand-in's: with one real version there is no upgrade.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from operators.fdb.fdb_clients import shopping
from operators.fdb.fdb_hands import CLUSTER, pods, uids, watched
from operators.fdb.fdb_person import Person, with_kubectl
from operators.fdb.fdb_worlds import World, world
from stateward.app.fdb.available import NAMED
from stateward.core.version import Version
from stateward.fdb.admin.session import Session
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import MAIN_CONTAINER, SIDECAR_CONTAINER

OLD, PATCH, NEW, TOO_FAR = "7.1.61", "7.1.67", "7.3.63", "7.4.5"
#: For whom somebody works who has the old library alone.
WEB = "web-shop"

pytestmark = pytest.mark.skipif(
    NAMED in os.environ, reason="an upgrade needs two versions, and real programs are of one"
)


@asynccontextmanager
async def visited(it: World) -> AsyncGenerator[None, None]:
    """Have somebody use the database all the time whose library is of the old line alone."""
    session = Session(it.shared, WEB, Version.parse(OLD))
    words = ["-C", str(session.file), "--log_group", WEB, "--exec", "get a", "--timeout", "5"]

    async def visit() -> None:
        found = (await it.get(CLUSTER)).status.connection_string
        session.find_by(ConnectionString.parse(found))
        await session.run("fdbcli", words, 20)

    async def visits() -> None:
        while True:
            await visit()
            await asyncio.sleep(1)

    await visit()
    task = asyncio.create_task(visits())
    try:
        yield
        assert not task.done(), task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        session.close()


async def versions(it: World, container: str = MAIN_CONTAINER) -> set[str]:
    """Return the tags of a container in all pods."""
    return {
        one.image.rpartition(":")[2].removesuffix("-1")
        for pod in (await pods(it)).values()
        for one in pod.spec.containers
        if one.name == container
    }


def moves(it: World) -> int:
    """Return how often roles had to go elsewhere: processes were excluded, others coordinate."""
    return it.asked("exclude") + it.asked("coordinators")


async def test_a_person_upgrades_a_cluster_to_another_line(plane: str, tmp_path: Path) -> None:
    """Unified images, pods as by default; versions that cannot be are refused on the way."""
    async with world(plane) as it, it.operating():
        person = with_kubectl(it, tmp_path)
        await it.create(CLUSTER, version=OLD, automationOptions={"waitBetweenRemovalsSeconds": 0})
        await person.ready()
        await too_far_is_refused(it, person)
        before, killed, moved = await uids(it), it.asked("kill"), moves(it)
        async with shopping(it, CLUSTER) as client:
            async with visited(it):
                await person.patch(version=NEW)
                said = await person.blocked("ClientsIncompatible")
                assert WEB in said
                assert await versions(it, SIDECAR_CONTAINER) == {OLD}, "nothing is staged"
            await person.wait(f"jsonpath={{.status.runningVersion}}={NEW}")
            assert it.asked("kill") == killed + 1, "all at once"
            restarted = await client.recoveries()
            assert restarted >= 1
            # Before that sidecars start anew, in all pods at once.
            async with watched(it, "storage") as zones:
                await person.ready()
            assert await client.recoveries() <= restarted + moves(it) - moved, "storage adds none"
            assert NEW in await person.row()
        assert zones.together == [], "one zone at a time"
        assert it.asked("kill") == killed + 1
        assert await versions(it) == {NEW}
        assert not {*before.values()} & {*(await uids(it)).values()}
        await back_is_refused(it, person)


async def too_far_is_refused(it: World, person: Person) -> None:
    before = await uids(it)
    await person.patch(version=TOO_FAR)
    said = await person.blocked("UpgradeSkipsVersions")
    assert "7.3" in said, "the way to take"
    await person.patch(version=OLD)
    await person.ready()
    assert await uids(it) == before


async def back_is_refused(it: World, person: Person) -> None:
    before = await uids(it)
    await person.patch(version=OLD)
    assert NEW in await person.blocked("DowngradeRefused")
    await person.patch(version=NEW)
    await person.ready()
    assert await uids(it) == before


@pytest.mark.long
async def test_split_images_patch_and_then_another_line(plane: str) -> None:
    """Pods are made anew in place: each that has a part in commits costs a recovery when it goes.

    And one more at most when it is back, if the database finds that it serves better there.
    """
    options = {"waitBetweenRemovalsSeconds": 0, "podUpdateStrategy": "Delete"}
    async with world(plane) as it, it.operating():
        await it.create(CLUSTER, version=OLD, imageType="split", automationOptions=options)
        await it.reconciled(CLUSTER)
        before, killed, moved = await uids(it), it.asked("kill"), moves(it)
        committing = len(before) - len(await uids(it, "storage"))
        async with shopping(it, CLUSTER) as client:
            await it.edit(CLUSTER, version=PATCH)
            await it.reconciled(CLUSTER)
            assert await versions(it) == {PATCH}
            assert it.asked("kill") == killed, "nobody is restarted but with its pod"
            patched = await client.recoveries()
            assert 0 < patched <= 2 * committing + moves(it) - moved
            # Pods would be made anew as soon as all run: nobody could tell what the restart costs.
            await it.edit(CLUSTER, version=NEW, automationOptions={"deletionMode": "None"})
            await it.until(CLUSTER, lambda one: one.status.running_version == NEW)
            assert it.asked("kill") == killed + 1, "all at once"
            assert await client.recoveries() > patched, "one for the restart"
            assert await versions(it, SIDECAR_CONTAINER) >= {NEW}
            await it.edit(CLUSTER, automationOptions={"deletionMode": "Zone"})
            async with watched(it, "storage") as zones:
                await it.reconciled(CLUSTER)
            assert await client.recoveries() <= 1 + 4 * committing + moves(it) - moved
        assert await versions(it) == {NEW}
        after = await uids(it)
        assert after.keys() == before.keys(), "in place"
        assert not {*before.values()} & {*after.values()}
        assert zones.together == [], "one zone at a time"
        assert it.asked("kill") == killed + 1
