"""Every sentence that the technical design says of a step, and the test that proves it.

``RULES`` names them, step by step in the order of the pipeline; what was proved nowhere else is
proved here, by the step itself: it is given a cluster in pictures, and what it does is noted.
"""

from __future__ import annotations

import ast
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from fakes.fdb_views import KEY, NOW, cluster, healthy
from stateward.core.chance import Chance
from stateward.core.moments import to_rfc3339
from stateward.core.outcome import DONE, Blocked, Retry, Stop
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.kind import FoundationDBCluster, FoundationDBProcessGroup
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.pipeline import steps
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import EXCLUSION_FINALIZER, FINALIZER
from stateward.fdb.views import ClusterView, GroupView
from stateward.kube.meta import ObjectMeta

TESTS = Path(__file__).parents[1]
STORIES = "stories/"
#: Step by step: what is said, and who proves it.
RULES: dict[str, dict[str, str]] = {
    "UpdateStatus": {
        "reflects the running state at the beginning": f"{__name__}:test_what_was_learned_is_on_record_before_anybody_acts",
        "updates the generations": "tell/test_generations.py:test_what_is_said",
        "updates the conditions of groups": "decide/groups/test_group_conditions.py:test_what_is_true",
        "terminating pods are reconciled and pending": STORIES + "test_losing.py:test_a_pod_that_does_not_end_holds_nobody_up",
    },
    "UpdateLockConfiguration": {
        "sets the deny list": f"{__name__}:test_a_deny_list_that_cannot_be_kept_is_told",
    },
    "UpdateConfigMap": {
        "creates it and updates data": "build/test_around.py:test_a_config_map_has_a_text_for_every_class_in_use",
        "updates labels and annotations": "build/test_around.py:test_users_may_add_to_the_config_map_but_not_change_it",
    },
    "CheckClientCompatibility": {
        "does nothing where versions are compatible": "decide/test_clients.py:test_where_nothing_is_cut_off_nobody_is_asked",
        "fails for clients that cannot follow": "decide/test_clients.py:test_an_old_client_holds_an_upgrade_up",
        "fails reconciliation": f"{__name__}:test_a_version_that_cannot_be_ends_the_pass",
        "can be skipped": "decide/test_clients.py:test_who_asks_for_no_checks_gets_none",
    },
    "ReplaceMisconfiguredPods": {
        "marks those that cannot become as asked": "decide/groups/test_replacing.py:test_replace_or_not",
    },
    "ReplaceFailedPods": {
        "only where it is enabled": "decide/groups/test_failures.py:test_by_default_nothing_is_replaced",
        "marks those that are unhealthy": "decide/groups/test_failures.py:test_each_failure_is_one",
    },
    "DeletePodsForBuggification": {
        "deletes pods for other faults": STORIES + "test_asking.py:test_a_fault_that_is_asked_for_comes_and_goes",
    },
    "AddProcessGroups": {
        "adds what the counts ask for": "decide/groups/test_additions.py:test_as_many_are_missing_as_there_shall_be_more",
    },
    "AddServices": {
        "headless where it is asked for": "build/test_around.py:test_the_service_that_gives_names",
        "one for every group where it is asked for": STORIES + "test_growing.py:test_a_cluster_is_made_in_other_ways",
    },
    "AddPVCs": {
        "stateful, none there, and not flagged": STORIES + "test_growing.py:test_a_cluster_is_made",
    },
    "AddPods": {
        "one for every group": STORIES + "test_growing.py:test_a_cluster_is_made",
        "whatever the database says": STORIES + "test_losing.py:test_all_coordinators_pods_are_deleted_at_once",
    },
    "GenerateInitialClusterFile": {
        "no action where there is one": f"{__name__}:test_coordinators_are_chosen_once",
        "the seed is used": f"{__name__}:test_coordinators_are_chosen_once",
        "as fault tolerance requires": "decide/test_beginning.py:test_how_many_begin",
        "not before pods have addresses": "decide/test_beginning.py:test_without_an_address_nobody_is_chosen",
    },
    "UpdateSidecarVersions": {
        "the image of the sidecar is the version's": "build/test_pods_made.py:test_images_while_versions_change",
    },
    "UpdatePodConfig": {
        "an unreachable sidecar requeues": STORIES + "test_losing.py:test_a_sidecar_that_is_silent_is_told_and_waited_for",
        "not for those flagged": STORIES + "test_losing.py:test_a_silent_sidecar_does_not_matter_once_its_group_shall_go",
    },
    "UpdateLabels": {
        "labels are set in place": STORIES + "test_changing.py:test_a_label_is_no_reason_to_make_pods_anew",
        "those that nobody asks for stay": "decide/groups/test_group_conditions.py:test_what_is_true",
    },
    "UpdateDatabaseConfiguration": {
        "in one command": STORIES + "test_changing.py:test_a_setting_is_one_command",
        "in stages where it must be": "decide/test_configuration.py:test_regions_change_one_step_after_another",
        "never new twice": f"{__name__}:test_a_database_that_was_made_is_never_made_again",
        "not while it is unavailable, and goes on": f"{__name__}:test_a_database_that_is_away_is_not_configured_and_others_go_on",
        "requires a lock": f"{__name__}:test_a_step_that_needs_the_lock_takes_it",
    },
    "ChooseRemovals": {
        "flags those that are too many": "decide/test_removals.py:test_who_is_too_many",
        "as many fault domains as possible stay": "decide/test_removals.py:test_those_that_stay_are_enough_and_in_as_many_zones_as_can_be",
    },
    "ExcludeInstances": {
        "whoever is marked and not excluded": "decide/test_exclusions.py:test_who_is_excluded",
        "does not wait": f"{__name__}:test_an_exclusion_is_not_waited_for",
        "not while others are away": f"{__name__}:test_nobody_is_excluded_while_one_that_stays_is_away",
        "requires a lock": f"{__name__}:test_a_step_that_needs_the_lock_takes_it",
    },
    "ChangeCoordinators": {
        "failed ones are followed by others": STORIES + "test_losing.py:test_a_coordinator_that_stays_away_is_followed_by_another",
        "storage, then log, then transaction": "decide/test_coordinators.py:test_who_shall_coordinate",
        "no majority in a data center": "decide/test_coordinators.py:test_no_data_center_has_a_majority",
        "requires a lock": f"{__name__}:test_a_step_that_needs_the_lock_takes_it",
    },
    "BounceProcesses": {
        "whoever has another command line": "decide/test_bounces.py:test_who_is_restarted",
        "requeues for who does not report": f"{__name__}:test_one_that_does_not_report_holds_a_restart",
        "never those flagged": "decide/test_bounces.py:test_who_is_restarted",
        "not before all have run for long enough": "guards/test_database_guards.py:test_the_spec_says_how_long_all_must_have_run",
        "once": STORIES + "test_changing.py:test_a_knob_is_one_bounce_and_one_recovery",
        "requires a lock": f"{__name__}:test_a_step_that_needs_the_lock_takes_it",
    },
    "UpdatePods": {
        "of one zone at a time": "decide/groups/test_pod_updates.py:test_how_much_at_a_time",
        "never those flagged": "decide/groups/test_pod_updates.py:test_marked_groups_are_left_alone",
        "not while one terminates": "decide/groups/test_pod_updates.py:test_what_holds_all_of_them",
        "requires a lock": f"{__name__}:test_a_step_that_needs_the_lock_takes_it",
    },
    "RemoveServices": {
        "those that are no longer required": STORIES + "test_halves.py:test_each_half_has_one_writer",
    },
    "RemoveProcessGroups": {
        "confirms the exclusion": "decide/test_removing.py:test_without_proof_in_this_pass_nobody_goes",
        "pod, then claim, then service": "groups/test_leaving.py:test_each_thing_goes_when_the_one_before_it_is_really_gone",
        "one that is stuck blocks no other": "decide/test_removing.py:test_one_that_is_stuck_holds_no_other",
        "never a coordinator": "decide/test_removing.py:test_a_coordinator_never_goes",
        "includes what is gone": f"{__name__}:test_what_is_gone_is_included_and_then_let_go",
    },
}  # fmt: skip


def test_every_sentence_has_its_test() -> None:
    for step, sentences in RULES.items():
        for sentence, where in sentences.items():
            file, name = where.split(":")
            path = Path(__file__) if file == __name__ else TESTS / file
            assert name in _tests(path), f"{step}: {sentence}"


def _tests(path: Path) -> set[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {it.name for it in ast.parse(path.read_text()).body if isinstance(it, kinds)}


def test_steps_run_in_the_order_of_the_design() -> None:
    it = cast("Any", None)
    found = [one.name for one in steps(Tools(it, it, it, it))]
    assert [name for name in found if name in RULES] == [*RULES]


# ------------------------------------------------------------------ what a step is given
@dataclass
class Desk:
    """Notes what a step asks of others, who all say yes; but for the lock, if it is so."""

    view: ClusterView
    is_ours: bool = True
    asked: list[str] = field(default_factory=list)
    turns: list[str] = field(default_factory=list)

    def __getattr__(self, verb: str) -> Callable[..., Awaitable[Any]]:
        async def ask(*_words: Any, **_more: Any) -> Any:
            self.asked.append(verb)
            return ConnectionString.parse("shop:new@10.0.0.1:4501")

        return ask

    async def get(self, *_words: Any) -> FoundationDBCluster:
        return self.cluster

    async def change(self, ask: Callable[..., Awaitable[Any]], *words: Any) -> Any:
        return await ask(*words)

    async def take(self, _view: ClusterView, purpose: str) -> Refusal | None:
        self.turns.append(purpose)
        return None if self.is_ours else Refusal("turn_is_ours", "it is somebody else's turn")

    @property
    def cluster(self) -> FoundationDBCluster:
        metadata = ObjectMeta(name=KEY.name, namespace=KEY.namespace, uid="u", generation=1)
        spec = FoundationDBClusterSpec(version="7.3.79")
        return FoundationDBCluster(metadata=metadata, spec=spec, status=self.view.status)

    def seen(self, *finalizers: str) -> Seen:
        groups = {it.name: _object(it, finalizers) for it in self.view.groups}
        nothing = cast("Any", None)
        return Seen(
            self.cluster, self.view, groups, nothing, frozenset(), {}, None, None, cast("Any", self)
        )

    async def run(self, step: str, *finalizers: str) -> Any:
        it = cast("Any", self)
        tools = Tools(client=it, turn=it, fence=it, chance=Chance(1, "steps"))
        for group in self.view.groups:  # what is proved was proved by us
            if group.proved_at is not None:
                tools.board.vouch(KEY, [group.uid], to_rfc3339(group.proved_at))
        chosen = next(one for one in steps(tools) if one.name == step)
        return await chosen.run(self.seen(*finalizers))


def _object(it: GroupView, finalizers: tuple[str, ...]) -> FoundationDBProcessGroup:
    spec = {
        "clusterName": KEY.name,
        "processGroupID": str(it.id),
        "processClass": it.process_class,
        "exclusionTimestamp": None if it.proved_at is None else to_rfc3339(it.proved_at),
    }
    metadata = {"name": it.name, "namespace": KEY.namespace, "finalizers": list(finalizers)}
    return msgspec.convert({"metadata": metadata, "spec": spec}, FoundationDBProcessGroup)


WHOLE = "s1 s2 s3 l1 l2 l3 x1 x2"
COUNTS = {"s": 3, "l": 3, "x": 2}


def with_condition(kind: Kind, name: str = "storage-1") -> Callable[[GroupView], GroupView]:
    return lambda it: replace(it, conditions={kind: NOW - 10}) if str(it.id) == name else it


#: Steps that need the lock: a cluster in which each would act, and what it would ask for.
ACTS: dict[str, tuple[ClusterView, str]] = {
    "UpdateDatabaseConfiguration": (
        cluster(WHOLE, counts=COUNTS, databaseConfiguration={"logs": 7}),
        "configure",
    ),
    "ExcludeInstances": (cluster(f"{WHOLE} s4-", counts=COUNTS), "exclude"),
    "ChangeCoordinators": (
        cluster("s1 s2 s3? s4", coordinating="storage-1 storage-2 storage-3"),
        "change_coordinators",
    ),
    "BounceProcesses": (
        cluster(WHOLE, counts=COUNTS, change=with_condition(Kind.INCORRECT_COMMAND_LINE)),
        "kill",
    ),
    "UpdatePods": (
        cluster(WHOLE, counts=COUNTS, change=with_condition(Kind.INCORRECT_POD_SPEC)),
        "patch",
    ),
}


@pytest.mark.parametrize("step", ACTS)
async def test_a_step_that_needs_the_lock_takes_it(step: str) -> None:
    view, verb = ACTS[step]
    desk = Desk(view)
    found = await desk.run(step)
    assert isinstance(found, Stop), found
    assert desk.asked == [verb]
    assert len(desk.turns) == 1
    banned = Desk(view, is_ours=False)
    held = await banned.run(step)
    assert isinstance(held, Retry)
    assert "somebody else's turn" in held.message
    assert banned.asked == []


async def test_an_exclusion_is_not_waited_for() -> None:
    desk = Desk(ACTS["ExcludeInstances"][0])
    found = await desk.run("ExcludeInstances")
    assert isinstance(found, Stop)
    assert found.after <= 1


async def test_nobody_is_excluded_while_one_that_stays_is_away() -> None:
    desk = Desk(cluster("s1 s2 s3 l1 l2 l3 x1 x2? s4-", counts=COUNTS))
    found = await desk.run("ExcludeInstances")
    assert isinstance(found, Retry)
    assert "stateless-2" in found.message
    assert desk.asked == []


async def test_one_that_does_not_report_holds_a_restart() -> None:
    kind = Kind.INCORRECT_COMMAND_LINE
    desk = Desk(cluster("s1? s2 s3", change=with_condition(kind)))
    found = await desk.run("BounceProcesses")
    assert isinstance(found, Retry)
    assert desk.asked == []


def bounced(after: float, uptime: float, **fields: Any) -> ClusterView:
    """Return a cluster some time after a restart, in which one has other arguments than wanted."""
    change = with_condition(Kind.INCORRECT_COMMAND_LINE)
    entries = {"storage-1": {"uptime_seconds": uptime}}
    fields = {"change": change, "entries": entries, **fields}
    return replace(cluster(WHOLE, counts=COUNTS, **fields), now=NOW + after)


async def bounce_twice(*views: ClusterView) -> tuple[Any, list[str]]:
    """Let one operator look at a cluster again and again; return its last word, and all it did."""
    desk = Desk(views[0])
    it = cast("Any", desk)
    tools = Tools(client=it, turn=it, fence=it, chance=Chance(1, "steps"))
    step = next(one for one in steps(tools) if one.name == "BounceProcesses")
    found: Any = None
    for view in views:
        desk.view = view
        found = await step.run(desk.seen())
    return found, desk.asked


async def test_a_restart_that_did_not_help_is_not_made_again() -> None:
    found, asked = await bounce_twice(
        bounced(0, 3600.0), bounced(700, 690.0), bounced(1400, 1390.0)
    )
    assert isinstance(found, Blocked)
    assert found.reason == "BounceDidNotHelp"
    assert "storage-1" in found.message
    assert asked == ["kill"]


LINE = {"storage-1": {"uptime_seconds": 690.0, "command_line": "fdbserver --other"}}


@pytest.mark.parametrize(
    "later",
    [
        [bounced(700, 4300.0)],
        [bounced(700, 690.0, entries=LINE)],
        [replace(bounced(700, 690.0), generation=2)],
        [bounced(700, 690.0, change=lambda it: it), bounced(900, 890.0)],
    ],
    ids=["it did not end", "other arguments", "something else is asked for", "it helped before"],
)
async def test_a_restart_for_another_reason_is_made(later: list[ClusterView]) -> None:
    found, asked = await bounce_twice(bounced(0, 3600.0), *later)
    assert isinstance(found, Stop), found
    assert asked == ["kill", "kill"]


async def test_one_that_is_away_after_a_restart_was_not_helped_by_it() -> None:
    away = replace(cluster("s1? s2 s3 l1 l2 l3 x1 x2", counts=COUNTS), now=NOW + 5)
    found, asked = await bounce_twice(bounced(0, 3600.0), away, bounced(700, 690.0))
    assert isinstance(found, Blocked), found
    assert asked == ["kill"]


async def test_an_image_of_another_patch_is_told_and_nobody_is_killed() -> None:
    other = {"storage-1": {"version": "7.3.61"}}
    view = cluster(WHOLE, counts=COUNTS, entries=other)
    found, asked = await bounce_twice(view)
    assert isinstance(found, Blocked)
    assert (found.reason, asked) == ("VersionDiffers", [])
    assert "storage-1 run 7.3.61, not 7.3.79" in found.message

    def young(it: GroupView) -> GroupView:
        return replace(it, pod=replace(it.pod, created=NOW - 5)) if it.pod is not None else it

    new, _ = await bounce_twice(cluster(WHOLE, counts=COUNTS, entries=other, change=young))
    assert isinstance(new, Retry), "the one before it may still be told of"
    old = with_condition(Kind.INCORRECT_POD_SPEC)
    assert (
        await Desk(cluster(WHOLE, counts=COUNTS, entries=other, change=old)).run("BounceProcesses")
        == DONE
    )


async def test_a_database_that_was_made_is_never_made_again() -> None:
    """Not even where its own status says that there is none."""
    tree = healthy(configuration=..., recovery_state__name="configuration_never_created")
    view = cluster(WHOLE, tree, counts=COUNTS)
    desk = Desk(replace(view, configured=True))
    await desk.run("UpdateDatabaseConfiguration")
    assert "create" not in desk.asked


async def test_a_database_that_is_away_is_not_configured_and_others_go_on() -> None:
    tree = healthy(database_available=False)
    tree["client"]["database_status"]["available"] = False
    desk = Desk(cluster(WHOLE, tree, counts=COUNTS, databaseConfiguration={"logs": 7}))
    found = await desk.run("UpdateDatabaseConfiguration")
    assert isinstance(found, Retry), "later steps still run"
    assert desk.asked == []


async def test_coordinators_are_chosen_once() -> None:
    desk = Desk(cluster("s1 s2 s3", coordinating="storage-1 storage-2 storage-3"))
    assert await desk.run("GenerateInitialClusterFile") == DONE
    assert desk.asked == []


@pytest.mark.parametrize("version", ["7.1.61", "7.4.1"])
async def test_a_version_that_cannot_be_ends_the_pass(version: str) -> None:
    view = cluster(WHOLE, counts=COUNTS, version=version, ignoreUpgradabilityChecks=True)
    desk = Desk(view)
    found = await desk.run("CheckClientCompatibility")
    assert isinstance(found, Stop)
    assert version in found.message


async def test_a_deny_list_that_cannot_be_kept_is_told() -> None:
    denied = {"denyList": [{"id": "dc2"}], "disableLocks": False}
    desk = Desk(cluster(WHOLE, counts=COUNTS, lockOptions=denied, processGroupIDPrefix="dc1"))
    assert isinstance(await desk.run("UpdateLockConfiguration"), Blocked)


async def test_what_was_learned_is_on_record_before_anybody_acts() -> None:
    desk = Desk(cluster("s1 s2 s3", coordinating="storage-1 storage-2 storage-3"))
    found = await desk.run("UpdateStatus")
    assert isinstance(found, Stop)
    assert "the database is there" in found.message


async def test_what_is_gone_is_included_and_then_let_go() -> None:
    tree = healthy()
    tree["cluster"]["configuration"]["excluded_servers"] = [
        {"locality": "locality_instance_id:storage-4"}
    ]
    tree["cluster"]["recovery_state"]["seconds_since_last_recovered"] = 3000.0
    view = cluster("s1 s2 s3 l1 l2 l3 x1 x2 s4!>?", tree, counts=COUNTS)
    desk = Desk(view)
    found = await desk.run("RemoveProcessGroups", EXCLUSION_FINALIZER)
    assert desk.asked == ["include", "patch"], found
    held = Desk(view)
    await held.run("RemoveProcessGroups", FINALIZER, EXCLUSION_FINALIZER)
    assert held.asked == [], "its own controller has not let go of it yet"


@pytest.mark.parametrize(("is_excluded", "why"), [(True, "nothing is left"), (False, "again")])
async def test_who_was_let_go_long_ago_is_judged_anew(is_excluded: bool, why: str) -> None:
    """The operator comes back late: by a new proof the group goes, and without one it does not."""
    view = cluster(
        f"{WHOLE} s4!>",
        counts=COUNTS,
        coordinating="storage-1 storage-2 storage-3",
        change=lambda it: replace(it, proved_at=NOW - 9000) if it.excluded else it,
        entries={"storage-4": {"excluded": is_excluded}},
    )
    desk = Desk(view)
    found = await desk.run("RemoveProcessGroups", FINALIZER, EXCLUSION_FINALIZER)
    assert isinstance(found, Stop), found
    assert why in found.message
    assert desk.asked == ["patch"]
