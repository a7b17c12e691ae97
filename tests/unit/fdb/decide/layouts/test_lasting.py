"""Who is found by the address of a pod is not found any more when the pod was made anew."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from fakes.fdb_views import cluster, healthy, host
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.decide.groups.replacing import misfits
from stateward.fdb.decide.layouts.lasting import coordinators_are_found_again
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.views import ClusterView, GroupView

#: Who coordinates, and how it is found; whose pods go; whether it may be.
TABLE = {
    "the only one": ("s1", "address", "s1", False),
    "somebody else": ("s1", "address", "s2", True),
    "by its name": ("s1", "name", "s1", True),
    "by a service": ("s1", "service", "s1", True),
    "one of three": ("s1 s2 s3", "address", "s1", True),
    "two of three": ("s1 s2 s3", "address", "s1 s2", False),
    "two of five": ("s1 s2 s3 s4 s5", "address", "s1 s2", True),
    "all, by name": ("s1 s2 s3", "name", "s1 s2 s3", True),
    "two of three, beside others": ("s1 s2 s3", "address", "s1 s2 s4", False),
}


_PICTURE = "s1 s2 s3 s4 s5"


def seen(coordinating: str, way: str, *, loopback: bool = False) -> ClusterView:
    def with_address(it: GroupView) -> GroupView:
        assert it.pod is not None
        own = host(it.id).replace("10.", "127.", 1) if loopback else host(it.id)
        return replace(it, pod=replace(it.pod, ips=(own, "fd00::1")))

    bare = cluster(_PICTURE, change=with_address)
    found = ",".join(_place(bare, word, way) for word in coordinating.split())
    text = f"shop:abcdefgh@{found}"
    view = cluster(_PICTURE, healthy(connection_string=text), change=with_address)
    return replace(view, connection=ConnectionString.parse(text))


def _place(view: ClusterView, word: str, way: str) -> str:
    group = view.groups[int(word[1]) - 1]
    assert group.pod is not None
    where = {
        "address": group.pod.ips[0],
        "name": f"{group.name}.shop.prod.svc.cluster.local",
        "service": f"10.253.0.{group.id.number}",
    }
    return f"{where[way]}:4501"


@pytest.mark.parametrize("name", TABLE)
def test_most_coordinators_must_be_found_again(name: str) -> None:
    coordinating, way, going, may = TABLE[name]
    view = seen(coordinating, way)
    groups = [view.groups[int(word[1]) - 1] for word in going.split()]
    found = coordinators_are_found_again(view, groups)
    assert (found is None) == may
    if found is not None:
        assert "go by the addresses of storage-1" in found.message
        assert "in spec.processGroupsToRemove" in found.hint


@pytest.mark.parametrize("mode", ["All", "Zone"])
def test_whoever_makes_pods_anew_zone_by_zone_is_not_told_to(mode: str) -> None:
    """Two of three may be in one zone, where there are no more."""
    found = seen("s1 s2 s3", "address")
    options = structs.replace(found.spec.automation_options, deletion_mode=mode)
    found = replace(found, spec=structs.replace(found.spec, automation_options=options))
    refused = coordinators_are_found_again(found, found.groups[:2])
    assert refused is not None
    assert ("deletionMode to Zone" in refused.hint) == (mode == "All")
    assert ("name one of storage-1, storage-2 in" in refused.hint) == (mode == "Zone")


def with_old_pod(view: ClusterView, *, ordered: bool = False) -> ClusterView:
    """Return the same; the first group was told what it shall be, and its pod is of before."""
    first, *others = view.groups
    assert first.pod is not None
    old = {GroupConditionType.INCORRECT_POD_SPEC: 0.0}
    first = replace(first, conditions=old, obsolete_pod=first.pod.uid if ordered else "")
    return replace(view, groups=(first, *others))


@pytest.mark.parametrize(
    ("coordinating", "way", "ordered", "goes"),
    [
        ("s1", "address", False, True),
        ("s1", "address", True, False),
        ("s1", "name", False, False),
        ("s2", "address", False, False),
        ("s1 s2 s3", "address", False, False),
    ],
    ids=["it is the only one", "it goes already", "by its name", "another", "one of three"],
)
def test_who_came_to_be_the_only_one_is_replaced_too(
    coordinating: str, way: str, ordered: bool, goes: bool
) -> None:
    """It was told what it shall be before; nobody would ever make its pod anew."""
    view = with_old_pod(seen(coordinating, way), ordered=ordered)
    assert [str(it.group.id) for it in misfits(view, ()).to_mark] == ["storage-1"] * goes


def test_on_the_embedded_kubernetes_a_pod_keeps_its_address() -> None:
    view = seen("s1", "address", loopback=True)
    assert coordinators_are_found_again(view, view.groups) is None
