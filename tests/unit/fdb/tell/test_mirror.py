"""Groups in the status of their cluster, there and back."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.fdb_groups import NOW, cluster, group
from stateward.core.moments import to_rfc3339
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.status import FoundationDBClusterStatus, GroupMirror
from stateward.fdb.model.names import ProcessGroupID
from stateward.fdb.tell.mirror import Import, imported, mirror


def test_a_group_in_a_few_words() -> None:
    gone = group(
        "storage-2",
        Kind.MISSING_POD,
        Kind.READY,
        since=NOW - 9.5,
        marked=True,
        marked_since=NOW - 60,
    )
    ((found,), truncated) = mirror(cluster(gone))
    assert not truncated
    assert msgspec.to_builtins(found) == {
        "processGroupID": "storage-2",
        "processClass": "storage",
        "addresses": ("10.0.0.1",),
        "removalTimestamp": to_rfc3339(NOW - 60),
        "processGroupConditions": ({"type": "MissingPod", "timestamp": int(NOW - 10)},),
        "faultDomain": "zone-2",
    }


def test_since_when_it_is_excluded_is_told_once() -> None:
    gone = group("storage-1", marked=True, excluded=True)
    (first, _) = mirror(cluster(gone))
    assert first[0].exclusion_timestamp == to_rfc3339(NOW)
    before = FoundationDBClusterStatus(process_groups=first)
    (again, _) = mirror(cluster(gone, status=before, now=NOW + 100))
    assert again == first


def test_since_when_something_is_wrong_is_told_once() -> None:
    """A group whose own status is not seen says "since now" with every look."""
    new = group("storage-1", Kind.POD_PENDING, since=NOW)
    (first, _) = mirror(cluster(new))
    before = FoundationDBClusterStatus(process_groups=first)
    later = group("storage-1", Kind.POD_PENDING, since=NOW + 5)
    (again, _) = mirror(cluster(later, status=before, now=NOW + 5))
    assert again == first
    (known, _) = mirror(cluster(later, status=before, now=NOW + 9))
    assert known[0].process_group_conditions[0].timestamp == int(NOW + 5)


def test_the_order_is_always_the_same() -> None:
    some = [group(it) for it in ("storage-10", "log-3", "storage-2")]
    ids = [it.process_group_id for it in mirror(cluster(*some))[0]]
    assert ids == ["log-3", "storage-2", "storage-10"]


def test_where_it_is_too_much_only_those_that_are_not_well_are_told() -> None:
    some = [group(f"storage-{it}") for it in range(1, 50)]
    odd = [group("log-1", Kind.POD_PENDING), group("log-2", marked=True)]
    found, truncated = mirror(cluster(*some, *odd), limit_bytes=1000)
    assert truncated
    assert [it.process_group_id for it in found] == ["log-1", "log-2"]


@given(st.lists(st.booleans(), max_size=20), st.integers(0, 3000))
def test_it_is_never_larger_than_it_may_be(some: list[bool], limit: int) -> None:
    groups = [
        group(f"log-{n}", *([] if well else [Kind.POD_PENDING]))
        for n, well in enumerate(some, start=1)
    ]
    found, truncated = mirror(cluster(*groups), limit_bytes=limit)
    assert sum(len(msgspec.json.encode(it)) for it in found) <= limit
    assert truncated or len(found) == len(groups)
    assert mirror(cluster(*reversed(groups)), limit_bytes=limit) == (found, truncated)


# ------------------------------------------------------------------ back
def entry(name: str, class_: str = "", removal: str | None = None, **said: object) -> GroupMirror:
    return msgspec.convert(
        {"processGroupID": name, "processClass": class_, "removalTimestamp": removal, **said},
        GroupMirror,
    )


def status(*entries: GroupMirror) -> FoundationDBClusterStatus:
    return FoundationDBClusterStatus(process_groups=entries)


def test_groups_of_before_are_read() -> None:
    moment = to_rfc3339(NOW)
    found = imported(status(
        entry("storage-1", "storage"),
        entry("dc1-log-2", "log", moment, exclusionTimestamp=moment),
        entry("test-3", removal=moment, exclusionSkipped=True),
    ))  # fmt: skip
    assert found.garbage == ()
    assert found.groups == (
        Import(ProcessGroupID.parse("storage-1")),
        Import(ProcessGroupID.parse("dc1-log-2"), NOW, NOW),
        Import(ProcessGroupID.parse("test-3"), NOW, None, skipped=True),
    )


@pytest.mark.parametrize(
    ("garbage", "why"),
    [
        (entry(""), "must be CLASS-NUMBER"),
        (entry("what-1"), "must be CLASS-NUMBER"),
        (entry("log-2", "storage"), "its class is storage"),
        (entry("log-2", "log", "yesterday"), "a time must look like"),
        (entry("storage-1", "storage"), "another one has its class and number"),
        (entry("dc1-storage-1", "storage"), "another one has its class and number"),
    ],
)
def test_garbage_is_told_apart(garbage: GroupMirror, why: str) -> None:
    found = imported(status(entry("storage-1"), garbage, entry("log-9")))
    assert [str(it.id) for it in found.groups] == ["storage-1", "log-9"]
    assert [it.entry for it in found.garbage] == [garbage.process_group_id]
    assert why in found.garbage[0].why


def test_the_first_of_all_moments_is_none() -> None:
    (found,) = imported(status(entry("log-1", removal="0001-01-01T00:00:00Z"))).groups
    assert found.removal_timestamp is None


texts = st.text(max_size=12) | st.sampled_from(
    ["storage-1", "log-2", "dc1-log-2", "storage", "log", to_rfc3339(NOW)]
)


@given(st.lists(st.builds(entry, texts, texts, st.none() | texts), max_size=5))
def test_whatever_is_told_is_read_or_told_apart(entries: list[GroupMirror]) -> None:
    found = imported(status(*entries))
    assert len(found.groups) + len(found.garbage) == len(entries)


def test_what_is_written_is_read_back() -> None:
    some = [group("storage-1"), group("log-2", marked=True, marked_since=NOW, skipped=True)]
    (told, _) = mirror(cluster(*some))
    assert [it.id for it in imported(status(*told)).groups] == [some[1].id, some[0].id]
