"""Only a leader writes, and no write of a leader ends when another may lead."""

from __future__ import annotations

import asyncio
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.bench import Bench, config_map, key
from fakes.campaign import Campaign, Candidate
from fakes.rough_wire import hang, late, refuse, take
from stateward.core.errors import NotLeader, OutcomeUnknown
from stateward.kube.client import MergePatch
from stateward.kube.errors import Conflict
from stateward.kube.interception import InterceptedClient
from stateward.kube.resources import CONFIG_MAPS
from stateward.runtime.election import Leadership, Terms
from stateward.runtime.fencing import Fencing
from stateward.runtime.own_writes import Doubtful
from stateward.runtime.tracking import Tracking
from stateward.sim import loop as sim_loop
from stateward.sim.process import SimProcess

virtual = pytest.mark.virtual
PATCH = MergePatch({"data": {"x": "1"}})


class Fenced(Bench):
    """A config map ``a``, and a client that must lead to write to it."""

    async def ready(self, *, leads: bool = True) -> Fenced:
        self.a = await self.make("a")
        self.leadership = Leadership(self.clock, Terms())
        self.acting = InterceptedClient(self.client, Fencing(self.leadership))
        if leads:
            self.leadership.renewed(self.loop.time())
        return self

    def writes(self):
        uid = self.a.metadata.uid
        return {
            "create": lambda: self.acting.create(CONFIG_MAPS, config_map("b")),
            "update": lambda: self.acting.update(CONFIG_MAPS, config_map("a", x="1")),
            "patch": lambda: self.acting.patch(CONFIG_MAPS, key("a"), PATCH),
            "delete": lambda: self.acting.delete(CONFIG_MAPS, key("a"), uid=uid),
        }


WRITES = ("create", "update", "patch", "delete")


@virtual
@pytest.mark.parametrize("verb", WRITES)
async def test_whoever_does_not_lead_does_not_even_send(verb):
    bench = await Fenced().ready(leads=False)
    with pytest.raises(NotLeader):
        await bench.writes()[verb]()
    assert bench.wire.calls == []


@virtual
@pytest.mark.parametrize("verb", WRITES)
async def test_whoever_leads_writes(verb):
    bench = await Fenced().ready()
    await asyncio.sleep(9.99)
    await bench.writes()[verb]()
    assert bench.wire.said() == [f"{verb} configmaps ns/{'b' if verb == 'create' else 'a'}"]

    await asyncio.sleep(0.01)
    with pytest.raises(NotLeader):
        await bench.writes()[verb]()


@virtual
async def test_reading_and_rehearsing_are_free():
    bench = await Fenced().ready(leads=False)
    await bench.acting.get(CONFIG_MAPS, key("a"))
    await bench.acting.list(CONFIG_MAPS)
    await bench.acting.create(CONFIG_MAPS, config_map("b"), dry_run=True)
    async for _ in bench.acting.watch(CONFIG_MAPS, since="1"):
        break


@virtual
@pytest.mark.parametrize("began", [0.0, 5.0, 9.99])
async def test_a_write_that_takes_longer_than_the_margin_is_given_up(began):
    bench = await Fenced().ready()
    await asyncio.sleep(began)
    bench.wire.plan("patch", hang)
    with pytest.raises(OutcomeUnknown, match="patch configmaps ns/a: no answer within the 5 s"):
        await bench.writes()["patch"]()
    assert bench.loop.time() == pytest.approx(began + 5)
    assert bench.loop.time() < 15, "when the earliest successor begins"


@virtual
async def test_a_write_within_the_margin_is_not_hurried():
    bench = await Fenced().ready()
    await asyncio.sleep(9.99)
    bench.wire.plan("patch", take(2, 2.9))
    assert (await bench.writes()["patch"]()).data == {"x": "1"}


@virtual
async def test_what_the_server_says_is_passed_on():
    bench = await Fenced().ready()
    bench.wire.plan("patch", refuse(Conflict("somebody else wrote first")))
    with pytest.raises(Conflict):
        await bench.writes()["patch"]()


@virtual
async def test_whoever_ends_the_pass_ends_it_as_a_pass():
    bench = await Fenced().ready()
    bench.wire.plan("patch", hang)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await bench.writes()["patch"]()
    assert bench.loop.time() == 1


@virtual
async def test_a_sleeper_does_not_believe_an_answer_that_is_too_old():
    bench = await Fenced().ready()
    bench.wire.plan("patch", late(0.5, 0.5))
    process = SimProcess(bench.loop, "sleeper")

    async def write() -> str:
        try:
            await bench.writes()["patch"]()
        except OutcomeUnknown:
            return "unknown"
        return "known"

    writing = process.spawn(write())
    await asyncio.sleep(0.1)
    process.pause(60)  # the write is carried out meanwhile
    assert await writing == "unknown"
    with pytest.raises(NotLeader):
        bench.leadership.check()


@virtual
async def test_what_was_given_up_is_in_doubt():
    bench = await Fenced().ready()
    informer = bench.informer(CONFIG_MAPS)
    tracked = InterceptedClient(bench.acting, Tracking([informer]))
    informer.cache.put(bench.a)
    bench.wire.plan("patch", hang)
    with pytest.raises(OutcomeUnknown):
        await tracked.patch(CONFIG_MAPS, key("a"), PATCH)
    assert informer.own_writes.doubtful() == [Doubtful(bench.a)]

    await asyncio.sleep(10)
    with pytest.raises(NotLeader):
        await tracked.patch(CONFIG_MAPS, key("b"), PATCH)
    assert len(informer.own_writes.doubtful()) == 1, "what was not sent is not in doubt"


# ---------------------------------------------------------------- a law
async def act_while_leading(stand: Campaign, me: Candidate, delays: list[float]) -> None:
    """Write again and again, each time over a wire that is as slow as the list says."""
    acting = InterceptedClient(
        InterceptedClient(stand.user, me.wire), Fencing(me.elector.leadership)
    )
    for delay in delays * 20:
        await asyncio.sleep(0.7)
        me.wire.plan("update", late(delay / 2, delay / 2))
        try:
            await acting.update(CONFIG_MAPS, config_map("a", by=me.name, n=str(stand.loop.time())))
        except (NotLeader, OutcomeUnknown):
            continue
        others = [name for name in stand.leaders if name != me.name]
        assert not others, f"{me.name} was told of its success when {others} led"


async def lead_in_turns(delays: list[float], cut: float) -> int:
    stand = Campaign()
    await stand.make("a")
    everybody = [stand.stand(name) for name in "ab"]
    acts = [asyncio.create_task(act_while_leading(stand, it, delays)) for it in everybody]
    await asyncio.sleep(5 + cut)
    for candidate in everybody:
        if candidate.leadership.held:
            candidate.wire.always = dict.fromkeys(("get", "patch", "create"), hang)
    await asyncio.wait(acts)
    for act in acts:
        act.result()
    await stand.end()
    return len([it for it in everybody if it.led])


@settings(max_examples=25)
@given(
    delays=st.lists(st.floats(0, 6, allow_nan=False), min_size=1, max_size=4),
    cut=st.floats(0, 5, allow_nan=False),
)
def test_nobody_is_told_of_a_success_while_another_leads(delays, cut):
    if math.fsum(delays) * 20 > 40:  # long enough for the second to come to power
        assert sim_loop.run(lead_in_turns(delays, cut)) == 2
    else:
        sim_loop.run(lead_in_turns(delays, cut))
