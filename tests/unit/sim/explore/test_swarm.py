"""A seed means one life, whoever asks."""

from __future__ import annotations

from collections import Counter

from fakes.scenes import scene
from stateward.sim.etcd.life import Ask
from stateward.sim.explore import swarm

NAMES = ("one", "grow", "two")


def drawn(seed: int) -> Ask:
    return swarm.drawn(seed, NAMES, lambda name: scene("PSC" + "gpea" * 20, name))


def test_the_same_seed_means_the_same_life():
    assert [drawn(it) for it in range(50)] == [drawn(it) for it in range(50)]
    assert len({drawn(it) for it in range(50)}) == 50


def test_lives_differ_in_everything():
    asks = [drawn(it) for it in range(500)]
    faults = Counter(len(it.plan.hits) for it in asks)

    assert {it.scenario for it in asks} == set(NAMES)
    assert {it.operators for it in asks} == {1, 2, 3}
    assert min(faults) <= 1
    assert max(faults) >= 6
    assert all(it.seed == seed for seed, it in enumerate(asks))


def test_every_family_is_left_out_of_about_half_the_seeds_with_many_faults():
    many = [it for it in map(drawn, range(2000)) if len(it.plan.hits) >= 6]
    having = Counter(family for it in many for family in {hit.fault.family for hit in it.plan.hits})

    assert all(0.2 * len(many) < count < 0.8 * len(many) for count in having.values())


def test_faults_come_in_order_and_beyond_the_calm_life_too():
    calls = [[hit.call for hit in drawn(it).plan.hits] for it in range(300)]

    assert all(it == sorted(it) for it in calls)
    assert max(max(it, default=0) for it in calls) > 83
