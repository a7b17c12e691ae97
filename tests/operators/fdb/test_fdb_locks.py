"""Operators of one database: who does not have the lock waits, and says for whom."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from operators.fdb.fdb_clients import shopping
from operators.fdb.fdb_hands import CLUSTER, NAMESPACE, uids
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


async def why(it: World) -> tuple[int | None, str]:
    """Return how `stateward why` ends, and what it says."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "stateward", "why", f"fdb/{CLUSTER}", "-n", NAMESPACE),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={"PATH": os.environ["PATH"], "KUBECONFIG": str(it.cluster.kubeconfig)},
    )
    out, _ = await process.communicate()
    return process.returncode, out.decode()


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
            code, said = await why(it)
            assert code == 3
            assert "turn_is_ours" in said
            assert f"lock of the database: dc2, since {told.status.locks.since}" in said
            assert (await uids(it), it.asked("kill")) == (before, killed)
            assert await other.release("dc2")
            await it.reconciled(CLUSTER)
            assert it.asked("kill") == killed + 1
            assert await client.recoveries() >= 1
            await it.until(CLUSTER, lambda one: one.status.locks.holder is None)
            assert (await other.look()).lock is None, "it is let go when nothing is left to do"
            assert (await why(it))[0] == 0
