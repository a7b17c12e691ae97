"""Who controls a cluster goes on by what coordinators say."""

from __future__ import annotations

from typing import TypeVar

import pytest

from stateward.emulate.fdb.talk import messages
from stateward.emulate.fdb.talk.council import Council, Speaker
from stateward.emulate.fdb.talk.messages import Granted
from stateward.emulate.fdb.talk.tls import Security
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString

M = TypeVar("M", bound=messages.Message)
STRING = ConnectionString.parse("lab:abc@127.0.1.1:4501,127.0.1.2:4501,127.0.1.3:4501")
ELSEWHERE = "lab:xyz@127.0.2.1:4501"
LET, REFUSED = Granted(is_so=True, term=5), Granted(is_so=False, term=5)
MOVED, LATER = Granted(is_so=False, term=5, forward=ELSEWHERE), Granted(is_so=False, term=6)


class Saying(Council):
    """Coordinators that say what a test has them say."""

    said: tuple[Granted | None, ...] = ()

    async def _ask_one(self, place: Address, asked: messages.Any, kind: type[M]) -> M | None:
        del asked
        found = self.said[self.string.coordinators.index(place)]
        assert found is None or isinstance(found, kind)
        return found


@pytest.mark.parametrize(
    ("said", "goes_on"),
    [
        ((LET, LET, LET), True),
        ((LET, None, None), True),
        ((None, None, None), True),
        ((LET, LET, REFUSED), True),
        ((LET, LET, LATER), False),
        ((LET, LET, MOVED), True),
        ((MOVED, MOVED, LET), False),
        ((MOVED, MOVED, None), False),
    ],
)
async def test_who_was_sent_elsewhere_controls_nothing_here(
    said: tuple[Granted | None, ...], *, goes_on: bool
) -> None:
    council = Saying(STRING, Speaker("0fdb00b073000000", Security("", "", "")))
    council.said = said
    assert await council.renew("127.0.1.1:4501", 5) is goes_on
