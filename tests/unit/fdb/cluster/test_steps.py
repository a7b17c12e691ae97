"""Steps by themselves: each is given a cluster in pictures, and what it asks of others is noted.

``test_sentences`` names the sentences of the technical design that are proved here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import msgspec
import pytest

from fakes.fdb_desk import Desk, with_condition
from fakes.fdb_views import NOW, cluster, healthy, host
from stateward.core.chance import Chance
from stateward.core.outcome import DONE, Blocked, Retry, Stop
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.pipeline import steps
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import EXCLUSION_FINALIZER, FINALIZER, ProcessGroupID
from stateward.fdb.status.reading import Status
from stateward.fdb.views import ClusterView, GroupView, PodSeen
from stateward.kube.errors import Forbidden
from stateward.kube.meta import ObjectKey

# ------------------------------------------------------------------ what a step does
WHOLE = "s1 s2 s3 l1 l2 l3 x1 x2"
COUNTS = {"s": 3, "l": 3, "x": 2}

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


BOUNCED = with_condition(Kind.INCORRECT_COMMAND_LINE)


def bounced(after: float, uptime: float, **fields: Any) -> ClusterView:
    """Return a cluster some time after a restart, in which one has other arguments than wanted."""
    change = BOUNCED
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


async def test_no_restart_while_pods_of_a_neighbour_have_just_gone() -> None:
    """Both would ask the database whether somebody may be away, and to both it would say yes."""
    found_by = ConnectionString.parse("shop:a@10.0.0.1:4501")
    view = replace(cluster(WHOLE, counts=COUNTS, change=BOUNCED), connection=found_by)
    desk = Desk(view)
    it = cast("Any", desk)
    tools = Tools(client=it, turn=it, fence=it, chance=Chance(1, "steps"))
    step = next(one for one in steps(tools) if one.name == "BounceProcesses")
    shared = replace(view, groups=view.groups[:4])
    desk.view = shared
    found: Any = await step.run(desk.seen())
    assert found.reason == "BounceProcessesHeld"
    assert "have just gone" in found.message
    assert desk.asked == []
    desk.view = replace(shared, now=NOW + 100)
    await step.run(desk.seen())
    assert desk.asked == ["kill"]


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


@pytest.mark.parametrize("seed", ["", "shop:k3s8@10.0.0.1:4501"])
async def test_who_joins_a_database_does_not_make_it(seed: str) -> None:
    tree = healthy(configuration=..., recovery_state__name="configuration_never_created")
    view = cluster(WHOLE, tree, counts=COUNTS, seedConnectionString=seed)
    desk = Desk(replace(view, configured=False))
    found = await desk.run("UpdateDatabaseConfiguration")
    assert desk.asked == ([] if seed else ["create"])
    assert isinstance(found, Retry) == bool(seed)


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


@pytest.mark.parametrize("version", ["7.1.61", "8.0.1"])
async def test_a_version_that_cannot_be_is_told_and_the_pass_goes_on(version: str) -> None:
    view = cluster(WHOLE, counts=COUNTS, version=version, ignoreUpgradabilityChecks=True)
    desk = Desk(view)
    found = await desk.run("CheckClientCompatibility")
    assert isinstance(found, Blocked)
    assert version in found.message
    assert desk.asked == []


@pytest.mark.parametrize(
    ("who", "missing", "age", "goes"),
    [
        ("s1?", 300.0, 300.0, True),
        ("s1?", 5.0, 300.0, False),
        # A service keeps its address, and a database remembers who knocked.
        ("s1?", 300.0, 5.0, False),
        # What is on it must leave it; where nothing is, nobody misses it.
        ("s1-?", 300.0, 300.0, True),
        ("s1!?", 300.0, 300.0, False),
        ("s1->?", 300.0, 300.0, False),
    ],
)
async def test_whose_pod_is_made_anew_because_it_was_left_behind(
    who: str, missing: float, age: float, goes: bool
) -> None:
    tree = healthy(incompatible_connections=[f"{host(ProcessGroupID.parse('storage-1'))}:4501"])
    lacking = {Kind.MISSING_PROCESSES: NOW - missing}

    def late(it: GroupView) -> GroupView:
        pod = PodSeen(uid="pod", created=NOW - age)
        return replace(it, conditions=lacking, pod=pod) if str(it.id) == "storage-1" else it

    desk = Desk(cluster(f"{who} s2 s3 l1 l2 l3 x1 x2", tree, counts=COUNTS, change=late))
    await desk.run("RemoveIncompatibleProcesses")
    assert desk.asked == (["patch"] if goes else [])


class Telling(Desk):
    """A desk at which the database says once more what it said."""

    async def status(self) -> Status:
        return self.view.database


@pytest.mark.parametrize("missing", ["", "fdbcli of FoundationDB 7.4 must be on this machine"])
async def test_nobody_restarts_for_a_version_that_an_operator_which_took_over_could_not_see(
    missing: str,
) -> None:
    view = cluster(WHOLE, counts=COUNTS, version="7.4.1", ignoreUpgradabilityChecks=True)
    desk = Telling(replace(view, staging=True))
    seen = replace(desk.seen(), program_missing=missing)
    found = await desk.step("BounceProcesses").run(seen)
    assert desk.asked == ([] if missing else ["kill"])
    if missing:
        assert isinstance(found, Blocked)
        assert found.reason == "ProgramMissing"


class Changing(Telling):
    """A desk at which the user changes the spec while the database is asked."""

    generation = 1

    async def status(self) -> Status:
        self.generation += 1
        return await super().status()

    async def get(self, *_words: Any) -> FoundationDBCluster:
        metadata = msgspec.structs.replace(self.cluster.metadata, generation=self.generation)
        return msgspec.structs.replace(self.cluster, metadata=metadata)


async def test_the_user_is_asked_last_before_all_restart() -> None:
    view = cluster(WHOLE, counts=COUNTS, version="7.4.1", ignoreUpgradabilityChecks=True)
    desk = Changing(replace(view, staging=True))
    found = await desk.run("BounceProcesses")
    assert isinstance(found, Stop)
    assert (found.reason, desk.asked) == ("SpecChanged", [])


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


class Refusing(Desk):
    """Kubernetes does not let anything be deleted: a webhook is in the way."""

    async def delete(self, _resource: Any, key: ObjectKey, **_more: Any) -> None:
        self.asked.append(key.name)
        raise Forbidden("no")


async def test_one_that_cannot_be_deleted_is_tried_after_others() -> None:
    desk = Refusing(
        cluster(
            f"{WHOLE} s4! s5!",
            counts=COUNTS,
            coordinating="storage-1 storage-2 storage-3",
            change=lambda it: replace(it, proved_at=NOW) if it.excluded else it,
            entries={f"storage-{it}": {"excluded": True} for it in (4, 5)},
        )
    )
    step = desk.step("RemoveProcessGroups")
    for _ in range(3):
        await step.run(desk.seen(FINALIZER, EXCLUSION_FINALIZER))
    assert desk.asked == ["shop-storage-4", "shop-storage-5", "shop-storage-4"]


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
