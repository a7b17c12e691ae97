"""What is asked of whole lives: that nothing is lost, that they come to rest, that they are alike."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from fakes.etcd_hand import Stage, played
from stateward.core.outcome import Outcome
from stateward.emulate.etcd.state import History
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.etcd.model.names import CLUSTER_UID_LABEL
from stateward.etcd.moves.step import MakeNextMove
from stateward.etcd.operator import LEASE
from stateward.etcd.seen import Seen
from stateward.kube.client import MergePatch, Propagation
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, LEASES, PODS, STATEFUL_SETS, VOLUME_CLAIMS
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.sim.etcd.laws.words import Words
from stateward.sim.etcd.life import PATIENCE, Ask, Life, live, live_with, same
from stateward.sim.etcd.mistakes import STRAY_LOGINS, asks_nobody
from stateward.sim.etcd.oracles.differences import differences, room_of
from stateward.sim.etcd.oracles.ends import end_of
from stateward.sim.etcd.oracles.lasting import never_told
from stateward.sim.etcd.oracles.leaks import leaks
from stateward.sim.etcd.oracles.logins import StrayLogins
from stateward.sim.etcd.oracles.orphans import Orphans
from stateward.sim.etcd.oracles.writer import Writer
from stateward.sim.etcd.scenarios import KEY, Step, create
from stateward.sim.etcd.wire import EtcdCall
from stateward.sim.etcd.world import EtcdWorld
from stateward.sim.faults import Family, Fault, Plan
from stateward.sim.mutants import crew
from stateward.sim.mutants.clues import Clue

CONFIG = "shop-cluster-state"

# -------------------------------------------------------------------------- lives


def test_one_seed_is_one_life_and_another_is_another():
    one, again, other = (live(Ask("one", seed=it)) for it in (1, 1, 2))
    assert same(one, again)
    assert not same(one, other)


def test_a_recorded_life_tells_where_calls_come_from_and_goes_no_other_way():
    life = live(Ask("one"), record=True)
    places = {it.label for it in life.calls}
    assert {"etcd/moves/writing.py:_written", "etcd/controller.py:_write_status"} <= places
    assert "" not in places
    assert same(life, live(Ask("one")))


def test_a_life_tells_what_operators_did():
    acts = live(Ask("5to3")).acts
    assert {name: acts[name] for name in acts if name.startswith(("etcd remove", "delete"))} == {
        "etcd remove 3": 1,
        "etcd remove 4": 1,
        "delete persistentvolumeclaims data-shop-3": 1,
        "delete persistentvolumeclaims data-shop-4": 1,
    }


# -------------------------------------------------------------------------- ACK


async def _write_for_a_while(at: Stage) -> Writer:
    writer = Writer(at.watch.scene)
    await at.pass_time(5)
    return writer


async def _nothing_happens(at: Stage) -> None:
    (await _write_for_a_while(at)).check()


async def _a_member_restarts(at: Stage) -> None:
    writer = await _write_for_a_while(at)
    at.it.universe.stop(at.server(1), gently=False)
    await at.pass_time(10)
    writer.check()


async def _keys_are_lost(at: Stage) -> None:
    writer = await _write_for_a_while(at)
    at.agree("put", lambda state: replace(state, keys={}))
    writer.check()


async def _one_key_is_lost(at: Stage) -> None:
    writer = await _write_for_a_while(at)

    def forget(key: bytes) -> None:
        at.agree(
            "put",
            lambda state: replace(
                state, keys={name: it for name, it in state.keys.items() if name != key}
            ),
        )

    forget(sorted(at.server(0).state.keys)[2])
    writer.check()


async def _a_person_lets_go(at: Stage) -> None:
    writer = await _write_for_a_while(at)
    at.want(quorumRecovery={"acceptDataLoss": True})
    at.agree("put", lambda state: replace(state, keys={}))
    writer.check()


@pytest.mark.parametrize(
    ("play", "broken"),
    [
        (_nothing_happens, set()),
        (_a_member_restarts, set()),
        (_keys_are_lost, {"ACK"}),
        (_one_key_is_lost, {"ACK"}),
        (_a_person_lets_go, set()),
    ],
)
def test_what_was_acknowledged_is_found_again(play: object, broken: set[str]):
    assert played(play) == broken  # type: ignore[arg-type]


# -------------------------------------------------------------------------- L0 and SILENCE


def test_who_never_gets_there_is_told_so():
    never = replace(create(replicas=1), until=lambda _: False)
    assert [it.law for it in live_with((never,), Ask("one")).violations] == ["L0"]


def test_who_does_not_stay_there_is_told_so():
    moments: list[bool] = []

    def once(_: EtcdWorld) -> bool:
        moments.append(True)
        return len(moments) == 1

    step = Step("flicker", create(replicas=1).do, once)
    assert [it.law for it in live_with((step,), Ask("one")).violations] == ["L0"]


def test_who_does_not_stop_writing_is_told_so():
    """Somebody wipes the status again and again, and so it is written again and again."""

    tasks: list[asyncio.Task[None]] = []

    async def do(it: EtcdWorld) -> None:
        await create(replicas=1).do(it)
        tasks.append(asyncio.get_running_loop().create_task(_unsay(it)))

    steps = (Step("wipe", do, lambda _: True),)
    assert "SILENCE" in [it.law for it in live_with(steps, Ask("one")).violations]


async def _unsay(it: EtcdWorld) -> None:
    while True:
        await asyncio.sleep(30)
        wiped = MergePatch({"status": None})
        it.world.api.patch(ETCD_CLUSTERS, KEY, wiped, Author("user"), subresource="status")


def test_the_clock_starts_when_the_last_fault_is_over():
    """An operator that sleeps for longer than anybody waits breaks no law."""
    life = live(Ask("one", Plan.parse("30=zombie:700")))
    assert life.seconds > 700
    assert life.violations == ()


# -------------------------------------------------------------------------- L0'


def _told(at: Stage, message: str) -> list[str]:
    members = [{"name": f"shop-{n}", "message": message if n == 1 else ""} for n in range(3)]
    at.say({"members": members})
    at.it.lasting.add("shop-1")
    return [it.partition(", and ")[2] for it in never_told(at.watch.scene, alone=True)]


def _nobody_tells(at: Stage) -> None:
    assert _told(at, "") == ["the status of ns/shop does not say so"]


def _somebody_tells(at: Stage) -> None:
    assert _told(at, "its pod is being deleted") == []


async def _the_rest_is_no_quorum(at: Stage) -> None:
    for ordinal in (0, 2):
        at.it.universe.hang(at.server(ordinal))
    assert _told(at, "its pod is being deleted") == ["ns/shop has no quorum without it"]


@pytest.mark.parametrize("play", [_nobody_tells, _somebody_tells, _the_rest_is_no_quorum])
def test_what_never_ends_is_told_and_the_rest_serves(play: Callable[[Stage], None]):
    played(play)


@pytest.mark.parametrize("text", ["lose-node:1:inf", "stuck-pod:1:inf", "cut:1:inf"])
def test_a_life_comes_to_its_end_beside_what_never_does(text: str):
    life = live(Clue.parse(f"roll | delete pods ns/shop-2 | 1 | act:{text}").ask(live(Ask("roll"))))
    assert life.violations == ()
    assert life.seconds > PATIENCE, "the roll could not be finished"


# -------------------------------------------------------------------------- K5


def test_what_is_in_the_way_and_never_told_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Words, "_changed", lambda *_: None)
    told = [str(it) for it in live(Ask("taken")).violations]
    assert any(it.startswith("K5") and "nobody was told of" in it for it in told), told


# -------------------------------------------------------------------------- K4


def _writes_what_is_there(at: Stage) -> None:
    for _ in range(3):
        at.patch(CONFIG_MAPS, CONFIG, {"data": {}})


def _is_refused(at: Stage) -> None:
    for _ in range(3):
        at.delete(CONFIG_MAPS, CONFIG, uid="11111111-0000-0000-0000-000000000000")


def _changes_something(at: Stage) -> None:
    for number in range(3):
        at.patch(CONFIG_MAPS, CONFIG, {"data": {"NUMBER": str(number)}})


#: What an operator does; whether that is too much in calm, under faults, and if it saw the past.
VAIN = {
    _writes_what_is_there: (True, True, False),
    _is_refused: (True, False, False),
    _changes_something: (False, False, False),
}


@pytest.mark.parametrize("play", VAIN)
def test_who_writes_what_is_there_did_not_look(play: Callable[[Stage], None]):
    def judged(at: Stage) -> None:
        vain = at.watch.vain
        assert not vain.complaint(), "calm so far"
        play(at)
        told = vain.complaint(), vain.repeats([Family.WORLD]), vain.repeats([Family.PAST])
        assert tuple(map(bool, told)) == VAIN[play]

    played(judged)


# -------------------------------------------------------------------------- LEAK


def _leaks(at: Stage) -> list[str]:
    return list(leaks(at.watch.scene, at.watch.family))


def _claim(name: str) -> Json:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"name": name, "namespace": "ns"}, "spec": spec}


def test_what_is_left_over_is_told():
    found: dict[str, list[str]] = {}

    async def play(at: Stage) -> None:
        found["nothing"] = _leaks(at)
        at.it.world.api.create(VOLUME_CLAIMS, "ns", _claim("data-shop-7"), Author("user"))
        found["claim"] = _leaks(at)
        at.add(7)
        found["learner"] = _leaks(at)
        forced = {"data": {"ETCD_FORCE_NEW_CLUSTER": "true"}}
        at.patch(CONFIG_MAPS, "shop-cluster-state", forced)
        found["force"] = _leaks(at)

    played(play)
    assert found["nothing"] == []
    assert found["claim"] == ["ns/data-shop-7 is left without a member"]
    assert found["learner"] == ["shop-7 is left as a learner"]
    assert "ns/shop-cluster-state is left with force-new-cluster" in found["force"]


@pytest.mark.parametrize("kept", [True, False])
def test_only_a_volume_that_was_to_be_kept_may_outlive_its_cluster(kept):
    found: list[str] = []

    async def play(at: Stage) -> None:
        api = at.it.world.api
        cluster = api.store.get(ETCD_CLUSTERS.name, KEY)
        assert cluster is not None
        metadata = {"labels": {CLUSTER_UID_LABEL: cluster.uid}}
        claim = _claim("data-shop-7")
        claim["metadata"] |= metadata
        api.create(VOLUME_CLAIMS, "ns", claim, Author("user"))
        free = MergePatch({"metadata": {"finalizers": None}})
        api.patch(ETCD_CLUSTERS, KEY, free, Author("user"))
        api.delete(ETCD_CLUSTERS, KEY, DeleteOptions(uid=cluster.uid))
        found.extend(it for it in _leaks(at) if "data-shop-7" in it)

    played(play, retainVolumesOnDelete=kept)
    told = ["persistentvolumeclaims ns/data-shop-7 is left of a cluster that is gone"]
    assert found == ([] if kept else told)


# -------------------------------------------------------------------------- DIFF


@pytest.fixture(scope="module")
def calm() -> Life:
    return live(Ask("one"))


@pytest.mark.parametrize(
    ("plan", "act", "allowed"),
    [
        ("9=crash-after", "delete pods", 0),
        ("9=crash-after", "etcd remove", 0),
        ("9=lost-answer", "etcd add_learner", 0),
        ("9=stale:1:1", "delete persistentvolumeclaims", 1),
        ("9=zombie:60", "etcd add_learner", 1),
        ("9=zombie:60", "delete pods", 0),
        ("9=act:wipe:1", "etcd remove", 1),
        ("9=act:kill-pod:1", "etcd remove", 0),
        ("9=act:wipe:1,20=act:wipe:2", "etcd remove", 2),
        ("9=crash-after", "etcd move_leader", 9),
        ("9=crash-after", "etcd compact", 1),
        ("9=crash-after", "etcd enable_auth", 0),
        ("9=act:full:1", "etcd compact", 2),
    ],
)
def test_faults_excuse_only_what_they_make_necessary(calm: Life, plan: str, act: str, allowed: int):
    for times in (allowed, allowed + 1):
        life = replace(
            calm,
            ask=Ask("one", Plan.parse(plan)),
            acts=Counter(calm.acts) + Counter({f"{act} shop-9": times}),
        )
        assert bool(differences(calm, life)) == (times > allowed)


def test_another_end_is_told(calm: Life):
    missing = dict(calm.end)
    name, text = missing.popitem()
    changed = dict(calm.end) | {name: text + " "}
    for end in (missing, changed, {**calm.end, "pods ns/stray": "{}"}):
        assert len(differences(calm, replace(calm, end=end))) == 1
    assert differences(calm, calm) == ()


def test_how_pods_and_claims_were_tied_to_their_cluster_does_not_matter():
    def end(tie: Json) -> dict[str, str]:
        ended: list[dict[str, str]] = []

        def play(at: Stage) -> None:
            for resource, name in ((PODS, "shop-1"), (VOLUME_CLAIMS, "data-shop-1")):
                patch = MergePatch({"metadata": {"ownerReferences": [_SET, tie]}})
                at.it.world.api.patch(resource, ObjectKey("ns", name), patch, Author("user"))
            ended.append(end_of(at.it))

        played(play)
        return ended[0]

    tie = {"apiVersion": "v1", "kind": "EtcdCluster", "name": "shop", "uid": "1"}
    waiting, other = tie | {"blockOwnerDeletion": True}, tie | {"kind": "Somebody"}
    assert end(tie) == end(waiting)
    assert end(tie) != end(other)


_SET: Json = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "shop", "uid": "2"}


# -------------------------------------------------------------------------- what is nobody's fault


@pytest.mark.parametrize(
    ("who", "wanted", "noted"),
    [("twin1.1", False, True), ("twin1.1", True, False), ("op0.1", False, False)],
)
def test_logins_are_stray_that_nobody_wants_by_one_without_the_lease(
    who: str, *, wanted: bool, noted: bool
):
    notes: list[bool] = []

    def play(at: Stage) -> None:
        led = MergePatch({"spec": {"holderIdentity": "op0.1"}})
        at.it.world.api.patch(LEASES, LEASE, led, Author("user"))
        at.want(security={"enableAuth": wanted})
        state = at.server(0).state
        weather, watch = at.it.world.weather, StrayLogins(at.watch.scene)
        at.send(call := EtcdCall("enable_auth", at.server(0).start.address, writes=True), who=who)
        weather.acting = (who, call)
        watch.agreed(History(1, [state]), state, replace(state, auth=True))
        weather.acting = None
        notes.append(asks_nobody(at.it))
        assert (STRAY_LOGINS in at.it.notes) == noted

    played(play)
    assert notes == [True]  # the state itself was not changed


@pytest.mark.parametrize("first", ["cluster", "set"])
def test_nothing_can_be_hoped_for_where_pods_are_parted_from_a_cluster_that_goes(first: str):
    hopeless: list[bool] = []

    def play(at: Stage) -> None:
        api = at.it.world.api
        Orphans(at.it)
        orphan = DeleteOptions(propagation=Propagation.ORPHAN)
        steps = [
            lambda: api.delete(ETCD_CLUSTERS, KEY, DeleteOptions()),
            lambda: api.delete(STATEFUL_SETS, KEY, orphan),
        ]
        for step in steps if first == "cluster" else reversed(steps):
            assert not at.it.hopeless
            step()
        hopeless.append(at.it.hopeless)

    played(play)
    assert hopeless == [True]


def test_what_people_change_cannot_be_compared():
    assert room_of((Fault.parse("act:edit:replicas=5"),)) is None


def test_a_life_ends_the_same_whatever_chance_names(calm: Life):
    assert differences(calm, live(Ask("one", seed=7))) == ()


# -------------------------------------------------------------------------- what mutants break


@pytest.mark.parametrize(
    ("law", "mutant", "scenario"),
    [
        ("E-S17", "G-etcd.wanting.Want.pods:drop-not.1", "larger"),
        ("RECORD", "G-etcd.decide.chart._recorded:drop-guard.1", "secured"),
    ],
)
def test_a_law_is_broken_by_a_planted_bug(law: str, mutant: str, scenario: str) -> None:
    with crew.find(mutant).plant():
        told = [str(it) for it in live(Ask(scenario)).violations]
    assert any(it.startswith(law) for it in told), told


def test_a_pass_that_fails_by_a_bug_is_told_in_bad_weather_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It fails once, and the next pass mends all: only the operator's own count tells of it."""
    passes = count(1)
    run = MakeNextMove.run

    async def stumble(self: MakeNextMove, seen: Seen) -> Outcome:
        if next(passes) == 5:
            raise ZeroDivisionError
        return await run(self, seen)

    monkeypatch.setattr(MakeNextMove, "run", stumble)
    told = [str(it) for it in live(Ask("one", Plan.parse("30=503"))).violations]
    assert any(it.startswith("K8") and "ZeroDivisionError" in it for it in told), told
