"""What is asked of whole lives: that nothing is lost, that they come to rest, that they are alike."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from fakes.etcd_hand import Stage, played
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.resources import CONFIG_MAPS, VOLUME_CLAIMS
from stateward.local.rules.writes import Author
from stateward.sim.etcd.life import Ask, Life, live, live_with, same
from stateward.sim.etcd.oracles.differences import differences, room_of
from stateward.sim.etcd.oracles.leaks import leaks
from stateward.sim.etcd.oracles.writer import Writer
from stateward.sim.etcd.scenarios import KEY, SCENARIOS, Step, create
from stateward.sim.etcd.world import EtcdWorld
from stateward.sim.faults import Fault, Plan

# -------------------------------------------------------------------------- calm lives


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_calm_life_breaks_no_law(scenario: str):
    assert live(Ask(scenario)).violations == ()


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


def test_what_people_change_cannot_be_compared():
    assert room_of((Fault.parse("act:edit:replicas=5"),)) is None


def test_a_life_ends_the_same_whatever_chance_names(calm: Life):
    assert differences(calm, live(Ask("one", seed=7))) == ()
