"""Calm lives written as a row of letters, one a call."""

from __future__ import annotations

from stateward.sim.etcd.life import Ask, Life, Site
from stateward.sim.explore.scenes import Scene

#: What a letter asks for, where in the code, and whether that writes.
CALLS = {
    "g": ("get services ns/shop", "look", False),
    "p": ("patch pods ns/shop-0", "act", True),
    "e": ("etcd status at shop-0", "ask", False),
    "a": ("etcd add_learner shop-1 at shop-0", "act", True),
    "l": ("patch leases.coordination.k8s.io stateward/etcd-operator", "renew", True),
    "P": ("list pods ", "fill", False),
    "S": ("list statefulsets.apps ", "fill", False),
    "C": ("list configmaps ", "fill", False),
}


def scene(letters: str, scenario: str = "one", operators: int = 1) -> Scene:
    """Return a scene whose calm life has these calls; every call comes one revision later."""
    calls = tuple(
        Site(number, "op0.1", text, label, writes, float(number), number)
        for number, letter in enumerate(letters, 1)
        for text, label, writes in (CALLS[letter],)
    )
    ask = Ask(scenario, operators=operators)
    return Scene(Life(ask, (), calls, {}, {}, "digest", 1.0, 1, len(calls)))
