"""Which acts need the lock of the database: each is tried while it stands in every way it can.

The technical design says "requires a lock" of five steps. Exclusions that are taken back, zones under
maintenance and the restart of an upgrade concern the whole database as well, so they need it here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import msgspec
import pytest

from fakes.fdb_desk import Desk
from fakes.fdb_views import NOW, cluster, healthy
from stateward.core.chance import Chance
from stateward.core.outcome import DONE, Retry
from stateward.fdb.admin.errors import DatabaseSilent
from stateward.fdb.admin.keys import KeyTransaction
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.api.options import DenyListEntry, LockOptions
from stateward.fdb.api.status import LockStatus, MaintenanceModeInfo
from stateward.fdb.cluster.hands.locked import Locks
from stateward.fdb.cluster.hands.maintaining import maintain
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.pipeline import steps
from stateward.fdb.decide.groups.maintenance import Begin, End, Move, Noted
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.intents import Intent, Whose, intent_key
from stateward.fdb.model.locks import Lock, denied_key, lock_key
from stateward.fdb.model.names import EXCLUSION_FINALIZER
from stateward.fdb.status.reading import Status
from stateward.fdb.views import ClusterView
from unit.fdb.cluster.test_steps import ACTS, COUNTS, WHOLE

T = TypeVar("T")
#: Who has the programs of another version says so without the lock: that changes nothing.
UPGRADES = b"/upgrades/"
ZONE = Noted("1", NOW - 10, frozenset({"storage-1"}), 600)


@dataclass
class Shared(Desk):
    """A desk whose database has keys, and a lock among them."""

    rows: dict[bytes, bytes] = field(default_factory=dict)
    away: bool = False
    record: MaintenanceModeInfo | None = None
    #: Seconds for which all stands still when the user is asked once more.
    stands_still: float = 0.0

    async def transact(self, work: Callable[[KeyTransaction], Awaitable[T]]) -> T:
        if self.away:
            raise DatabaseSilent("it does not answer")
        mine = _At(dict(self.rows))
        found = await work(mine)
        self.rows = mine.rows
        self.asked += mine.managed
        return found

    async def status(self) -> Status:
        return self.view.database

    async def maintenance(self) -> None:
        return None

    async def get(self, *words: Any) -> FoundationDBCluster:
        self.at += self.stands_still
        found = await super().get(*words)
        status = msgspec.structs.replace(found.status, maintenance_mode_info=self.record)
        return msgspec.structs.replace(found, status=status)

    @property
    def tools(self) -> Tools:
        it = cast("Any", self)
        turn = Locks(it)
        return Tools(client=it, turn=turn, fence=it, chance=Chance(1, "steps"))


@dataclass
class _At:
    """A transaction; what manages the database is noted by its kind."""

    rows: dict[bytes, bytes]
    managed: list[str] = field(default_factory=list)

    async def get(self, key: bytes) -> bytes | None:
        return self.rows.get(key)

    async def get_range(self, begin: bytes, end: bytes) -> list[tuple[bytes, bytes]]:
        return sorted((key, it) for key, it in self.rows.items() if begin <= key < end)

    def set(self, key: bytes, value: bytes) -> None:
        if key.startswith(b"\xff\xff"):
            self.managed.append(f"set {key.decode('latin1').split('/')[2]}")
        else:
            self.rows[key] = value

    def clear(self, key: bytes) -> None:
        if key.startswith(b"\xff\xff"):
            self.managed.append(f"clear {key.decode('latin1').split('/')[2]}")
        else:
            self.rows.pop(key, None)

    def clear_range(self, begin: bytes, end: bytes) -> None:
        for key in [it for it in self.rows if begin <= it < end]:
            del self.rows[key]


# ------------------------------------------------------------------ acts that need it
@dataclass(frozen=True)
class Act:
    """A cluster in which something would be done, by whom, and what that is."""

    step: str
    view: ClusterView
    #: What it asks for: under the lock, and without one.
    asks: str
    plainly: str = ""
    move: Move | None = None


def gone() -> ClusterView:
    tree = healthy()
    named = [{"locality": "locality_instance_id:storage-4"}]
    tree["cluster"]["configuration"]["excluded_servers"] = named
    tree["cluster"]["recovery_state"]["seconds_since_last_recovered"] = 3000.0
    return cluster("s1 s2 s3 l1 l2 l3 x1 x2 s4!>?", tree, counts=COUNTS)


def upgrading() -> ClusterView:
    view = cluster(WHOLE, counts=COUNTS, version="7.4.1", ignoreUpgradabilityChecks=True)
    return replace(view, staging=True)


REST = cluster(WHOLE, counts=COUNTS)
FENCED = {"ExcludeInstances": "set excluded_locality", "ChangeCoordinators": "set coordinators"}
EVERY: dict[str, Act] = {
    **{name: Act(name, it, FENCED.get(name, verb), verb) for name, (it, verb) in ACTS.items()},
    "including": Act("RemoveProcessGroups", gone(), "clear excluded_locality", "include"),
    "an upgrade": Act("BounceProcesses", upgrading(), "kill"),
    "maintenance": Act("UpdatePods", REST, "begin_maintenance", move=Begin(ZONE, "pods go")),
    "its end": Act("CheckMaintenanceMode", REST, "end_maintenance", move=End(ZONE, "all are back")),
}
#: Of whom the technical design says that they require a lock.
DESIGN = {
    "UpdateDatabaseConfiguration",
    "ExcludeInstances",
    "ChangeCoordinators",
    "BounceProcesses",
    "UpdatePods",
}


# ------------------------------------------------------------------ how the lock can stand
def lock(owner: str, start: float, end: float) -> dict[bytes, bytes]:
    return {lock_key(): Lock(owner, int(NOW + start), int(NOW + end)).encode()}


def denied(owner: str) -> dict[bytes, bytes]:
    return {denied_key(owner): owner.encode()}


#: How it stands when dc1 would act -> why nothing is done.
CLOSED: dict[str, tuple[Mapping[bytes, bytes], str]] = {
    "dc2 has it": (lock("dc2", -60, 540), "which 'dc2' has until"),
    "dc2 has it for a second more": (lock("dc2", -600, 0), "which 'dc2' has until"),
    "dc2 has it by a clock that is ahead": (lock("dc2", 3600, 4200), "its clock is ahead of ours"),
    "one of a longer name has it": (lock("dc10", -60, 540), "which 'dc10' has until"),
    "free, and dc1 is denied": (denied("dc1"), "its deny list has 'dc1'"),
    "dc1 has it, and is denied": ({**lock("dc1", -60, 540), **denied("dc1")}, "its deny list has"),
    "over, and dc1 is denied": ({**lock("dc2", -900, -300), **denied("dc1")}, "its deny list has"),
    "no lock": ({lock_key(): b"mine!"}, "must be a lock of operators"),
}
OPEN: dict[str, Mapping[bytes, bytes]] = {
    "free": {},
    "dc1 has it": lock("dc1", -60, 540),
    "dc1 had it": lock("dc1", -900, -300),
    "dc2 had it": lock("dc2", -900, -1),
    "dc2 has it, and is denied": {**lock("dc2", -60, 540), **denied("dc2")},
    "free, and others are denied": {**denied("dc2"), **denied("dc10")},
}


def desk(act: Act, rows: Mapping[bytes, bytes], **options: Any) -> Shared:
    """Return the desk of dc1's operator, before a database with such keys."""
    chosen = LockOptions(**{"disable_locks": False, **options})
    spec = msgspec.structs.replace(
        act.view.spec, lock_options=chosen, process_group_id_prefix="dc1"
    )
    return Shared(replace(act.view, spec=spec), rows=dict(rows), record=ZONE.info)


async def tried(act: Act, it: Shared) -> Any:
    """Have it done, if that may be."""
    gone = (EXCLUSION_FINALIZER,) if act.step == "RemoveProcessGroups" else ()
    seen = it.seen(*gone)
    if act.move is not None:
        return await maintain(it.tools, seen, act.step, act.move)
    return await next(one for one in steps(it.tools) if one.name == act.step).run(seen)


@pytest.mark.parametrize("how", CLOSED)
@pytest.mark.parametrize("what", EVERY)
async def test_nothing_is_done_without_it(what: str, how: str) -> None:
    rows, why = CLOSED[how]
    it = desk(EVERY[what], rows)
    found = await tried(EVERY[what], it)
    assert isinstance(found, Retry), found
    assert it.asked == []
    assert {key: value for key, value in it.rows.items() if UPGRADES not in key} == rows
    (refused,) = it.book.refused
    assert (refused.step, refused.refusal.guard) == (EVERY[what].step, "turn_is_ours")
    assert why in refused.refusal.message


@pytest.mark.parametrize("what", ["BounceProcesses", "UpdatePods"])
async def test_who_waits_for_a_cluster_beside_it_leaves_the_lock_to_others(what: str) -> None:
    """An operator that just started waits for 90 s: with the lock, others would wait as long."""
    it = desk(EVERY[what], {})
    *mine, _theirs = it.view.groups
    found_by = ConnectionString.parse("shop:a@10.0.0.1:4501")
    it.view = replace(it.view, groups=tuple(mine), connection=found_by)
    found = await tried(EVERY[what], it)
    assert isinstance(found, Retry), found
    assert (it.asked, it.rows) == ([], {})
    (refused,) = it.book.refused
    assert "just gone" in refused.refusal.message


@pytest.mark.parametrize("what", EVERY)
async def test_nothing_is_done_while_nobody_says_whose_it_is(what: str) -> None:
    it = desk(EVERY[what], {})
    it.away = True
    assert isinstance(await tried(EVERY[what], it), Retry)
    assert it.asked == []


@pytest.mark.parametrize("what", EVERY)
async def test_who_stood_still_for_longer_than_the_lock_lasts_does_nothing(what: str) -> None:
    """Its lease need not say so: who is told to be the only one has none."""
    it = desk(EVERY[what], {}, lock_duration_minutes=1)
    it.stands_still = 61.0
    assert isinstance(await tried(EVERY[what], it), Retry)
    assert it.asked == []
    (refused,) = it.book.refused
    assert refused.refusal.guard == "turn_is_ours"
    assert "which was ours until 1970-01-01T02:47:40Z" in refused.refusal.message


@pytest.mark.parametrize("what", EVERY)
async def test_who_stood_still_for_less_acts(what: str) -> None:
    it = desk(EVERY[what], {}, lock_duration_minutes=1)
    it.stands_still = 60.0
    await tried(EVERY[what], it)
    assert it.asked[0] == EVERY[what].asks


@pytest.mark.parametrize("how", OPEN)
@pytest.mark.parametrize("what", EVERY)
async def test_it_is_taken_and_the_act_is_done(what: str, how: str) -> None:
    it = desk(EVERY[what], OPEN[how])
    await tried(EVERY[what], it)
    assert it.asked[0] == EVERY[what].asks
    since = NOW - 60 if how == "dc1 has it" else NOW - 900 if how == "dc1 had it" else NOW
    assert it.rows[lock_key()] == Lock("dc1", int(since), int(NOW) + 600).encode()
    assert {**it.rows, lock_key(): b""} == {**OPEN[how], lock_key(): b""}, "all else stays"


@pytest.mark.parametrize("what", EVERY)
async def test_where_locks_are_not_used_nobody_is_asked_for_one(what: str) -> None:
    act, rows = EVERY[what], {**lock("dc2", -60, 540), **denied("dc1")}
    it = desk(act, rows, disable_locks=True)
    it.away = True  # also where the database takes no transactions
    await tried(act, it)
    assert it.asked[0] == (act.plainly or act.asks)
    assert it.rows == rows


async def test_who_acts_alone_and_without_locks_asks_for_no_key() -> None:
    act = Act("CoordinateOperators", REST, "")
    it = desk(act, {}, disable_locks=True)
    it.away = True  # whoever asked would be told so
    assert await tried(act, it) == DONE
    with_locks = desk(act, {})
    with_locks.away = True
    assert isinstance(await tried(act, with_locks), Retry)


def test_all_of_the_design_are_among_them() -> None:
    assert {it.step for it in EVERY.values()} >= DESIGN


async def test_the_deny_list_of_a_spec_needs_no_lock() -> None:
    """Whoever holds it may be the one that must not."""
    act = Act("UpdateLockConfiguration", REST, "")
    listed = (DenyListEntry(id="dc2"), DenyListEntry(id="dc3", allow=True))
    it = desk(act, {**lock("dc2", -60, 540), **denied("dc3"), **denied("dc4")}, deny_list=listed)
    await tried(act, it)
    assert it.rows == {**lock("dc2", -60, 540), **denied("dc2"), **denied("dc4")}


@pytest.mark.parametrize("rivals", [(), ("prod/other",)], ids=["ours", "another's"])
async def test_what_lies_at_a_place_of_before_under_a_name_of_another_stays(
    rivals: tuple[str, ...],
) -> None:
    """Who comes with a prefix that is taken lets go of nothing that the other one has."""
    status = msgspec.structs.replace(REST.status, locks=LockStatus(key_prefix="/before"))
    said = intent_key(b"/before", Intent.REMOVAL, Whose("dc1", "dc1-log-1"))
    there = {lock_key(b"/before"): Lock("dc1", int(NOW), int(NOW) + 600).encode(), said: b""}
    it = desk(Act("", replace(REST, status=status), ""), there)
    seen = replace(it.seen(), rivals=rivals)
    await next(one for one in steps(it.tools) if one.name == "CoordinateOperators").run(seen)
    assert it.rows == (there if rivals else {})


LISTED = (DenyListEntry(id="dc2"), DenyListEntry(id="dc3", allow=True))
WRITTEN = ("dc2: denied", "dc3: allowed")


@pytest.mark.parametrize(
    ("record", "after"),
    [
        (LockStatus(deny_list_written=WRITTEN), denied("dc3")),
        (LockStatus(deny_list_written=("dc3: allowed",)), {**denied("dc2"), **denied("dc3")}),
        (
            LockStatus(deny_list_written=("dc2: allowed", *WRITTEN[1:])),
            {**denied("dc2"), **denied("dc3")},
        ),
        (LockStatus(deny_list_written=WRITTEN, key_prefix="/before"), denied("dc2")),
        (LockStatus(), denied("dc2")),
    ],
    ids=["all of it", "half of it", "the contrary", "elsewhere", "nothing"],
)
async def test_what_others_said_since_it_was_written_stays(record: LockStatus, after: Any) -> None:
    """Since then dc2 was allowed and dc3 denied, by others: an operator that starts changes nothing."""
    view = replace(REST, status=msgspec.structs.replace(REST.status, locks=record))
    it = desk(Act("UpdateLockConfiguration", view, ""), denied("dc3"), deny_list=LISTED)
    await tried(Act("UpdateLockConfiguration", view, ""), it)
    assert it.rows == after
    assert it.book.deny_list == WRITTEN
