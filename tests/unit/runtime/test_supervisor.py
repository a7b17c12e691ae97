"""Caches first, then leadership, then work; and the way back in the opposite order."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from structlog.testing import capture_logs

from fakes.bench import key, running, until
from fakes.campaign import make_lease
from fakes.rough_wire import hang, refuse, take
from fakes.shop import Shop, fail, say, work
from fakes.tally import Tally
from stateward.core.errors import HouseError, NotLeader, PeerUnreachable
from stateward.core.outcome import DONE, Outcome, Retry
from stateward.kube.client import MergePatch, Selection
from stateward.kube.errors import Forbidden
from stateward.kube.interception import InterceptedClient
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, LEASES
from stateward.runtime.election import Elector
from stateward.runtime.fencing import Fencing
from stateward.runtime.supervisor import Parts, Supervisor

pytestmark = pytest.mark.virtual

LEASE = ObjectKey("ns", "lease")


@pytest.fixture(autouse=True)
def lines():
    """What was logged; rendering it for nobody takes long."""
    with capture_logs() as captured:
        yield captured


class Process(Shop):
    """A whole operator process over the shop, with two config maps to look after."""

    def __init__(self, name: str = "me", *, grace: float = 20.0, extra=(), **options) -> None:
        super().__init__(**options)
        if "beside" not in options:
            make_lease(self.api)
        self.alone = True
        self.elector = Elector(
            self.client, LEASE, name, ports=self.ports.stream(name), meter=Tally()
        )
        self.fenced = InterceptedClient(self.client, Fencing(self.elector.leadership))
        self.stop = asyncio.Event()
        informers = (self.maps, self.secrets, *extra)
        self.supervisor = Supervisor(
            Parts(informers, (self.controller,), self.elector), grace=grace
        )

    async def run(self) -> None:
        """Run until stopped, and make sure that nothing is left behind."""
        before = asyncio.all_tasks()
        try:
            await self.supervisor.run(self.stop)
        finally:
            assert not self.alone or asyncio.all_tasks() <= before, "tasks are left"
            assert not self.queue._later, "timers are left"
            assert not self.elector.leadership.held

    async def holder(self) -> str | None:
        return (await self.user.get(LEASES, LEASE)).spec.holder_identity


async def test_the_order_of_beginning():
    me = Process()
    me.wire.plan("list", take(3), take(5))
    await me.make("a")
    async with running(me.run()):
        await asyncio.sleep(4)
        verbs = [call.split(maxsplit=1) for call in me.wire.said()]
        assert [what.split()[0] for _, what in verbs[:4]] == [
            "configmaps",
            "secrets",
            "leases.coordination.k8s.io",
            "leases.coordination.k8s.io",
        ]
        assert me.elector.leadership.held
        assert not me.passes, "it leads, but one of its caches is not filled"
        await asyncio.sleep(2)
        assert [name for _, name in me.passes] == ["a"]


async def test_a_standby_keeps_its_caches_warm_and_takes_over_without_a_list():
    me = Process("me")
    other = Process("other", beside=me)
    me.alone = False
    await me.make("a")
    async with running(me.run()) as (mine,):
        await asyncio.sleep(1)
        async with running(other.run()):
            await asyncio.sleep(30)
            await me.make("b")
            await asyncio.sleep(0.1)
            assert not other.passes
            assert len(other.maps.cache) == 2
            assert other.supervisor.problems() == []

            lists = len(other.wire.times("list"))
            me.stop.set()
            await until(mine.done)
            stopped = me.loop.time()
            await until(lambda: len(other.passes) == 2)
            assert me.loop.time() - stopped < 2.5
            assert len(other.wire.times("list")) == lists


async def test_stopping_is_graceful():
    me = Process()
    done: list[float] = []

    async def slow(_name: str) -> Outcome:
        await asyncio.sleep(10)
        await me.fenced.patch(CONFIG_MAPS, key("a"), MergePatch({"data": {"x": "1"}}))
        done.append(me.loop.time())
        return DONE

    for name in "ab":
        await me.make(name)
    me.acts["a"] = [slow]
    async with running(me.run()) as (mine,):
        await asyncio.sleep(5)
        me.stop.set()
        await until(mine.done)
    assert done == [pytest.approx(10)], "what ran came to its end, and could still write"
    assert me.loop.time() == pytest.approx(10, abs=0.05)
    assert await me.holder() == "", "and the lease was let go afterwards"
    assert len(me.passes) == 2, "and nothing new was begun"


async def test_grace_is_not_for_ever():
    me = Process(grace=20)
    await me.make("a")
    me.acts["a"] = [work(1e6)]
    async with running(me.run()) as (mine,):
        await asyncio.sleep(5)
        me.stop.set()
        await until(mine.done)
    assert me.loop.time() == pytest.approx(25, abs=0.05)
    assert not me.busy.total()
    assert await me.holder() == ""


async def test_idle_workers_need_no_grace():
    me = Process()
    async with running(me.run()) as (mine,):
        await asyncio.sleep(5)
        me.stop.set()
        await until(mine.done)
    assert me.loop.time() < 5.1


async def test_a_controller_that_waits_for_a_cache_needs_no_grace_either():
    me = Process()
    me.wire.always["list"] = refuse(Forbidden("you may not"))
    async with running(me.run()) as (mine,):
        await asyncio.sleep(5)
        assert me.elector.leadership.held
        me.stop.set()
        await until(mine.done)
    assert me.loop.time() < 5.1
    assert await me.holder() == ""


async def test_a_lease_that_is_lost_while_stopping_ends_the_grace():
    me = Process(grace=1000)
    await me.make("a")
    me.acts["a"] = [work(1e6)]
    async with running(me.run()) as (mine,):
        await asyncio.sleep(5)
        me.stop.set()
        await asyncio.sleep(30)
        assert me.busy.total(), "still working, still leading"
        await me.user.patch(LEASES, LEASE, MergePatch({"spec": {"holderIdentity": "other"}}))
        await until(mine.done, within=5)
    assert await me.holder() == "other"


async def test_stop_before_anything_began():
    me = Process()
    me.stop.set()
    await me.run()
    assert me.loop.time() < 0.1
    assert not me.passes


async def test_stop_while_standing_by():
    me = Process()
    spec = {"holderIdentity": "other", "leaseDurationSeconds": 600}
    await me.user.patch(LEASES, LEASE, MergePatch({"spec": spec}))
    async with running(me.run()) as (mine,):
        await asyncio.sleep(30)
        me.stop.set()
        await until(mine.done)
    assert me.loop.time() < 30.1
    assert await me.holder() == "other"


async def test_stop_at_the_moment_of_election_lets_the_lease_go():
    me = Process()
    original = me.elector.acquire

    async def acquire_and_hear_of_stop() -> None:
        await original()
        me.stop.set()

    me.elector.acquire = acquire_and_hear_of_stop
    await me.run()
    assert await me.holder() == ""


async def test_whoever_loses_the_lease_ends_and_its_work_before():
    me = Process()
    await me.make("a")
    ended: list[str] = []

    async def long(_name: str) -> Outcome:
        try:
            await asyncio.sleep(1e6)
        finally:
            ended.append("pass")
        return DONE

    me.acts["a"] = [long]
    task = asyncio.ensure_future(me.run())
    task.add_done_callback(lambda _: ended.append("process"))
    await asyncio.sleep(30)
    me.wire.always = dict.fromkeys(("get", "patch"), hang)
    cut = me.loop.time()
    with pytest.raises(NotLeader) as lost:
        await task
    assert lost.value.sentence() == (
        "leadership was lost, and this process ends; start it again; in a Deployment it starts again"
        " by itself"
    )
    assert ended == ["pass", "process"]
    assert me.loop.time() - cut <= 10 + 0.05, "before anybody else can lead"
    assert await me.holder() == "me", "a lease that we are not sure of is not ours to let go"


class Broken(Exception):
    """Something that nobody foresaw."""


async def stumble(*_args: object) -> None:
    await asyncio.sleep(3)
    raise Broken


@pytest.mark.parametrize("method", ["acquire", "keep"])
async def test_an_election_that_falls_over_ends_the_process_with_its_error(method):
    me = Process()
    await me.make("a")
    setattr(me.elector, method, stumble)
    with pytest.raises(Broken):
        await me.run()
    assert me.loop.time() == pytest.approx(3, abs=0.05)
    assert bool(me.passes) == (method == "keep"), "nobody works who was not elected"


async def test_an_object_that_nobody_foresaw_does_not_end_the_process():
    me = Process()

    def stumble(delta) -> None:
        if delta.key.name == "poison":
            raise Broken

    me.maps.listen(stumble)
    async with running(me.run()):
        await asyncio.sleep(5)
        await me.make("poison")
        await me.make("a")
        await asyncio.sleep(5)
        assert "a" in [name for _, name in me.passes]


async def test_a_pass_that_will_not_end_is_left_behind_and_the_lease_runs_out(lines):
    me = Process(grace=1)
    me.alone = False

    async def stay(*_args) -> None:
        for _ in range(3):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(100)

    me.acts["a"] = [stay]
    await me.make("a")
    async with running(me.run()) as (mine,):
        await asyncio.sleep(5)
        me.stop.set()
        await until(mine.done)
        assert me.loop.time() < 30
    assert await me.holder() == "me", "what it may still do, it does under its own name"
    assert any("left behind" in line["event"] for line in lines)


class Doom(BaseException):
    """Not for a controller to survive."""


async def test_a_controller_that_falls_over_ends_the_process_with_its_error():
    me = Process()
    await me.make("a")
    me.acts["a"] = [fail(Doom())]
    with pytest.raises(BaseExceptionGroup) as caught:
        await me.run()
    assert caught.group_contains(Doom)
    assert await me.holder() == ""


async def test_a_part_that_ends_though_it_must_not_is_a_bug():
    me = Process()
    task = asyncio.ensure_future(me.run())
    await asyncio.sleep(5)
    me.controller.close()
    with pytest.raises(HouseError, match="controller shop ended, and must not"):
        await task


async def test_a_process_that_is_cancelled_lets_the_lease_go_too():
    me = Process()
    await me.make("a")
    me.acts["a"] = [work(1e6)]
    task = asyncio.ensure_future(me.run())
    await asyncio.sleep(5)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert me.loop.time() < 5.1
    assert await me.holder() == ""


async def test_a_release_that_hangs_does_not_keep_the_process_alive():
    me = Process()
    async with running(me.run()) as (mine,):
        await asyncio.sleep(5)
        me.wire.always = dict.fromkeys(("get", "patch"), hang)
        me.stop.set()
        await until(mine.done)
    assert me.loop.time() <= 5 + 5.1


async def test_two_informers_of_one_resource_are_two_parts():
    me = Process()
    second = me.informer(CONFIG_MAPS, selection=Selection("elsewhere"))
    twice = Process(beside=me, extra=(second,))
    async with running(twice.run()):
        await asyncio.sleep(5)
        assert second.synced.is_set()
        assert twice.maps.synced.is_set()
    # That no task is left was checked by the process itself.


async def test_problems_say_what_is_wrong_in_words():
    me = Process()
    assert me.supervisor.problems() == ["configmaps: not listed yet", "secrets: not listed yet"]
    me.wire.plan("list", refuse(Forbidden("you may not list config maps")))
    me.wire.plan("watch", _cut_after_a_while)
    async with running(me.run()):
        await asyncio.sleep(0.1)
        assert me.supervisor.problems() == [
            "configmaps: you may not list config maps; give the operator's role the missing right"
        ]
        await asyncio.sleep(5)
        assert me.supervisor.problems() == []
        await until(lambda: me.supervisor.problems() == ["secrets: the wire is cut"])
        me.secrets.needed = False
        assert me.supervisor.problems() == []


async def _cut_after_a_while(events):
    await asyncio.sleep(20)
    raise PeerUnreachable("the wire is cut")
    yield


async def test_work_goes_on_while_one_cache_is_in_trouble():
    me = Process()
    await me.make("a")
    me.acts["a"] = [say(Retry(5, "R", "m"))]
    async with running(me.run()):
        await asyncio.sleep(10)
        me.wire.always["list"] = refuse(PeerUnreachable("no"))
        me.api.store.compact()
        await asyncio.sleep(1000)
        assert len(me.passes) > 190
