"""Since when a group is on a tainted node. Taints are written as ``key@seconds ago``."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.fdb.api.automation import TaintOption
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.decide.groups.taints import Ground, NodeTaint, mattering, ripens_in, tainted

NOW = 1_000_000.0
WORK = TaintOption(key="work", duration_in_seconds=60)
ALL = TaintOption(key="*", duration_in_seconds=600)
AT_ONCE = TaintOption(key="gone")


def ground(text: str, *options: TaintOption, **said: Any) -> Ground:
    taints = []
    for it in text.split():
        key, _, ago = it.partition("@")
        taints.append(NodeTaint(key, NOW - float(ago) if ago else None))
    return Ground(**{"taints": tuple(taints), "options": options, "replaces": True, **said})


def told(some: Ground, detected: float | None = None, replacing: float | None = None) -> str:
    """Return for how long a node is tainted, and to be left; each a number of seconds."""
    since = {Kind.NODE_TAINT_DETECTED: detected, Kind.NODE_TAINT_REPLACING: replacing}
    before = {kind: NOW - it for kind, it in since.items() if it is not None}
    found = tainted(some, before, NOW)
    return " ".join(f"{NOW - found[it]:g}" for it in since if it in found)


@pytest.mark.parametrize(
    ("taints", "options", "before", "after"),
    [
        pytest.param("", [WORK, ALL], [], "", id="none"),
        pytest.param("other", [WORK], [], "", id="none that matters"),
        pytest.param("work", [], [], "", id="none is asked for"),
        pytest.param("work", [], [50, 40], "", id="no more"),
        pytest.param("work", [WORK], [], "0", id="just seen"),
        pytest.param("work", [WORK], [59], "59", id="seen before"),
        pytest.param("work", [WORK], [60], "60 0", id="long enough"),
        pytest.param("work", [WORK], [90, 30], "90 30", id="and told"),
        pytest.param("work@500", [WORK], [], "500 0", id="as its node says"),
        pytest.param("work@500", [WORK], [30], "500 0", id="it was there before it was seen"),
        pytest.param("work@-500", [WORK], [], "0", id="not from the future"),
        pytest.param("gone", [AT_ONCE], [], "0 0", id="at once"),
        pytest.param("other@500", [WORK, ALL], [], "500", id="all taints"),
        pytest.param("other@600", [WORK, ALL], [], "600 0", id="all taints, long enough"),
        pytest.param("work@100", [ALL, WORK], [], "100 0", id="its own key counts first"),
        pytest.param("work@10 other@700", [WORK, ALL], [], "700 0", id="the first that is due"),
        pytest.param("work@10 other@100", [WORK, ALL], [], "100", id="each has its own patience"),
        pytest.param("", [WORK], [90, 30], "", id="it is over"),
    ],
)
def test_taints(taints: str, options: list[TaintOption], before: list[float], after: str) -> None:
    assert told(ground(taints, *options), *before) == after


@pytest.mark.parametrize("said", [{"taints": None}, {"options": None}])
def test_of_what_nobody_can_see_the_last_word_counts(said: dict[str, Any]) -> None:
    assert told(ground("work", WORK, **said), 90, 30) == "90 30"
    assert told(ground("work@500", WORK, **said)) == ""


def test_where_nobody_is_replaced_it_is_only_told() -> None:
    assert told(ground("work@500", WORK, replaces=False), 90, 30) == "500"


@pytest.mark.parametrize(
    ("taints", "left"),
    [("", None), ("other", None), ("work", 20), ("work@45", 15), ("work@60", None),
     ("work@45 gone", 15)],
)  # fmt: skip
def test_when_to_look_again(taints: str, left: float | None) -> None:
    assert ripens_in(ground(taints, WORK, AT_ONCE), NOW - 40, NOW) == left
    assert ripens_in(ground(taints, WORK, replaces=False), NOW, NOW) is None


def test_which_matter() -> None:
    taints = (NodeTaint("work"), NodeTaint("other"), NodeTaint("work"))
    assert mattering(taints, [WORK]) == ["work"]
    assert mattering(taints, [ALL]) == ["other", "work"]
