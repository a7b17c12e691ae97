"""StatefulSets: how a new template reaches their pods, and what they say meanwhile."""

from __future__ import annotations

from contract.controllers.scripts import image, rolling, stateful_set
from contract.controllers.stage import Stage

SET = "statefulsets/web"


async def all_ready(stage: Stage, replicas: int = 3) -> None:
    await stage.shows(*(f"web-{it}:1 ready" for it in range(replicas)))
    await stage.says(SET, status__readyReplicas=replicas)
    await stage.forgets(replicas)


async def test_pods_are_replaced_from_the_top_when_those_above_are_ready(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set())
    await all_ready(stage)
    stage.puppets.hold(leave=True)

    await stage.change(SET, image(2))

    await stage.still_shows("web-0:1 ready", "web-1:1 ready", "web-2:2 pending")
    await stage.puppets.ready("web-2")
    await stage.shows("web-0:1 ready", "web-1:2 pending", "web-2:2 ready")
    await stage.puppets.ready("web-1")
    await stage.shows("web-0:2 pending", "web-1:2 ready", "web-2:2 ready")
    await stage.happens(
        *("-web-2", "!web-2", "+web-2"),
        *("-web-1", "!web-1", "+web-1"),
        *("-web-0", "!web-0", "+web-0"),
    )


async def test_in_parallel_pods_are_still_replaced_one_by_one(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(podManagementPolicy="Parallel"))
    await all_ready(stage)
    stage.puppets.hold(leave=True)

    await stage.change(SET, image(2))

    await stage.still_shows("web-0:1 ready", "web-1:1 ready", "web-2:2 pending")


async def test_in_parallel_an_unready_pod_below_holds_up_nothing(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(podManagementPolicy="Parallel"))
    await all_ready(stage)
    stage.puppets.hold(start=True, leave=True)
    await stage.puppets.run("web-0")

    await stage.change(SET, image(2))

    await stage.shows("web-0:2 ready", "web-1:2 ready", "web-2:2 ready")


async def test_in_order_an_unready_pod_below_holds_up_everything(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set())
    await all_ready(stage)
    await stage.puppets.run("web-0")

    await stage.change(SET, image(2))

    await stage.still_shows("web-0:1 running", "web-1:1 ready", "web-2:1 ready")


async def test_pods_below_the_partition_stay(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(updateStrategy=rolling(partition=1)))
    await all_ready(stage)

    await stage.change(SET, image(2))

    await stage.shows("web-0:1 ready", "web-1:2 ready", "web-2:2 ready")
    found = await stage.says(SET, status__updatedReplicas=2, status__currentReplicas=1)
    assert found["status.currentRevision"] != found["status.updateRevision"]


async def test_a_pod_below_the_partition_comes_back_as_it_was(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(updateStrategy=rolling(partition=2)))
    await all_ready(stage)
    await stage.change(SET, image(2))
    await stage.shows("web-0:1 ready", "web-1:1 ready", "web-2:2 ready")
    await stage.forgets(3)

    (await stage.wire.delete("pods/web-1")).ok()

    await stage.happens("-web-1", "!web-1", "+web-1")
    await stage.shows("web-0:1 ready", "web-1:1 ready", "web-2:2 ready")


async def test_a_partition_beyond_all_pods_keeps_everything_new_out(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(2, updateStrategy=rolling(partition=9)))
    await all_ready(stage, 2)

    await stage.change(SET, image(2))
    await stage.says(SET, status__observedGeneration=2)
    await stage.change(SET, {"replicas": 3})

    await stage.still_shows("web-0:1 ready", "web-1:1 ready", "web-2:1 ready")
    await stage.happens("+web-2")


async def test_a_partition_that_is_taken_away_lets_the_rest_follow(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(2, updateStrategy=rolling(partition=1)))
    await all_ready(stage, 2)
    await stage.change(SET, image(2))
    await stage.shows("web-0:1 ready", "web-1:2 ready")

    await stage.change(SET, {"updateStrategy": rolling(partition=0)})

    await stage.shows("web-0:2 ready", "web-1:2 ready")
    found = await stage.says(SET, status__currentReplicas=2, status__updatedReplicas=2)
    assert found["status.currentRevision"] == found["status.updateRevision"]


async def test_a_partition_counts_pods_and_not_their_numbers(stage: Stage) -> None:
    spec = stateful_set(3, ordinals={"start": 5}, updateStrategy=rolling(partition=1))
    await stage.make("statefulsets", spec)
    await stage.shows("web-5:1 ready", "web-6:1 ready", "web-7:1 ready")

    await stage.change(SET, image(2))

    await stage.shows("web-5:1 ready", "web-6:2 ready", "web-7:2 ready")
    (await stage.wire.delete("pods/web-5")).ok()
    await stage.still_shows("web-5:1 ready", "web-6:2 ready", "web-7:2 ready")


async def test_on_delete_only_deleted_pods_get_the_new_template(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(updateStrategy={"type": "OnDelete"}))
    await all_ready(stage)

    await stage.change(SET, image(2))
    await stage.says(SET, status__observedGeneration=2)
    (await stage.wire.delete("pods/web-1")).ok()

    await stage.still_shows("web-0:1 ready", "web-1:2 ready", "web-2:1 ready")
    found = await stage.says(SET, status__updatedReplicas=1)
    assert found["status.currentRevision"] != found["status.updateRevision"]


async def test_a_template_that_is_taken_back_midway(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set())
    await all_ready(stage)
    first = (await stage.wire.get(SET))["status.updateRevision"]
    stage.puppets.hold(leave=True)
    await stage.change(SET, image(2))
    await stage.shows("web-0:1 ready", "web-1:1 ready", "web-2:2 pending")
    await stage.puppets.ready("web-2")
    await stage.shows("web-0:1 ready", "web-1:2 pending", "web-2:2 ready")
    await stage.forgets(6)
    stage.puppets.hold(start=True, leave=True)

    await stage.change(SET, image(1))
    await stage.says(SET, status__observedGeneration=3)
    await stage.puppets.ready("web-1")

    await stage.shows("web-0:1 ready", "web-1:1 ready", "web-2:1 ready")
    await stage.happens("-web-2", "!web-2", "+web-2", "-web-1", "!web-1", "+web-1")
    await stage.says(SET, status__updateRevision=first, status__currentRevision=first)


async def test_a_pod_stuck_on_a_broken_template_is_waited_for(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(2))
    await all_ready(stage, 2)
    stage.puppets.hold(leave=True)
    await stage.change(SET, image(2))
    await stage.shows("web-0:1 ready", "web-1:2 pending")

    await stage.change(SET, image(3))
    await stage.says(SET, status__observedGeneration=3)

    await stage.still_shows("web-0:1 ready", "web-1:2 pending")
    (await stage.wire.delete("pods/web-1")).ok()
    await stage.shows("web-0:1 ready", "web-1:3 pending")


async def test_in_parallel_a_stuck_pod_is_replaced(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(2, podManagementPolicy="Parallel"))
    await all_ready(stage, 2)
    stage.puppets.hold(leave=True)
    await stage.change(SET, image(2))
    await stage.shows("web-0:1 ready", "web-1:2 pending")

    await stage.change(SET, image(3))

    await stage.still_shows("web-0:1 ready", "web-1:3 pending")


async def test_a_roll_waits_until_pods_have_been_ready_for_a_while(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(2))
    await all_ready(stage, 2)

    await stage.change(SET, {**image(2), "minReadySeconds": 2})

    await stage.still_shows("web-0:1 ready", "web-1:2 ready")
    await stage.shows("web-0:2 ready", "web-1:2 ready")


async def test_growing_comes_before_rolling(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(2))
    await all_ready(stage, 2)

    await stage.change(SET, {**image(2), "replicas": 3})

    await stage.shows("web-0:2 ready", "web-1:2 ready", "web-2:2 ready")
    await stage.happens("+web-2", "-web-1", "!web-1", "+web-1", "-web-0", "!web-0", "+web-0")


async def test_shrinking_comes_before_rolling(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(3))
    await all_ready(stage)

    await stage.change(SET, {**image(2), "replicas": 2})

    await stage.shows("web-0:2 ready", "web-1:2 ready")
    await stage.happens(
        *("-web-2", "!web-2"), *("-web-1", "!web-1", "+web-1"), *("-web-0", "!web-0", "+web-0")
    )


async def test_max_unavailable_is_not_offered_unless_a_cluster_turns_it_on(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(updateStrategy=rolling(maxUnavailable=2)))
    await all_ready(stage)
    stage.puppets.hold(leave=True)

    await stage.change(SET, image(2))

    await stage.still_shows("web-0:1 ready", "web-1:1 ready", "web-2:2 pending")


async def test_what_is_said_during_a_roll(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(2))
    await all_ready(stage, 2)
    before = (await stage.says(SET, status__currentReplicas=2))["status"]
    assert {**before, "currentRevision": "a", "updateRevision": "a"} == {
        "observedGeneration": 1,
        "replicas": 2,
        "readyReplicas": 2,
        "availableReplicas": 2,
        "currentReplicas": 2,
        "updatedReplicas": 2,
        "currentRevision": "a",
        "updateRevision": "a",
        "collisionCount": 0,
    }
    stage.puppets.hold()

    await stage.change(SET, image(2))

    await stage.shows("web-0:1 ready", "web-1:1 leaving")
    facts = {"replicas": 2, "readyReplicas": 2, "currentReplicas": 1, "updatedReplicas": None}
    during = await stage.says(SET, **{f"status__{name}": it for name, it in facts.items()})
    assert during["status.currentRevision"] == before["currentRevision"]
    assert during["status.updateRevision"] != before["updateRevision"]

    await stage.puppets.go("web-1")

    facts = {"replicas": 2, "readyReplicas": 1, "currentReplicas": 1, "updatedReplicas": 1}
    await stage.says(SET, **{f"status__{name}": it for name, it in facts.items()})
    stage.puppets.hold(start=True, leave=True)
    await stage.puppets.ready("web-1")
    facts = {"replicas": 2, "readyReplicas": 2, "currentReplicas": 2, "updatedReplicas": 2}
    await stage.says(
        SET,
        status__currentRevision=during["status.updateRevision"],
        **{f"status__{name}": it for name, it in facts.items()},
    )


async def test_a_change_beside_the_template_replaces_nothing(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(2))
    await all_ready(stage, 2)

    await stage.change(SET, {"minReadySeconds": 1, "revisionHistoryLimit": 3})
    await stage.says(SET, status__observedGeneration=2)

    await stage.still_shows("web-0:1 ready", "web-1:1 ready")
    await stage.happens()
    await stage.listed("controllerrevisions", 1)


async def test_revisions_are_kept_and_numbered(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(1))
    await all_ready(stage, 1)
    for version in (2, 3, 1):
        await stage.change(SET, image(version))
        await stage.shows(f"web-0:{version} ready")

    found = await stage.listed("controllerrevisions", 3)
    versions = {
        it["data"]["spec"]["template"]["spec"]["containers"][0]["image"]: it["revision"]
        for it in found
    }
    assert versions == {"app:2": 2, "app:3": 3, "app:1": 4}
    labels = [it["metadata"]["labels"] for it in found]
    assert [it["app"] for it in labels] == ["web"] * 3
    assert all(
        it["metadata"]["name"] == f"web-{it['metadata']['labels']['controller.kubernetes.io/hash']}"
        for it in found
    )
    owners = [it["metadata"]["ownerReferences"][0] for it in found]
    assert [(it["kind"], it["controller"]) for it in owners] == [("StatefulSet", True)] * 3


async def test_revisions_beyond_the_limit_are_forgotten(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(1, revisionHistoryLimit=1))
    await all_ready(stage, 1)
    for version in (2, 3, 4):
        await stage.change(SET, image(version))
        await stage.shows(f"web-0:{version} ready")
        await stage.says(SET, status__currentReplicas=1, status__updatedReplicas=1)

    found = await stage.listed("controllerrevisions", 2)

    assert sorted(it["revision"] for it in found) == [3, 4]
