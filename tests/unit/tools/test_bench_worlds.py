"""Whose work a moment of a simulated life is."""

from __future__ import annotations

import pytest
from tools.bench.worlds import PARTS, part_of, reference


@pytest.mark.parametrize(
    ("modules", "part"),
    [
        (["stateward.etcd.observe", "stateward.runtime.controller", "stateward.sim.loop"], "operator"),
        (["msgspec", "stateward.kube.codec", "stateward.local.store", "stateward.sim.world"], "store"),
        (["stateward.kube.codec", "stateward.sim.etcd.laws.truth", "stateward.sim.loop"], "laws"),
        (["stateward.sim.etcd.oracles.acts", "stateward.sim.loop"], "laws"),
        (["asyncio.events", "stateward.sim.loop"], "world"),
        (["stateward.emulate.etcd.member", "stateward.sim.network"], "world"),
        (["asyncio.events"], "rest"),
    ],
)  # fmt: skip
def test_a_moment_is_the_work_of_the_innermost_that_has_a_part(modules, part):
    assert part_of(modules) == part


def test_the_reference_life_has_a_price_and_its_shares_are_all_of_it():
    found = reference(times=2)

    assert found.milliseconds > 0
    assert set(found.shares) == set(PARTS)
    assert sum(found.shares.values()) == pytest.approx(1)
