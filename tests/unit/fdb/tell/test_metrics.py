"""What Prometheus is told of clusters: whose the lock of the database is, and what is held back."""

from __future__ import annotations

import pytest

from stateward.core.moments import to_rfc3339
from stateward.fdb.model.locks import Found, Lock
from stateward.fdb.tell.metrics import GAUGES, blocked_readings, lock_readings
from stateward.kube.crd.blockers import Blocker

NOW = 10_000.0
HELD = Lock("dc1", 9_700, 10_300)

#: How the lock stands, at 10 000 -> what is shown to dc1: denied, ours, holder, held, left.
STANDS: dict[str, tuple[Found, str]] = {
    "free": (Found(None), "denied 0, ours 0"),
    "ours": (Found(HELD), "denied 0, ours 1, holder dc1 1, held 300, left 300"),
    "another's": (
        Found(Lock("dc2", 9_900, 10_600)),
        "denied 0, ours 0, holder dc2 1, held 100, left 600",
    ),
    "over": (Found(Lock("dc2", 9_000, 9_600)), "denied 0, ours 0"),
    "ours, and over": (Found(Lock("dc1", 9_000, 9_600)), "denied 0, ours 0"),
    "denied": (Found(None, ("dc0", "dc1")), "denied 1, ours 0"),
    "another is denied": (Found(HELD, ("dc10",)), "denied 0, ours 1, holder dc1 1, held 300, left 300"),
    "by a clock that is ahead": (
        Found(Lock("dc2", 20_000, 20_600)),
        "denied 0, ours 0, holder dc2 1, held 0, left 10600",
    ),
    "by one without a name": (
        Found(Lock("", 9_900, 10_600)),
        "denied 0, ours 0, holder  1, held 100, left 600",
    ),
}  # fmt: skip
SHORT = {"held_seconds": "held", "seconds_left": "left"}


@pytest.mark.parametrize("how", STANDS)
def test_how_the_lock_stands(how: str) -> None:
    found, shown = STANDS[how]
    told = []
    for it in lock_readings(found, "dc1", NOW):
        assert len(it.labels) == len(GAUGES[it.family][1])
        name = it.family.removeprefix("stateward_fdb_lock_")
        told.append(" ".join([SHORT.get(name, name), *it.labels, f"{it.value:g}"]))
    assert ", ".join(told) == shown


def held(step: str, guard: str, since: str | None) -> Blocker:
    return Blocker(step=step, guard=guard, since=since)


def test_how_long_something_is_held_back() -> None:
    """Of several steps that one guard holds back, what waits for longest counts."""
    blockers = (
        held("UpdatePods", "turn_is_ours", to_rfc3339(NOW - 60)),
        held("BounceProcesses", "turn_is_ours", to_rfc3339(NOW - 600)),
        held("CoordinateOperators", "LockDenied", to_rfc3339(NOW + 5)),
        held("UpdateStatus", "GroupsUnwell", "yesterday"),
        held("UpdateStatus", "Other", None),
    )
    found = {it.labels: it.value for it in blocked_readings(blockers, NOW)}
    assert found == {
        ("turn_is_ours",): 600,
        ("LockDenied",): 0,
        ("GroupsUnwell",): 0,
        ("Other",): 0,
    }
