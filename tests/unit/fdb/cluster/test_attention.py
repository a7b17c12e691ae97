"""For how long a cluster has been looked at: whoever was away begins anew."""

from __future__ import annotations

from fakes.hand_clock import HandClock
from stateward.fdb.cluster.attention import Attention
from stateward.kube.meta import ObjectKey

ONE, OTHER = ObjectKey("default", "one"), ObjectKey("default", "other")


def test_a_pause_begins_it_anew() -> None:
    clock = HandClock()
    attention = Attention(clock)
    assert attention.paid(ONE) == 0
    for _ in range(10):
        clock.advance(60)
        found = attention.paid(ONE)
    assert found == 600
    assert attention.paid(OTHER) == 0
    clock.advance(120)
    assert attention.paid(ONE) == 0, "nobody knows what happened meanwhile"
    attention.forget(ONE)
    clock.advance(60)
    assert attention.paid(ONE) == 0
