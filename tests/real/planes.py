"""Real control planes for tests: those that a whole run shares, and one for a test that breaks it.

A run with ``--real`` starts one of each release before its first test; its workers find them by the
environment. Who stops, restarts or fills a control plane takes one of its own. With ``--real-alone``
what is asked of our own and of real ones is asked of the real ones only: ``make test`` asks our own.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final, TypeVar

from fakes.threads import in_a_thread
from stateward.core.ports import Ports
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.kubeconfig import from_kubeconfig
from stateward.local.real.plane import Plane, PlaneTerms
from stateward.local.real.programs import KUBERNETES, OLDER_ETCD, OLDEST_KUBERNETES, Part

#: Names the kubeconfigs of the shared control planes: ``1.35=PATH:1.32=PATH``.
SHARED: Final = "STATEWARD_REAL_PLANES"
#: Set in a run that does not ask our own Kubernetes beside them.
ALONE: Final = "STATEWARD_REAL_ALONE"

T = TypeVar("T")

#: A controller manager must not be newer than its API server, so the oldest one gets the few
#: controllers whose kinds have not changed since.
_FEW: Final = (
    "garbage-collector-controller,namespace-controller,disruption-controller,"
    "serviceaccount-controller,root-ca-certificate-publisher-controller"
)
#: Nobody will miss what a power cut would cost, and everybody would wait for the disk.
HASTY: Final = {"etcd": ("--unsafe-no-fsync",)}
_TERMS: Final = {
    KUBERNETES: PlaneTerms(extra=HASTY),
    OLDEST_KUBERNETES: PlaneTerms(
        OLDEST_KUBERNETES, OLDER_ETCD, controllers=_FEW, schedules=False, extra=HASTY
    ),
}


def kubeconfigs() -> dict[str, Path]:
    """Return the control planes of this run by their release; none without ``--real``."""
    entries = filter(None, os.environ.get(SHARED, "").split(":"))
    return {name: Path(path) for name, path in (it.split("=", 1) for it in entries)}


def shared() -> dict[str, ClusterAccess]:
    """Return how they are reached."""
    return {name: from_kubeconfig([path], {}) for name, path in kubeconfigs().items()}


def columns(own: Mapping[str, T], real: Mapping[str, T]) -> dict[str, T]:
    """Return whom a test asks in this run, by name: our own first, if it is not of real ones alone."""
    return dict(real) if real and ALONE in os.environ else {**own, **real}


def kinds() -> list[str]:
    """Return whose control plane the whole clusters of this run have."""
    return list(columns({"embedded": ()}, {"real": ()} if kubeconfigs() else {}))


@contextmanager
def all_shared(*, alone: bool = False) -> Iterator[None]:
    """Run one control plane of each release for this process and its workers."""
    with tempfile.TemporaryDirectory(prefix="stateward-real-") as root:
        planes = {part: own(Path(root) / part.release, part) for part in _TERMS}
        with held(*planes.values()):
            named = (f"{part.release}={it.kubeconfig}" for part, it in planes.items())
            os.environ |= {SHARED: ":".join(named)} | ({ALONE: "yes"} if alone else {})
            try:
                yield
            finally:
                for name in (SHARED, ALONE):
                    os.environ.pop(name, None)


@contextmanager
def held(*planes: Plane) -> Iterator[None]:
    """Run control planes beside this thread."""
    with in_a_thread(lambda: _all_running(planes)):
        yield


@asynccontextmanager
async def _all_running(planes: Iterable[Plane]) -> AsyncGenerator[None, None]:
    async with AsyncExitStack() as stack:
        starts = (stack.enter_async_context(it.running()) for it in planes)
        # All have ended, well or not, before the first failure is told: none may be left behind.
        for outcome in await asyncio.gather(*starts, return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome
        yield


def own(root: Path, part: Part = KUBERNETES, ports: Ports | None = None) -> Plane:
    """Return a control plane for one test, which is to run it."""
    return Plane(root, ports or Ports.of_this_machine(), _TERMS[part])
