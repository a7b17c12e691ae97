"""A client that writes and reads throughout a story, and counts what was acknowledged.

    async with shopping(it, CLUSTER) as client:
        await it.edit(CLUSTER, imageType="unified")
        await it.reconciled(CLUSTER)
    assert await client.lost() == []
    assert client.recoveries <= 4

Every write is a key of its own with a value of its own. What was acknowledged must be there at the
end, whatever happened meanwhile; what was not may be there or not. A client that is refused or
hears nothing goes on with the next key: how often that was is in ``missed``, and for how long at a
time in ``longest``. Recoveries are read from the database: its generation grows by two with each.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from operators.fdb.fdb_worlds import VERSION, World
from stateward.core.errors import PeerError
from stateward.core.version import Version
from stateward.fdb.admin.session import Session
from stateward.fdb.model.connection import ConnectionString

#: Seconds between two writes; a run of fdbcli takes about as long.
PAUSE = 0.3
#: By how much the generation of a database grows with a recovery.
_GENERATIONS = 2


@dataclass(slots=True)
class Shopper:
    """One client: what it wrote, what it was told, and what it read."""

    it: World
    cluster: str
    #: What was acknowledged, by key.
    kept: dict[str, str] = field(default_factory=dict)
    #: What was read and was not what had been acknowledged.
    wrong: list[str] = field(default_factory=list)
    missed: int = 0
    longest: float = 0.0
    recoveries: int = 0
    _tried: int = 0

    async def shop(self) -> None:
        """Write and read until somebody ends it."""
        heard = time.monotonic()
        while True:
            if await self._write():
                self.longest = max(self.longest, time.monotonic() - heard)
                heard = time.monotonic()
                await self._read()
            await asyncio.sleep(PAUSE)

    async def _write(self) -> bool:
        self._tried += 1
        key, value = f"order/{self._tried:06}", f"{self._tried * 7}"
        said = await self._typed(f"writemode on; set {key} {value}")
        if "Committed" not in said:
            self.missed += 1
            return False
        self.kept[key] = value
        return True

    async def _read(self) -> None:
        """Read something that was written before, in turn."""
        key = [*self.kept][self._tried * 13 % len(self.kept)]
        said = await self._typed(f"get {key}")
        if f"`{key}': not found" in said:
            self.wrong.append(f"{key} is gone")
        elif f"`{key}' is `" in said and f"`{key}' is `{self.kept[key]}'" not in said:
            self.wrong.append(f"{key}: {said.strip()}")

    async def lost(self) -> list[str]:
        """Return what was acknowledged and is not there now, and what was once read wrong."""
        said = await self.it.typed(self.cluster, "getrange order/ order0 100000")
        there = {f"`{key}' is `{value}'" for key, value in self.kept.items()}
        return [*self.wrong, *(it for it in sorted(there) if it not in said)]

    async def generation(self) -> int:
        """Return how many recoveries there were, each counted twice."""
        found = json.loads(await self.it.typed(self.cluster, "status json"))
        return int(found["cluster"]["generation"])

    async def _typed(self, line: str) -> str:
        """Return what fdbcli answers; nothing, where it did not in time."""
        found = (await self.it.get(self.cluster)).status.connection_string
        session = Session(self.it.shared, "client", Version.parse(VERSION))
        try:
            session.find_by(ConnectionString.parse(found))
            words = ["-C", str(session.file), "--exec", line, "--timeout", "5"]
            return (await session.run("fdbcli", words, 20)).out
        except PeerError:
            return ""
        finally:
            session.close()


@asynccontextmanager
async def shopping(it: World, cluster: str) -> AsyncGenerator[Shopper, None]:
    """Have a client write and read for the length of a block; then count recoveries."""
    client = Shopper(it, cluster)
    before = await client.generation()
    task = asyncio.create_task(client.shop())
    try:
        yield client
        assert not task.done(), task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    client.recoveries = (await client.generation() - before) // _GENERATIONS
    assert client.kept, "nothing was written"
