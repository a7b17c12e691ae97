"""Every step twice: etcd driven directly, then the operator, one after the other in one run."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from stateward.app.etcd.available import Found, available, best, of_minor
from stateward.core.version import Version
from tools.bench.etcd.kept import Kept, kept
from tools.bench.etcd.raw import RawCluster, raw_cluster

#: Seconds of rest before a step: etcd takes a change only from members that were connected for 5.
SETTLE = 7.0
#: How long a member may be away, unless a cluster says otherwise.
GRACE = 60.0
REST = 60.0
_NAME = "bench"


@dataclass(frozen=True, slots=True)
class Target:
    """What a step may take: so many seconds, or so many times the reference."""

    seconds: float = 0.0
    times: float = 0.0

    def kept(self, took: float, reference: float) -> bool:
        """Tell whether it was reached."""
        return took <= (self.times * reference if self.times else self.seconds)

    def __str__(self) -> str:
        return f"{self.times:g} x reference" if self.times else f"{self.seconds:g} s"


@dataclass(frozen=True, slots=True)
class Line:
    """One step, measured."""

    step: str
    seconds: float
    reference: float
    target: Target

    @property
    def ok(self) -> bool:
        """Whether the target was reached."""
        return self.target.kept(self.seconds, self.reference)


@dataclass(frozen=True, slots=True)
class Rest:
    """What an operator costs that has nothing to do."""

    requests_a_minute: float
    megabytes: float


@dataclass(frozen=True, slots=True)
class Result:
    """Everything that was measured, and on which etcd."""

    etcd: Found
    upgrade: str
    lines: tuple[Line, ...]
    rest: Rest


def chosen() -> tuple[Found, Found | None]:
    """Return the etcd to measure with, and one of the minor release before it, if there is one."""
    found = available()
    newest = best(found)
    if newest is None:
        raise RuntimeError("no etcd is on this machine")
    before = of_minor(Version(newest.version.major, newest.version.minor - 1, 0), found)
    return newest, before if before is not None and not before.caveat else None


async def measure() -> Result:
    """Take every step."""
    etcd, before = chosen()
    version = str(etcd.version)
    async with _both(etcd) as (raw, ours):
        lines = [await _line("create 3", raw.create(3), ours.create(_NAME, version, 3), _S(4))]
        lines += await _sizes(raw, ours)
        lines += await _mishaps(raw, ours)
        rest = await _rest(ours)
        lines += [await _rolled(raw, ours, etcd)]
        if before is not None:
            lines += [await _upgraded(ours, before, etcd)]
    upgrade = f"{before.version} to {version}" if before else "no earlier etcd to upgrade from"
    return Result(etcd, upgrade, tuple(lines), rest)


@asynccontextmanager
async def _both(etcd: Found) -> AsyncGenerator[tuple[RawCluster, Kept], None]:
    with tempfile.TemporaryDirectory(prefix="bench-etcd-") as name:
        folder = Path(name)
        async with raw_cluster(etcd.path, folder / "raw") as raw, kept(folder / "kept") as ours:
            yield raw, ours


async def _sizes(raw: RawCluster, ours: Kept) -> list[Line]:
    lines = []
    pacing, brief = Target(times=1.2), _S(3)
    for before, size, target in ((3, 5, pacing), (5, 3, brief), (3, 1, brief), (1, 3, pacing)):
        move = raw.grow(size) if size > before else raw.shrink(size)
        name = f"scale {before} to {size}"
        lines.append(await _line(name, move, ours.edit(_NAME, replicas=size), target))
    return lines


async def _mishaps(raw: RawCluster, ours: Kept) -> list[Line]:
    leader = await ours.leader(_NAME)
    follower = next(it for it in (2, 1, 0) if it != leader)
    deleted = await _line("pod deleted", raw.restart(2), ours.delete_pod(_NAME, follower), _S(3))
    lost = await _line("disk lost", raw.lose_disk(2), ours.lose_disk(_NAME, follower), _S(20))
    after = Line("disk lost, after the grace", lost.seconds - GRACE, lost.reference, _S(20))
    return [deleted, after]


async def _rolled(raw: RawCluster, ours: Kept, etcd: Found) -> Line:
    option = {"max-request-bytes": "2097152"}
    direct = raw.roll(etcd.path, "--max-request-bytes=2097152")
    return await _line("option rolled through 3", direct, ours.roll(_NAME, options=option), _S(30))


async def _upgraded(ours: Kept, before: Found, etcd: Found) -> Line:
    name = "upgrade"
    with tempfile.TemporaryDirectory(prefix="bench-etcd-") as folder:
        async with raw_cluster(before.path, Path(folder) / "raw") as raw:
            await raw.create(3)
            await ours.create(name, str(before.version), 3)
            change = ours.roll(name, version=str(etcd.version))
            return await _line("version rolled through 3", raw.roll(etcd.path), change, _S(30))


async def _rest(ours: Kept) -> Rest:
    await asyncio.sleep(SETTLE)
    before, began = await ours.requests(), time.monotonic()
    await asyncio.sleep(REST)
    rate = (await ours.requests() - before) * 60 / (time.monotonic() - began)
    return Rest(rate, ours.operator.memory())


async def _line(step: str, direct: Awaitable[None], asked: Awaitable[None], target: Target) -> Line:
    await asyncio.sleep(SETTLE)
    reference = await _timed(direct)
    took = await _timed(asked)
    line = Line(step, took, reference, target)
    print(f"  {step}: {took:.1f} s", flush=True)
    return line


async def _timed(work: Awaitable[None]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


def _S(seconds: float) -> Target:  # noqa: N802 - a unit
    return Target(seconds=seconds)
