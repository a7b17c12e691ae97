"""Who coordinates, by a view. Groups are written as in ``fakes.fdb_views``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fakes.fdb_views import KEY, cluster, entry, group, healthy, host
from stateward.core.facts import Unknown
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.decide.coordinating import (
    CoordinatorPlan,
    candidates,
    coordinates,
    coordinators_now,
    judge,
    rule,
)
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.names import ProcessGroupID, dns_name
from stateward.fdb.status.reading import Status
from stateward.fdb.views import ClusterView, GroupView, PodSeen

BY_ADDRESS = {"useDNSInClusterFile": False}
NOW = "storage-1 storage-2 storage-3"


def seen(picture: str, now: str = NOW, **fields: Any) -> ClusterView:
    fields.setdefault("routing", BY_ADDRESS)
    return cluster(picture, coordinating=now, **fields)


def address(text: str) -> Address:
    return Address(host(ProcessGroupID.parse(text)), 4501)


def name(text: str) -> Address:
    pod = f"{KEY.name}-{text}"
    return Address(dns_name(pod, KEY.name, KEY.namespace, "cluster.local"), 4501)


def chosen(plan: CoordinatorPlan) -> list[str]:
    return [] if plan.change is None else [str(it) for it in plan.change]


#: Groups, who coordinates, who shall; nothing: nothing is wrong.
TABLE: dict[str, tuple[str, str, str]] = {
    "all is well": ("s1 s2 s3 s4", NOW, ""),
    "one does not report": ("s1 s2 s3? s4", NOW, "storage-1 storage-2 storage-4"),
    "one is about to go": ("s1 s2 s3- s4", NOW, "storage-1 storage-2 storage-4"),
    "one is deleted by somebody": ("s1 s2 s3> s4", NOW, "storage-1 storage-2 storage-4"),
    "there are too few": ("s1 s2 s3 s4", "storage-1", NOW),
    "two are in a zone": ("s1 s2 s2 s3", NOW, "storage-1 storage-2 storage-4"),
    "one without state coordinates": ("s1 s2 x3 s4", "storage-1 storage-2 stateless-1", NOW),
    "storage before logs": ("l1 l2 l3 s4 s5 s6", "log-1", "log-1 storage-1 storage-2"),
}


@pytest.mark.parametrize("name_", TABLE)
def test_who_shall_coordinate(name_: str) -> None:
    picture, now, wanted = TABLE[name_]
    found = judge(seen(picture, now))
    assert chosen(found) == [str(it) for it in sorted(map(address, wanted.split()))]
    assert bool(found.wrong) is bool(wanted)
    assert found.lost is ("?" in picture)


def test_with_too_few_nothing_changes_and_it_is_said_why() -> None:
    found = judge(seen("s1 s2 s3- x4"))
    assert found.change is None
    assert not found.lost
    assert "there are 2 of 3 who may" in found.why_not
    assert "is about to go" in found.why_not


def test_without_a_status_nobody_is_changed() -> None:
    view = replace(seen("s1 s2 s3"), database=Status(0.0, flaws={"": "it was not asked"}))
    found = judge(view)
    assert (found.wrong, found.change) == ((), None)
    assert "it was not asked" in found.why_not


def test_whoever_is_excluded_does_not_coordinate() -> None:
    found = judge(seen("s1 s2 s3 s4", entries={"storage-2": {"excluded": True}}))
    assert found.wrong == ("storage-2-1 is excluded",)
    assert chosen(found) == [str(address(f"storage-{it}")) for it in (1, 3, 4)]


def test_whoever_shall_be_removed_does_not_coordinate() -> None:
    found = judge(seen("s1 s2 s3 s4", processGroupsToRemove=["storage-2"]))
    assert found.wrong == ("storage-2-1 shall be removed",)


def test_a_zone_under_maintenance_stays_but_is_not_chosen() -> None:
    away = {"storage-3": {"under_maintenance": True}}
    assert judge(seen("s1 s2 s3 s4", entries=away)).wrong == ()
    away = {"storage-4": {"under_maintenance": True}}
    found = judge(seen("s1 s2 s3? s4 s5", entries=away))
    assert chosen(found) == [str(address(f"storage-{it}")) for it in (1, 2, 5)]


def test_a_pod_that_is_made_anew_is_not_chosen() -> None:
    def old(it: GroupView) -> GroupView:
        if it.id.number == 4:
            return replace(it, obsolete_pod="pod-storage-4")
        if it.id.number == 5:
            return replace(it, pod=PodSeen("pod", terminating_since=1.0))
        return it

    found = judge(seen("s1 s2 s3? s4 s5 s6", change=old))
    assert chosen(found) == [str(address(f"storage-{it}")) for it in (1, 2, 6)]


@pytest.mark.parametrize(
    ("mode", "now", "shall"),
    [
        ("single", "storage-1", "storage-4"),
        ("double", "storage-1 storage-2 storage-3", "storage-2 storage-3 storage-4"),
    ],
)
def test_the_only_one_does_not_go_where_a_pod_has_yet_to_be_made_anew(
    mode: str, now: str, shall: str
) -> None:
    """It would be replaced there once more, for its own pod. Of three, one may be lost."""
    old = ("storage-2", "storage-3") if mode == "single" else ("storage-4",)

    def with_address(it: GroupView) -> GroupView:
        wrong = {GroupConditionType.INCORRECT_POD_SPEC: 0.0} if str(it.id) in old else {}
        return replace(it, pod=PodSeen(f"pod-{it.id}", ips=(host(it.id),)), conditions=wrong)

    found = judge(
        cluster(
            "s1- s2 s3 s4",
            healthy(configuration__redundancy_mode=mode),
            coordinating=now,
            change=with_address,
            routing=BY_ADDRESS,
            databaseConfiguration={"redundancy_mode": mode},
        )
    )
    assert found.change == tuple(sorted(map(address, shall.split())))


def test_one_that_does_not_answer_is_replaced() -> None:
    tree = healthy()
    away = {"address": f"{address('storage-2')}(fromHostname)", "reachable": False}
    tree["client"]["coordinators"]["coordinators"] = [away]
    found = judge(seen("s1 s2 s3 s4", tree=tree))
    assert found.wrong == ("storage-2-1 does not answer",)
    assert not found.lost


def test_the_spec_says_which_classes() -> None:
    only = [{"processClass": "log", "priority": 1}]
    view = seen("s1 s2 s3 l4 l5 l6", coordinatorSelection=only)
    assert chosen(judge(view)) == [str(it) for it in map(address, ("log-1", "log-2", "log-3"))]
    assert len(rule(view).priorities) == 1


def test_processes_of_other_clusters_coordinate_too() -> None:
    far = entry(group("s9@9"))
    far["locality"]["instance_id"] = "far-storage-9"
    found = judge(seen("s1 s2 s3?", strangers={"far": far}))
    assert str(address("storage-9")) in chosen(found)


def test_whoever_does_not_say_whose_it_is_is_not_chosen() -> None:
    nobody = entry(group("s9@9"))
    del nobody["locality"]["instance_id"]
    found = judge(seen("s1 s2 s3?", strangers={"far": nobody}))
    assert found.change is None


# ------------------------------------------------------------------ by name, and with TLS
def test_coordinators_go_by_name_where_it_is_asked_for() -> None:
    now = " ".join(str(name(it)) for it in NOW.split())
    assert judge(seen("s1 s2 s3 s4", now, routing={})).wrong == ()
    found = judge(seen("s1 s2 s3- s4", now, routing={}))
    assert chosen(found) == [str(name(f"storage-{it}")) for it in (1, 2, 4)]


def test_the_same_processes_stay_where_only_their_names_change() -> None:
    found = judge(seen("s1 s2 s3 s0", routing={}))
    assert chosen(found) == [str(name(it)) for it in NOW.split()]
    assert not found.lost
    assert all("shall go by" in it for it in found.wrong)
    now = " ".join(str(name(it)) for it in NOW.split())
    assert chosen(judge(seen("s1 s2 s3 s0", now))) == [str(address(it)) for it in NOW.split()]


def test_names_wait_until_all_tell_theirs() -> None:
    mute = {"storage-4": {"locality": {"instance_id": "storage-4", "zoneid": "z4"}}}
    assert judge(seen("s1 s2 s3 s4", routing={}, entries=mute)).wrong == ()
    found = judge(seen("s1 s2 s3? s4", routing={}, entries=mute))
    assert chosen(found) == [str(address(f"storage-{it}")) for it in (1, 2, 4)]


def test_testers_and_those_that_are_excluded_need_no_names() -> None:
    mute: dict[str, Any] = {"locality": {"instance_id": "storage-4", "zoneid": "z4"}}
    entries = {"test-1": mute, "storage-4": {**mute, "excluded": True}}
    found = judge(seen("s1 s2 s3 s4 T5", routing={}, entries=entries))
    assert chosen(found) == [str(name(it)) for it in NOW.split()]


def test_whoever_does_not_say_whether_it_is_excluded_is_not_chosen() -> None:
    quiet = entry(group("s9@9"))
    del quiet["excluded"]
    quiet["locality"]["instance_id"] = "far-storage-9"
    assert judge(seen("s1 s2 s3?", strangers={"far": quiet})).change is None


def both(number: int) -> dict[str, str]:
    bare = host(ProcessGroupID.parse(f"storage-{number}"))
    return {"address": f"{bare}:4500:tls,{bare}:4501"}


def test_tls_waits_until_all_listen_with_it() -> None:
    asked: dict[str, Any] = {"mainContainer": {"enableTls": True}}
    half: dict[str, Any] = {f"storage-{it}": both(it) for it in (1, 2, 3)}
    assert judge(seen("s1 s2 s3 s4", entries=half, **asked)).wrong == ()
    found = judge(seen("s1 s2 s3 s4", entries=half | {"storage-4": both(4)}, **asked))
    assert chosen(found) == [str(replace(address(it), port=4500, tls=True)) for it in NOW.split()]


def test_a_candidate_that_cannot_be_named_is_none() -> None:
    mute = {"storage-1": {"address": "nonsense"}}
    view = seen("s1 s2 s3", entries=mute)
    (found,) = [it for it in candidates(view) if it.objection]
    assert found.objection == "tells no address without TLS"


# ------------------------------------------------------------------ whether a group coordinates
def test_a_group_coordinates_by_address_by_name_and_by_its_role() -> None:
    view = seen("s1 s2 s3? s4 s5", entries={"storage-5": {"roles": [{"role": "coordinator"}]}})
    told = frozenset({address("storage-1"), name("storage-2"), name("storage-3")})
    found = [it.id.number for it in view.groups if coordinates(view, it, told)]
    assert found == [1, 2, 3, 5]


def test_where_nobody_knows_everybody_may_coordinate() -> None:
    view = seen("s1 s2 s3")
    assert all(coordinates(view, it, Unknown("nobody asked")) for it in view.groups)


def test_a_status_without_coordinators_leaves_those_it_was_asked_by() -> None:
    view = seen("s1 s2 s3")
    lost = replace(view, database=Status(0.0))
    assert coordinators_now(lost) == frozenset(map(address, NOW.split()))
    assert isinstance(coordinators_now(replace(lost, connection=None)), Unknown)
