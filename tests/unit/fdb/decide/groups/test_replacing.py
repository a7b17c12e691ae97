"""What cannot be done in place, and how much of it at a time."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.fdb_groups import cluster, group
from stateward.core.version import Version
from stateward.fdb.api.group import FoundationDBProcessGroupSpec
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.status import FoundationDBClusterStatus, RequiredAddresses
from stateward.fdb.decide.groups.faults import NOWHERE, fault_changes, faults
from stateward.fdb.decide.groups.replacing import Misfits, Pair, misfits, why_replace
from stateward.fdb.views import GroupView


def made(
    class_: str = "storage",
    size: str | None = "128G",
    pod: dict[str, Any] | None = None,
    **said: Any,
) -> FoundationDBProcessGroupSpec:
    claim = (
        {}
        if size is None
        else {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": size}}}}}
    )
    containers = [
        {
            "name": "foundationdb",
            "image": "fdb:7.3.63",
            "resources": {"requests": {"cpu": "1", "memory": "8Gi"}},
        }
    ]
    spec = {"containers": containers, **(pod or {})}
    settings = {
        "podTemplate": {"spec": spec, "metadata": said.pop("metadata", {})},
        **claim,
        **said.pop("settings", {}),
    }
    whole = {
        "clusterName": "shop",
        "processGroupID": f"{class_}-1",
        "processClass": class_,
        "processSettings": settings,
        **said,
    }
    return msgspec.convert(whole, FoundationDBProcessGroupSpec)


def container(image: str = "fdb:7.3.63", **requests: str) -> dict[str, Any]:
    return {
        "containers": [
            {
                "name": "foundationdb",
                "image": image,
                "resources": {"requests": {"cpu": "1", "memory": "8Gi", **requests}},
            }
        ]
    }


IMAGE = container("fdb:7.3.79")
CRASH = {
    "containers": [{"name": "foundationdb", "command": ["crash-loop"], "args": ["crash-loop"]}]
}
AFFINITY = {
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "foundationdb.org/no-schedule-allowed"}]}
                ]
            }
        }
    }
}
CLASS = {"spec": {"storageClassName": "fast", "resources": {"requests": {"storage": "128G"}}}}
#: What is, what shall be, what is asked for besides, and a word of why; nothing: in place.
TABLE: dict[str, tuple[FoundationDBProcessGroupSpec, FoundationDBProcessGroupSpec, dict[str, Any], str]] = {
    "nothing changes": (made(), made(), {}, ""),
    "a larger volume": (made(), made(size="256G"), {}, "its volume changes: requests.storage"),
    "the same volume in other words": (made(size="1Gi"), made(size="1024Mi"), {}, ""),
    "another storage class": (made(), made(settings={"volumeClaimTemplate": CLASS}), {}, "its volume changes: storageClassName"),
    "a volume at all": (made(size=None), made(), {}, "shall have a volume"),
    "no volume any more": (made(), made(size=None), {}, "shall have no volume"),
    "other labels of the volume": (made(), made(settings={"volumeClaimTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": {"resources": {"requests": {"storage": "128G"}}}}}), {}, ""),
    "another prefix": (made(), made(processGroupIDPrefix="dc1"), {}, "the prefix of its id changes from nothing to dc1"),
    "addresses of services": (made(), made(service={"publicIPSource": "service"}), {}, "whose address it tells"),
    "more servers": (made(), made(serversPerPod=2), {}, "how many servers its pod has changes from 1 to 2"),
    "another image type": (made(), made(imageType="split"), {}, "its image type"),
    "another image type with two servers": (made(serversPerPod=2), made(serversPerPod=2, imageType="split"), {}, ""),
    "another image type without a volume": (made(size=None), made(size=None, imageType="split"), {}, ""),
    "other nodes": (made(), made(pod={"nodeSelector": {"disk": "ssd"}}), {}, "on other nodes"),
    "an empty selector": (made(), made(pod={"nodeSelector": {}}), {}, ""),
    "another family": (made(), made(service={"podIPFamily": 6}), {}, "the family of its address changes from nothing to 6"),
    "another image, in place": (made(), made(pod=IMAGE), {}, ""),
    "another image, Replace": (made(), made(pod=IMAGE), {"strategy": "Replace"}, "podUpdateStrategy is Replace"),
    "another image, Delete": (made("log"), made("log", pod=IMAGE), {"strategy": "Delete"}, ""),
    "a log with another image": (made("log"), made("log", pod=IMAGE), {}, "podUpdateStrategy is ReplaceTransactionSystem"),
    "stateless with another image": (made("stateless"), made("stateless", pod=IMAGE), {}, "ReplaceTransactionSystem"),
    "a log with other labels": (made("log"), made("log", metadata={"labels": {"a": "b"}}), {"strategy": "Replace"}, ""),
    "a log with other arguments": (made("log"), made("log", settings={"customParameters": ["knob_a=1"]}), {"strategy": "Replace"}, ""),
    "a log that shall crash": (made("log"), made("log", pod=CRASH), {"strategy": "Replace"}, ""),
    "a log that shall crash no more": (made("log", pod=CRASH), made("log", pod=IMAGE), {"strategy": "Replace"}, ""),
    "more CPU": (made(), made(pod=container(cpu="1500m")), {}, ""),
    "more CPU, asked": (made(), made(pod=container(cpu="1500m")), {"resources_too": True}, "more CPU: 1500m instead of 1"),
    "more memory, asked": (made(), made(pod=container(memory="9Gi")), {"resources_too": True}, "more memory"),
    "less, asked": (made(), made(pod=container(cpu="500m", memory="1Gi")), {"resources_too": True}, ""),
    "the same in other words, asked": (made(), made(pod=container(cpu="1000m")), {"resources_too": True}, ""),
    "more at the start, asked": (made(), made(pod={"initContainers": [{"resources": {"requests": {"cpu": "1"}}}]}), {"resources_too": True}, "more CPU"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_replace_or_not(name: str) -> None:
    now, wanted, options, why = TABLE[name]
    options = {"strategy": "ReplaceTransactionSystem", "resources_too": False, **options}
    found = why_replace(now, wanted, **options)
    assert why in found
    assert bool(found) == bool(why)


@pytest.mark.parametrize(
    ("pod", "said"),
    [
        ({}, set()),
        (CRASH, {"foundationdb"}),
        ({"initContainers": [{"name": "first", "args": ["crash-loop"]}]}, {"first"}),
        (AFFINITY, {NOWHERE}),
        ({**CRASH, **AFFINITY}, {"foundationdb", NOWHERE}),
    ],
)
def test_faults_are_told_by_what_a_pod_is_made_from(pod: dict[str, Any], said: set[str]) -> None:
    assert faults(made(pod=pod)) == said
    assert fault_changes(made(), made(pod=pod)) == bool(said)
    assert not fault_changes(made(pod=pod), made(pod=pod))


def test_a_group_with_another_prefix_is_replaced_though_it_follows_its_own_id() -> None:
    view = cluster(group("dc0-storage-1"), spec={"processGroupIDPrefix": "dc1"})
    (found,) = misfits(view, pairs(*view.groups, size="128G")).to_mark
    assert found.why == "the prefix of its id changes from dc0 to dc1"


def pairs(*groups: GroupView, size: str = "256G") -> list[Pair]:
    return [(it, made(), made(size=size)) for it in groups]


def marked(found: Misfits) -> list[str]:
    return [str(it.group.id) for it in found.to_mark]


FIVE = [group(f"storage-{number}") for number in range(1, 6)]


def test_without_a_limit_all_are_marked() -> None:
    found = misfits(cluster(*FIVE), pairs(*FIVE))
    assert marked(found) == [str(it.id) for it in FIVE]
    assert found.held == ()
    assert {it.why for it in found.to_mark} == {"its volume changes: requests.storage"}


@pytest.mark.parametrize(("limit", "many"), [(0, 0), (1, 0), (2, 1), (3, 2), (9, 4)])
def test_what_is_under_way_counts_against_the_limit(limit: int, many: int) -> None:
    under_way = group("storage-1", marked=True)
    done = [
        group("storage-8", marked=True, excluded=True),
        group("storage-9", marked=True, skipped=True),
    ]
    groups = [under_way, *done, *FIVE[1:]]
    view = cluster(*groups, spec={"automationOptions": {"maxConcurrentReplacements": limit}})
    found = misfits(view, pairs(*groups))
    assert len(found.to_mark) == many
    assert len(found.held) == 4 - many


def test_those_that_are_not_well_come_first() -> None:
    groups = [*FIVE[:3], group("storage-9", Kind.MISSING_PROCESSES)]
    view = cluster(*groups, spec={"automationOptions": {"maxConcurrentReplacements": 2}})
    assert marked(misfits(view, pairs(*groups))) == ["storage-9", "storage-1"]


def test_who_is_never_to_be_replaced_is_not() -> None:
    kept = {"automationOptions": {"cancelReplacementsForProcessGroups": ["storage-2"]}}
    found = misfits(cluster(*FIVE, spec=kept), pairs(*FIVE))
    assert "storage-2" not in marked(found)
    assert [it.group for it in found.held] == ["shop-storage-2"]


def test_nothing_is_replaced_in_an_upgrade() -> None:
    found = misfits(cluster(*FIVE, staging=True), pairs(*FIVE))
    assert marked(found) == []
    assert all("an upgrade is under way" in it.why for it in found.held)


def test_nothing_is_replaced_while_addresses_change() -> None:
    both = FoundationDBClusterStatus(required_addresses=RequiredAddresses(tls=True, non_tls=True))
    found = misfits(cluster(*FIVE, status=both), pairs(*FIVE))
    assert marked(found) == []
    assert all("TLS" in it.why for it in found.held)


def test_where_all_fit_nothing_is_said() -> None:
    view = cluster(*FIVE, running_version=Version(7, 1, 60))
    assert misfits(view, pairs(*FIVE, size="128G")) == Misfits()


@given(st.sets(st.integers(1, 9)), st.sets(st.integers(1, 9)), st.integers(0, 9))
def test_never_more_than_the_limit(some: set[int], gone: set[int], limit: int) -> None:
    groups = [group(f"storage-{it}", marked=it in gone) for it in sorted(some | gone)]
    view = cluster(*groups, spec={"automationOptions": {"maxConcurrentReplacements": limit}})
    found = misfits(view, pairs(*groups))
    assert len(found.to_mark) <= max(0, limit - len(gone))
    assert not any(it.group.marked for it in found.to_mark)
    assert len(found.to_mark) + len(found.held) == len(groups) - len(gone)
