"""A commit over the wire counts as made only when the other side says so."""

from __future__ import annotations

from typing import Any, cast

import pytest

from stateward.core.errors import OutcomeUnknown, PeerError
from stateward.emulate.fdb.programs.keyed.serving import WireKeys
from stateward.emulate.fdb.talk import messages
from stateward.emulate.fdb.talk.messages import Commit, Done, Get, Refused, Transact, Values
from stateward.emulate.fdb.talk.seeker import Seeker
from stateward.emulate.fdb.talk.wire import Lost
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, Refusal
from stateward.fdb.admin.keys import Conflicted, KeyTransaction


class Line:
    """A wire on which somebody answers a commit as was agreed."""

    def __init__(self, answer: messages.Any | Lost) -> None:
        self._answer = answer
        self.sent: list[messages.Any] = []
        self.closed = False

    async def controller(self) -> Line:
        return self

    async def send(self, message: messages.Any) -> None:
        self.sent.append(message)

    async def receive(self) -> messages.Any:
        if isinstance(self._answer, Lost):
            raise self._answer
        return self._answer

    def close(self) -> None:
        self.closed = True


async def write(transaction: KeyTransaction) -> str:
    transaction.set(b"a", b"1")
    return "made"


async def test_done_is_done() -> None:
    line = Line(Done())
    assert await WireKeys(cast("Seeker", line)).transact(write) == "made"
    assert line.sent == [Transact(), Commit([(b"a", b"1")])]
    assert line.closed


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Values([]), OutcomeUnknown),
        (Get(b"a"), OutcomeUnknown),
        (Transact(), OutcomeUnknown),
        (Commit([]), OutcomeUnknown),
        (Lost("gone"), OutcomeUnknown),
        (Refused("unknown", "who knows"), OutcomeUnknown),
        (Refused("conflicted", "another"), Conflicted),
        (Refused("silent", "nobody"), DatabaseSilent),
        (Refused(Refusal.LOCKED, "locked"), DatabaseRefused),
    ],
    ids=repr,
)
async def test_anything_else_is_not(answer: Any, kind: type[PeerError]) -> None:
    line = Line(answer)
    with pytest.raises(kind):
        await WireKeys(cast("Seeker", line)).transact(write)
    assert line.closed
