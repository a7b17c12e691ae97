"""Ends of worlds: what is compared, and what is left to chance."""

from __future__ import annotations

import pytest

from stateward.sim.etcd.pairs.ends import _CHANCE, _OURS, _leaves, differences, without_status

DOCUMENT = {
    "metadata": {"name": "a", "labels": {"app.io/name": "etcd"}, "finalizers": []},
    "spec": {"containers": [{"name": "etcd", "args": ["--x", "--y"]}], "on": True},
}
LEAVES = """
.metadata.finalizers = []
.metadata.labels[app.io/name] = etcd
.metadata.name = a
.spec.containers[etcd].args[0] = --x
.spec.containers[etcd].args[1] = --y
.spec.containers[etcd].name = etcd
.spec.on = True
"""


def test_leaves_are_called_by_where_they_are():
    assert [f"{path} = {it}" for path, it in _leaves(DOCUMENT, "")] == LEAVES.strip().splitlines()


@pytest.mark.parametrize(
    ("path", "chance"),
    [
        (".metadata.uid", True),
        (".metadata.resourceVersion", True),
        (".metadata.ownerReferences[shop].uid", True),
        (".metadata.labels.controller-revision-hash", True),
        (".metadata.labels[stateward.dev/cluster-uid]", False),
        (".status.conditions[Ready].lastTransitionTime", True),
        (".status.conditions[Ready].status", False),
        (".spec.nodeName", True),
        (".spec.containers[etcd].image", False),
        (".spec.volumeName", True),
        (".spec.clusterIPs[0]", True),
    ],
)
def test_what_chance_names(path, chance):
    assert bool(_CHANCE.search(path)) is chance


@pytest.mark.parametrize(
    ("path", "ours"),
    [
        (".status.leader", True),
        (".status.members[shop-0].id", True),
        (".status.members[shop-0].healthy", False),
        (".status.conditions[Ready].message", True),
        (".status.conditions[Ready].reason", False),
        (".status.version", False),
    ],
)
def test_what_differs_in_our_own_status(path, ours):
    assert bool(_OURS.search(path)) is ours


def test_differences_name_the_place_and_both_sides():
    one, other = {"a x": "1", "b": "2"}, {"a x": "1", "b": "3", "c": "4"}
    assert differences(one, other) == ["b: 2 != 3", "c: (nothing) != 4"]
    assert differences(one, one) == []


def test_what_clusters_say_of_themselves_is_apart():
    end = {"etcdclusters/shop status.leader": "a", "pods/shop-0 spec.x": "1"}
    assert without_status(end) == {"pods/shop-0 spec.x": "1"}
