"""Acts that fail under the lock: what surely was not done leaves it to others, all else does not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from fakes.fdb_databases import configured
from fakes.fdb_desk import Desk
from fakes.fdb_views import NOW, cluster
from fakes.hand_clock import HandClock
from stateward.core.errors import OutcomeUnknown, PeerConfused, PeerError
from stateward.emulate.fdb.keyspace import ModelKeys
from stateward.fdb.admin.errors import (
    DatabaseRefused,
    DatabaseSilent,
    PrintsTooMuch,
    ProgramUnusable,
    Refusal,
)
from stateward.fdb.admin.keyed.locking import LockKeys, LockLost
from stateward.fdb.admin.keys import Conflicted
from stateward.fdb.cluster.hands.fence import Fence
from stateward.fdb.cluster.hands.locked import Locks
from stateward.fdb.model.locks import Claim, Found, Lock
from stateward.fdb.views import ClusterView
from unit.fdb.cluster.test_steps import ACTS

LOCKED: dict[str, Any] = {"lockOptions": {"disableLocks": False}, "processGroupIDPrefix": "dc1"}
NO = DatabaseRefused(Refusal.OTHER, "no")

#: How an act ends -> whether the lock is let go, and whether the act may still be carried out.
ENDS: dict[str, tuple[PeerError, bool, bool]] = {
    "it says no": (NO, True, False),
    "there is no program": (ProgramUnusable("no fdbcli"), True, False),
    "it does not answer": (DatabaseSilent("?"), False, False),
    "another changed it": (Conflicted("1020"), False, False),
    "another has the lock": (LockLost("dc2 has it"), False, False),
    "nobody knows": (OutcomeUnknown("1021"), False, True),
    "it never stops talking": (PrintsTooMuch("..."), False, True),
    "it talks nonsense": (PeerConfused("?!"), False, True),
}


@pytest.mark.parametrize("end", ENDS)
async def test_what_surely_was_not_done_leaves_the_lock_to_others(end: str) -> None:
    error, lets_go, _ = ENDS[end]
    desk, keys = Desk(cluster("s1", **LOCKED)), ModelKeys(configured())
    turn = Locks(cast("Any", desk))
    seen = replace(desk.seen(), admin=cast("Any", keys))
    assert await turn.take(seen, "acting") is None
    await turn.leave(seen, error)
    found = (await LockKeys(keys).look()).lock
    assert (found is None) == lets_go
    assert seen.book.locks == Found(found)


async def test_only_ones_own_lock_is_let_go_and_only_where_there_are_any() -> None:
    keys = ModelKeys(configured())
    await LockKeys(keys).take(Claim("dc2", int(NOW), 600))
    for spec in (LOCKED, {"lockOptions": {"disableLocks": True}, "processGroupIDPrefix": "dc2"}):
        desk = Desk(cluster("s1", **spec))
        seen = replace(desk.seen(), admin=cast("Any", keys))
        await Locks(cast("Any", desk)).leave(seen, NO)
        assert (await LockKeys(keys).look()).lock == Lock("dc2", int(NOW), int(NOW) + 600)


@dataclass
class Refusing(Desk):
    """A desk at which the database says no to everything."""

    async def change(self, _ask: Callable[..., Awaitable[Any]], *_words: Any) -> Any:
        raise NO


ASKED = {name: view for name, (view, verb) in ACTS.items() if verb != "patch"}


@pytest.mark.parametrize("step", ASKED)
async def test_every_step_whose_act_fails_leaves_its_turn(step: str) -> None:
    view: ClusterView = ASKED[step]
    desk = Refusing(view)
    found = await desk.run(step)
    assert found.reason == "DatabaseRefused"
    assert desk.left == [NO]


@dataclass
class Lease:
    """Leads, and notes that something may still be under way."""

    margin: float = 5.0
    doubts: int = 0

    def check(self) -> None:
        """It leads."""

    def unsure(self) -> None:
        self.doubts += 1


@pytest.mark.parametrize("end", ENDS)
async def test_a_lease_is_kept_for_what_may_still_be_carried_out(end: str) -> None:
    error, _, may_come = ENDS[end]
    lease = Lease()

    async def ask() -> None:
        raise error

    with pytest.raises(type(error)):
        await Fence(cast("Any", lease), HandClock()).change(ask)
    assert lease.doubts == may_come
