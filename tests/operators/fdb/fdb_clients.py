"""A client that writes and reads throughout a story, and counts what was acknowledged.

    async with shopping(it, CLUSTER) as client:
        await it.edit(CLUSTER, processes=KNOB)
        await it.reconciled(CLUSTER)
        assert await client.recoveries() >= 1
    assert await client.lost() == []

Every write is a key of its own with a value of its own. What was acknowledged must be there at the
end, whatever happened meanwhile; what was not may be there or not. A client that is refused or
hears nothing goes on with the next key: how often that was is in ``missed``, and for how long at a
time in ``longest``. It has programs of what runs and of what is asked for, as clients have that
live through an upgrade. Recoveries are read from the database: its generation grows by two with
each. A restart of all is one at least, and more where processes come back late, as they do on a
busy machine: whoever serves better is recruited with another one. That it is one where all are in
time is told in virtual time (law F-S26); here operators are held to how often they restart.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from operators.fdb.fdb_worlds import PATIENCE, World
from stateward.core.errors import PeerError
from stateward.core.version import Version
from stateward.fdb.admin.session import Session
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.versions import are_compatible

#: Seconds between two writes; a run of fdbcli takes about as long.
PAUSE = 0.3
#: By how much the generation of a database grows with a recovery.
_GENERATIONS = 2
#: What fdbcli says who was told something by a database.
_ANSWERS = ("Committed", "' is `", ": not found", '"generation"')


@dataclass(slots=True)
class Shopper:
    """One client: what it wrote, what it was told, and what it read."""

    it: World
    cluster: str
    #: For whom it works; the operator's own are never waited for by an upgrade.
    log_group: str = ""
    #: What was acknowledged, by key.
    kept: dict[str, str] = field(default_factory=dict)
    #: What was read and was not what had been acknowledged.
    wrong: list[str] = field(default_factory=list)
    missed: int = 0
    longest: float = 0.0
    _tried: int = 0
    _began: int = 0
    _sessions: dict[Version, Session] = field(default_factory=dict)

    async def begin(self) -> None:
        """Count recoveries from now on."""
        self._began = await self._generation()

    async def shop(self) -> None:
        """Write and read until somebody ends it."""
        heard = time.monotonic()
        while True:
            if await self._turn():
                self.longest = max(self.longest, time.monotonic() - heard)
                heard = time.monotonic()
            await asyncio.sleep(PAUSE)

    async def _turn(self) -> bool:
        """Write something new, and read something that was written before, in turn."""
        self._tried += 1
        key, value = f"order/{self._tried:06}", f"{self._tried * 7}"
        before = [*self.kept][self._tried * 13 % len(self.kept)] if self.kept else ""
        said = await self._typed(
            f"writemode on; set {key} {value}" + (f"; get {before}" if before else "")
        )
        if before:
            self._read(before, said)
        if "Committed" not in said:
            self.missed += 1
            return False
        self.kept[key] = value
        return True

    def _read(self, key: str, said: str) -> None:
        if f"`{key}': not found" in said:
            self.wrong.append(f"{key} is gone")
        elif f"`{key}' is `" in said and f"`{key}' is `{self.kept[key]}'" not in said:
            self.wrong.append(f"{key}: {said.strip()}")

    async def lost(self) -> list[str]:
        """Return what was acknowledged and is not there now, and what was once read wrong."""
        said = await self._answered("getrange order/ order0 100000")
        there = {f"`{key}' is `{value}'" for key, value in self.kept.items()}
        return [*self.wrong, *(it for it in sorted(there) if it not in said)]

    async def recoveries(self) -> int:
        """Return how many there were since it began."""
        return (await self._generation() - self._began) // _GENERATIONS

    async def _generation(self) -> int:
        found = json.loads(await self._answered("status json"))
        return int(found["cluster"]["generation"])

    async def _answered(self, line: str) -> str:
        """Return what a database says, however often it must be asked."""
        async with asyncio.timeout(PATIENCE):
            while not (said := await self._typed(line, seconds=30)):  # noqa: ASYNC110 - no bell
                await asyncio.sleep(PAUSE)
        return said

    # ------------------------------------------------------------------ programs

    async def _typed(self, line: str, seconds: int = 5) -> str:
        """Return what fdbcli answers, of whichever version gets an answer; or nothing."""
        cluster = await self.it.get(self.cluster)
        for version in _lines(cluster):
            session = self._sessions.get(version)
            if session is None:
                session = self._sessions[version] = Session(self.it.shared, "client", version)
            session.find_by(ConnectionString.parse(cluster.status.connection_string))
            group = ["--log_group", self.log_group] if self.log_group else []
            words = ["-C", str(session.file), *group, "--exec", line, "--timeout", str(seconds)]
            try:
                said = (await session.run("fdbcli", words, seconds + 20)).out
            except PeerError:
                continue
            if any(it in said for it in _ANSWERS):
                return said
        return ""

    def close(self) -> None:
        """Remove what programs needed."""
        for it in self._sessions.values():
            it.close()


def _lines(cluster: FoundationDBCluster) -> Iterator[Version]:
    """Yield what a database may be: what ran last, and what is asked for if that is another line."""
    runs, asked = (
        Version.parse(it) for it in (cluster.status.running_version, cluster.spec.version)
    )
    yield runs
    if not are_compatible(runs, asked):
        yield asked


@asynccontextmanager
async def shopping(it: World, cluster: str) -> AsyncGenerator[Shopper, None]:
    """Have a client write and read for the length of a block; ask it afterwards what was lost."""
    client = Shopper(it, cluster)
    try:
        await client.begin()
        task = asyncio.create_task(client.shop())
        try:
            yield client
            assert not task.done(), task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        assert len(client.kept) > 3, "next to nothing was written"
        lost = await client.lost()
        assert lost == [], f"{len(lost)} of {len(client.kept)} acknowledged writes are lost: {lost}"
    finally:
        client.close()
