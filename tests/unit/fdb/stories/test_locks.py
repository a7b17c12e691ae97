"""A database that other operators may act on: each takes its turn by the lock in the database."""

from __future__ import annotations

from typing import Any

from fakes.fdb_stories import Story, played, spec
from stateward.fdb.model import locks
from stateward.fdb.model.locks import Lock, denied_key, lock_key
from stateward.kube.codec import Json

LOCKS: Json = {"processGroupIDPrefix": "dc1", "lockOptions": {"disableLocks": False}}
KNOB = {"general": {"customParameters": ["knob_disable_posix_kernel_aio=1"]}}


def value(it: Story, key: bytes) -> bytes | None:
    store = it.database.store
    return store.value(key, store.version)


def held(it: Story) -> Lock | None:
    """Return the lock as it lies in the database."""
    raw = value(it, lock_key())
    return None if raw is None else Lock.decode(raw)


def put(it: Story, owner: str, seconds: float = 600.0) -> None:
    """Have another operator hold it."""
    now = int(it.it.world.clock.now())
    it.database.store.write([(lock_key(), Lock(owner, now, now + int(seconds)).encode())])


def kills(it: Story) -> list[str]:
    return [one for one in it.watcher.commands if one.startswith("kill")]


def waiting(it: Story) -> str:
    return " ".join(one["message"] for one in it.status.get("blockers", ()))


def told_of_lock(it: Story) -> dict[str, float]:
    """Return what Prometheus would be told of it."""
    lines = it.it.metrics[-1].render()[0].decode().splitlines()
    found = (line.partition("stateward_fdb_lock_") for line in lines if line[0] != "#")
    words = (rest.rsplit(" ", 1) for _, ours, rest in found if ours)
    return {name.replace('name="shop",namespace="default"', ""): float(n) for name, n in words}


def test_it_is_taken_for_an_act_and_let_go_at_rest() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**LOCKS))
        await it.rest(60)
        assert held(it) is None
        it.change(processes=KNOB)
        await it.until("it acts", lambda: bool(kills(it)))
        lock = held(it)
        assert lock is not None
        assert (lock.owner, lock.end - lock.start) == ("dc1", 600)
        await it.reconciled()
        await it.rest(60)
        assert held(it) is None
        assert it.status.get("locks", {}) == {}
        await it.at_rest()

    played(story)


def test_who_does_not_have_it_waits_and_says_for_whom() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**LOCKS))
        before = len(kills(it))
        put(it, "dc2", 400.0)
        it.change(processes=KNOB)
        await it.until("told", lambda: "which 'dc2' has until" in waiting(it))
        assert it.status["locks"]["holder"] == "dc2"
        await it.rest(200)
        assert len(kills(it)) == before
        await it.reconciled()
        assert len(kills(it)) == before + 1

    played(story)


def test_who_is_denied_acts_only_when_it_is_allowed_again() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**LOCKS))
        before = len(kills(it))
        it.database.store.write([(denied_key("dc1"), b"dc1")])
        it.change(processes=KNOB)
        await it.until("told", lambda: "its deny list has 'dc1'" in waiting(it))
        assert it.status["locks"]["lockDenyList"] == ["dc1"]
        await it.rest(900)
        assert len(kills(it)) == before
        assert held(it) is None, "not even a free one"
        it.database.store.write([(denied_key("dc1"), None)])
        await it.reconciled()
        assert len(kills(it)) == before + 1

    played(story)


def test_others_are_denied_and_allowed_as_the_spec_says() -> None:
    def listed(*entries: Any) -> Json:
        return {"denyList": list(entries)}

    async def story(it: Story) -> None:
        await it.create(spec(**LOCKS))
        put(it, "dc2", 90_000.0)
        it.change(processes=KNOB)
        await it.until("told", lambda: "which 'dc2' has until" in waiting(it))
        it.change(lockOptions=listed({"id": "dc2"}))
        await it.reconciled()
        assert value(it, denied_key("dc2")) == b"dc2"
        it.change(lockOptions=listed())
        await it.reconciled()
        assert value(it, denied_key("dc2")) == b"dc2", "nothing is said of it"
        it.change(lockOptions=listed({"id": "dc2", "allow": True}))
        await it.reconciled()
        assert value(it, denied_key("dc2")) is None

    played(story)


def test_another_place_for_the_lock() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**LOCKS))
        put(it, "dc2", 90_000.0)
        elsewhere = {"lockKeyPrefix": "elsewhere", "lockDurationMinutes": 3}
        before = len(kills(it))
        it.change(lockOptions=elsewhere, processes=KNOB)
        await it.until("it acts", lambda: len(kills(it)) > before)
        raw = value(it, lock_key(b"elsewhere"))
        assert raw is not None
        lock = Lock.decode(raw)
        assert (lock.owner, lock.end - lock.start) == ("dc1", 180)
        assert locks.PREFIX not in raw
        await it.reconciled()

    played(story)


def test_nothing_is_left_where_it_was_before() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**LOCKS, automationOptions={"synchronizationMode": "global"}))
        before = keys(it, locks.PREFIX)
        assert any(b"dc1" in key for key in before), "it is there, and says so"
        it.change(lockOptions={"lockKeyPrefix": r"\xff\x02/elsewhere"})
        await it.until("moved", lambda: bool(keys(it, b"\xff\x02/elsewhere")))
        await it.reconciled()
        assert keys(it, locks.PREFIX) == []
        assert it.status["locks"]["keyPrefix"] == r"\xff\x02/elsewhere"
        it.change(lockOptions={"lockKeyPrefix": None})
        await it.until("back", lambda: bool(keys(it, locks.PREFIX)))
        await it.reconciled()
        assert keys(it, b"\xff\x02/elsewhere") == []
        await it.at_rest()

    played(story)


def keys(it: Story, prefix: bytes) -> list[bytes]:
    store = it.database.store
    return [key for key, _ in store.span(prefix, prefix + b"\xff", store.version)]


def test_who_changes_its_prefix_does_not_wait_for_itself() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**LOCKS))
        it.change(processGroupIDPrefix="dc9")
        put(it, "dc1", 900_000.0)
        await it.reconciled()
        await it.rest(130)
        assert it.status["generations"].get("hasPendingRemoval"), "their exclusions are still there"
        assert held(it) is None
        await it.rest(700)
        assert held(it) is None

    played(story)


def test_a_lock_for_longer_than_there_are_dates_is_told_to_a_person() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**LOCKS))
        before = len(kills(it))
        it.database.store.write([(lock_key(), Lock("dc2", 1, 2**60).encode())])
        it.change(processes=KNOB)
        await it.until("told", lambda: "must be seconds since 1970" in waiting(it))
        await it.rest(60)
        assert len(kills(it)) == before
        it.database.store.write([(lock_key(), None)])
        await it.reconciled()

    played(story)


def test_who_denies_itself_lets_others_act() -> None:
    """The same list may be applied everywhere, also to the one that it is about."""

    async def story(it: Story) -> None:
        await it.create(spec(**LOCKS))
        before = len(kills(it))
        it.change(lockOptions={"denyList": [{"id": "dc1"}]}, processes=KNOB)
        await it.until("told", lambda: "its deny list has 'dc1'" in waiting(it))
        assert value(it, denied_key("dc1")) == b"dc1"
        assert len(kills(it)) == before
        it.change(lockOptions={"denyList": [{"id": "dc1", "allow": True}]})
        await it.reconciled()
        assert len(kills(it)) == before + 1

    played(story)


def test_who_is_denied_says_so_also_at_rest() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**LOCKS))
        it.change(lockOptions={"denyList": [{"id": "dc1"}]})
        await it.until("told", lambda: it.condition("Progressing")["reason"] == "LockDenied")
        assert "as its own lockOptions.denyList says" in it.condition("Progressing")["message"]
        await it.until("as asked", lambda: it.is_reconciled)
        assert it.condition("Ready")["status"] == "True", "nothing is to be done"
        (blocker,) = it.status["blockers"]
        assert "allow: true" in blocker["hint"]
        await it.at_rest()
        it.change(lockOptions={"denyList": [{"id": "dc1", "allow": True}]})
        await it.reconciled()
        assert it.condition("Progressing")["reason"] == "Reconciled"

    played(story)


def test_an_act_that_fails_for_ever_keeps_nobody_from_acting() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**LOCKS))
        free = 0
        it.it.refused = "configure"
        it.change(databaseConfiguration={"logs": 4})
        await it.until("told", lambda: "the database says no" in waiting(it))
        for _ in range(40):
            await it.rest(7)
            free += held(it) is None
        assert free >= 30, "who asks every now and then finds it free"
        put(it, "dc2", 60.0)
        await it.until("waits", lambda: "which 'dc2' has until" in waiting(it))
        it.it.refused = ""
        await it.reconciled()

    played(story)


def test_whose_it_is_is_in_metrics() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**LOCKS))
        assert told_of_lock(it) == {"denied{}": 0, "ours{}": 0}
        put(it, "dc2", 400.0)
        it.change(processes=KNOB)
        await it.until("told", lambda: "which 'dc2' has until" in waiting(it))
        await it.rest(100)
        told = told_of_lock(it)
        since, left = told.pop("held_seconds{}"), told.pop("seconds_left{}")
        assert since > 60
        assert round(since + left) == 400
        assert told == {"denied{}": 0, "ours{}": 0, 'holder{holder="dc2",}': 1}
        await it.until("it acts", lambda: held(it) is not None and "dc1" in str(held(it)))
        await it.until("told", lambda: told_of_lock(it).get("ours{}") == 1)
        assert told_of_lock(it)['holder{holder="dc1",}'] == 1
        await it.reconciled()
        await it.rest(60)
        assert told_of_lock(it) == {"denied{}": 0, "ours{}": 0}
        it.change(lockOptions={"disableLocks": True})
        await it.until("told", lambda: told_of_lock(it) == {})
        await it.reconciled()

    played(story)
