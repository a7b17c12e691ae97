"""Real control planes for tests: those that a whole run shares, and one for a test that breaks it.

A run with ``--real`` starts one of each release before its first test; its workers find them by the
environment. Who stops, restarts or fills a control plane takes one of its own.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Final

from stateward.core.ports import Ports
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.kubeconfig import from_kubeconfig
from stateward.local.real.plane import Plane, PlaneTerms
from stateward.local.real.programs import KUBERNETES, OLDEST_KUBERNETES, Part

#: Names the kubeconfigs of the shared control planes: ``1.35=PATH:1.32=PATH``.
SHARED: Final = "STATEWARD_REAL_PLANES"

#: A controller manager must not be newer than its API server, so the oldest one gets the few
#: controllers whose kinds have not changed since.
_FEW: Final = (
    "garbage-collector-controller,namespace-controller,disruption-controller,"
    "serviceaccount-controller,root-ca-certificate-publisher-controller"
)
#: They would try for ever to write loopback addresses, which a real server refuses in these kinds.
_ALL: Final = (
    "*,-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller"
)

_TERMS: Final = {
    KUBERNETES: PlaneTerms(controllers=_ALL),
    OLDEST_KUBERNETES: PlaneTerms(OLDEST_KUBERNETES, controllers=_FEW, schedules=False),
}


def kubeconfigs() -> dict[str, Path]:
    """Return the control planes of this run by their release; none without ``--real``."""
    entries = filter(None, os.environ.get(SHARED, "").split(":"))
    return {name: Path(path) for name, path in (it.split("=", 1) for it in entries)}


def shared() -> dict[str, ClusterAccess]:
    """Return how they are reached."""
    return {name: from_kubeconfig([path], {}) for name, path in kubeconfigs().items()}


@contextmanager
def all_shared() -> Iterator[None]:
    """Run one control plane of each release for this process and its workers."""
    with tempfile.TemporaryDirectory(prefix="stateward-real-") as root:
        planes = {part: own(Path(root) / part.release, part) for part in _TERMS}
        with held(*planes.values()):
            named = (f"{part.release}={it.kubeconfig}" for part, it in planes.items())
            os.environ[SHARED] = ":".join(named)
            try:
                yield
            finally:
                os.environ.pop(SHARED, None)


@contextmanager
def held(*planes: Plane) -> Iterator[None]:
    """Run control planes in a thread: those who use them have loops of their own."""
    ready: threading.Event = threading.Event()
    failed: list[BaseException] = []
    loop = asyncio.new_event_loop()
    ending = asyncio.Event()

    def work() -> None:
        try:
            loop.run_until_complete(_hold(planes, ready, ending))
        except BaseException as error:  # noqa: BLE001 - told by the thread that waits
            failed.append(error)
            ready.set()

    thread = threading.Thread(target=work, name="real planes")
    thread.start()
    try:
        ready.wait()
        if failed:
            raise failed[0]
        yield
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join()
        loop.close()


async def _hold(planes: Iterable[Plane], ready: threading.Event, ending: asyncio.Event) -> None:
    async with AsyncExitStack() as stack:
        await asyncio.gather(*(stack.enter_async_context(it.running()) for it in planes))
        ready.set()
        await ending.wait()


def own(root: Path, part: Part = KUBERNETES, ports: Ports | None = None) -> Plane:
    """Return a control plane for one test, which is to run it."""
    return Plane(root, ports or Ports.of_this_machine(), _TERMS[part])
