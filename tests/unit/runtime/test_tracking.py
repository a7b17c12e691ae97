"""Every write leaves a note, and every write whose outcome is not known leaves a doubt."""

from __future__ import annotations

import asyncio

import pytest

from fakes.bench import Bench, config_map, key
from fakes.rough_wire import hang, lose_answer, refuse
from stateward.core.errors import NotLeader, OutcomeUnknown, PeerConfused, PeerUnreachable
from stateward.kube.client import Apply, JsonPatch, MergePatch
from stateward.kube.errors import (
    AlreadyExists,
    Conflict,
    EvictionRefused,
    Forbidden,
    NotFound,
    ServerFailed,
    TooManyRequests,
    Unavailable,
)
from stateward.kube.interception import InterceptedClient
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.resources import CONFIG_MAPS, PODS, SECRETS
from stateward.runtime.own_writes import PASS, Deleted, Doubtful, Written
from stateward.runtime.tracking import Tracking

pytestmark = pytest.mark.virtual

MERGE = MergePatch({"data": {"x": "2"}})


class Tracked(Bench):
    """Config maps ``a`` (cached, owned by ``boss``) and ``b`` (not cached); the informer sleeps."""

    async def ready(self) -> Tracked:
        self.maps = self.informer(CONFIG_MAPS)
        self.acting = InterceptedClient(self.client, Tracking([self.maps]))
        self.a = await self.user.create(CONFIG_MAPS, config_map("a", owner="boss"))
        self.b = await self.make("b")
        self.maps.cache.put(self.a)
        return self

    @property
    def notes(self):
        return self.maps.own_writes._notes

    def calls(self):
        """Every way to write to the config map a."""
        update = {"metadata": {"namespace": "ns", "name": "a"}, "data": {"x": "1"}}
        operation = {"op": "add", "path": "/data/y", "value": "3"}
        return {
            "update": lambda **o: self.acting.update(CONFIG_MAPS, update, **o),
            "merge": lambda **o: self.acting.patch(CONFIG_MAPS, key("a"), MERGE, **o),
            "json": lambda **o: self.acting.patch(
                CONFIG_MAPS, key("a"), JsonPatch((operation,)), **o
            ),
            "apply": lambda **o: self.acting.patch(
                CONFIG_MAPS, key("a"), Apply(config_map("a", z="4"), "me"), **o
            ),
            "delete": lambda **o: self.acting.delete(
                CONFIG_MAPS, key("a"), uid=self.a.metadata.uid, **o
            ),
        }


VERBS = ("update", "merge", "json", "apply", "delete")


@pytest.mark.parametrize("verb", VERBS)
async def test_what_was_written_is_noted_as_the_server_returned_it(verb):
    bench = await Tracked().ready()
    result = await bench.calls()[verb]()

    assert bench.notes == {key("a"): Deleted(bench.a) if verb == "delete" else Written(result)}


async def test_what_was_created_is_noted_under_the_name_it_got():
    bench = await Tracked().ready()
    body = {"metadata": {"namespace": "ns", "generateName": "c-"}}
    made = await bench.acting.create(CONFIG_MAPS, body)

    assert bench.notes == {made.metadata.key: Written(made)}


@pytest.mark.parametrize("verb", VERBS)
async def test_a_rehearsal_is_never_noted(verb):
    bench = await Tracked().ready()
    await bench.calls()[verb](dry_run=True)
    bench.wire.always = dict.fromkeys(("update", "patch", "delete"), refuse(ServerFailed("oh")))
    with pytest.raises(ServerFailed):
        await bench.calls()[verb](dry_run=True)

    assert not bench.notes


async def test_reads_and_other_kinds_are_not_noted():
    bench = await Tracked().ready()
    await bench.acting.get(CONFIG_MAPS, key("a"))
    await bench.acting.list(CONFIG_MAPS)
    await bench.acting.create(SECRETS, config_map("s"))
    bench.wire.plan("get", refuse(ServerFailed("oh")))
    with pytest.raises(ServerFailed):
        await bench.acting.get(CONFIG_MAPS, key("a"))

    assert not bench.notes


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "error",
    [
        OutcomeUnknown("no answer came"),
        PeerConfused("<html>"),
        ServerFailed("500"),
        ServerFailed("502", code=502),
        ServerFailed("504", code=504),
        ServerFailed("a proxy's 503", code=503),
        KeyError("a bug on the way back"),
        asyncio.CancelledError(),
    ],
    ids=repr,
)
async def test_what_may_have_been_done_is_doubtful(verb, error):
    bench = await Tracked().ready()
    bench.wire.always = dict.fromkeys(("update", "patch", "delete"), lose_answer(error))
    with pytest.raises(type(error)):
        await bench.calls()[verb]()

    assert bench.notes == {key("a"): Doubtful(bench.a)}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "error",
    [
        PeerUnreachable("refused"),
        NotLeader("not us"),
        Unavailable("not now"),
        TooManyRequests("slow down"),
        EvictionRefused("budget"),
        Conflict("somebody else wrote first"),
        AlreadyExists("there"),
        NotFound("not there"),
        Forbidden("no"),
    ],
    ids=repr,
)
async def test_what_was_refused_is_not_doubtful(verb, error):
    bench = await Tracked().ready()
    bench.wire.always = dict.fromkeys(("update", "patch", "delete"), refuse(error))
    with pytest.raises(type(error)):
        await bench.calls()[verb]()

    assert not bench.notes


async def test_a_pass_that_runs_out_of_time_leaves_a_doubt():
    bench = await Tracked().ready()
    bench.wire.plan("patch", hang)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(5):
            await bench.calls()["merge"]()

    assert bench.notes == {key("a"): Doubtful(bench.a)}


async def in_doubt(bench: Tracked, call) -> Doubtful[ConfigMap]:
    bench.wire.always = dict.fromkeys(
        ("create", "update", "patch", "delete"), refuse(OutcomeUnknown("?"))
    )
    with pytest.raises(OutcomeUnknown):
        await call
    (doubt,) = bench.maps.own_writes.doubtful()
    return doubt


async def test_a_doubt_is_about_the_object_as_well_as_we_know_it():
    """It must be found by its owner, its name or its UID; whatever of these was known."""

    def bare(name: str, uid: str = "") -> ConfigMap:
        return ConfigMap(metadata=ObjectMeta(namespace="ns", name=name, uid=uid))

    async def doubted(call) -> ConfigMap:
        bench = await Tracked().ready()
        return (await in_doubt(bench, call(bench))).object

    created = await doubted(lambda b: b.acting.create(CONFIG_MAPS, config_map("c", owner="boss")))
    assert created.metadata.controller.name == "boss"

    applied = Apply(config_map("b", owner="boss"), "me")
    unseen = await doubted(lambda b: b.acting.patch(CONFIG_MAPS, key("b"), applied))
    assert unseen.metadata.controller.name == "boss"

    updated = await doubted(lambda b: b.acting.update(CONFIG_MAPS, config_map("a", x="1")))
    assert updated.metadata.controller.name == "boss", "the body does not say, the cache does"

    patched = await doubted(lambda b: b.acting.patch(CONFIG_MAPS, key("b"), MERGE))
    assert patched == bare("b")

    deleted = await doubted(lambda b: b.acting.delete(CONFIG_MAPS, key("b"), uid="some-uid"))
    assert deleted == bare("b", uid="some-uid")


async def test_a_doubt_about_part_of_an_object_is_still_about_that_object():
    bench = await Tracked().ready()
    unreadable = {"metadata": {"namespace": "ns", "name": "c", "labels": {"x": "y"}}, "data": [1]}
    doubt = await in_doubt(bench, bench.acting.create(CONFIG_MAPS, unreadable))

    assert doubt.object.metadata.key == key("c")
    assert doubt.object.metadata.labels == {"x": "y"}


async def test_a_doubt_names_the_pass_that_wrote():
    bench = await Tracked().ready()
    PASS.set(("team", ObjectKey("ns", "boss")))
    doubt = await in_doubt(bench, bench.acting.patch(CONFIG_MAPS, key("b"), MERGE))

    assert doubt.by == ("team", ObjectKey("ns", "boss"))


async def test_a_name_that_never_came_back_cannot_be_looked_up():
    bench = await Tracked().ready()
    bench.wire.plan("create", lose_answer(OutcomeUnknown("?")))
    body = {"metadata": {"namespace": "ns", "generateName": "c-"}}
    with pytest.raises(OutcomeUnknown):
        await bench.acting.create(CONFIG_MAPS, body)

    assert not bench.notes


async def test_the_deletion_of_another_incarnation_than_the_cached_one_brings_no_news():
    bench = await Tracked().ready()
    bench.maps.cache.put(await _replaced(bench))
    with pytest.raises(Conflict):
        await bench.acting.delete(CONFIG_MAPS, key("a"), uid="one-that-was-before")
    await bench.acting.delete(CONFIG_MAPS, key("b"), uid=bench.b.metadata.uid)

    assert not bench.notes


async def _replaced(bench: Tracked) -> ConfigMap:
    await bench.remove("a")
    return await bench.make("a")


async def test_what_we_made_and_deleted_before_it_was_seen_stays_unseen_until_it_is_gone():
    bench = await Tracked().ready()
    writes, cache = bench.maps.own_writes, bench.maps.cache
    made = await bench.acting.create(CONFIG_MAPS, config_map("c"))
    await bench.acting.delete(CONFIG_MAPS, key("c"), uid=made.metadata.uid)
    born = int(made.metadata.resource_version)

    assert writes.settle(str(born - 1)) == []
    cache.put(made)  # now the cache shows what is no more
    assert writes.settle(str(born)) == []
    cache.remove(key("c"))
    assert [note.object for note in writes.settle(str(born + 1))] == [made]


async def test_an_eviction_is_a_deletion():
    bench = await Tracked().ready()
    pods = bench.informer(PODS)
    acting = InterceptedClient(bench.client, Tracking([bench.maps, pods]))
    pod = await bench.user.create(
        PODS, {"metadata": {"namespace": "ns", "name": "p"}, "spec": {"containers": []}}
    )
    pods.cache.put(pod)
    bench.wire.plan("evict", refuse(EvictionRefused("budget")))
    with pytest.raises(EvictionRefused):
        await acting.evict(key("p"), uid=pod.metadata.uid)
    assert not len(pods.own_writes)

    await acting.evict(key("p"), uid=pod.metadata.uid)
    assert pods.own_writes._notes == {key("p"): Deleted(pod)}


async def test_a_pod_that_got_its_node_is_looked_up():
    bench = await Tracked().ready()
    pods = bench.informer(PODS)
    acting = InterceptedClient(bench.client, Tracking([bench.maps, pods]))
    pod = await bench.user.create(
        PODS, {"metadata": {"namespace": "ns", "name": "p"}, "spec": {"containers": []}}
    )
    pods.cache.put(pod)

    await acting.bind(key("p"), "n1", uid=pod.metadata.uid)

    assert pods.own_writes.doubtful() == [Doubtful(pod)]
