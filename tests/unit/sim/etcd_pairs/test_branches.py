"""Branches: copies of this process that live something and tell of it."""

from __future__ import annotations

import os
import signal

import pytest

from stateward.core.errors import HouseError, UsageError
from stateward.sim.etcd.pairs.running import _crew, _nth, _parsed
from stateward.sim.etcd.pairs.stage import lived


def test_what_a_branch_comes_to_is_told_and_nothing_else_is_left():
    world = {"state": 1}

    def live():
        world["state"] = 2
        return {"found": world["state"], "long": "x" * 1_000_000}

    assert lived(live) == {"found": 2, "long": "x" * 1_000_000}
    assert world == {"state": 1}


def test_a_branch_that_falls_is_told_of():
    with pytest.raises(HouseError, match="ZeroDivisionError"):
        lived(lambda: {"it": 1 // 0})


def test_a_branch_that_is_killed_is_told_of_and_the_others_are_ended():
    def die():
        os.kill(os.getpid(), signal.SIGKILL)
        yield {}

    def stay():
        yield {"n": 1}
        signal.pause()

    with pytest.raises(HouseError, match="a branch ended with 9"):
        list(_crew([die, stay], 2))


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_a_crew_tells_everything(jobs):
    lives = [lambda n=n: iter([{"n": n, "k": k} for k in range(3)]) for n in range(4)]
    told = list(_crew(lives, jobs))
    assert sorted((it["n"], it["k"]) for it in told) == [(n, k) for n in range(4) for k in range(3)]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("S0:paused.on:replicas.1", ("S0", "paused.on", "replicas.1", 0)),
        ("tls:tls.rotate@17:same", ("tls", "tls.rotate", "same", 17)),
    ],
)
def test_names_of_pairs(name, found):
    assert _parsed(name) == found


@pytest.mark.parametrize("name", ["", "S0", "S0:a", "S9:a:b", "S0:a@x:b", "S0:a:b:c", "S0:no:same"])
def test_odd_names_of_pairs(name):
    with pytest.raises(UsageError, match="a pair must be written as"):
        _parsed(name)


def test_a_call_that_never_comes_is_said_not_to():
    with pytest.raises(UsageError, match="S0:a@9:b: the work of the first case has fewer calls"):
        _nth(iter(()), "S0:a@9:b")


def test_ctrl_c_is_for_the_original_alone_and_is_not_lost_while_it_is_copied():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    told = lived(lambda: {"deaf": signal.getsignal(signal.SIGINT) is signal.SIG_IGN})

    assert told == {"deaf": True}
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before
