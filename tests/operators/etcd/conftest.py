"""Stories of etcd clusters take ``plane``: the embedded Kubernetes, or with --real a real one.

Those about upgrades take ``both_minors`` too, and run only where ``make real`` has been.
"""

from __future__ import annotations

import pytest

from real import planes
from stateward.app.etcd import available

#: What a control plane could do otherwise than ours: these are told to a real one too.
#: ``pytest --real --every-story`` tells it all of them.
REAL = frozenset(
    {
        "test_0_services_budget_labels_and_owners_are_as_told",
        "test_0_what_people_change_is_put_right_and_then_nothing_is_written",
        "test_12_13_three_five_one_within_a_moment",
        "test_16_17_a_deleted_statefulset_comes_back_with_its_members",
        "test_16_17_pods_that_somebody_scaled_away_come_back",
        "test_17a_what_is_somebody_elses_is_never_taken_over",
        "test_18_kept_volumes_are_gone_on_from",
        "test_18_one_of_the_same_name_at_once_has_nothing_of_the_old",
        "test_19_kubectl_hears_why_a_version_cannot_follow",
        "test_19_one_at_a_time_and_the_leader_last",
        "test_19_three_members_go_from_3_5_to_3_6_under_writes",
        "test_20_volumes_grow_and_nobody_is_restarted_for_them",
        "test_6a_a_learner_that_finds_no_node_is_taken_back",
        "test_7_everything_is_encrypted_and_logins_are_on_while_it_scales",
        "test_a_crash_while_a_member_is_replaced_is_mended",
        "test_a_deleted_claim_stays_while_its_pod_runs_and_then_the_member_is_replaced",
        "test_a_deleted_cluster_takes_everything_with_it",
        "test_a_deleted_pod_comes_back_as_the_same_member",
        "test_a_leader_that_is_killed_costs_no_write",
        "test_a_person_with_kubectl",
        "test_row_10_a_pod_that_is_not_listed_joins",
        "test_row_4_two_of_three_hang_and_come_back",
        "test_row_4a_an_approved_recovery_goes_on_from_the_survivor_once",
        "test_row_9_a_member_whose_disk_is_empty_is_replaced",
        "test_the_door_says_why",
        "test_three_five_one_none_and_three_again",
    }
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "plane" in metafunc.fixturenames:
        # Never both: `make test` has told them to the embedded one.
        metafunc.parametrize("plane", ("real",) if planes.kubeconfigs() else ("embedded",))


@pytest.fixture
def both_minors() -> None:
    """Make sure of an etcd 3.5 that may become 3.6, and of that."""
    assert not lacking()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give stories time, and say which this machine has no etcd for."""
    for it in items:
        if "plane" in getattr(it, "fixturenames", ()):
            it.add_marker(pytest.mark.patient(900))
    if not config.getoption("--every-story"):
        idle = {it for it in items if _is_told_already(it)}
        items[:] = [it for it in items if it not in idle]
        config.hook.pytest_deselected(items=list(idle))
    missing = " and ".join(lacking())
    for it in items:
        if missing and "both_minors" in getattr(it, "fixturenames", ()):
            it.add_marker(pytest.mark.skip(reason=f"needs {missing}: make real"))


def _is_told_already(item: pytest.Item) -> bool:
    """Tell whether a real control plane would do the same as ours, to which it is told."""
    ours = "plane" in getattr(item, "fixturenames", ())
    # Only our stories are asked for their names: a doctest has none.
    return bool(ours and planes.kubeconfigs() and item.originalname not in REAL)  # type: ignore[attr-defined]


def lacking() -> list[str]:
    """Return which etcd is missing for an upgrade: 3.5.26 is the first that may become 3.6."""
    versions = [it.version for it in available.available()]
    there = {
        "etcd 3.5.26 or later": any((it.minor == 5 and it.patch >= 26) for it in versions),
        "etcd 3.6": any(it.minor == 6 for it in versions),
    }
    return [name for name, found in there.items() if not found]
