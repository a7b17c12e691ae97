"""What Prometheus is told about clusters."""

from __future__ import annotations

import re

from fakes.etcd_views import DB_SIZE, picture, told
from fakes.hand_clock import HandClock
from stateward.core.outcome import Blocked
from stateward.etcd.decide.refusals import Refusal
from stateward.etcd.model.view import View
from stateward.etcd.tell.metrics import COUNTERS, GAUGES, EtcdMetrics
from stateward.etcd.tell.status import status_of
from stateward.kube.meta import ObjectKey
from stateward.runtime.telling.metrics import Metrics

KEY = ObjectKey("default", "shop")
OURS = re.compile(r"^stateward_etcd_(\w+)\{(.*)\} (\S+)$")
WHOSE = {'name="shop"', 'namespace="default"'}


def added(labels: str) -> str:
    """Return the labels beside those that say which cluster it is, which must be there."""
    found = labels.split(",")
    assert set(found) >= WHOSE
    return ",".join(it for it in found if it not in WHOSE)


class Told:
    """The metrics of an operator, and what a scrape finds."""

    def __init__(self) -> None:
        self.registry = Metrics(HandClock())
        self.etcd = EtcdMetrics(self.registry.objects(GAUGES, COUNTERS))

    def saw(self, view, said=(), refusals=()):
        status = status_of(view, said, refusals)
        self.etcd.saw(told(view, status))
        return status

    def series(self, family: str = "") -> dict[str, float]:
        """Return ours of one family, or of all, each by what it adds to the cluster's name."""
        text, _ = self.registry.render()
        found = [it for line in text.decode().splitlines() if (it := OURS.match(line))]
        return {
            added(it[2]) if family else f"{it[1]} {added(it[2])}": float(it[3])
            for it in found
            if family in {"", it[1]}
        }


def test_members_by_role():
    metrics = Told()
    metrics.saw(picture("3: L f f u"))

    assert metrics.series("members") == {
        'role="leader"': 1,
        'role="follower"': 2,
        'role="learner"': 0,
        'role="joining"': 1,
        'role="unknown"': 0,
    }
    assert metrics.series("member_healthy") == {
        'member="shop-0"': 1,
        'member="shop-1"': 1,
        'member="shop-2"': 1,
        'member="shop-3"': 0,
    }


def test_quorum_and_leader():
    metrics = Told()
    metrics.saw(picture("3: L f f"))
    assert (metrics.series("quorate"), metrics.series("has_leader")) == ({"": 1}, {"": 1})

    metrics.saw(picture("3: f d d"))
    assert (metrics.series("quorate"), metrics.series("has_leader")) == ({"": 0}, {"": 0})


def test_a_change_of_leader_is_counted_once_also_over_a_gap():
    metrics = Told()
    counts = []
    for text in ("3: L f f", "3: L f f", "3: d f f", "3: d L f", "3: f L f", "3: L f f"):
        metrics.saw(picture(text))
        counts.append(metrics.series("leader_changes_total")[""])

    assert counts == [0, 0, 0, 1, 1, 2]


def test_sizes_are_of_those_who_answer():
    metrics = Told()
    metrics.saw(picture("3: L f d"))

    assert metrics.series("db_size_bytes") == {
        'member="shop-0"': DB_SIZE,
        'member="shop-1"': DB_SIZE,
    }
    assert set(metrics.series("db_size_in_use_bytes").values()) == {DB_SIZE // 2}
    assert set(metrics.series("db_quota_bytes").values()) == {2 << 30}

    metrics.saw(picture("3: L f d", said={"db_size_quota": 0}))
    assert metrics.series("db_quota_bytes") == {}


def test_how_long_a_guard_has_held_something_back():
    metrics = Told()
    said = [("Move", Blocked("SecretMissing", "no secret", "make it"))]
    refusals = [Refusal("Roll", "Grace", "too early")]
    view = picture("3: L f f")
    status = metrics.saw(view, said, refusals)
    status = metrics.saw(
        told(view, status, after=90), said, [*refusals, Refusal("Wipe", "Grace", "too early")]
    )

    assert metrics.series("blocked_seconds") == {'guard="SecretMissing"': 90, 'guard="Grace"': 90}
    metrics.saw(told(view, status, after=120))
    assert metrics.series("blocked_seconds") == {}


def test_a_cluster_that_nobody_looked_at_is_not_called_leaderless():
    metrics = Told()
    view = picture("3: L f f")
    metrics.saw(view)
    metrics.saw(View(view.cluster, view.now), [("CheckSpec", Blocked("SpecInvalid", "no", "mend"))])

    assert metrics.series() == {
        'blocked_seconds guard="SpecInvalid"': 0,
        "leader_changes_total ": 0,
    }


def test_moves_by_name():
    metrics = Told()
    for move in ("AddLearner", "Promote", "Promote"):
        metrics.etcd.moved(KEY, move)

    assert metrics.series("moves_total") == {'move="AddLearner"': 1, 'move="Promote"': 2}


def test_a_member_that_left_and_a_cluster_that_is_gone_leave_nothing_behind():
    metrics = Told()
    metrics.saw(picture("3: L f f"))
    metrics.etcd.moved(KEY, "Remove")
    metrics.saw(picture("1: L"))
    assert metrics.series("member_healthy") == {'member="shop-0"': 1}

    metrics.etcd.forgot(KEY)
    assert metrics.series() == {}

    metrics.saw(picture("3: f L f"))
    assert metrics.series("leader_changes_total") == {"": 0}
