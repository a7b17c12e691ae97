"""Operators of one database: who does not have the lock waits, and says for whom."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from operators.fdb.fdb_clients import shopping
from operators.fdb.fdb_hands import CLUSTER, uids
from operators.fdb.fdb_worlds import VERSION, World, world
from stateward.core.version import Version
from stateward.fdb.admin.fdbcli import Fdbcli
from stateward.fdb.admin.keyed.locking import LockKeys
from stateward.fdb.admin.session import Session
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.locks import Claim, Lock

LOCKS = {"processGroupIDPrefix": "dc1", "lockOptions": {"disableLocks": False}}
KNOB = {"general": {"customParameters": ["knob_disable_posix_kernel_aio=1"]}}


@asynccontextmanager
async def another_operator(it: World) -> AsyncGenerator[LockKeys, None]:
    """Reach the lock as an operator elsewhere does, by programs of its own."""
    found = (await it.get(CLUSTER)).status.connection_string
    session = Session(it.shared, "elsewhere", Version.parse(VERSION))
    session.find_by(ConnectionString.parse(found))
    try:
        yield LockKeys(Fdbcli(session))
    finally:
        session.close()


def waits_for(cluster: FoundationDBCluster, owner: str) -> bool:
    return any(f"which {owner!r} has until" in it.message for it in cluster.status.blockers)


async def test_a_knob_waits_until_another_operator_lets_the_lock_go(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create(CLUSTER, **LOCKS)
        await it.reconciled(CLUSTER)
        before, killed = await uids(it), it.asked("kill")
        async with another_operator(it) as other, shopping(it, CLUSTER) as client:
            assert isinstance(await other.take(Claim("dc2", int(time.time()), 3600)), Lock)
            await it.edit(CLUSTER, processes=KNOB)
            told = await it.until(CLUSTER, lambda one: waits_for(one, "dc2"))
            assert told.status.locks.holder == "dc2"
            assert (await uids(it), it.asked("kill")) == (before, killed)
            assert await other.release("dc2")
            await it.reconciled(CLUSTER)
            assert it.asked("kill") == killed + 1
            assert await client.recoveries() >= 1
            await it.until(CLUSTER, lambda one: one.status.locks.holder is None)
            assert (await other.look()).lock is None, "it is let go when nothing is left to do"
