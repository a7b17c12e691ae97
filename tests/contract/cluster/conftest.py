"""A coroutine test that asks for ``wire`` or ``stage`` is a story: embedded and real clusters hear it.

``wire`` is a cluster without nodes, which many share; ``stage`` is one whose nodes a story adds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial

import pytest

from contract import telling
from contract.kubernetes.wire import Wire, wire_to
from contract.scheduling.columns import PATIENCE, REAL, Clusters, embedded
from real import planes
from stateward.kube.http.access import ClusterAccess

#: Seconds after which a silent node is lost.
_CLUSTERS = Clusters(lost_after=5.0)


@pytest.fixture(scope="session", autouse=True)
def _real_cluster_ends() -> Iterator[None]:
    yield
    _CLUSTERS.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    telling.give_columns(metafunc, "stage", _CLUSTERS.columns())
    shared = planes.shared()
    real = {REAL: partial(_tell_real, shared[REAL])} if REAL in shared else {}
    telling.give_columns(metafunc, "wire", {telling.EMBEDDED: _tell_embedded, **real})


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    return telling.tell(pyfuncitem, "stage") or telling.tell(pyfuncitem, "wire")


def _tell_real(access: ClusterAccess, story: Callable[[Wire], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(_told(access, story), PATIENCE))


def _tell_embedded(story: Callable[[Wire], Awaitable[None]]) -> None:
    async def told() -> None:
        async with embedded(lost_after=36000.0) as access:
            await _told(access, story)

    asyncio.run(asyncio.wait_for(told(), PATIENCE))


async def _told(access: ClusterAccess, story: Callable[[Wire], Awaitable[None]]) -> None:
    async with wire_to(access) as wire:
        await story(wire)
