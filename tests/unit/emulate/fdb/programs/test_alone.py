"""fdbcli where nobody controls the cluster: it tells how things are, and changes nothing, ever."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from stateward.core.clock import SystemClock
from stateward.emulate.fdb.programs import alone
from stateward.emulate.fdb.programs.pace import Pace
from stateward.emulate.fdb.talk.council import Speaker
from stateward.emulate.fdb.talk.seeker import Seeker
from stateward.emulate.fdb.talk.tls import Security
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString

STRING = ConnectionString.parse("lab:abc@127.0.0.1:4501,127.0.0.2:4501,127.0.0.3:4501")
CHANGES = (
    "configure new single memory",
    "configure FORCE single",
    "exclude 127.0.0.1:4501",
    "include all",
    "coordinators 127.0.0.1:4501",
    "maintenance on z1 60",
    "lock",
    "setclass 127.0.0.1:4501 log",
    "writemode on; set a b",
    "kill; kill all",
    "getversion",
)


class Looking(Seeker):
    """One who reaches some coordinators, and somebody in charge after so many looks."""

    looks = 0
    somebody_after = 10**9

    async def look(self) -> Address | None:
        self.looks += 1
        return STRING.coordinators[0] if self.looks > self.somebody_after else None


@dataclass
class Person:
    """Who typed a line, a thousand times as fast as the world."""

    answering: int
    path: str = "fdb.cluster"
    pace: Pace = field(default_factory=lambda: Pace(SystemClock(), 1000.0))
    out: str = ""
    err: str = ""

    def __post_init__(self) -> None:
        self.seeker = Looking(STRING, Speaker("fdb00b073000000", Security()))
        self.seeker.answering = set(STRING.coordinators[: self.answering])

    def now(self) -> float:
        return self.pace.now(0.0)

    def show(self, out: str, err: str) -> None:
        self.out, self.err = self.out + out, self.err + err

    async def types(self, line: str) -> int | None:
        return await alone.run(self, line, self, 40.0)


@pytest.mark.parametrize("line", CHANGES)
async def test_with_a_majority_there_it_waits_for_somebody_in_charge(line: str) -> None:
    person = Person(answering=3)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.35):
            await person.types(line)
    assert (person.out, person.err) == ("", "")
    person.seeker.somebody_after = person.seeker.looks
    assert await person.types(line) is None, "somebody came: ask that one"


@pytest.mark.parametrize("line", CHANGES)
async def test_without_a_majority_nothing_is_ever_done(line: str) -> None:
    person = Person(answering=1)
    assert await person.types(line) == 1
    assert not any(
        word in person.out
        for word in ("created", "changed", "Successfully", "Committed", "locked.", "Attempted")
    )


@pytest.mark.parametrize("answering", [0, 1, 2, 3])
async def test_how_things_are_is_told_in_any_case(answering: int) -> None:
    person = Person(answering)
    assert await person.types("status json") == 0
    assert person.out.count('"reachable" : true') == answering
    assert '"available" : false' in person.out


async def test_what_needs_nobody_is_answered() -> None:
    person = Person(answering=3)
    assert await person.types("coordinators") == 0
    assert "Cluster coordinators (3)" in person.out
    assert await person.types("nosuch") == 1
    assert "Unknown command" in person.err
