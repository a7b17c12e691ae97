"""K5 of what may not be looked at: plays in which a leader that is refused says so, or does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fakes.etcd_hand import NAME, Stage, played
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.kube.interception import Call
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, Resource

ALL = ObjectKey("", "")
TOLD = {"step": "Watch", "guard": "ObjectRefused", "message": "pods are forbidden", "hint": "ask"}


def told(at: Stage) -> None:
    at.say({"blockers": [TOLD | {"since": "2026-01-01T00:00:00Z"}]})


def silent(_: Stage) -> None:
    """Tell nobody."""


def refused(
    tell: Callable[[Stage], None] = silent,
    *,
    what: Resource[Any] = PODS,
    seconds: float = 20.0,
    alone: bool = True,
    who: str = NAME,
) -> set[str]:
    """Return what is broken by who may not list something, tells it or not, and asks again."""

    async def play(at: Stage) -> None:
        call = Call("list", what, ALL)
        at.watch.alone(alone)
        allow = at.it.world.weather.forbid(call)
        _send(at, who, call)
        tell(at)
        await at.pass_time(seconds)
        _send(at, who, call)
        allow()

    return played(play)


def _send(at: Stage, who: str, call: Call) -> None:
    """Send for nobody in particular, as informers do."""
    for listener in at.it.world.weather.listeners:
        listener(who, call)


def test_a_leader_that_may_not_look_and_does_not_say_so_is_found():
    assert refused() == {"K5"}


@pytest.mark.parametrize(
    "held",
    [
        {"tell": told},
        {"seconds": 5.0},
        # Something else went wrong, and may be why.
        {"alone": False},
        # It does not lead, or knows of no cluster that it could tell.
        {"who": "op7.1"},
        {"what": ETCD_CLUSTERS},
    ],
    ids=lambda held: next(iter(held)),
)
def test_who_says_so_or_cannot_say_it_yet_breaks_nothing(held):
    assert refused(**held) == set()


def test_a_right_that_came_back_is_forgotten():
    async def play(at: Stage) -> None:
        call, weather = Call("list", PODS, ALL), at.it.world.weather
        at.watch.alone(alone=True)
        for _ in range(2):
            allow = weather.forbid(call)
            _send(at, NAME, call)
            allow()
            _send(at, NAME, call)
            await at.pass_time(20.0)

    assert played(play) == set()
