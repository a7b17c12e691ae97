"""Every step twice: etcd driven directly, then the operator, one after the other in one run."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
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
#: From these on a change of members is not refused for 5 s after the last one, if a majority was
#: connected for longer.
_WITHOUT_WINDOW = {5: 30, 6: 11}


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
class Chosen:
    """The etcds of this machine that are measured with."""

    #: The one for all steps.
    newest: Found
    #: One of the minor release before it, to be upgraded.
    before: Found | None
    #: One that refuses changes of members for 5 s after the last one.
    paced: Found | None

    def __str__(self) -> str:
        older = self.before.version if self.before else "nothing"
        paced = self.paced.version if self.paced else "nothing"
        return f"{self.newest}; upgraded from {older}; paced by {paced}"


@dataclass(frozen=True, slots=True)
class Result:
    """Everything that was measured, and on which etcds."""

    etcds: Chosen
    lines: tuple[Line, ...]
    rest: Rest


def chosen() -> Chosen:
    """Return the etcds to measure with."""
    found = available()
    newest = best(found)
    if newest is None:
        raise RuntimeError("no etcd is on this machine")
    before = of_minor(Version(newest.version.major, newest.version.minor - 1, 0), found)
    sound = before if before is not None and not before.caveat else None
    return Chosen(newest, sound, next(filter(_has_window, found), None))


def _has_window(found: Found) -> bool:
    version = found.version
    return version.patch < _WITHOUT_WINDOW.get(version.minor, 0)


async def measure() -> Result:
    """Take every step."""
    etcds = chosen()
    etcd, version = etcds.newest, str(etcds.newest.version)
    async with _both(etcd) as (raw, ours):
        lines = [await _line("create 3", raw.create(3), ours.create(_NAME, version, 3), _S(4))]
        await raw.fill()
        await ours.fill(_NAME)
        paced = await _paced(ours, etcds.paced) if etcds.paced else []
        lines += await _sizes(raw, ours)
        lines += paced
        lines += await _mishaps(raw, ours)
        rest = await _rest(ours)
        lines += [await _rolled(raw, ours, etcd)]
        if etcds.before is not None:
            lines += [await _upgraded(ours, etcds.before, etcd)]
    return Result(etcds, tuple(lines), rest)


@asynccontextmanager
async def _both(etcd: Found) -> AsyncGenerator[tuple[RawCluster, Kept], None]:
    with tempfile.TemporaryDirectory(prefix="bench-etcd-") as name:
        folder = Path(name)
        async with raw_cluster(etcd.path, folder / "raw") as raw, kept(folder / "kept") as ours:
            yield raw, ours


async def _paced(ours: Kept, etcd: Found) -> list[Line]:
    """Grow where etcd itself sets the pace, by refusing changes that come too soon."""
    name, grown = "paced", []
    with tempfile.TemporaryDirectory(prefix="bench-etcd-") as folder:
        async with raw_cluster(etcd.path, Path(folder) / "raw") as raw:
            await raw.create(1)
            await ours.create(name, str(etcd.version), 1)
            await raw.fill()
            await ours.fill(name)
            for before, size in ((1, 3), (3, 5)):
                step = f"{before} to {size}, etcd {etcd.version}"
                grown.append(await _grown(step, raw, ours.edit(name, replicas=size), size))
            lines = [it.at_pace(raw) for it in grown]
    await ours.delete(name)
    return lines


async def _sizes(raw: RawCluster, ours: Kept) -> list[Line]:
    more = await _grown("scale 3 to 5", raw, ours.edit(_NAME, replicas=5), 5)
    fewer = [
        await _line(name, raw.shrink(size), ours.edit(_NAME, replicas=size), _S(3))
        for name, size in (("scale 5 to 3", 3), ("scale 3 to 1", 1))
    ]
    again = await _grown("scale 1 to 3", raw, ours.edit(_NAME, replicas=3), 3)
    return [more.at_pace(raw), *fewer, again.at_pace(raw)]


async def _grown(step: str, raw: RawCluster, asked: Awaitable[None], size: int) -> _Grown:
    known = len(raw.starts)
    line = await _line(step, raw.grow(size), asked, Target(times=1.2))
    return _Grown(line, raw.starts[known:])


@dataclass(frozen=True, slots=True)
class _Grown:
    """More members, and how long the reference's took to start."""

    line: Line
    starts: list[float]

    def at_pace(self, raw: RawCluster) -> Line:
        """Compare with learners that are all as slow to start as the slowest of the reference.

        One that is sent a snapshot may lose its first words, and says them again only after seven
        seconds. Which one does is chance, and differs between the two that are compared.
        """
        luck = len(self.starts) * max(raw.starts) - sum(self.starts)
        return replace(self.line, reference=self.line.reference + luck)


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
