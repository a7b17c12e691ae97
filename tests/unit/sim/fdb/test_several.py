"""Several data centers with one database: each has its own Kubernetes, and laws see all of them."""

from __future__ import annotations

from functools import cache

import pytest

from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.keys import Transaction
from stateward.fdb.admin.keyed.optimistic import Order
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.model import intents, locks
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.intents import Acted, Beat, Intent, Whose
from stateward.fdb.model.locks import Lock
from stateward.kube.resources import PODS
from stateward.runtime.own_writes import PASS
from stateward.sim.faults import Plan
from stateward.sim.fdb.keys import KeysCall
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.fdb.laws.several.acting import Locks
from stateward.sim.fdb.laws.several.agreeing import Agreements
from stateward.sim.fdb.life import live
from stateward.sim.fdb.scripts.kit import KEY, manifest
from stateward.sim.fdb.world import FdbWorld
from stateward.sim.laws.violations import Book
from stateward.sim.laws.watchman import Watchman
from stateward.sim.lives import Ask, Life
from stateward.sim.loop import EPOCH
from stateward.sim.world import World, simulate

KINDS = (CLUSTERS, PROCESS_GROUPS)
NOW = int(EPOCH) + 100
OTHER = b"\xff\xff/management/excluded/10.9.9.9"
STORAGE, LATE = Whose("dc1", "dc1-storage-1"), Whose("dc2", "dc2-storage-1")
#: The lock of dc1, or of dc2, which began a moment ago or is over.
OURS, THEIRS, OVER = (
    Lock(owner, start, start + 60).encode()
    for owner, start in (("dc1", NOW), ("dc2", NOW), ("dc2", NOW - 90))
)


#: Whose operator commits what; "user": somebody who is no operator.
Said = tuple[str, dict[bytes, bytes | None]]


class Two:
    """Two data centers with an operator each that writes keys of one database, by hand."""

    def __init__(self, it: FdbWorld) -> None:
        beside = World(it.world.loop, 1, KINDS, place="dc2", beside=it.world)
        self.sites = [it, FdbWorld(beside, beside=it)]
        self.book = Book(it.world.loop.time)
        for site in self.sites:
            scene = Scene(site, Watchman(site.world, self.book))
            Locks(scene)
            Agreements(scene)
        string = ConnectionString.parse("shop:abc@10.0.0.2:4501")
        self.database: Database = it.realm.database(string)

    async def begin(self, mode: str) -> None:
        for site, name in zip(self.sites, ("dc1", "dc2"), strict=True):
            automation = {"synchronizationMode": mode}
            said = {"disableLocks": False, "lockDurationMinutes": 1}
            spec = {"lockOptions": said, "automationOptions": automation}
            asked = manifest(KEY, **spec, processGroupIDPrefix=name)
            await site.world.client.create(CLUSTERS, asked)

    def write(self, who: str, writes: dict[bytes, bytes | None]) -> None:
        """Have the operator of a data center commit something."""
        site = self.sites[who == "dc2"]
        call = KeysCall(Order(writes=list(writes.items())), "shop")
        before = PASS.set(("fdb", KEY))
        for listener in site.world.weather.listeners if who != "user" else ():
            listener(f"op-{who}", call)
        PASS.reset(before)
        at = Transaction(self.database.store, self.database.now, system=True, aware=True)
        for key, value in writes.items():
            if value is None:
                at.clear(key)
            elif key != OTHER:
                at.set(key, value)
        at.commit(self.database.now)
        for told in site.realm.keyed:
            told(call, self.database)

    @property
    def broken(self) -> list[str]:
        return [it.law for it in self.book.violations]


def broken_by(story: list[Said], mode: str = "local") -> list[str]:
    """Return the laws that a story breaks, a hundred seconds after the beginning."""
    found: list[str] = []

    async def live_it(world: World) -> None:
        two = Two(FdbWorld(world))
        await two.begin(mode)
        await world.clock.sleep(100)
        for who, writes in story:
            two.write(who, writes)
        found.extend(two.broken)

    simulate(live_it, seed=1, custom=KINDS)
    return found


LOCK = locks.lock_key()
TAKEN: Said = ("dc1", {LOCK: OURS})
DENIED = locks.denied_key("dc1")


@pytest.mark.parametrize(
    ("story", "law"),
    [
        # who acts by keys
        ([TAKEN, ("dc1", {OTHER: b""})], ""),
        ([("dc1", {OTHER: b""})], "F-S1"),
        ([TAKEN, ("dc1", {LOCK: None}), ("dc1", {OTHER: b""})], "F-S1"),
        ([TAKEN, ("dc2", {OTHER: b""})], "F-S2"),
        ([("dc2", {LOCK: OVER}), TAKEN, ("dc2", {OTHER: b""})], "F-S2"),
        # who takes it
        ([("dc2", {LOCK: OVER}), TAKEN], ""),
        ([("dc2", {LOCK: THEIRS}), TAKEN], "F-S4"),
        ([TAKEN, ("dc1", {LOCK: Lock("dc1", NOW, NOW + 61).encode()})], ""),
        ([TAKEN, ("dc1", {LOCK: Lock("dc1", NOW + 1, NOW + 61).encode()})], "F-S4"),
        ([("dc1", {LOCK: Lock("dc1", NOW, NOW + 90).encode()})], "F-S4"),
        ([TAKEN, ("dc2", {LOCK: None})], "F-S4"),
        ([TAKEN, ("dc2", {LOCK: OURS})], "F-S2"),
        # who is denied it
        ([("user", {DENIED: b"dc1"}), TAKEN], "F-S3"),
        ([TAKEN, ("user", {DENIED: b"dc1"}), ("dc2", {LOCK: THEIRS})], ""),
        ([("dc2", {DENIED: b"dc1"})], "F-S3"),
    ],
)  # fmt: skip
def test_laws_of_locks_are_judged_by_what_the_database_has(story, law):
    assert broken_by(story) == ([law] if law else [])


def said(intent: Intent, whose: Whose, at: int = NOW) -> dict[bytes, bytes | None]:
    return {intents.intent_key(locks.PREFIX, intent, whose): intents.moment(at)}


def acted(group: str, word: int = NOW, who: str = "dc1") -> Said:
    key = intents.acted_key(locks.PREFIX, Intent.EXCLUSION, Whose(who, group))
    return who, {key: intents.acted_value(Acted(word, NOW))}


PENDING: Said = ("dc1", said(Intent.EXCLUSION, STORAGE))
READY: Said = ("dc1", said(Intent.READY_FOR_EXCLUSION, STORAGE))
BEATS: list[Said] = [
    (it, {intents.beat_key(locks.PREFIX, it): intents.beat_value(Beat(NOW, it))})
    for it in ("dc1", "dc2")
]
LOG = Whose("dc2", "dc2-log-1")


@pytest.mark.parametrize(
    ("story", "law"),
    [
        ([PENDING, READY, acted(STORAGE.group)], ""),
        ([PENDING, acted(STORAGE.group)], "C-S3"),
        ([PENDING, READY, ("dc2", said(Intent.EXCLUSION, LATE)), acted(STORAGE.group)], "C-S3"),
        # of another class, or waited for long enough
        ([PENDING, READY, ("dc2", said(Intent.EXCLUSION, LOG)), acted(STORAGE.group)], ""),
        (
            [PENDING, READY, ("dc2", said(Intent.EXCLUSION, LATE, NOW - 301)),
             acted(STORAGE.group)],
            "",
        ),
        ([PENDING, READY, acted(STORAGE.group), acted(STORAGE.group, who="dc2")], "C-S4"),
        # whose names
        ([("dc2", said(Intent.EXCLUSION, STORAGE))], "C-S1"),
        ([PENDING, ("dc2", said(Intent.EXCLUSION, Whose("dc2", STORAGE.group)))], "C-S6"),
    ],
)  # fmt: skip
def test_laws_of_what_operators_say_are_judged_by_what_the_database_has(story, law):
    assert broken_by([*BEATS, *story], "global") == ([law] if law else [])


def test_nothing_is_done_to_what_a_dead_operator_has():
    old = NOW - 1000
    story: list[Said] = [
        ("dc2", said(Intent.EXCLUSION, LATE, old) | said(Intent.READY_FOR_EXCLUSION, LATE, old)),
        acted(LATE.group, old),
    ]

    assert broken_by(story, "global") == ["C-L1"]


def test_where_operators_act_alone_nothing_is_said():
    assert broken_by([PENDING]) == ["C-S1"]


# -------------------------------------------------------------------------- the world


def test_data_centers_share_a_database_and_nothing_else():
    seen: dict[str, set[str]] = {}

    def look(it: FdbWorld) -> None:
        for site in it.sites:
            addresses = seen.setdefault(site.world.place, set())
            site.world.api.store.listen(
                lambda event, found=addresses: found.update(
                    one["ip"] for one in event.now.document().get("status", {}).get("podIPs", ())
                ),
                PODS.name,
            )

    life = live(Ask("fdb-locks"), look)

    assert sorted(seen) == ["dc1", "dc2", "dc3"]
    assert all(seen.values())
    assert sum(map(len, seen.values())) == len(set().union(*seen.values()))
    assert {it.process for it in life.calls} == {"op0-dc1.1", "op0-dc2.1", "op0-dc3.1"}
    assert "dc3 cluster ns/shop" in life.end
    assert not life.violations


@cache
def calm() -> Life:
    return live(Ask("fdb-locks"))


@pytest.mark.parametrize("place", ["dc1", "dc2", "dc3"])
def test_a_fault_hits_the_operator_whose_call_it_comes_at(place):
    calls = [
        it.number for it in calm().calls if place in it.process and "fdbkeys writes" in it.text
    ]

    life = live(Ask("fdb-locks", Plan.parse(f"{calls[0]}=crash-after:0")))

    again = {it.process for it in life.calls if it.process.endswith(".2")}
    assert again == {f"op0-{place}.2"}
    assert not life.violations
