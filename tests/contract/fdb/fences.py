"""Databases whose keys are written by transactions: three ways to the same port.

``model``: the stand-in in memory. ``binding``: our adapter over FoundationDB's client, with a module
in its place that answers from the stand-in. ``real``: the same adapter over the real client and
fdbservers of this machine, where STATEWARD_FDB_BIN, PATH or our cache has them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from contract.fdb import real_lab
from contract.fdb.backends import created
from fakes.fdb_binding import FakeFdb
from stateward.core.clock import SystemClock
from stateward.emulate.fdb.keyspace import ModelKeys
from stateward.fdb.admin.binding import BindingKeys
from stateward.fdb.admin.fdbcli import Fdbcli
from stateward.fdb.admin.keys import Keys
from stateward.fdb.admin.library import API_VERSION

KINDS = ("model", "binding", "real")


@dataclass
class Bench:
    """A database, the operator's way to it, its keys, and how its logs are lost."""

    admin: Fdbcli
    keys: Keys
    lose_logs: Callable[[], Awaitable[None]]


@asynccontextmanager
async def bench(kind: str) -> AsyncIterator[Bench]:
    """Provide a healthy database of a kind; skip where there is no real one."""
    if kind == "real":
        async with _real() as found:
            yield found
        return
    lab = await created()

    async def lose_logs() -> None:
        lab.lose("log-1", "log-2")
        lab.pass_by(5)

    if kind == "model":
        yield Bench(lab.admin, ModelKeys(lab.database), lose_logs)
        return
    module = FakeFdb(lab.database)
    module.api_version(API_VERSION)
    keys = BindingKeys(module, SystemClock(), seconds=2.0)
    keys.find_by(lab.database.string)
    try:
        yield Bench(lab.admin, keys, lose_logs)
    finally:
        keys.close()


@asynccontextmanager
async def _real() -> AsyncIterator[Bench]:
    try:
        found, library = await real_lab.found()
    except LookupError as error:
        pytest.skip(f"no real FoundationDB with its client here: {error}")
    async with real_lab.running(found) as lab:
        keys = BindingKeys(library, SystemClock())
        keys.find_by(lab.connection)

        async def lose_logs() -> None:
            lab.kill("log-1", "log-2", "log-3")
            await asyncio.sleep(5)

        try:
            yield Bench(lab.admin, keys, lose_logs)
        finally:
            keys.close()
