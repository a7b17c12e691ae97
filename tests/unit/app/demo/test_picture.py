"""What can be said of a cluster at one moment."""

from __future__ import annotations

from typing import Any

import pytest

from fakes import cardboard as paper
from stateward.app.demo.picture import (
    Picture,
    fdb_is_well,
    has,
    healed,
    how_it_stood,
    is_ready,
)

OTHER_GENERATION = [
    {"type": "Ready", "status": "True", "reason": "AllMembersHealthy", "observedGeneration": 0}
]


@pytest.mark.parametrize(
    ("etcd", "pods", "count", "holds"),
    [
        (paper.etcd(3), 3, 3, True),
        (paper.etcd(3), 4, 3, False),
        (paper.etcd(3), 3, 5, False),
        (paper.etcd(3, ready=False), 3, 3, False),
        (paper.etcd(3, conditions=OTHER_GENERATION), 3, 3, False),
        (paper.etcd(3, conditions=[]), 3, 3, False),
        (paper.etcd(0, replicas=1), 0, 0, True),
        (paper.etcd(0, replicas=1), 1, 0, False),
        (None, 0, 0, False),
    ],
    ids=[
        "three of three",
        "a pod too many",
        "fewer than asked for",
        "not ready",
        "ready before the last change",
        "nothing said yet",
        "asleep",
        "the last pod leaves",
        "no cluster",
    ],
)
def test_a_size_is_reached(etcd: Any, pods: int, count: int, holds: bool) -> None:
    assert has(count)(Picture(etcd, paper.pods(pods))) is holds


def test_it_says_how_a_cluster_stands() -> None:
    sick = paper.member(2, healthy=False, role="unknown", message="its disk was emptied")
    blockers = [{"guard": "NoQuorum", "message": "one of three answers"}]
    etcd = paper.etcd(
        3, readyMembers="2/3", members=[paper.member(0), sick], blockers=blockers, doing="waiting"
    )

    assert list(how_it_stood(Picture(etcd, paper.pods(1, ready=False)))) == [
        "3 wanted, 2/3 ready",
        "doing: waiting",
        "shop-0: follower",
        "shop-2: its disk was emptied",
        "pod shop-0: new, not ready",
        "NoQuorum: one of three answers",
    ]


def test_an_empty_picture_is_no_trouble() -> None:
    empty = Picture()

    assert list(how_it_stood(empty)) == ["there is no EtcdCluster"]
    assert not is_ready(empty)
    assert (empty.leader, empty.doing, empty.cluster_id, empty.ids()) == ("", "", "", {})


def test_a_pod_that_is_not_ready_is_not_well() -> None:
    assert not has(3)(Picture(paper.etcd(3), paper.pods(3, ready=False)))


@pytest.mark.parametrize(
    ("now", "is_back"),
    [
        (paper.pods(3, restarts=2), False),
        (paper.pods(3, restarts=3), True),
        (paper.pods(3, restarts=0, life="b"), True),
        (paper.pods(1), True),
    ],
    ids=["as it was", "started again", "made anew", "gone for good"],
)
def test_who_was_killed_is_back(now: Any, is_back: bool) -> None:
    before = Picture(paper.etcd(3), paper.pods(3, restarts=2))

    assert healed(before, "shop-1")(Picture(paper.etcd(3), now)) is is_back


@pytest.mark.parametrize(
    ("phase", "state", "runs"),
    [
        ("Running", {"running": {}}, True),
        ("Pending", {"waiting": {"reason": "ContainerCreating"}}, False),
        ("Running", {"waiting": {"reason": "CrashLoopBackOff"}}, False),
        ("Running", {"terminated": {"exitCode": 137}}, False),
    ],
)
def test_only_what_runs_can_be_killed(phase: str, state: dict[str, Any], runs: bool) -> None:
    pods = paper.pods(2, phase=phase, state=state)

    assert Picture(paper.etcd(3), pods).running() == (["shop-0", "shop-1"] if runs else [])


def test_it_counts_restarts_of_one_pod() -> None:
    picture = Picture(paper.etcd(3), paper.pods(3, restarts=2))

    assert (picture.restarts("shop-1"), picture.restarts("shop-9")) == (2, 0)
    assert picture.uids() == {"shop-0": "uid-0", "shop-1": "uid-1", "shop-2": "uid-2"}


NODES = ("node-1", "node-2", "node-3")


@pytest.mark.parametrize(
    ("fdb", "nodes", "is_well"),
    [
        (paper.fdb(), NODES, True),
        (None, NODES, False),
        (paper.fdb(generations={"reconciled": 0}), NODES, False),
        (paper.fdb(reconciledProcessGroups=2), NODES, False),
        (paper.fdb(desiredProcessGroups=4), NODES, False),
        (paper.fdb(), ("node-1", "node-2", "node-2"), False),
    ],
)
def test_a_foundationdb_that_is_well(fdb, nodes, is_well):
    pods = paper.on_nodes(paper.pods(3), *nodes)
    assert fdb_is_well(3)(Picture(fdb=fdb, fdb_pods=pods)) is is_well


def test_a_foundationdb_whose_pods_are_not_ready_is_not_well():
    pods = paper.on_nodes(paper.pods(3, ready=False), *NODES)
    picture = Picture(paper.etcd(), fdb=paper.fdb(doing="3 are still to come"), fdb_pods=pods)
    assert not fdb_is_well(3)(picture)
    stood = list(how_it_stood(picture))
    assert "FoundationDB: 3 are still to come" in stood
