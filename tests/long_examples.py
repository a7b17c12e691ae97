"""Examples that take seconds and repeat what others of their test show: `make test-long` has them.

A test whose examples are all the same in kind keeps one or two for `make test`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest

_STORIES: Final = "tests/unit/fdb/stories"

#: By file and test: ids of examples.
EXAMPLES: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "tests/simulation/test_fdb_lives.py": {
        "test_calm_lives_of_foundationdb_are_well": (
            *("fdb-upgrade-twice", "fdb-upgrade-split", "fdb-upgrade-client", "fdb-upgrade"),
            *("fdb-tls-split", "fdb-tls-pods", "fdb-tls-away", "fdb-tls-sidecar"),
            *("fdb-tls-rollback-late", "fdb-tls-rollback-off-late", "fdb-to-split"),
            *("fdb-locks-clocks", "fdb-locks-cut", "fdb-global-cut", "fdb-two-centers"),
            *("fdb-names", "fdb-prefix", "fdb-maintenance-others", "fdb-family", "fdb-volume"),
            *("fdb-global-classes", "fdb-global-prefix", "fdb-global-clocks", "fdb-to-unified"),
            "fdb-global-mode",
            *("fdb-locks-upgrade", "fdb-locks-replace", "fdb-taint-storm", "fdb-halls"),
            *("fdb-upgrade-eager", "fdb-maintenance-off"),
        ),
        "test_what_once_went_wrong_with_foundationdb_goes_well": (
            "fdb-names | coordinators 10. | 1 | act:delete-object:Service",
        ),
    },
    "tests/operators/etcd/test_careless.py": {
        "test_7_8_what_lost_its_labels_and_its_owner_is_taken_back": ("embedded-a config map",),
    },
    "tests/operators/etcd/test_editing.py": {
        "test_18_another_size_while_it_begins": ("embedded-1-1.5",),
    },
    "tests/operators/etcd/test_lifecycle.py": {
        "test_16_17_pods_that_somebody_scaled_away_come_back": ("embedded-1",),
    },
    "tests/operators/etcd/test_quorum.py": {
        "test_row_9_never_takes_a_quorum_away": ("1", "2", "4", "5"),
    },
    "tests/operators/etcd/test_recovery.py": {
        "test_an_approval_that_is_withdrawn_before_force_leaves_all_as_it_was": (
            *("embedded-statefulsets",),
        ),
    },
    "tests/operators/etcd/test_repair.py": {
        "test_row_10_a_pod_that_is_not_listed_joins": ("embedded-2",),
        "test_row_9_a_member_whose_disk_is_empty_is_replaced": ("embedded-2",),
    },
    "tests/operators/etcd/test_rolling.py": {
        "test_19_one_at_a_time_and_the_leader_last": ("embedded-an annotation and resources",),
    },
    "tests/operators/etcd/test_security.py": {
        "test_4_members_that_only_we_cannot_reach_are_left_alone": ("embedded-server-ca",),
    },
    "tests/unit/cli/test_simulate.py": {
        "test_ctrl_c_ends_everything_and_tells_what_was_found": ("kill",),
    },
    "tests/unit/app/simulate/test_campaign.py": {
        "test_every_plan_is_lived_once_and_one_in_twenty_twice": ("1", "2"),
    },
    f"{_STORIES}/test_asking.py": {
        "test_a_fault_that_is_asked_for_comes_and_goes": ("crash loop",),
        "test_a_group_that_somebody_deletes_is_replaced_first": ("log", "stateless"),
        "test_while_the_database_says_nonsense_nothing_is_destroyed": (
            *("no processes", "nothing in it", "empty", "no configuration"),
        ),
        "test_who_is_deleted_and_goes_with_what_it_holds_waits_for_its_turn": ("False-2", "True-1"),
    },
    f"{_STORIES}/test_attacks.py": {
        "test_a_status_that_is_wiped_is_written_again": ("False-False", "True-False"),
        "test_groups_that_are_gone_without_their_volumes_are_back_on_them": ("storage", "log"),
        "test_whatever_is_lost_while_nobody_looks_no_other_database_is_begun": (
            *("False-False", "False-True"),
        ),
    },
    f"{_STORIES}/test_cancelling.py": {
        "test_who_came_is_emptied_when_who_stays_is_included_and_not_before": ("stateless",),
    },
    f"{_STORIES}/test_changing.py": {
        "test_another_image_is_another_pod": ("ReplaceTransactionSystem-kept0", "None-kept3"),
    },
    f"{_STORIES}/test_conversion.py": {
        "test_a_cluster_becomes_the_other_kind": (
            *("alone-split", "with a knob-unified", "with a knob-split"),
        ),
        "test_who_is_never_to_be_replaced_stays_as_it_is_with_its_data": ("unified",),
        "test_who_takes_it_back_in_the_middle_loses_nothing": (
            *("one is gone-unified", "a new one reports-unified", "the first shall go-split"),
            *("one is gone-split", "a new one reports-split"),
        ),
    },
    f"{_STORIES}/test_crashes.py": {
        "test_while_a_class_grows_and_shrinks": ("commit_proxy", "stateless", "log"),
        "test_while_a_cluster_is_made": ("unified",),
        "test_while_a_group_is_replaced": ("without exclusion", "storage"),
        "test_while_pods_are_made_anew_zone_by_zone": ("unified",),
        "test_while_processes_are_started_anew": ("split",),
    },
    f"{_STORIES}/test_crashes_lost.py": {
        "test_while_all_coordinators_are_away": ("False",),
    },
    f"{_STORIES}/test_crashes_maintenance.py": {
        "test_while_images_become_the_other_type": ("split-unified",),
    },
    f"{_STORIES}/test_crashes_tls.py": {
        "test_while_listeners_change": ("off",),
    },
    f"{_STORIES}/test_crashes_upgrade.py": {
        "test_while_all_change_at_once": ("unified",),
    },
    f"{_STORIES}/test_detecting.py": {
        "test_what_is_wrong_with_it_is_told_and_all_else_goes_on": (
            *("a container without a name", "a container that is nothing"),
            *("an amount that is none",),
        ),
    },
    f"{_STORIES}/test_drills.py": {
        "test_a_person_s_cluster_of_that_name_is_never_touched": ("False",),
        "test_an_operator_that_ends_in_a_phase_is_followed_by_one_that_goes_on": (
            *("MakingCluster", "MakingAgents", "Verifying"),
        ),
        "test_somebody_who_deletes_a_part_of_it_is_told_that_nothing_is_proven": (
            *("FoundationDBBackup", "FoundationDBRestore"),
        ),
        "test_with_the_backup_s_object_all_of_its_drill_goes_before": (
            *("noop-MakingCluster", "noop-MakingAgents", "noop-Verifying", "noop-Ending"),
            *("cleanup-MakingCluster", "cleanup-MakingAgents", "cleanup-Restoring"),
            "cleanup-Ending",
        ),
        "test_without_the_wish_a_drill_ends_and_nothing_is_told_of_drills_any_more": (
            *("MakingCluster", "Restoring", "Verifying"),
        ),
    },
    f"{_STORIES}/test_families.py": {
        "test_a_cluster_of_ipv6_lives_as_any_other": (
            *("by address", "by name", "several in a pod", "with addresses of services"),
        ),
        "test_another_family_is_other_groups_and_back": ("way1-unified",),
    },
    f"{_STORIES}/test_hands.py": {
        "test_that_somebody_says_that_nothing_is_left_is_no_proof": (
            *("False-86400.0", "True-0.0", "True-86400.0"),
        ),
        "test_who_goes_with_what_it_holds_goes_zone_by_zone": ("1",),
    },
    f"{_STORIES}/test_leaving_volumes.py": {
        "test_adopted_volumes_bring_the_same_database_back": ("double",),
    },
    f"{_STORIES}/test_losing.py": {
        "test_as_many_are_replaced_at_a_time_as_may_be": ("never",),
        "test_groups_of_a_lost_node_are_replaced_where_that_is_allowed": ("many at a time",),
    },
    f"{_STORIES}/test_maintenance.py": {
        "test_what_others_told_is_respected": ("on",),
        "test_who_stops_in_the_middle_leaves_it_to_its_own_time": ("skip",),
        "test_who_takes_the_option_away_in_the_middle_has_it_ended": ("it is on record",),
    },
    f"{_STORIES}/test_maintenance_others.py": {
        "test_a_pod_that_was_made_anew_meanwhile_is_said_to_be_ready": ("respected",),
    },
    f"{_STORIES}/test_misplaced.py": {
        "test_a_data_center_in_use_is_not_renamed": ("", "dc9"),
        "test_a_place_is_lost_while_the_other_region_becomes_the_first": ("dc3",),
        "test_a_place_keeps_what_the_database_needs_there": ("satellite",),
        "test_clusters_that_ask_for_different_things_do_not_fight": ("counts",),
    },
    f"{_STORIES}/test_reconfiguring.py": {
        "test_a_change_is_made_in_its_way": (
            *("addresses in the cluster file", "another prefix is other groups"),
        ),
        "test_others_do_not_have_to_go_for_the_only_coordinator": ("Delete",),
        "test_the_only_coordinator_is_replaced_where_a_new_pod_would_not_be_found": (
            *("another image",),
        ),
        "test_what_is_refused_says_why_and_harms_nobody": (
            *("more copies than zones", "an engine that nothing goes over to"),
        ),
    },
    f"{_STORIES}/test_replacing_tainted.py": {
        "test_in_a_storm_nobody_is_replaced_and_it_is_told": ("*",),
    },
    f"{_STORIES}/test_rewriting.py": {
        "test_it_is_told_how_many_have_the_former_engine": ("aggressive",),
    },
    f"{_STORIES}/test_staging_told.py": {
        "test_an_event_says_that_a_sidecar_got_another_image_in_place": ("split",),
    },
    f"{_STORIES}/test_tls.py": {
        "test_a_conversion_is_two_restarts_and_one_change_of_coordinators": (
            *("off-unified", "on-split", "off-split"),
        ),
        "test_a_spec_that_is_taken_back_leads_back": ("late-off",),
        "test_each_stage_is_told_one_after_another": ("off",),
    },
    f"{_STORIES}/test_tls_away.py": {
        "test_the_old_address_is_kept_until_a_dark_node_is_back": (
            *("off-split", "on-unified", "off-unified"),
        ),
        "test_who_is_replaced_meanwhile_is_not_waited_for": ("by hand",),
    },
    f"{_STORIES}/test_tls_sidecar.py": {
        "test_no_sidecar_gets_tls_by_a_certificate_that_is": ("no authority", "expired"),
        "test_sidecars_get_tls_together_with": (
            *("a patch release", "another line", "more processes", "unified images"),
        ),
        "test_while_sidecars_change": ("off",),
    },
    f"{_STORIES}/test_tls_together.py": {
        "test_at_once_with": (
            "unified images-True",
            *("another line-False", "unified images-False", "a patch release-True", "a knob-True"),
            *("fewer processes-True", "more processes-True"),
        ),
        "test_in_the_middle_comes": ("unified images",),
    },
    f"{_STORIES}/test_tls_trust.py": {
        "test_no_conversion_begins_by": ("rules that it does not fulfil",),
    },
    f"{_STORIES}/test_together_poisoned.py": {
        "test_nonsense_stops_nobody": (
            *("a beat of never", "a data center", "a moment long ago", "deep"),
        ),
    },
    f"{_STORIES}/test_upgrading.py": {
        "test_a_way_that_is_none_is_refused_and_the_cluster_lives_on": (
            *("7.2.9-UpgradePathUnknown-along 7.1, 7.3, 7.4",),
        ),
        "test_all_change_at_once": ("split",),
    },
    f"{_STORIES}/test_upgrading_mended.py": {
        "test_who_takes_all_images_from_elsewhere_has_mended_an_upgrade_that_is_stuck": (
            *("unified",),
        ),
    },
    f"{_STORIES}/test_upgrading_oddly.py": {
        "test_who_is_evicted_while_an_upgrade_is_held_comes_back": ("unified",),
    },
}


def mark(items: Sequence[pytest.Item], *, whole: bool) -> None:
    """Mark those of a run; of one in which tests have all their examples, raise where some lack."""
    found: dict[tuple[str, str], dict[str, pytest.Function]] = {}
    for it in items:
        if isinstance(it, pytest.Function) and hasattr(it, "callspec"):
            path, _, _ = it.nodeid.partition("::")
            found.setdefault((path, it.originalname), {})[it.callspec.id] = it
    for path, tests in EXAMPLES.items():
        for test, ids in tests.items():
            examples = found.get((path, test), {})
            if whole and examples and not set(ids) < set(examples):
                raise pytest.UsageError(
                    f"tests/long_examples.py must name some examples of {path}::{test}, and not all;"
                    f" it has {', '.join(map(repr, examples))}"
                )
            for name in ids:
                if name in examples:
                    examples[name].add_marker("long")
