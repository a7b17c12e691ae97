"""ReplicaSets: how many pods there are, which go first, and whose they are."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contract.controllers.scripts import LABELS, replica_set, template
from contract.controllers.stage import Stage

SET = "replicasets/web"
COST = "controller.kubernetes.io/pod-deletion-cost"


async def ready(stage: Stage, replicas: int = 3, **spec: Any) -> list[str]:
    """Have a set with all its pods ready; return their names."""
    await stage.make("replicasets", replica_set(replicas, **spec))
    await stage.counts(v1_ready=replicas)
    await stage.says(SET, status__readyReplicas=replicas)
    await stage.forgets(replicas)
    return await stage.names()


async def goes_alone(stage: Stage, name: str) -> None:
    """Check that one pod is given up when the set shrinks by one, and no other."""
    count = len(await stage.names())
    await stage.change(SET, {"replicas": count - 1})
    await stage.happens(f"-{name}", f"!{name}")


async def test_there_are_so_many_pods_at_once(stage: Stage) -> None:
    stage.puppets.hold()
    await stage.make("replicasets", replica_set(3))

    await stage.still_counts(v1_pending=3)
    found = await stage.says(SET, status__replicas=3, status__observedGeneration=1)
    assert found["status"] == {
        "replicas": 3,
        "fullyLabeledReplicas": 3,
        "terminatingReplicas": 0,
        "observedGeneration": 1,
    }
    pod = (await stage.pods())[0]
    assert pod["metadata"]["generateName"] == "web-"
    assert pod["metadata"]["ownerReferences"][0]["kind"] == "ReplicaSet"
    assert pod["metadata"]["labels"] == LABELS


async def test_what_a_complete_set_says(stage: Stage) -> None:
    await ready(stage, 2)

    found = await stage.says(SET, status__availableReplicas=2)

    assert found["status"] == {
        "replicas": 2,
        "fullyLabeledReplicas": 2,
        "readyReplicas": 2,
        "availableReplicas": 2,
        "terminatingReplicas": 0,
        "observedGeneration": 1,
    }


async def test_a_pod_is_replaced_as_soon_as_its_end_is_asked_for(stage: Stage) -> None:
    names = await ready(stage, 2)
    stage.puppets.hold()

    (await stage.wire.delete(f"pods/{names[0]}")).ok()

    await stage.counts(v1_ready=1, v1_leaving=1, v1_pending=1)
    await stage.says(SET, status__replicas=2, status__terminatingReplicas=1)


async def test_a_failed_pod_is_replaced_and_stays_to_be_looked_at(stage: Stage) -> None:
    names = await ready(stage, 2)

    await stage.puppets.fail(names[0])

    await stage.still_counts(v1_ready=2, v1_failed=1)
    await stage.says(SET, status__replicas=2)


async def test_a_pod_that_is_not_ready_is_given_up_first(stage: Stage) -> None:
    names = await ready(stage)
    await stage.puppets.run(names[1])

    await stage.says(SET, status__readyReplicas=2)

    await goes_alone(stage, names[1])


async def test_a_pod_that_does_not_run_is_given_up_before_one_that_is_not_ready(
    stage: Stage,
) -> None:
    stage.puppets.hold(leave=True)
    await stage.make("replicasets", replica_set(3))
    await stage.counts(v1_pending=3)
    await stage.forgets(3)
    names = await stage.names()
    await stage.puppets.ready(names[0])
    await stage.puppets.run(names[2])
    await stage.says(SET, status__readyReplicas=1)

    await goes_alone(stage, names[1])


async def test_the_cheapest_pod_is_given_up_first(stage: Stage) -> None:
    names = await ready(stage)
    for name, cost in zip(names, ("5", "-3", "0"), strict=True):
        (await stage.wire.patch(f"pods/{name}", {"metadata": {"annotations": {COST: cost}}})).ok()

    await goes_alone(stage, names[1])


async def test_a_pod_that_was_ready_last_is_given_up_first(stage: Stage) -> None:
    stage.puppets.hold(leave=True)
    await stage.make("replicasets", replica_set(2))
    await stage.counts(v1_pending=2)
    await stage.forgets(2)
    names = await stage.names()
    await stage.puppets.ready(names[1])
    await asyncio.sleep(1.1)  # times are told in whole seconds
    await stage.puppets.ready(names[0])
    await stage.says(SET, status__readyReplicas=2)

    await goes_alone(stage, names[0])


async def test_a_pod_that_restarted_more_often_is_given_up_first(stage: Stage) -> None:
    stage.puppets.hold(leave=True)
    await stage.make("replicasets", replica_set(2))
    await stage.counts(v1_pending=2)
    await stage.forgets(2)
    names = await stage.names()
    for name in names:
        await stage.wire.patch(f"pods/{name}/status", {"status": READY_LONG_AGO})
    await stage.puppets.restart(names[1], 3)
    await stage.says(SET, status__readyReplicas=2)

    await goes_alone(stage, names[1])


READY_LONG_AGO = {
    "phase": "Running",
    "conditions": [
        {"type": "Ready", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z"}
    ],
}


async def test_orphans_that_it_selects_are_adopted(stage: Stage) -> None:
    for name in ("one", "two"):
        body = {"metadata": {"name": name, "labels": LABELS}, "spec": template(9)["spec"]}
        await stage.make("pods", body)
    await stage.shows("one:9 ready", "two:9 ready")

    await stage.make("replicasets", replica_set(3))

    await stage.counts(v9_ready=2, v1_ready=1)
    await stage.says("pods/one", metadata__ownerReferences__0__name="web")


async def test_orphans_beyond_its_size_are_given_up(stage: Stage) -> None:
    for name in ("one", "two"):
        body = {"metadata": {"name": name, "labels": LABELS}, "spec": template(9)["spec"]}
        await stage.make("pods", body)
    await stage.shows("one:9 ready", "two:9 ready")

    await stage.make("replicasets", replica_set(1))

    await stage.counts(v9_ready=1)


async def test_a_pod_that_loses_its_labels_is_let_go_and_replaced(stage: Stage) -> None:
    names = await ready(stage, 2)

    (await stage.wire.patch(f"pods/{names[0]}", {"metadata": {"labels": {"app": "x"}}})).ok()

    await stage.counts(v1_ready=3)
    await stage.says(f"pods/{names[0]}", metadata__ownerReferences=None)
    await stage.says(SET, status__replicas=2)


async def test_orphaned_pods_stay(stage: Stage) -> None:
    names = await ready(stage, 2)

    await stage.delete(SET, "Orphan")
    await stage.wire.gone(SET)

    await stage.still_counts(v1_ready=2)
    assert (await stage.wire.get(f"pods/{names[0]}"))["metadata.ownerReferences"] is None


async def test_pods_count_as_available_after_a_while(stage: Stage) -> None:
    await ready(stage, 2, minReadySeconds=2)

    assert (await stage.wire.get(SET))["status.availableReplicas"] is None
    await stage.says(SET, status__availableReplicas=2)


@pytest.mark.parametrize("replicas", [0, 1])
async def test_it_shrinks_at_once(stage: Stage, replicas: int) -> None:
    await ready(stage)
    stage.puppets.hold()

    await stage.change(SET, {"replicas": replicas})

    await stage.counts(v1_ready=replicas, v1_leaving=3 - replicas)
    await stage.says(SET, status__replicas=replicas)
