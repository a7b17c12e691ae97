"""Of several instances one acts, and it knows how long it may be sure of that."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from fakes.bench import until
from fakes.campaign import HOUR, LEASE, LOOK, RENEW, Campaign
from fakes.rough_wire import hang, lose_answer, refuse, take
from stateward.core.errors import NotLeader, OutcomeUnknown, PeerUnreachable
from stateward.kube.client import MergePatch
from stateward.kube.errors import Conflict, ServerFailed
from stateward.kube.resources import LEASES
from stateward.runtime.election import Leadership, Terms

pytestmark = pytest.mark.virtual


@pytest.mark.parametrize("terms", [(10, 15, 2), (15, 10, 10), (15, 15, 2), (15, 10, 0)])
async def test_the_times_of_a_lease_must_leave_room_for_each_other(terms):
    with pytest.raises(ValueError, match="must have duration > renew_deadline > retry_every > 0"):
        Terms(*terms)


@pytest.mark.parametrize(
    ("spec", "takes"),
    [
        pytest.param(None, 15, id="no lease: somebody may have deleted it"),
        pytest.param({}, 0, id="an empty one"),
        pytest.param({"holderIdentity": ""}, 0, id="released"),
        pytest.param({"holderIdentity": "me", "leaseDurationSeconds": 99}, 0, id="ours"),
        pytest.param({"holderIdentity": "b", "leaseDurationSeconds": 15}, 15, id="held"),
        pytest.param({"holderIdentity": "b", "leaseDurationSeconds": 40}, 40, id="held for long"),
        pytest.param({"holderIdentity": "b", "leaseDurationSeconds": 3}, 3, id="held for short"),
        pytest.param({"holderIdentity": "b"}, 15, id="held for nobody knows how long"),
        pytest.param(
            {"holderIdentity": "b", "renewTime": "1999-01-01T00:00:00.000000Z"},
            15,
            id="renewed long ago, by a clock that may be wrong",
        ),
        pytest.param(
            {"holderIdentity": "b", "renewTime": "2999-01-01T00:00:00.000000Z"},
            15,
            id="renewed in the future, by a clock that is wrong",
        ),
    ],
)
async def test_when_a_lease_is_taken_that_nobody_renews(spec, takes):
    stand = Campaign(lease=spec is not None)
    if spec is not None:
        await stand.write(**spec)
    me = stand.stand("me")
    await until(lambda: me.led)
    assert takes <= me.led[0] <= takes + (2 * LOOK if takes else 0)

    lease = (await stand.lease()).spec
    assert (lease.holder_identity, lease.lease_duration_seconds) == ("me", 15)
    assert lease.acquire_time == lease.renew_time is not None
    assert me.meter.told("leads") == [True]
    await stand.end()


async def test_of_three_one_leads_for_ever_whatever_their_clocks_say():
    stand = Campaign()
    for name, skew in (("a", -HOUR), ("b", 0.0), ("c", HOUR)):
        stand.stand(name, skew=skew)
    await asyncio.sleep(5)
    (first,) = stand.leaders
    for _ in range(200):
        await asyncio.sleep(3)
        assert stand.leaders == [first]
    assert (await stand.lease()).spec.lease_transitions == 0
    await stand.end()


async def test_a_renewal_changes_the_time_and_not_the_story():
    stand = Campaign()
    stand.stand("a")
    await asyncio.sleep(1)
    before = (await stand.lease()).spec
    await asyncio.sleep(30)
    after = (await stand.lease()).spec

    assert after.renew_time > before.renew_time
    assert (after.acquire_time, after.lease_transitions) == (before.acquire_time, 0)
    await stand.end()


@pytest.mark.parametrize(
    "trouble",
    [hang, refuse(PeerUnreachable("cut off")), refuse(ServerFailed("500")), take(5.1)],
    ids=["silence", "cut off", "errors", "slowness"],
)
async def test_a_leader_that_cannot_renew_knows_it_before_another_can_lead(trouble):
    stand = Campaign()
    a, b = stand.stand("a"), stand.stand("b")
    await asyncio.sleep(60)
    (leader,) = stand.leaders
    old, new = (a, b) if leader == "a" else (b, a)
    old.wire.always = dict.fromkeys(("get", "patch", "create"), trouble)
    cut = stand.loop.time()
    lost = await until(lambda: not old.leadership.held)
    with pytest.raises(NotLeader, match="cannot be sure that it leads"):
        old.leadership.check()
    taken = await until(lambda: new.leadership.held)
    await until(old.task.done)

    assert lost <= cut + 10 + 0.02
    assert old.led[1] <= lost + 0.05, "and its work is ended as soon as that"
    assert 15 - RENEW <= taken - cut <= 15 + LOOK
    assert old.meter.told("leads") == [True, False]
    assert (await stand.lease()).spec.lease_transitions == 1
    await stand.end()


async def test_a_short_trouble_changes_nothing():
    stand = Campaign()
    a, _ = await stand.pair()
    for _ in range(20):
        a.wire.plan("get", refuse(ServerFailed("500")), refuse(PeerUnreachable("no")))
        await asyncio.sleep(30)
        assert stand.leaders == ["a"]
    await stand.end()


async def test_whoever_lets_the_lease_go_lets_a_successor_in_at_once():
    stand = Campaign()
    a, b = await stand.pair()
    await asyncio.sleep(29)
    a.task.cancel()
    await a.elector.release()
    assert stand.leaders == []
    taken = await until(lambda: b.led)

    assert taken - 30 <= LOOK + 0.02
    assert a.meter.told("leads") == [True, False]
    await stand.end()


@pytest.mark.parametrize(
    "trouble",
    [hang, refuse(PeerUnreachable("no")), refuse(Conflict("too late"))],
    ids=["silence", "unreachable", "conflict"],
)
@pytest.mark.parametrize("verb", ["get", "patch"])
async def test_a_release_that_fails_does_not_take_for_ever(verb, trouble):
    stand = Campaign()
    a = stand.stand("a")
    await asyncio.sleep(1)
    a.task.cancel()
    a.wire.always[verb] = trouble
    await a.elector.release()

    assert stand.loop.time() <= 1 + 5
    assert stand.leaders == [], "it acts no more, whatever the lease says"
    assert (await stand.lease()).spec.holder_identity == "a", "and so it runs out"
    await stand.end()


async def test_nobody_releases_what_is_not_theirs():
    stand = Campaign()
    a, b = await stand.pair()
    await asyncio.sleep(5)
    await b.elector.release()
    assert (await stand.lease()).spec.holder_identity == "a"

    a.task.cancel()
    await stand.user.patch(
        LEASES,
        (await stand.lease()).metadata.key,
        MergePatch({"spec": {"holderIdentity": "somebody else"}}),
    )
    await a.elector.release()
    assert (await stand.lease()).spec.holder_identity == "somebody else"
    await stand.end()


@pytest.mark.parametrize("spec", [None, {"holderIdentity": ""}], ids=["create", "claim"])
@pytest.mark.parametrize("done", [True, False], ids=["carried out", "not carried out"])
async def test_a_claim_whose_answer_is_lost_is_made_again(spec, done):
    stand = Campaign(lease=spec is not None)
    if spec is not None:
        await stand.write(**spec)
    a = stand.stand("a")
    verb = "create" if spec is None else "patch"
    unknown = OutcomeUnknown("no answer")
    a.wire.plan(verb, lose_answer(unknown) if done else refuse(unknown))
    await asyncio.sleep(1)
    assert stand.leaders == [], "not sure is not enough"
    await until(lambda: a.led)

    assert a.led[0] <= LOOK + 0.02 + (0 if spec is not None else 15 + LOOK)
    if spec is None:
        assert a.led[0] >= 15, "whoever had the lease before may believe in it for as long"
    await stand.end()


async def test_a_renewal_whose_answer_is_lost_is_made_again():
    stand = Campaign()
    a = stand.stand("a")
    await asyncio.sleep(1)
    for _ in range(10):
        a.wire.plan("patch", lose_answer(OutcomeUnknown("?")))
        await asyncio.sleep(5)
        assert stand.leaders == ["a"]
    await stand.end()


async def test_whoever_sees_another_name_on_the_lease_stops_at_once():
    stand = Campaign()
    a = stand.stand("a")
    await asyncio.sleep(1)
    where = (await stand.lease()).metadata.key
    await stand.user.patch(LEASES, where, MergePatch({"spec": {"holderIdentity": "a human"}}))
    await until(a.task.done)

    assert a.led[1] <= 1 + RENEW
    await stand.end()


async def test_a_lease_that_a_human_deleted_is_made_again_by_its_holder():
    stand = Campaign()
    stand.stand("a")
    await asyncio.sleep(1)
    for name in "bc":
        stand.stand(name)
    for _ in range(10):
        await asyncio.sleep(20)
        await stand.delete()
    await asyncio.sleep(20)
    assert stand.leaders == ["a"], "and nobody else ever believed to lead"
    assert (await stand.lease()).spec.holder_identity == "a"
    await stand.end()


async def test_a_lease_that_a_human_deleted_after_its_holder_died_is_taken_in_time():
    stand = Campaign()
    a, b = await stand.pair()
    await asyncio.sleep(9)
    a.process.crash()
    await stand.delete()
    await until(lambda: b.led)

    assert 10 + 15 <= b.led[0] <= 10 + 15 + 3 * LOOK
    assert (await stand.lease()).spec.lease_transitions == 1, "the story goes on"
    a.process.bury()
    await stand.end()


async def test_whoever_shortens_the_lease_of_another_is_corrected():
    stand = Campaign()
    await stand.pair()
    await asyncio.sleep(20)
    where = (await stand.lease()).metadata.key
    await stand.user.patch(LEASES, where, MergePatch({"spec": {"leaseDurationSeconds": 1}}))
    await asyncio.sleep(RENEW)
    lease = (await stand.lease()).spec
    assert (lease.holder_identity, lease.lease_duration_seconds) == ("a", 15)
    await stand.end()


async def test_a_lease_of_broken_seconds_is_written_longer_not_shorter():
    stand = Campaign()
    stand.stand("a", terms=Terms(duration=15.5, renew_deadline=10, retry_every=2))
    await asyncio.sleep(1)
    assert (await stand.lease()).spec.lease_duration_seconds == 16
    await stand.end()


async def test_a_process_that_starts_again_under_its_old_name_need_not_wait():
    stand = Campaign()
    a = stand.stand("a")
    await asyncio.sleep(9)
    a.process.crash()
    a.leadership.lost()
    again = stand.stand("a")
    await until(lambda: again.led)

    assert again.led[0] <= 9.02
    assert (await stand.lease()).spec.lease_transitions == 0  # it is in the same hands
    a.process.bury()
    await stand.end()


# ---------------------------------------------------------------- sleepers
async def test_a_leader_that_slept_finds_out_before_it_acts():
    stand = Campaign()
    a, b = await stand.pair()
    checked: list[str] = []

    async def act_for_ever() -> None:
        while True:
            await asyncio.sleep(1)
            try:
                a.leadership.check()
            except NotLeader:
                checked.append(f"not leader at {asyncio.get_running_loop().time():.0f}")
                return

    a.process.spawn(act_for_ever())
    await asyncio.sleep(9.5)
    a.process.pause(60)
    await until(lambda: b.led)
    await asyncio.sleep(60)

    assert checked == ["not leader at 70"], "the first thing that it does"
    assert a.task.done()
    assert stand.leaders == ["b"]
    await stand.end()


async def test_a_leader_that_slept_does_not_come_back_even_if_the_lease_is_free():
    """What it believed about the world is a minute old: it ends, and a fresh process stands by."""
    stand = Campaign()
    a = stand.stand("a")
    await asyncio.sleep(5)
    a.process.pause(60)
    calls = len(a.wire.calls)
    await asyncio.sleep(70)

    assert len(a.wire.calls) == calls
    assert (await stand.lease()).spec.holder_identity == "a", "nobody else was there"
    assert a.task.done()
    assert stand.leaders == []
    await stand.end()


async def test_a_candidate_that_slept_through_its_own_success_asks_again():
    stand = Campaign()
    a = stand.stand("a")
    a.wire.plan("patch", take(0, after=0.5))
    await asyncio.sleep(0.2)
    a.process.pause(60)  # the lease is made now, and the answer is on its way
    await asyncio.sleep(59)
    assert (await stand.lease()).spec.holder_identity == "a"
    assert not a.led
    await until(lambda: a.led)
    assert stand.leaders == ["a"], "it leads when it is sure to, and not on an old answer"
    await stand.end()


async def test_a_candidate_whose_answer_came_too_late_asks_again():
    stand = Campaign()
    a = stand.stand("a", terms=Terms(duration=30, renew_deadline=10, retry_every=2))
    a.wire.plan("get", take(6))
    a.wire.plan("patch", take(0, after=6))
    await until(lambda: a.led)
    assert a.leadership.held
    assert 12 < a.led[0] <= 12 + LOOK, "what was granted at 6 s and heard at 12 s was too old"
    await stand.end()


async def test_two_who_see_the_lease_free_at_the_same_time_do_not_both_get_it():
    stand = Campaign()
    await stand.write(holderIdentity="")
    a = stand.stand("a")
    a.wire.plan("patch", take(1))
    await asyncio.sleep(0.5)
    stand.stand("b")
    await asyncio.sleep(20)
    assert stand.leaders == ["b"]
    await stand.end()


async def test_a_slow_answer_leaves_less_time_to_believe_in_it():
    stand = Campaign()
    a = stand.stand("a")
    a.wire.plan("patch", take(1, after=3))
    await until(lambda: a.led)
    assert a.leadership.left == pytest.approx(10 - 4, abs=0.02)
    await stand.end()


async def test_belief_ages_from_the_moment_of_asking():
    stand = Campaign()
    belief = Leadership(stand.clock, Terms())
    assert (belief.held, belief.left) == (False, 0)
    await asyncio.sleep(100)
    belief.renewed(at=97)
    assert (belief.held, belief.left, belief.margin) == (True, 7, 5)
    await asyncio.sleep(6.99)
    belief.check()
    await asyncio.sleep(0.01)
    assert (belief.held, belief.left) == (False, 0)
    belief.renewed(at=stand.loop.time())
    belief.lost()
    assert not belief.held


async def test_who_stands_by_says_once_for_whom():
    """Of two that look after different clusters by one lease the second would wait in silence."""
    with capture_logs() as lines:
        stand = Campaign()
        await stand.write(holderIdentity="b", leaseDurationSeconds=15)
        me = stand.stand("me")
        for holder in ("b", "b", "c", "c"):
            await asyncio.sleep(5)
            told = {"holderIdentity": holder, "leaseDurationSeconds": 15}
            await stand.user.patch(LEASES, LEASE, MergePatch({"spec": told}))
        await until(lambda: me.led)
        await stand.end()
    told = [it["holder"] for it in lines if "stands by" in it["event"]]
    assert told == ["b", "c"]
