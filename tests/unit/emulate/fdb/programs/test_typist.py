"""Who is killed by a line of fdbcli: everybody that was named, also whoever runs that line."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateward.core.clock import SystemClock
from stateward.emulate.fdb.programs import typist as module
from stateward.emulate.fdb.programs.pace import Pace
from stateward.emulate.fdb.programs.typist import Shown, Typist
from stateward.emulate.fdb.talk.council import Speaker
from stateward.emulate.fdb.talk.messages import Any, Die, Ended, Kill, Printed
from stateward.emulate.fdb.talk.seeker import Seeker
from stateward.emulate.fdb.talk.tls import Security
from stateward.emulate.fdb.talk.wire import REACHED, Lost
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString

STRING = ConnectionString.parse("lab:abc@127.0.0.1:4501,127.0.0.2:4501,127.0.0.3:4501")
HOLDER, *OTHERS = STRING.coordinators
KILLS = [Kill(it.plain) for it in STRING.coordinators]
END = Ended(0, str(STRING))


class Line:
    """What whoever runs a line says; after that it is heard no more."""

    def __init__(self, *words: Any) -> None:
        self.words = [*words]

    async def send(self, _message: Any) -> None:
        return

    async def hear(self) -> Any:
        if not self.words:
            raise Lost("it is gone")
        return self.words.pop(0)

    def close(self) -> None:
        return


#: What is heard of the line, who is killed by it, and its code; None: it is typed again.
HEARD: dict[str, tuple[list[Any], list[str], int | None]] = {
    "all of it": ([*KILLS, Printed("killed"), END], [*OTHERS, HOLDER], 0),
    "not the end": ([*KILLS], [*OTHERS, HOLDER], 0),
    "only that it shall die itself": ([KILLS[0]], [HOLDER], 0),
    "nothing": ([], [], None),
    "something, and nobody shall die": ([Printed("x")], [], None),
}


@pytest.mark.parametrize("name", HEARD)
async def test_whoever_is_named_is_killed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, killed, code = HEARD[name]
    told: list[Address] = []

    async def connect(_whom: Address, *_how: Any) -> Line:
        return Line(*words)

    async def ask(whom: Address, *how: Any, seconds: float) -> None:
        what = how[2]
        assert seconds > REACHED, "a process that is held up is not left out"
        assert isinstance(what, Die)
        told.append(whom)

    monkeypatch.setattr(module.wires, "connect", connect)
    monkeypatch.setattr(module.wires, "ask", ask)
    file = tmp_path / "fdb.cluster"
    file.write_text(str(STRING))
    seeker = Seeker(STRING, Speaker("fdb00b073000000", Security()))
    it = Typist(seeker, str(file), 10.0, Pace(SystemClock(), 1000.0))
    found = await it._asked(HOLDER, "kill; kill all", Shown(), it.now() + 10.0)
    assert (told, found) == (killed, code)
