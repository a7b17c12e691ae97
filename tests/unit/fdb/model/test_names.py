"""What parts of a cluster are called, and whose name it is that one reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.core.naming import dns_label_problem
from stateward.fdb.model import names
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.names import ProcessGroupID

CLUSTERS = st.from_regex(r"\A[a-z]([-a-z0-9]{0,20}[a-z0-9])?\Z")
PREFIXES = st.just("") | st.from_regex(r"\A[A-Za-z0-9]([A-Za-z0-9_.-]{0,20}[A-Za-z0-9])?\Z")
GROUPS = st.builds(ProcessGroupID, st.sampled_from(ProcessClass), st.integers(0, 999_999), PREFIXES)


@given(GROUPS)
def test_an_id_is_read_as_it_was_written(group: ProcessGroupID) -> None:
    assert ProcessGroupID.parse(str(group)) == group


@given(CLUSTERS, GROUPS)
def test_a_pod_is_found_by_its_name(cluster: str, group: ProcessGroupID) -> None:
    name = names.pod_name(cluster, group)

    assert dns_label_problem(name) is None
    assert names.group_of_pod(cluster, name, group.prefix) == group
    assert names.pod_of_claim(names.claim_name(name)) == name


@given(CLUSTERS, GROUPS, GROUPS)
def test_two_groups_of_a_cluster_share_no_pod(
    cluster: str, one: ProcessGroupID, other: ProcessGroupID
) -> None:
    same = (one.process_class, one.number) == (other.process_class, other.number)

    assert (names.pod_name(cluster, one) == names.pod_name(cluster, other)) == same


@given(GROUPS, st.integers(1, 99))
def test_a_process_says_whose_it_is(group: ProcessGroupID, number: int) -> None:
    assert names.group_of_process(names.process_id(group, number)) == (group, number)


@pytest.mark.parametrize(
    "text", ["", "storage", "storage-", "storage-01", "storage-1x", "shop-1", "-storage-1", "Storage-1", "storage-1-"]
)  # fmt: skip
def test_what_is_no_id(text: str) -> None:
    with pytest.raises(ValueError, match="must be CLASS-NUMBER"):
        ProcessGroupID.parse(text)


@pytest.mark.parametrize(
    "pod",
    ["shop", "shop-1", "shop-storage", "cafe-storage-1", "shop-a-storage-1", "shop-storage-01"],
)
def test_what_is_no_pod_of_a_cluster(pod: str) -> None:
    assert names.group_of_pod("shop", pod) is None


def test_one_cluster_does_not_take_the_pods_of_another() -> None:
    """Names of clusters may begin alike, even with a class."""
    pod = names.pod_name("shop-log", ProcessGroupID.parse("storage-1"))

    assert names.group_of_pod("shop", pod) is None


def test_a_prefix_may_look_like_a_class() -> None:
    assert ProcessGroupID.parse("dc1-storage-log-3") == ProcessGroupID(
        ProcessClass.LOG, 3, "dc1-storage"
    )


@pytest.mark.parametrize("text", ["storage-1", "storage-1-0", "storage-1-x", "x"])
def test_what_is_no_process(text: str) -> None:
    with pytest.raises(ValueError, match="must be"):
        names.group_of_process(text)


def test_processes_are_counted_from_one() -> None:
    with pytest.raises(ValueError, match="counted from 1"):
        names.process_id(ProcessGroupID.parse("log-1"), 0)


def test_other_names() -> None:
    assert names.headless_service_name("shop") == "shop"
    assert names.config_map_name("shop") == "shop-config"
    assert names.unified_conf_key(ProcessClass.LOG) == "fdbmonitor-conf-log-json"
    assert names.pod_of_claim("shop") is None


@pytest.mark.parametrize(
    ("key", "ours"),
    [
        ("cluster-file", True),
        ("fdbmonitor-conf-storage", True),
        ("sidecar-conf", True),
        ("mine", False),
    ],
)
def test_keys_of_ours(key: str, ours: bool) -> None:
    assert names.is_own_key(key) is ours
