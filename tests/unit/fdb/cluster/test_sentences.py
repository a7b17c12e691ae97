"""Every sentence that the design says of a step, or of process groups, and the test that proves it.

Where the design was repaired, or the stricter of two rules was taken, the sentence says what is so
here: pods and claims are made for groups that shall go as well, as long as data is on them.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any, cast

from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.pipeline import steps

TESTS = Path(__file__).parents[1]
STEPS, ALONE, STORIES = "cluster/test_steps.py", "cluster/test_steps_alone.py", "stories/"
CONDITIONS = "decide/groups/test_group_conditions.py:test_what_is_true"
LOCK = f"{STEPS}:test_a_step_that_needs_the_lock_takes_it"
WAITED = f"{ALONE}:test_what_groups_do_themselves_is_waited_for_and_told"
#: Step by step, in the order of the pipeline: what is said, and who proves it.
RULES: dict[str, dict[str, str]] = {
    "UpdateStatus": {
        "reflects the running state at the beginning": f"{STEPS}:test_what_was_learned_is_on_record_before_anybody_acts",
        "updates the generations": "tell/test_generations.py:test_what_is_said",
        "updates the conditions of groups": CONDITIONS,
        "terminating pods are reconciled and pending": STORIES + "test_losing.py:test_a_pod_that_does_not_end_holds_nobody_up",
        "and stay excluded until they are gone": f"{STEPS}:test_what_is_gone_is_included_and_then_let_go",
        "again at the end: what is not as asked is told": "tell/test_generations.py:test_what_was_as_asked_once_may_not_be_so_now",
    },
    "UpdateLockConfiguration": {
        "sets the deny list": "stories/test_locks.py:test_others_are_denied_and_allowed_as_the_spec_says",
    },
    "UpdateConfigMap": {
        "creates it and updates data": "build/test_around.py:test_a_config_map_has_a_text_for_every_class_in_use",
        "updates labels and annotations": f"{ALONE}:test_labels_and_annotations_of_a_config_map_are_written_too",
    },
    "CheckClientCompatibility": {
        "does nothing where versions are compatible": "decide/test_clients.py:test_where_nothing_is_cut_off_nobody_is_asked",
        "fails for clients that cannot follow": "decide/test_clients.py:test_an_old_client_holds_an_upgrade_up",
        "fails reconciliation": f"{STEPS}:test_a_version_that_cannot_be_is_told_and_the_pass_goes_on",
        "can be skipped": "decide/test_clients.py:test_who_asks_for_no_checks_gets_none",
    },
    "ReplaceMisconfiguredPods": {
        "marks those that cannot become as asked": "decide/groups/test_replacing.py:test_replace_or_not",
        "others do the rest": STORIES + "test_changing.py:test_a_larger_volume_is_another_group",
    },
    "ReplaceFailedPods": {
        "only where it is enabled": "decide/groups/test_failures.py:test_by_default_nothing_is_replaced",
        "marks those that are unhealthy": "decide/groups/test_failures.py:test_each_failure_is_one",
        "others do the rest": STORIES + "test_losing.py:test_groups_of_a_lost_node_are_replaced_where_that_is_allowed",
    },
    "DeletePodsForBuggification": {
        "deletes pods for other faults": STORIES + "test_asking.py:test_a_fault_that_is_asked_for_comes_and_goes",
        "with fewer checks": f"{ALONE}:test_faults_reach_pods_whatever_the_database_says",
    },
    "AddProcessGroups": {
        "adds what the counts ask for": "decide/groups/test_additions.py:test_as_many_are_missing_as_there_shall_be_more",
        "makes no other objects": STORIES + "test_halves.py:test_each_half_has_one_writer",
        "new ones say what they lack": CONDITIONS,
    },
    "AddServices": {
        "headless where it is asked for": "build/test_around.py:test_the_service_that_gives_names",
        "none where nobody asks": "api/test_defaults.py:test_without_names_no_service_is_needed",
        "one for every group where it is asked for": STORIES + "test_growing.py:test_a_cluster_is_made_in_other_ways",
        "of the name of its pod": "groups/test_making.py:test_with_services_the_pod_tells_the_address_of_its_own",
        "waits for those of groups": WAITED,
    },
    "AddPVCs": {
        "of stateful classes only": "groups/test_making.py:test_a_group_without_data_has_no_claim",
        "where there is none": STORIES + "test_growing.py:test_a_cluster_is_made",
        "not for those flagged and empty": "groups/test_making.py:test_for_a_group_that_holds_nothing_nothing_is_made",
        "waits for groups": WAITED,
    },
    "AddPods": {
        "one for every group": STORIES + "test_growing.py:test_a_cluster_is_made",
        "whatever the database says": STORIES + "test_losing.py:test_all_coordinators_pods_are_deleted_at_once",
        "not for those flagged and empty": "groups/test_making.py:test_for_a_group_that_holds_nothing_nothing_is_made",
        "but for those flagged that hold data": "groups/test_making.py:test_a_group_that_shall_go_and_holds_data_has_its_pod_made_again",
        "waits for groups": WAITED,
    },
    "GenerateInitialClusterFile": {
        "no action where there is one": f"{STEPS}:test_coordinators_are_chosen_once",
        "the status counts, then the seed": "cluster/test_whereabouts.py:test_the_first_that_can_be_read_counts",
        "as fault tolerance requires": "decide/test_beginning.py:test_how_many_begin",
        "each on another node": "decide/test_beginning.py:test_each_is_on_another_node",
        "not before pods have addresses": "decide/test_beginning.py:test_without_an_address_nobody_is_chosen",
        "by default those of pods": "decide/test_beginning.py:test_as_many_as_the_redundancy_asks_for_begin",
        "stores it and begins anew": f"{ALONE}:test_the_first_connection_string_is_noted_and_the_pass_ends",
    },
    "UpdateSidecarVersions": {
        "the image of the sidecar is the version's": "build/test_pods_made.py:test_images_while_versions_change",
        "in place": "groups/test_sidecars.py:test_a_new_sidecar_comes_in_place",
        "waits for groups": WAITED,
    },
    "UpdatePodConfig": {
        "the sidecar copies, and its hashes are compared": "groups/test_files.py:test_every_file_is_compared",
        "what is confirmed is told on the pod": "groups/test_files.py:test_files_that_are_copied_are_told_on_the_pod",
        "no action where it is": "groups/test_files.py:test_files_that_are_as_they_shall_be_are_not_copied",
        "an unreachable sidecar requeues": STORIES + "test_losing.py:test_a_sidecar_that_is_silent_is_told_and_waited_for",
        "not for those flagged": f"{ALONE}:test_files_of_one_that_shall_go_are_not_waited_for",
        "so they can be replaced": STORIES + "test_losing.py:test_a_silent_sidecar_does_not_matter_once_its_group_shall_go",
        "waits for groups": WAITED,
    },
    "UpdateLabels": {
        "labels are set in place": STORIES + "test_changing.py:test_a_label_is_no_reason_to_make_pods_anew",
        "those that nobody asks for stay": "groups/test_making.py:test_labels_that_are_asked_for_are_put_on_and_others_stay",
        "waits for groups": WAITED,
    },
    "UpdateDatabaseConfiguration": {
        "in one command": STORIES + "test_changing.py:test_a_setting_is_one_command",
        "in stages where it must be": "decide/test_configuration.py:test_regions_change_one_step_after_another",
        "new once": f"{ALONE}:test_a_database_is_made_and_that_is_noted_at_once",
        "a database that is there is noted": f"{STEPS}:test_what_was_learned_is_on_record_before_anybody_acts",
        "never new twice": f"{STEPS}:test_a_database_that_was_made_is_never_made_again",
        "not while it is unavailable, and goes on": f"{STEPS}:test_a_database_that_is_away_is_not_configured_and_others_go_on",
        "goes on where data is not well": f"{ALONE}:test_a_database_whose_data_is_not_well_is_not_configured_and_others_go_on",
        "is not complete before it is so": "tell/test_generations.py:test_what_is_said",
        "requires a lock": LOCK,
    },
    "ChooseRemovals": {
        "flags those that are too many": "decide/test_removals.py:test_who_is_too_many",
        "sets the field, and no more": f"{ALONE}:test_who_is_too_many_is_told_to_go_in_its_spec_and_nothing_else_is_done",
        "as many fault domains as possible stay": "decide/test_removals.py:test_those_that_stay_are_enough_and_in_as_many_zones_as_can_be",
    },
    "ExcludeInstances": {
        "whoever is marked and not excluded": "decide/test_exclusions.py:test_who_is_excluded",
        "does not wait": f"{STEPS}:test_an_exclusion_is_not_waited_for",
        "not while others are away": f"{STEPS}:test_nobody_is_excluded_while_one_that_stays_is_away",
        "requires a lock": LOCK,
    },
    "ChangeCoordinators": {
        "failed ones are followed by others": STORIES + "test_losing.py:test_a_coordinator_that_stays_away_is_followed_by_another",
        "more where more are asked for": STORIES + "test_changing.py:test_double_becomes_triple",
        "better spread where they are not": "decide/test_coordinators.py:test_what_is_wrong_with_those_who_do",
        "the new string is read and noted": f"{ALONE}:test_who_coordinates_from_now_on_is_noted_by_the_databases_own_word",
        "by the processes of the status": "decide/test_coordinating.py:test_without_a_status_nobody_is_changed",
        "storage, then log, then transaction": "decide/test_coordinators.py:test_who_shall_coordinate",
        "2R-1 of them": "decide/test_beginning.py:test_how_many_begin",
        "9 in several data centers": "decide/test_coordinators.py:test_no_data_center_has_a_majority",
        "each in a zone of its own": "decide/test_coordinators.py:test_what_is_chosen_is_right_and_keeps_all_that_it_can",
        "no majority in a data center": "decide/test_coordinators.py:test_no_data_center_has_a_majority",
        "requires a lock": LOCK,
    },
    "BounceProcesses": {
        "whoever has another command line": "decide/test_bounces.py:test_who_is_restarted",
        "requeues for who does not report": f"{STEPS}:test_one_that_does_not_report_holds_a_restart",
        "never those flagged": "decide/test_bounces.py:test_who_is_restarted",
        "not before all have run for long enough": "guards/test_database_guards.py:test_the_spec_says_how_long_all_must_have_run",
        "once": STORIES + "test_changing.py:test_a_knob_is_one_bounce_and_one_recovery",
        "requires a lock": LOCK,
    },
    "UpdatePods": {
        "whoever has another spec, and ends the pass": LOCK,
        "of one zone at a time": "decide/groups/test_pod_updates.py:test_how_much_at_a_time",
        "never those flagged": "decide/groups/test_pod_updates.py:test_marked_groups_are_left_alone",
        "not while one terminates": "decide/groups/test_pod_updates.py:test_what_holds_all_of_them",
        "requires a lock": LOCK,
    },
    "RemoveServices": {
        "those that are no longer required": f"{ALONE}:test_a_service_that_nobody_needs_goes_if_it_is_ours",
    },
    "RemoveProcessGroups": {
        "confirms the exclusion": "decide/test_removing.py:test_without_proof_in_this_pass_nobody_goes",
        "pod, then claim, then service": "groups/test_leaving.py:test_each_thing_goes_when_the_one_before_it_is_really_gone",
        "requeues for who cannot go": f"{ALONE}:test_who_cannot_go_yet_is_looked_at_again",
        "one that is stuck blocks no other": "decide/test_removing.py:test_one_that_is_stuck_holds_no_other",
        "never a coordinator": "decide/test_removing.py:test_a_coordinator_never_goes",
        "nor by somebody's hand": STORIES + "test_asking.py:test_who_is_deleted_and_goes_with_what_it_holds_waits_for_its_turn",
        "includes what is gone": f"{STEPS}:test_what_is_gone_is_included_and_then_let_go",
    },
}  # fmt: skip

#: What is said of the lock that operators share.
TAKEN, OF_STEPS = "admin/test_locking.py:test_whose_it_is", "cluster/test_locks_of_steps.py"
LOCKING: dict[str, str] = {
    "where it is, and where the deny list is": "model/test_values.py:test_a_lock_is_over_after_its_end",
    "a tuple of who, since when and until when, in seconds": "model/test_values.py:test_locks_byte_for_byte",
    "who: the prefix of the cluster": "api/test_questions.py:test_who_takes_them_and_where",
    "for ten minutes": STORIES + "test_locks.py:test_it_is_taken_for_an_act_and_let_go_at_rest",
    "one's own is extended": TAKEN,
    "another's that is over is taken over": TAKEN,
    "another's that is not over is waited for": STORIES + "test_locks.py:test_who_does_not_have_it_waits_and_says_for_whom",
    "what concerns all of the database needs it": f"{OF_STEPS}:test_nothing_is_done_without_it",
    "every step of the design takes it": f"{OF_STEPS}:test_all_of_the_design_are_among_them",
    "it fails while the database is unavailable": f"{OF_STEPS}:test_nothing_is_done_while_nobody_says_whose_it_is",
    "disableLocks does without": f"{OF_STEPS}:test_where_locks_are_not_used_nobody_is_asked_for_one",
    "a deny list can be said in any cluster": f"{OF_STEPS}:test_the_deny_list_of_a_spec_needs_no_lock",
    "who is denied fails, also with the lock": f"{OF_STEPS}:test_nothing_is_done_without_it",
    "the lock of one that is denied is ignored": f"{OF_STEPS}:test_it_is_taken_and_the_act_is_done",
    "of whom nothing is said nothing is changed": "admin/test_locking.py:test_a_deny_list_is_changed_where_something_is_said_only",
    "clearing the spec changes nothing, allow does": STORIES + "test_locks.py:test_others_are_denied_and_allowed_as_the_spec_says",
    "where it is kept and for how long can be said": STORIES + "test_locks.py:test_another_place_for_the_lock",
}  # fmt: skip

#: What is said of process groups as objects.
GROUPS: dict[str, str] = {
    "each is an object, with what was decided of it": "api/test_door.py:test_a_process_group_is_made_and_marked",
    "with its final settings": "build/test_pods_made.py:test_groups_of_a_class_are_made_from_the_same",
    "called as its pod, with labels of class and cluster": "build/test_around.py:test_a_group_is_called_as_its_pod_and_says_its_class_and_cluster",
    "the cluster writes specs, groups all else": STORIES + "test_halves.py:test_each_half_has_one_writer",
    "the spec of a group is never written by itself": "groups/test_making.py:test_the_spec_of_a_group_is_never_written",
    "its status tells of each object": "groups/test_viewing.py:test_a_group_tells_of_each_of_its_objects",
    "and the address of its pod or service": "groups/test_making.py:test_with_services_the_pod_tells_the_address_of_its_own",
    "and what is wrong": CONDITIONS,
    "what changes wakes the group that it is about": "groups/test_viewing.py:test_objects_wake_the_groups_that_they_are_named_for",
    "the database is asked once for all": "cluster/test_many_groups.py:test_at_rest_kubernetes_is_not_asked_and_the_database_once",
    "lists are not needed to have one removed": STORIES + "test_asking.py:test_a_group_that_somebody_deletes_is_replaced_first",
    "the cluster excludes, removes, then includes": f"{STEPS}:test_what_is_gone_is_included_and_then_let_go",
    "the cluster's status stays small": "tell/test_mirror.py:test_it_is_never_larger_than_it_may_be",
    "groups of a status become objects": STORIES + "test_asking.py:test_groups_of_another_operators_status_are_taken_over_with_their_pods",
}  # fmt: skip

#: What went wrong elsewhere, and who sees that it does not here. What is about backups and restores
#: comes with them.
MISTAKES: dict[str, str] = {
    "a settled cluster is never looked at again": STORIES + "test_losing.py:test_a_pod_that_somebody_deletes_is_made_anew",
    "pods of which the status changes wake nobody": "groups/test_viewing.py:test_objects_wake_the_groups_that_they_are_named_for",
    "who does not report goes when another class shrinks": "decide/test_removals.py:test_who_is_too_many",
    "one that is busy keeps a cluster from being reconciled": "tell/test_generations.py:test_what_is_said",
    "a missing service is never told": CONDITIONS,
    "a service that was lost has another address": "groups/test_making.py:test_a_service_that_was_lost_has_its_address_again",
    "processes of unified images run where none shall": "build/test_started.py:test_nothing_runs_where_that_is_asked_for",
    "a field does nothing, and nobody says so": "api/test_unheeded.py:test_no_field_is_passed_over_in_silence",
    "of several containers that crash only the last counts": "decide/groups/test_failures.py:test_whoever_shall_crash_has_not_failed_whichever_container_it_is",
    "a time is a number of nanoseconds": "api/test_questions.py:test_how_long_a_pod_may_wait",
    "every step asks the database anew": "cluster/test_many_groups.py:test_at_rest_kubernetes_is_not_asked_and_the_database_once",
    "the order of zones is by chance": "decide/groups/test_pod_updates.py:test_the_order_does_not_depend_on_the_order_of_groups",
    "pods have no names before they are ready": "build/test_around.py:test_the_service_that_gives_names",
    "services have ports for one process only": "build/test_around.py:test_the_service_of_a_group_has_ports_for_all_its_processes",
    "who is denied takes a lock that is free": f"{OF_STEPS}:test_nothing_is_done_without_it",
    "data goes with its cluster": STORIES + "test_asking.py:test_a_cluster_that_is_deleted_leaves_its_claims_or_nothing",
}  # fmt: skip


def test_every_sentence_has_its_test() -> None:
    said = {f"{step}: {it}": where for step, all_ in RULES.items() for it, where in all_.items()}
    for sentence, where in {**said, **LOCKING, **GROUPS, **MISTAKES}.items():
        file, name = where.split(":")
        assert name in _tests(TESTS / file), sentence


@cache
def _tests(path: Path) -> set[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {it.name for it in ast.parse(path.read_text()).body if isinstance(it, kinds)}


def test_steps_run_in_the_order_of_the_design() -> None:
    it = cast("Any", None)
    found = [one.name for one in steps(Tools(it, it, it, it))]
    assert [name for name in found if name in RULES] == [*RULES]
