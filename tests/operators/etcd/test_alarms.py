"""Alarms of etcd: a full database is given room, a member with other data is replaced."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import aiohttp
import pytest

from operators.etcd.troubles import (
    NAME,
    eventually,
    nudge,
    pod,
    replaced,
    standing,
    tells,
    three,
    told,
)
from operators.etcd.worlds import PATIENCE, World, said, world
from stateward.core.errors import OutcomeUnknown
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.members.errors import NoSpace
from stateward.etcd.members.port import MemberApi
from stateward.etcd.model.members import AlarmKind
from stateward.etcd.model.names import CLIENT_PORT

MEGABYTE = 1024 * 1024
#: Little enough to be filled in a moment.
SMALL = {"quota-backend-bytes": str(16 * MEGABYTE)}
LARGER = {"quota-backend-bytes": str(64 * MEGABYTE)}


@pytest.mark.parametrize("etcd", ["3.5", "3.6"])
async def test_row_9b_a_database_full_of_history_gets_room(plane: str, etcd: str) -> None:
    async with world(plane, etcd=etcd) as it, it.operating():
        before = await three(it, options=SMALL)
        await fill(it)
        await it.until(NAME, lambda now: said(now, "Ready")[1] == "NoSpace")
        await eventually(lambda: takes_writes(it))
        await it.ready(NAME)
        assert await it.door(await pod(it, 0)).alarms() == ()
        assert await standing(it) == before
        await tells(it, "Compact", "Defragment", "Disarm")


async def test_row_9b_a_database_full_of_data_is_told_and_a_larger_quota_helps(plane: str) -> None:
    async with world(plane) as it, it.operating():
        before = await three(it, options=SMALL)
        full = await fill_for_good(it)
        assert said(full, "Available") == ("False", "NoSpace")
        assert "quota-backend-bytes" in full.status.blockers[0].hint
        assert not await takes_writes(it)
        await it.edit(NAME, options=LARGER)
        await it.ready(NAME)
        assert await takes_writes(it)
        after = await standing(it)
        assert (after.members, after.claims) == (before.members, before.claims)
        await tells(it, "NoSpace", "DeletePod", "Disarm")


async def test_row_9_a_corrupt_member_is_replaced(plane: str) -> None:
    async with world(plane) as it, it.operating():
        before = await three(it)
        door = it.door(await pod(it, 0))
        await door.put(b"key", b"value")
        await raise_alarm(it, int(before.members[2], 16), AlarmKind.CORRUPT)
        await nudge(it)
        await it.until(NAME, lambda now: said(now, "Degraded") == ("True", "Corrupt"))
        after = await replaced(it, before, 2)
        assert after.without(2) == before.without(2)
        assert after.claims[2] != before.claims[2]
        assert await door.alarms() == ()
        assert await door.get(b"key") == b"value"
        await tells(it, "RemoveMember", "Disarm", "AddLearner", "Promote")


async def test_an_alarm_is_nothing_to_a_paused_operator(plane: str) -> None:
    async with world(plane) as it, it.operating():
        before = await three(it, replicas=1, paused=False)
        await it.edit(NAME, paused=True)
        await raise_alarm(it, int(before.members[0], 16), AlarmKind.NO_SPACE)
        await it.until(NAME, lambda now: said(now, "Degraded") == ("True", "NoSpace"))
        assert not await takes_writes(it)
        assert "Disarm" not in await told(it)
        await it.edit(NAME, paused=False)
        await it.ready(NAME)
        assert await takes_writes(it)
        await tells(it, "Paused", "Disarm")


# -------------------------------------------------------------------------- what happens


async def fill(world: World) -> None:
    """Write one key again and again until etcd refuses."""
    door = world.door(await pod(world, 0))
    with suppress(NoSpace):
        for _ in range(200):
            await _put(door, b"the same key")
        raise AssertionError("the database was never full")
    await nudge(world)


async def _put(door: MemberApi, key: bytes) -> None:
    """Write half a megabyte; on a slow machine the answer may not come in time."""
    with suppress(OutcomeUnknown):
        await door.put(key, bytes(MEGABYTE // 2))


async def fill_for_good(world: World) -> EtcdCluster:
    """Write one key after another until the operator, too, finds no room any more."""
    door, number = world.door(await pod(world, 0)), 0
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                await _put(door, f"key {number}".encode())
            except NoSpace:
                await nudge(world)
                await asyncio.sleep(0.3)
            number += 1
            found = await world.get(NAME)
            if "NoSpace" in {it.guard for it in found.status.blockers}:
                return found


async def takes_writes(world: World) -> bool:
    try:
        await world.door(await pod(world, 0)).put(b"a word", b"a value")
    except NoSpace:
        return False
    return True


async def raise_alarm(world: World, member_id: int, kind: AlarmKind) -> None:
    """Raise an alarm in the name of a member, as only etcd itself does."""
    address = (await pod(world, 0)).status.pod_ip
    body = {"action": "ACTIVATE", "memberID": str(member_id), "alarm": kind.value}
    url = f"http://{address}:{CLIENT_PORT}/v3/maintenance/alarm"
    async with aiohttp.ClientSession() as session, session.post(url, data=json.dumps(body)) as said:
        assert said.status == 200, await said.text()
