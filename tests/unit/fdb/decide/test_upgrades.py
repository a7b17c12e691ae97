"""Whether an upgrade of all at once begins, and who restarts when."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from fakes.fdb_views import NOW, cluster, healthy
from stateward.core.moments import to_rfc3339
from stateward.core.version import Version
from stateward.fdb.api.group import GroupConditionType as Is
from stateward.fdb.api.status import FoundationDBClusterStatus
from stateward.fdb.decide.upgrades import judging as upgrades
from stateward.fdb.model.versions import LINES, path_between
from stateward.fdb.views import ClusterView, GroupView
from stateward.kube.meta import Condition

OLD, NEW = Version(7, 1, 61), Version(7, 3, 63)
WHOLE = "s1 s2 s3 l1 l2 l3 x1 x2"


# ------------------------------------------------------------------ versions
@pytest.mark.parametrize(
    ("running", "wanted", "between"),
    [
        ("7.1.61", "7.1.67", ()),
        ("7.1.61", "7.3.63", ()),
        ("7.3.63", "7.4.5", ()),
        ("7.1.61", "7.4.5", ("7.3",)),
        ("7.1.61", "7.2.0", None),
        ("7.2.0", "7.3.0", None),
        ("7.3.63", "7.1.61", None),
        ("7.4.5", "7.5.0", None),
        ("7.4.5", "8.0.0", None),
        ("7.3.0-rc.1", "7.3.0", ()),
        ("7.1.61", "7.3.0-rc.1", ()),
    ],
)
def test_the_way_from_one_version_to_another(running: str, wanted: str, between: object) -> None:
    assert path_between(Version.parse(running), Version.parse(wanted)) == between


def test_every_line_is_one_step_from_the_one_before() -> None:
    for before, after in pairwise(LINES):
        assert path_between(Version(*before, 0), Version(*after, 0)) == ()


# ------------------------------------------------------------------ what was begun
@pytest.mark.parametrize(
    ("written", "wanted", "running", "heard", "found"),
    [
        (None, NEW, OLD, True, None),
        (NEW, NEW, OLD, True, NEW),
        (NEW, NEW, OLD, False, NEW),
        (NEW, OLD, OLD, True, None),
        # It may have been the last moment before the spec was taken back.
        (NEW, OLD, OLD, False, NEW),
        (NEW, Version(7, 3, 69), OLD, True, None),
        (NEW, NEW, NEW, True, None),
        (NEW, NEW, Version(7, 3, 60), True, None),
    ],
)
def test_what_was_begun_goes_on_or_is_taken_back(
    written: Version | None, wanted: Version, running: Version, heard: bool, found: object
) -> None:
    assert upgrades.staged(written, wanted, running, heard=heard) == found


def view(
    groups: str = WHOLE, tree: Any = None, version: str = "7.4.1", **words: Any
) -> ClusterView:
    """Return a cluster of 7.3.79 whose pods are given the programs of 7.4."""
    words.setdefault("ignoreUpgradabilityChecks", True)
    found = cluster(groups, tree or healthy(), version=version, **words)
    return replace(found, staging=True)


def objection(**words: Any) -> str:
    found = upgrades.objection(view(**words), "", ())
    return "" if found is None else found.guard


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("7.4.1", ""),
        ("7.1.61", "DowngradeRefused"),
        ("7.5.0", "UpgradePathUnknown"),
        ("8.0.0", "UpgradePathUnknown"),
        ("7.4.0-rc.1", ""),
    ],
)
def test_which_versions_may_follow(version: str, reason: str) -> None:
    assert objection(version=version) == reason


def test_an_operator_that_could_not_see_it_afterwards_does_not_begin() -> None:
    found = upgrades.objection(view(), "fdbcli of FoundationDB 7.4 must be on this machine", ())
    assert found is not None
    assert found.guard == "ProgramMissing"
    assert found.hint


def test_pods_that_are_about_to_change_change_first() -> None:
    found = upgrades.objection(view(), "", ["shop-storage-2"])
    assert found is not None
    assert (found.guard, found.hint) == ("PodsChangeFirst", "")
    assert "storage-2" in found.message


@pytest.mark.parametrize(("named", "reason"), [(0, "ClientsUnknown"), (1, "ClientsIncompatible")])
def test_how_many_are_not_named_makes_no_other_sentence(named: int, reason: str) -> None:
    found = set()
    for many in (61, 74):
        clients = [{"address": "10.9.0.1:500", "log_group": "web"}][:named]
        old = {
            "client_version": "7.3.79",
            "max_protocol_clients": clients,
            "max_protocol_count": many,
            "protocol_version": "fdb00b073000000",
        }
        tree = healthy(clients={"supported_versions": [old]})
        found.add(upgrades.cut_off(view(tree=tree, ignoreUpgradabilityChecks=False)))
    (told,) = found
    assert told is not None
    assert told.guard == reason
    assert ("agentCount" in told.hint) is (named > 0)


FOLLOWING: list[tuple[int, str, str]] = [
    (1, "1 client could", "10.9.0.1:500 (web)"),
    (5, "5 clients could", "10.9.0.5:500 (web)"),
    (12, "12 clients could", " (web) and 7 more"),
]


@pytest.mark.parametrize(("many", "begins", "ends"), FOLLOWING)
def test_of_many_clients_some_are_named_and_the_others_counted(
    many: int, begins: str, ends: str
) -> None:
    old = {
        "client_version": "7.3.79",
        "max_protocol_clients": [
            {"address": f"10.9.0.{it + 1}:500", "log_group": "web"} for it in range(many)
        ],
        "max_protocol_count": many,
        "protocol_version": "fdb00b073000000",
    }
    tree = healthy(clients={"supported_versions": [old]})
    found = upgrades.cut_off(view(tree=tree, ignoreUpgradabilityChecks=False))
    assert found is not None
    assert found.message.startswith(begins)
    assert found.message.endswith(ends)


def test_processes_of_others_are_told_of_before_anything_is_staged() -> None:
    shared = view()
    found = upgrades.objection(replace(shared, groups=_without(shared, "log-3")), "", ())
    assert found is not None
    assert found.guard == "ForeignProcesses"
    assert found.hint


# ------------------------------------------------------------------ the restart
def changed(found: ClusterView, name: str, **fields: Any) -> ClusterView:
    """Return a view in which one group is another."""
    groups = tuple(replace(it, **fields) if str(it.id) == name else it for it in found.groups)
    return replace(found, groups=groups)


def test_all_restart_at_once_when_all_have_the_programs() -> None:
    found = upgrades.restart(view())
    assert len(found.kill) == len(found.groups) == 8
    assert not found.begun


@pytest.mark.parametrize(
    "condition",
    [
        Is.INCORRECT_SIDECAR_IMAGE,
        Is.INCORRECT_CONFIG_MAP,
        Is.SIDECAR_UNREACHABLE,
        Is.INCORRECT_POD_SPEC,
    ],
)
@pytest.mark.parametrize("marked", [False, True])
def test_nobody_restarts_while_one_has_not(condition: Is, marked: bool) -> None:
    late = changed(view(), "storage-1", conditions={condition: NOW - 10}, marked=marked)
    found = upgrades.restart(late)
    assert found.kill == ()
    assert [it.group for it in found.waiting] == ["storage-1"]
    assert [str(it.id) for it in upgrades.unstaged(late)] == ["storage-1"]
    assert upgrades.withdrawn(late) == {"storage-1"}, "whatever other operators were told before"


@pytest.mark.parametrize(
    ("condition", "others", "serves", "never"),
    [
        # It gets another image of fdbserver, which a pod that is made anew has alone.
        (Is.INCORRECT_CONFIG_MAP, ["shop-storage-1"], True, True),
        (Is.INCORRECT_POD_SPEC, [], True, True),
        # It has the programs, and its pod changes when all have changed.
        (Is.READY, ["shop-storage-1"], True, False),
        # It gets them yet.
        (Is.INCORRECT_CONFIG_MAP, ["shop-log-1"], True, False),
        (Is.INCORRECT_SIDECAR_IMAGE, [], True, False),
        # All may have changed a moment ago.
        (Is.INCORRECT_CONFIG_MAP, ["shop-storage-1"], False, False),
    ],
)
def test_who_cannot_be_given_the_programs_before_its_pod_is_made_anew(
    condition: Is, others: list[str], serves: bool, never: bool
) -> None:
    tree = healthy(database_available=serves)
    late = changed(view(tree=tree), "storage-1", conditions={condition: NOW - 10})
    found = upgrades.never_staged(late, lambda _: frozenset(others))
    assert [str(it.id) for it in found] == ["storage-1"] * never


def test_who_shall_go_and_holds_nothing_is_not_waited_for_and_goes_along() -> None:
    gone = changed(
        view(), "log-1", conditions={Is.INCORRECT_CONFIG_MAP: NOW}, marked=True, excluded=True
    )
    found = upgrades.restart(gone)
    assert len(found.kill) == 8


@pytest.mark.parametrize(("lasts", "waits"), [(5.0, True), (3600.0, False)])
def test_who_does_not_report_is_waited_for_a_while(lasts: float, waits: bool) -> None:
    away = changed(
        view(), "storage-1", processes=(), conditions={Is.MISSING_PROCESSES: NOW - lasts}
    )
    found = upgrades.restart(away)
    assert [it.group for it in found.waiting] == (["storage-1"] if waits else [])
    assert len(found.kill) == (0 if waits else 7)


@pytest.mark.parametrize(("lasts", "waits"), [(5.0, True), (3600.0, False)])
def test_the_others_of_a_pod_change_when_one_of_them_is_given_up(lasts: float, waits: bool) -> None:
    half = changed(view(), "storage-1", servers=2, conditions={Is.MISSING_PROCESSES: NOW - lasts})
    found = upgrades.restart(half)
    assert [it.group for it in found.waiting] == (["storage-1"] if waits else [])
    assert len(found.kill) == (0 if waits else 8)


def test_who_changed_already_is_not_waited_for() -> None:
    first = view()
    ahead = next(it for it in first.groups if str(it.id) == "storage-1")
    tree = healthy(incompatible_connections=[f"{ahead.addresses[0]}:4501"])
    found = upgrades.restart(changed(view(tree=tree), "storage-1", processes=()))
    assert (len(found.kill), found.waiting) == (7, ())


@pytest.mark.parametrize("lasts", [5.0, 3600.0])
@pytest.mark.parametrize(
    ("serves", "told", "since", "begun"),
    [
        (False, "False", to_rfc3339(NOW - 30), True),
        # A recovery takes seconds, and has nothing to do with who waits outside.
        (False, "True", to_rfc3339(NOW - 3600), False),
        (False, "False", to_rfc3339(NOW - 5), False),
        (True, "False", to_rfc3339(NOW - 3600), False),
        (False, "False", "long ago", False),
        (False, "False", None, False),
    ],
)
def test_a_restart_was_cut_short_where_a_database_stays_down(
    serves: bool, told: str, since: str | None, begun: bool, lasts: float
) -> None:
    said = Condition(type="Available", status=told, last_transition_time=since)
    found = outside(lasts, serves=serves)
    found = replace(found, status=FoundationDBClusterStatus(conditions=(said,)))
    plan = upgrades.restart(found)
    assert len(plan.kill) == 7
    assert plan.begun is begun


@pytest.mark.parametrize("who", ["storage-1", "storage-2"])
@pytest.mark.parametrize(
    ("wrong", "serves", "many"),
    [
        # It has brought the programs, and nobody serves until the others have changed.
        (Is.INCORRECT_SIDECAR_IMAGE, False, 7),
        (Is.INCORRECT_SIDECAR_IMAGE, True, 0),
        (Is.INCORRECT_CONFIG_MAP, False, 0),
    ],
)
def test_a_restart_that_was_cut_short_does_not_wait_for_a_sidecar_that_ended(
    who: str, wrong: Is, serves: bool, many: int
) -> None:
    since = to_rfc3339(NOW - 3600)
    said = Condition(type="Available", status=str(serves), last_transition_time=since)
    found = outside(5.0, serves=serves)
    found = replace(found, status=FoundationDBClusterStatus(conditions=(said,)))
    before = next(it.conditions for it in found.groups if str(it.id) == who)
    found = changed(found, who, conditions={**before, wrong: NOW - 60})
    assert len(upgrades.restart(found).kill) == many


def test_processes_of_others_are_not_left_behind() -> None:
    found = upgrades.restart(replace(view(), groups=_without(view(), "log-3")))
    assert found.refused is not None
    assert found.refused.guard == "ForeignProcesses"
    assert "log-3" in found.refused.message
    assert found.kill == ()


def _without(found: ClusterView, name: str) -> tuple[GroupView, ...]:
    return tuple(it for it in found.groups if str(it.id) != name)


def test_where_processes_are_not_to_be_killed_a_person_must_act() -> None:
    found = upgrades.restart(view(automationOptions={"killProcesses": False}))
    assert found.refused is not None
    assert found.refused.hint


# ------------------------------------------------------------------ who waits outside
def outside(lasts: float, *, serves: bool = True, knocks: bool = True) -> ClusterView:
    """Return a cluster in which storage-1 started as the new version, and cannot join."""
    host = next(it.addresses[0] for it in view().groups if str(it.id) == "storage-1")
    tree = healthy(
        incompatible_connections=[f"{host}:4501"] if knocks else [], database_available=serves
    )
    missing = {Is.MISSING_PROCESSES: NOW - lasts}
    return changed(view(tree=tree), "storage-1", processes=(), conditions=missing)


@pytest.mark.parametrize(
    ("found", "brought_back"),
    [
        (outside(60.0), False),
        (outside(899.0), False),
        (outside(900.0), True),
        (outside(3600.0, knocks=False), False),
        # The restart was cut short, and the others follow: nobody goes back.
        (outside(3600.0, serves=False), False),
    ],
)
def test_who_waits_outside_for_too_long_is_brought_back(
    found: ClusterView, brought_back: bool
) -> None:
    assert [str(it.id) for it in upgrades.too_long_outside(found)] == ["storage-1"] * brought_back


def test_no_upgrade_begins_anew_while_somebody_is_outside() -> None:
    held = upgrades.objection(outside(60.0), "", ())
    assert held is not None
    assert (held.guard, held.hint) == ("PodsChangeFirst", "")
    assert "storage-1" in held.message
    assert upgrades.objection(outside(60.0, knocks=False), "", ()) is None
