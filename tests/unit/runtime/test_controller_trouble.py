"""What goes wrong in a pass delays its key alone, and nothing is done twice by mistake."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from structlog.testing import capture_logs

from fakes.bench import config_map, key, running, until
from fakes.rough_wire import hang, lose_answer, refuse, take, watch_ends
from fakes.shop import Shop, fail, say
from stateward.core.errors import (
    HouseError,
    NotLeader,
    OutcomeUnknown,
    PeerUnreachable,
    SpecInvalid,
)
from stateward.core.outcome import DONE, Outcome, Retry
from stateward.kube.client import MergePatch
from stateward.kube.errors import (
    ApiError,
    Conflict,
    Forbidden,
    NotFound,
    ServerFailed,
    TooManyRequests,
    Unavailable,
)
from stateward.kube.meta import Object, ObjectKey, ObjectMeta
from stateward.kube.resources import CONFIG_MAPS, SECRETS
from stateward.runtime.own_writes import Doubtful, Written

pytestmark = pytest.mark.virtual


@pytest.fixture(autouse=True)
def lines():
    """What was logged; rendering every traceback for nobody would take minutes."""
    with capture_logs() as captured:
        yield captured


async def waits_for_what_was_cancelled(_name: str) -> Outcome:
    """Not the pass is cancelled, but something that it waits for: a closed connection, say."""
    answer: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
    answer.cancel()
    return await answer


async def hangs(_name: str) -> Outcome:
    await asyncio.sleep(1e9)
    raise AssertionError


async def fails_in_a_group(_name: str) -> Outcome:
    async with asyncio.TaskGroup() as group:
        group.create_task(fail(ValueError("deep down"))(""))
    raise AssertionError


POISON = {
    "a peer that does not answer": fail(PeerUnreachable("nobody there")),
    "a peer that is slow for ever": hangs,
    "a spec that cannot be honoured": fail(SpecInvalid("spec.size", "must be odd")),
    "a bug": fail(ZeroDivisionError("bug")),
    "a bug in a group of tasks": fails_in_a_group,
    "an error without a message": fail(TimeoutError()),
    "something else was cancelled": waits_for_what_was_cancelled,
}


@pytest.mark.parametrize("poison", POISON.values(), ids=POISON)
async def test_a_poisoned_key_never_stops_the_others(poison):
    shop = Shop(workers=2, pass_deadline=30)
    for name in ("bad", "good"):
        await shop.make(name)
    shop.acts["bad"] = [poison]
    shop.acts["good"] = [say(Retry(5, "R", "m"))]
    async with running(*shop.parts()) as (_, _, controller):
        await asyncio.sleep(3600)
        assert not controller.done()
        assert len(shop.times("good")) > 700, "every five seconds, as it asked for"
        assert 30 < len(shop.times("bad")) < 80, "again and again, more and more slowly"


async def test_more_poisoned_keys_than_workers():
    shop = Shop(workers=2, pass_deadline=30)
    for number in range(6):
        await shop.make(f"bad{number}")
        shop.acts[f"bad{number}"] = [hangs]
    await shop.make("good")
    async with running(*shop.parts()):
        await asyncio.sleep(3600)
        assert len(shop.times("good")) > 20


async def test_a_pass_that_does_not_end_is_given_up_at_its_deadline():
    shop = Shop(pass_deadline=30)
    await shop.make("a")
    shop.acts["a"] = [hangs, hangs, say(DONE)]
    async with running(*shop.parts()):
        await asyncio.sleep(65)
        assert shop.pauses("a") == [30.5, 31]


class Doom(BaseException):
    """What is no Exception is not for us to survive."""


async def test_what_is_no_exception_ends_the_controller_and_is_not_hidden():
    shop = Shop()
    await shop.make("a")
    shop.acts["a"] = [fail(Doom())]
    async with running(shop.maps.run(), shop.secrets.run()):
        with pytest.raises(BaseExceptionGroup) as caught:
            await shop.controller.run()
    assert caught.group_contains(Doom)


async def test_failures_delay_more_and_more_until_a_success():
    shop = Shop()
    await shop.make("a")
    bug = fail(ValueError("bug"))
    shop.acts["a"] = [bug, bug, bug, bug, say(Retry(9, "R", "m")), bug, say(DONE)]
    async with running(*shop.parts()):
        await asyncio.sleep(25)
        assert shop.pauses("a") == [0.5, 1, 2, 4, 9, 0.5]


@pytest.mark.parametrize(
    ("error", "pause", "result"),
    [
        (Conflict("somebody else wrote first"), 0.5, "requeue"),
        (NotLeader("not us"), 0.5, "error"),
        (TooManyRequests("slow down", retry_after=45), 45, "error"),
        (TooManyRequests("slow down", retry_after=0.1), 0.5, "error"),
        (TooManyRequests("slow down"), 0.5, "error"),
        (Unavailable("not now", retry_after=7), 7, "error"),
        (Conflict("later", retry_after=3), 3, "requeue"),
    ],
    ids=repr,
)
async def test_how_soon_a_failure_is_tried_again(error, pause, result):
    shop = Shop()
    await shop.make("a")
    shop.acts["a"] = [fail(error), say(DONE)]
    async with running(*shop.parts()):
        await asyncio.sleep(47)
        assert shop.pauses("a") == [pause]
    assert shop.results.told("finished")[0][0] == result


@pytest.mark.parametrize(
    ("error", "level", "with_traceback"),
    [
        (Conflict("somebody else wrote first"), "info", False),
        (PeerUnreachable("nobody there"), "warning", False),
        (TimeoutError(), "warning", False),
        (ZeroDivisionError("bug"), "error", True),
        (HouseError("a promise was broken"), "error", True),
    ],
    ids=repr,
)
async def test_what_people_hear_about_a_failure(lines, error, level, with_traceback):
    shop = Shop()
    await shop.make("a")
    shop.acts["a"] = [fail(error), say(DONE)]
    async with running(*shop.parts()):
        await asyncio.sleep(10)
    (line,) = [it for it in lines if "retry_in" in it]
    assert (line["log_level"], line["key"], line["retry_in"]) == (level, "ns/a", 0.5)
    assert ("exc_info" in line) is with_traceback
    assert len(shop.results.told("bug")) == with_traceback, "what is our fault is counted"


# ---------------------------------------------------------------- our own writes
async def test_a_key_whose_last_write_is_not_seen_yet_gets_no_pass():
    shop = Shop()
    await shop.make("a")
    await shop.make("b")
    async with running(*shop.parts()):
        await asyncio.sleep(1)
        future = await shop.user.get(CONFIG_MAPS, key("a"))
        version = int(future.metadata.resource_version) + 5
        shop.maps.own_writes.note(Written(_at_version(future, version)))
        shop.queue.add(key("a"))
        shop.queue.add(key("b"))
        await asyncio.sleep(30)
        assert (len(shop.times("a")), len(shop.times("b"))) == (1, 2)

        for number in range(6):  # now it is seen, whatever happened to a
            await shop.make(f"m{number}")
        await asyncio.sleep(0.01)
        assert len(shop.times("a")) == 2


def _at_version(item, version: int):
    meta = msgspec.structs.replace(item.metadata, resource_version=str(version))
    return msgspec.structs.replace(item, metadata=meta)


async def add_what_is_missing(shop: Shop, name: str) -> Outcome:
    """Make the secret of a config map, if the cache shows none."""
    if shop.secrets.cache.get(key(f"{name}-s")) is None:
        await shop.acting.create(SECRETS, config_map(f"{name}-s", owner=name))
    return Retry(0.5, "Looking", "impatient")


def writes(shop: Shop) -> list[str]:
    return [text for text in shop.wire.said(SECRETS) if text.split()[0] not in {"list", "watch"}]


async def test_nothing_is_done_twice_while_the_cache_is_late():
    shop = Shop()
    await shop.make("a")
    shop.acts["a"] = [lambda name: add_what_is_missing(shop, name)]
    shop.wire.always["watch"] = _twenty_seconds_late
    async with running(*shop.parts()):
        await asyncio.sleep(60)
        assert writes(shop) == ["create secrets ns/a-s"]
        assert not [pause for pause in shop.pauses("a") if pause < 0.5]


async def _twenty_seconds_late(events):
    async for event in events:
        await asyncio.sleep(20)
        yield event


@pytest.mark.parametrize(
    "error", [OutcomeUnknown("no answer"), ServerFailed("500")], ids=["no answer", "500"]
)
@pytest.mark.parametrize("carried_out", [True, False])
async def test_a_write_whose_answer_was_lost_is_looked_up_and_not_repeated_blindly(
    error, carried_out
):
    shop = Shop()
    await shop.make("a")
    shop.acts["a"] = [lambda name: add_what_is_missing(shop, name)]
    shop.wire.always["watch"] = _twenty_seconds_late
    shop.wire.plan("create", lose_answer(error) if carried_out else refuse(error))
    async with running(*shop.parts()):
        await asyncio.sleep(60)
    again = [] if carried_out else ["create secrets ns/a-s"]
    assert writes(shop) == ["create secrets ns/a-s", "get secrets ns/a-s", *again]


async def test_a_write_that_the_deadline_cut_short_is_looked_up_too():
    shop = Shop(pass_deadline=5)
    await shop.make("a")
    shop.acts["a"] = [lambda name: add_what_is_missing(shop, name)]
    shop.wire.always["watch"] = _twenty_seconds_late
    shop.wire.plan("create", take(0, after=60))  # carried out, and the answer is very late
    async with running(*shop.parts()):
        await asyncio.sleep(60)
    assert writes(shop) == ["create secrets ns/a-s", "get secrets ns/a-s"]


async def test_a_doubt_about_an_unknown_object_is_looked_up_by_the_pass_that_wrote():
    """Nothing but its name is known, so no trigger can tell whom it concerns."""
    shop = Shop()
    for name in "ab":
        await shop.make(name)
    patch = MergePatch({"data": {"x": "1"}})

    async def write(_name: str) -> Outcome:
        await shop.acting.patch(SECRETS, key("never-seen"), patch)
        return DONE

    shop.acts["a"] = [write, say(DONE)]
    shop.wire.plan("patch", refuse(OutcomeUnknown("?")))
    async with running(*shop.parts()):
        await asyncio.sleep(0.1)
        shop.queue.add(key("b"))
        await asyncio.sleep(0.1)
        assert writes(shop) == ["patch secrets ns/never-seen"], "it is none of b's business"
        await asyncio.sleep(10)
        assert writes(shop) == ["patch secrets ns/never-seen", "get secrets ns/never-seen"]
        assert not len(shop.secrets.own_writes)


async def test_a_look_up_that_fails_delays_the_keys_it_concerns_and_no_other():
    shop = Shop()
    for name in "ab":
        await shop.make(name)
    secret = await shop.user.create(SECRETS, config_map("a-s", owner="a"))
    shop.secrets.own_writes.note(Doubtful(secret))
    shop.wire.plan("get", refuse(PeerUnreachable("no")), refuse(ServerFailed("no")), hang)
    async with running(*shop.parts()):
        await asyncio.sleep(1)
        assert (len(shop.times("a")), len(shop.times("b"))) == (0, 1)
        await until(lambda: shop.times("a"), within=400)
        assert shop.results.told("finished").count(("error", pytest.approx(0))) == 2
        assert len(shop.secrets.own_writes) == 0


async def test_a_doubt_about_what_turns_out_to_be_gone_waits_for_the_cache():
    shop = Shop()
    await shop.make("a")
    secret = await shop.user.create(SECRETS, config_map("a-s", owner="a"))
    removed: list[float] = []

    async def remove(_name: str) -> Outcome:
        if shop.secrets.cache.get(key("a-s")) is not None:
            removed.append(shop.loop.time())
            await shop.acting.delete(SECRETS, key("a-s"), uid=secret.metadata.uid)
        return DONE

    shop.acts["a"] = [remove]
    shop.wire.always["watch"] = _twenty_seconds_late
    shop.wire.plan("delete", lose_answer(OutcomeUnknown("?")))
    async with running(*shop.parts()):
        await asyncio.sleep(120)
    assert removed == [0.0], "the cache shows it for 20 s more, and nobody is fooled"


async def test_waiting_for_the_cache_is_no_success():
    """A key that fails, waits for its write and fails again is no better than one that fails."""
    shop = Shop()
    await shop.make("a")

    async def write_and_fail(name: str) -> Outcome:
        number = str(len(shop.times("a")))
        await shop.acting.patch(CONFIG_MAPS, key(name), MergePatch({"data": {"n": number}}))
        raise ValueError("bug")

    shop.acts["a"] = [write_and_fail]
    shop.wire.always["watch"] = _twenty_seconds_late
    async with running(*shop.parts()):
        await asyncio.sleep(100)
        assert shop.queue.failures(key("a")) == len(shop.times("a")) > 2


async def test_a_wake_up_is_not_lost_when_the_write_came_and_went_in_a_deaf_time():
    shop = Shop()
    await shop.make("a")

    async def add_and_lose(name: str) -> Outcome:
        made = await shop.acting.create(SECRETS, config_map("a-s", owner=name))
        await shop.user.delete(SECRETS, key("a-s"), uid=made.metadata.uid)
        shop.api.store.compact()
        return DONE

    shop.acts["a"] = [add_and_lose, say(DONE)]
    for _ in range(2):
        shop.wire.plan("watch", watch_ends(PeerUnreachable("cut"), first_wait=3))
    async with running(*shop.parts()):
        await asyncio.sleep(10)
        assert len(shop.times("a")) == 2, "long before the next look"


async def test_a_doubt_is_over_only_when_the_server_says_so():
    shop = Shop()
    await shop.make("a")
    secret = await shop.user.create(SECRETS, config_map("a-s", owner="a"))
    shop.secrets.own_writes.note(Doubtful(secret))
    shop.wire.plan("get", refuse(NotFound("gone")))
    async with running(*shop.parts()):
        await asyncio.sleep(1)
        assert not shop.passes, "a quorum says it is gone, the cache says it is there"
        await shop.user.delete(SECRETS, key("a-s"), uid=secret.metadata.uid)
        await asyncio.sleep(0.1)
        assert len(shop.passes) == 1


# -------------------------------------------------------------------------- what it may not look at


class Telling(Shop):
    """A shop that can say that it may not look."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, str]] = []

    async def hindered(self, where: ObjectKey, why: ApiError) -> Outcome:
        self.told.append((where.name, why.message))
        return Retry(5.0, why.reason, why.message)


@pytest.mark.parametrize("verb", ["list", "watch"])
async def test_who_may_not_look_at_something_says_so_and_does_nothing_until_it_may(verb: str):
    shop = Telling()
    await shop.make("a")
    refused = Forbidden("secrets is forbidden")
    fate = refuse(refused) if verb == "list" else watch_ends(refused)
    shop.wire.only[verb, SECRETS] = fate
    async with running(*shop.parts()):
        await asyncio.sleep(300)
        assert set(shop.told) == {("a", "secrets is forbidden")}
        before = list(shop.passes)
        assert len(before) <= 1, "at most one before the watch was refused"
        del shop.wire.only[verb, SECRETS]
        await asyncio.sleep(60)
        assert len(shop.passes) > len(before)


async def test_who_cannot_say_so_waits():
    shop = Shop()
    await shop.make("a")
    shop.wire.only["list", SECRETS] = refuse(Forbidden("secrets is forbidden"))
    async with running(*shop.parts()):
        await asyncio.sleep(300)
        assert shop.passes == []
        del shop.wire.only["list", SECRETS]
        await asyncio.sleep(60)
        assert len(shop.passes) >= 1


@pytest.mark.parametrize("verb", ["list", "watch"])
async def test_what_can_be_done_without_holds_nobody_up(verb: str):
    shop = Telling()
    shop.secrets.needed = False
    await shop.make("a")
    # One that was written is not seen any more, and of another nobody knows.
    for name, sort in (("seen", Written), ("asked", Doubtful)):
        wrote = Object(ObjectMeta(namespace="ns", name=name, resource_version="900"))
        shop.secrets.own_writes.note(sort(wrote, ("shop", key("a"))))
    fate = Forbidden("secrets is forbidden")
    shop.wire.only[verb, SECRETS] = refuse(fate) if verb == "list" else watch_ends(fate)
    shop.wire.only["get", SECRETS] = refuse(fate)
    async with running(*shop.parts()):
        await asyncio.sleep(300)
        assert shop.told == []
        assert len(shop.passes) > 1
        assert shop.secrets.unseen == "secrets is forbidden"
