"""A thousand lives of a team in a bad world, and the same life twice."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from stateward.sim import teams, world
from stateward.sim.network import CALM, STORM, Mix

SEEDS, USUAL = 1_000, 125
CHUNK = 25
LIVES = [
    pytest.param(it, marks=[pytest.mark.long] if it >= USUAL else [])
    for it in range(0, SEEDS, CHUNK)
]

DIGESTS = """
import structlog
structlog.configure(processors=[], logger_factory=structlog.ReturnLoggerFactory())
from stateward.sim.teams import simulate_team
for seed in range(4):
    result = simulate_team(seed)
    print(seed, result.digest, f"{result.seconds:.6f}", result.writes)
"""


@pytest.mark.parametrize("first", LIVES)
def test_every_life_ends_in_order(first):
    """Crashes at random calls, cut watches, 410s, zombie leaders, lost answers: every run converges."""
    for seed in range(first, first + CHUNK):
        teams.simulate_team(seed)


def digests_with(hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    ended = subprocess.run(
        [sys.executable, "-c", DIGESTS], env=environment, capture_output=True, text=True, check=True
    )
    return ended.stdout


def test_the_same_seed_gives_the_same_digest_in_every_process():
    first, second = digests_with("1"), digests_with("4711")

    assert first == second
    assert len(set(first.split()[1::4])) == 4, "different seeds must give different lives"


@pytest.mark.parametrize("fault", STORM, ids=str)
def test_every_fault_is_survived_on_its_own(fault, monkeypatch):
    monkeypatch.setattr(teams, "STORMY", Mix(call=0.15, faults=(fault,)))
    for seed in range(3):
        teams.simulate_team(seed)


@pytest.mark.parametrize(
    "mix",
    [
        pytest.param(Mix(watch_cut=0.5), id="every second event cuts the watch"),
        pytest.param(Mix(watch_gone=0.5), id="every second event is a 410"),
        pytest.param(Mix(watch_lag=20), id="events are up to 20 s late"),
        pytest.param(CALM, id="calm"),
    ],
)
def test_every_kind_of_bad_watch_is_survived(mix, monkeypatch):
    monkeypatch.setattr(teams, "STORMY", mix)
    for seed in range(5):
        teams.simulate_team(seed)


def test_a_world_that_does_not_come_to_order_says_which_and_what_happened(monkeypatch):
    monkeypatch.setattr(teams, "is_as_asked", lambda _world: False)

    with pytest.raises(world.NotInTime, match="the team is as asked") as caught:
        teams.simulate_team(7)

    told = "\n".join(caught.value.__notes__)
    assert "seed 7" in told
    assert "user: " in told
