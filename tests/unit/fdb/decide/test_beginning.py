"""Who coordinates first."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_groups import NOW, SILENT, cluster, group, pod
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.status import FoundationDBClusterStatus
from stateward.fdb.decide.beginning import Begin, NotYet, begin
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.views import ClusterView, GroupView

STRING = "shop:x1@10.0.0.1:4501"


def runs(text: str, node: str = "", ips: tuple[str, ...] = (), **said: Any) -> GroupView:
    """Return a group whose pod runs; its zone is not known before there is a database."""
    number = text.rpartition("-")[2]
    made = pod(f"shop-{text}", node=node or f"n{number}", ips=ips or (f"10.0.0.{number}",))
    return group(text, **{"pod": made, "zone": "", "addresses": ips, **said})


def waits(text: str, seconds: float) -> GroupView:
    return group(text, Kind.POD_PENDING, pod=pod(text, phase="Pending", created=NOW - seconds))


def seen(*groups: GroupView, dns: bool = False, **said: Any) -> ClusterView:
    words = said.pop("spec", {})
    routing = {"useDNSInClusterFile": dns, **words.pop("routing", {})}
    usual = {"database": SILENT, "configured": False, "spec": {"routing": routing, **words}}
    return cluster(*groups, **{**usual, **said})


def chosen(view: ClusterView) -> list[str]:
    found = begin(view)
    assert isinstance(found, Begin), found
    return [str(it) for it in found.coordinators]


def why(view: ClusterView) -> str:
    found = begin(view)
    assert isinstance(found, NotYet), found
    return found.why


THREE = [runs(f"storage-{it}") for it in (1, 2, 3)]
THREE_AT = ["10.0.0.1:4501", "10.0.0.2:4501", "10.0.0.3:4501"]


def test_as_many_as_the_redundancy_asks_for_begin() -> None:
    assert chosen(seen(*THREE)) == THREE_AT


def test_storage_comes_first() -> None:
    assert chosen(seen(runs("log-4"), runs("stateless-5"), *THREE)) == THREE_AT


@pytest.mark.parametrize(
    ("mode", "many"), [("single", 1), ("double", 3), ("triple", 5), ("three_data_hall", 3)]
)
def test_how_many_begin(mode: str, many: int) -> None:
    some = [runs(f"storage-{it}") for it in range(1, 10)]
    view = seen(*some, spec={"databaseConfiguration": {"redundancy_mode": mode}})
    assert len(chosen(view)) == many


def test_of_several_data_centers_the_first_begins_alone() -> None:
    database = {"usable_regions": 2, "regions": [{"datacenters": [{"id": it}]} for it in "ab"]}
    assert (
        len(chosen(seen(*THREE, spec={"dataCenter": "a", "databaseConfiguration": database}))) == 3
    )


def test_each_is_on_another_node() -> None:
    crowded = [runs("storage-1", "n1"), runs("storage-2", "n1"), runs("log-3"), runs("log-4")]
    assert chosen(seen(*crowded)) == ["10.0.0.1:4501", "10.0.0.3:4501", "10.0.0.4:4501"]


def test_each_pod_is_a_zone_where_that_is_asked() -> None:
    crowded = [runs(f"storage-{it}", "n1") for it in (1, 2, 3)]
    assert len(chosen(seen(*crowded, spec={"faultDomain": {"key": "foundationdb.org/none"}}))) == 3


def test_in_one_of_several_kubernetes_clusters_nodes_must_do() -> None:
    domain = {"key": "foundationdb.org/kubernetes-cluster", "value": "kc1", "zoneCount": 3}
    assert len(chosen(seen(*THREE, spec={"faultDomain": domain}))) == 3


def test_a_zone_from_a_variable_is_what_the_group_says() -> None:
    rack = {"faultDomain": {"valueFrom": "$RACK"}}
    assert "does not say in which zone it is" in why(seen(*THREE, spec=rack))
    some = [runs(f"storage-{it}", zone=f"r{it}") for it in (1, 2, 3)]
    assert len(chosen(seen(*some, spec=rack))) == 3


def test_the_spec_says_who_may() -> None:
    selection = {"coordinatorSelection": [{"processClass": "log", "priority": 1}]}
    some = [*THREE, *(runs(f"log-{it}") for it in (4, 5, 6))]
    assert chosen(seen(*some, spec=selection)) == [
        "10.0.0.4:4501",
        "10.0.0.5:4501",
        "10.0.0.6:4501",
    ]


def test_too_few_begin_nothing() -> None:
    found = begin(seen(*THREE[:2], runs("stateless-7")))
    assert isinstance(found, NotYet)
    assert "3 coordinators are needed, and 2 could be" in found.why
    assert found.after == 15.0


@pytest.mark.parametrize(
    "said",
    [{"marked": True}, {"leaving": True}, {"pod": pod("x", phase="Failed")}, {"pod": pod("x", terminating_since=NOW)}],
)  # fmt: skip
def test_whoever_goes_or_does_not_run_is_not_chosen(said: dict[str, Any]) -> None:
    some = [runs("storage-3", **said), *THREE[:2]]
    assert "are needed" in why(seen(*some))


def test_whoever_is_named_for_removal_is_not_chosen() -> None:
    assert "are needed" in why(seen(*THREE, spec={"processGroupsToRemove": ["storage-3"]}))


@pytest.mark.parametrize(("seconds", "is_waited_for"), [(299, True), (300, False)])
def test_pending_pods_are_waited_for_but_not_for_ever(seconds: float, is_waited_for: bool) -> None:
    found = begin(seen(*THREE, waits("storage-4", seconds)))
    assert isinstance(found, NotYet) == is_waited_for
    missing = group("storage-4", Kind.MISSING_POD, since=NOW - seconds, pod=None)
    assert isinstance(begin(seen(*THREE, missing)), NotYet) == is_waited_for


COMING: list[tuple[int, str]] = [
    (1, "shop-storage-4 is still to come"),
    (2, "shop-storage-4 and 1 more are still to come"),
    (5, "shop-storage-4 and 4 more are still to come"),
]


@pytest.mark.parametrize(("many", "said"), COMING)
def test_who_is_waited_for_is_a_sentence(many: int, said: str) -> None:
    assert why(seen(*THREE, *(waits(f"storage-{it + 4}", 1) for it in range(many)))) == said


def test_pending_pods_that_may_not_are_not_waited_for() -> None:
    assert chosen(seen(*THREE, waits("stateless-4", 1))) == THREE_AT


def test_names_where_they_are_asked_for() -> None:
    name = "shop-storage-1.shop.prod.svc.cluster.local:4501"
    assert chosen(seen(*THREE, dns=True))[0] == name


def test_tls_has_its_own_port() -> None:
    assert (
        chosen(seen(*THREE, spec={"mainContainer": {"enableTls": True}}))[0] == "10.0.0.1:4500:tls"
    )


@pytest.mark.parametrize(
    ("family", "said"), [(None, "10.0.0.1:4501"), (4, "10.0.0.1:4501"), (6, "[fd00::1]:4501")]
)
def test_the_family_of_addresses_is_chosen(family: int | None, said: str) -> None:
    some = [runs(f"storage-{it}", ips=(f"10.0.0.{it}", f"fd00::{it}")) for it in (1, 2, 3)]
    routing = {} if family is None else {"podIPFamily": family}
    assert chosen(seen(*some, spec={"routing": routing}))[0] == said


def test_without_an_address_nobody_is_chosen() -> None:
    assert "are needed" in why(seen(*THREE, spec={"routing": {"podIPFamily": 6}}))


def test_addresses_of_services_are_those_of_the_group() -> None:
    some = [runs(f"storage-{it}", addresses=(f"10.9.0.{it}",)) for it in (1, 2, 3)]
    assert (
        chosen(seen(*some, spec={"routing": {"publicIPSource": "service"}}))[0] == "10.9.0.1:4501"
    )


def test_coordinators_that_the_spec_names_begin() -> None:
    partial = {"partialConnectionString": {"coordinators": ["10.5.0.1:4501", "10.5.0.2:4501"]}}
    assert chosen(seen(spec=partial)) == ["10.5.0.1:4501", "10.5.0.2:4501"]


@pytest.mark.parametrize(
    "said",
    [
        {"connection": ConnectionString.parse(STRING)},
        {"status": FoundationDBClusterStatus(connection_string=STRING)},
        {"spec": {"seedConnectionString": STRING}},
        {"configured": True},
        {"status": FoundationDBClusterStatus(configured=True)},
    ],
)
def test_a_database_is_begun_once(said: dict[str, Any]) -> None:
    found = begin(seen(*THREE, **said))
    assert isinstance(found, NotYet)
    assert found.after is None
