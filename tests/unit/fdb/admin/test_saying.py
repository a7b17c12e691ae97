"""What operators tell each other is written in one transaction, which others may come between."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from fakes.fdb_databases import configured
from stateward.emulate.fdb.keyspace import ModelKeys
from stateward.fdb.admin.keyed.telling import IntentKeys, Writes
from stateward.fdb.admin.keys import Conflicted, Keys, KeyTransaction
from stateward.fdb.model.intents import Intent, Intents, Whose, intent_key, moment

T = TypeVar("T")
OURS, THEIRS = Whose("dc1", "dc1-log-1"), Whose("dc2", "dc2-log-1")


class Crowded(Keys):
    """Keys between whose reading and writing another says something, some times."""

    def __init__(self, times: int) -> None:
        self.inner = ModelKeys(configured())
        self.times = times
        self.asked = 0

    async def transact(self, work: Callable[[KeyTransaction], Awaitable[T]]) -> T:
        self.asked += 1

        async def between(at: KeyTransaction) -> T:
            found = await work(at)
            if self.times:
                self.times -= 1
                key = intent_key(IntentKeys(self.inner).prefix, Intent.RESTART, THEIRS)
                await IntentKeys(self.inner).say(lambda _: {key: moment(self.times)})
            return found

        return await self.inner.transact(between)


def restart(told: Intents) -> Writes:
    """Say that ours is to restart, after all that others have said of theirs."""
    heard = max(told.of(Intent.RESTART).values(), default=0)
    return {intent_key(IntentKeys(Crowded(0)).prefix, Intent.RESTART, OURS): moment(100 + heard)}


@pytest.mark.parametrize(("times", "asked"), [(0, 1), (1, 2), (2, 3)])
async def test_who_comes_in_between_is_heard_and_answered_at_once(times: int, asked: int) -> None:
    keys = Crowded(times)
    told = await IntentKeys(keys).say(restart)
    assert keys.asked == asked
    assert (OURS in told.of(Intent.RESTART), THEIRS in told.of(Intent.RESTART)) == (True, times > 0)
    assert await IntentKeys(keys.inner).look() == told


async def test_where_others_come_in_between_all_the_time_it_is_told() -> None:
    keys = Crowded(99)
    with pytest.raises(Conflicted):
        await IntentKeys(keys).say(restart)
    assert keys.asked == 3
    assert OURS not in (await IntentKeys(keys.inner).look()).of(Intent.RESTART)
