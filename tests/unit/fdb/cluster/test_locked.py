"""The lock before an act: for how long it is taken, and when nobody is asked for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from fakes.fdb_databases import configured
from fakes.fdb_desk import Desk
from fakes.fdb_views import NOW, cluster, healthy
from fakes.hand_clock import HandClock
from stateward.core.errors import NotLeader
from stateward.core.outcome import Retry
from stateward.emulate.fdb.console import Console
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.keyspace import ModelKeys
from stateward.fdb.admin.fdbcli import Fdbcli
from stateward.fdb.admin.keyed.locking import LockKeys, LockLost
from stateward.fdb.admin.keyed.telling import IntentKeys
from stateward.fdb.admin.keys import excluded_key
from stateward.fdb.cluster.hands import together
from stateward.fdb.cluster.hands.fence import Fence
from stateward.fdb.cluster.hands.locked import Locks, change_coordinators, claim, exclude, include
from stateward.fdb.cluster.hands.together import Disagreed, unless_more_go
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.exclusions import of_instance
from stateward.fdb.model.intents import Intent, Intents, Whose, intent_key, moment
from stateward.fdb.model.locks import Claim, Lock, NotOurs, judged

LOCKED: dict[str, Any] = {
    "lockOptions": {"disableLocks": False, "lockDurationMinutes": 1},
    "processGroupIDPrefix": "dc1",
}


async def test_it_is_taken_from_the_moment_of_the_act_on() -> None:
    """A pass that began long ago, or an operator that slept, takes no lock that is over already."""
    desk, keys = Desk(cluster("s1", **LOCKED), at=NOW + 300), ModelKeys(configured())
    turn = Locks(cast("Any", desk))
    seen = replace(desk.seen(), admin=cast("Any", keys))
    assert await turn.take(seen, "acting") is None
    found = (await LockKeys(keys).look()).lock
    assert found == Lock("dc1", int(NOW) + 300, int(NOW) + 360)


async def test_a_database_that_is_away_is_not_asked_whose_the_lock_is() -> None:
    away = healthy()
    away["client"]["database_status"]["available"] = False
    desk = Desk(replace(cluster("s1", away, **LOCKED), configured=True))
    found = await desk.run("CoordinateOperators")
    assert isinstance(found, Retry)
    assert (found.reason, desk.asked) == ("LockUnknown", [])


async def test_coordinators_that_were_changed_before_are_no_trouble() -> None:
    """Whoever was not told of a commit asks again, and the database says that nothing changes."""
    desk, model = Desk(cluster("s1", **LOCKED)), configured()
    admin = Fdbcli(Console(model))
    turn = Locks(cast("Any", desk))
    seen = replace(desk.seen(), admin=admin)
    assert await turn.take(seen, "acting") is None
    there = model.string.coordinators
    found = await change_coordinators(cast("Any", desk), seen, admin, there)
    assert found == model.string


@pytest.mark.parametrize("locks", [True, False])
@pytest.mark.parametrize(("said", "moved"), [("dc2-storage-1", True), ("dc2-storage-2", False)])
async def test_coordinators_do_not_move_by_what_others_said_before(
    locks: bool, said: str, moved: bool
) -> None:
    """Who of other operators is about to go is read once more in the very same transaction."""
    options = {"disableLocks": not locks, "lockDurationMinutes": 1}
    automation = {"synchronizationMode": "global"}
    there = {**LOCKED, "lockOptions": options, "automationOptions": automation}
    desk, model = Desk(cluster("s1", **there)), configured()
    admin = Fdbcli(Console(model))
    seen = replace(desk.seen(), admin=admin)
    await Locks(cast("Any", desk)).take(seen, "acting")
    going = IntentKeys(admin)
    key = intent_key(going.prefix, Intent.REMOVAL, Whose("dc2", said))
    await going.say(lambda _: {key: moment(NOW)})
    before = model.string
    new = coordinating_next(model)
    told = Intents({Intent.REMOVAL: {Whose("dc2", "dc2-storage-1"): int(NOW)}})
    check = unless_more_go(seen, admin, told)
    if moved:
        found = await change_coordinators(cast("Any", desk), seen, admin, new, check)
        assert (found, set(found.coordinators)) == (model.string, set(new))
    else:
        with pytest.raises(Disagreed, match="dc2-storage-2"):
            await change_coordinators(cast("Any", desk), seen, admin, new, check)
        assert model.string == before


@pytest.mark.parametrize("act", ["exclude", "include", "coordinators", "for all"])
async def test_a_lock_that_is_over_is_no_lock_though_nobody_else_took_it(act: str) -> None:
    """Who acts judges by the time at which it acts: its pass began while the lock was good."""
    desk, model = Desk(cluster("s1", **LOCKED)), configured()
    admin = Fdbcli(Console(model))
    seen = replace(desk.seen(), admin=admin)
    await Locks(cast("Any", desk)).take(seen, "acting")
    found_by, someone = model.string, of_instance("log-2")
    acts: dict[str, Callable[[], Awaitable[object]]] = {
        "exclude": lambda: exclude(cast("Any", desk), seen, admin, [someone]),
        "include": lambda: include(cast("Any", desk), seen, admin, [someone]),
        "coordinators": lambda: change_coordinators(
            cast("Any", desk), seen, admin, coordinating_next(model)
        ),
        "for all": lambda: together.act(
            desk.tools, seen, Intent.EXCLUSION, (), {excluded_key(someone): b""}
        ),
    }
    desk.at = NOW + 61
    with pytest.raises(LockLost, match="ended at 10060"):
        await acts[act]()
    assert (model.excluded, model.string) == (set(), found_by)
    desk.at = NOW + 60
    await acts[act]()


def coordinating_next(model: Database) -> list[Address]:
    """Return who may coordinate, and does not."""
    those = [it.address for it in model.servers.values()]
    return sorted(set(those) - set(model.string.coordinators))[:3]


async def test_who_loses_the_lease_between_reading_and_writing_writes_nothing() -> None:
    """Another operator of the same data center may lead by then, and has the lock by our name."""
    keys, leadership = ModelKeys(configured()), Lapsing()
    lock = LockKeys(Fence(cast("Any", leadership), HandClock()).keys(keys))
    await lock.take(Claim("dc1", 60, 600))
    leadership.held = False
    with pytest.raises(NotLeader):
        await lock.take(Claim("dc1", 120, 600))
    assert (await LockKeys(keys).look()).lock == Lock("dc1", 60, 660)


class Lapsing:
    """A lease that is ours for a while."""

    held = True

    def check(self) -> None:
        if not self.held:
            raise NotLeader("it is over")


@pytest.mark.parametrize(
    ("groups", "formerly"), [("s1 s2 s3", {""}), ("s1 s2-", {""}), ("s1!>", set()), ("", set())]
)
def test_a_name_of_before_is_ones_own_while_a_group_of_it_does_not_go(
    groups: str, formerly: set[str]
) -> None:
    """One that is stuck on a dark node keeps the name from nobody who has it by then."""
    found = claim(cluster(groups, **LOCKED), NOW)
    assert (found.owner, found.formerly) == ("dc1", formerly)


def test_what_one_took_by_another_name_is_its_own() -> None:
    held = Lock("dc1", 0, 600)
    renamed = Claim("dc9", 60, 600, frozenset({"dc1"}))
    assert judged(held, renamed, ()) == Lock("dc9", 60, 660)
    assert judged(held, renamed, ("dc9",)) == NotOurs(held, denied=True)
    assert judged(Lock("dc2", 0, 600), renamed, ()) == NotOurs(Lock("dc2", 0, 600))
