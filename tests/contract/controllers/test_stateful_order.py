"""StatefulSets: in which order pods come and go, and what they are called."""

from __future__ import annotations

import pytest

from contract.controllers.scripts import LABELS, stateful_set, template
from contract.controllers.stage import Stage


async def test_each_pod_waits_until_the_one_before_it_is_ready(stage: Stage) -> None:
    stage.puppets.hold(leave=True)
    await stage.make("statefulsets", stateful_set(replicas=3))

    await stage.still_shows("web-0:1 pending")
    await stage.puppets.run("web-0")
    await stage.still_shows("web-0:1 running")
    await stage.puppets.ready("web-0")
    await stage.still_shows("web-0:1 ready", "web-1:1 pending")
    await stage.puppets.ready("web-1")
    await stage.shows("web-0:1 ready", "web-1:1 ready", "web-2:1 pending")


async def test_a_pod_is_not_made_while_an_earlier_one_is_not_ready_again(stage: Stage) -> None:
    stage.puppets.hold(leave=True)
    await stage.make("statefulsets", stateful_set(replicas=3))
    await stage.shows("web-0:1 pending")
    await stage.puppets.ready("web-0")
    await stage.shows("web-0:1 ready", "web-1:1 pending")

    await stage.puppets.run("web-0")
    await stage.puppets.ready("web-1")

    await stage.still_shows("web-0:1 running", "web-1:1 ready")


async def test_pods_in_parallel_wait_for_nobody(stage: Stage) -> None:
    stage.puppets.hold(leave=True)
    await stage.make("statefulsets", stateful_set(replicas=3, podManagementPolicy="Parallel"))

    await stage.shows("web-0:1 pending", "web-1:1 pending", "web-2:1 pending")


async def test_a_pod_has_its_name_in_labels_and_as_hostname(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(replicas=2))
    await stage.shows("web-0:1 ready", "web-1:1 ready")

    revision = (await stage.wire.get("statefulsets/web"))["status.updateRevision"]
    pod = await stage.wire.get("pods/web-1")

    assert pod["metadata.labels"] == {
        **LABELS,
        "statefulset.kubernetes.io/pod-name": "web-1",
        "apps.kubernetes.io/pod-index": "1",
        "controller-revision-hash": revision,
    }
    assert pod["metadata.generateName"] == "web-"
    assert (pod["spec.hostname"], pod["spec.subdomain"]) == ("web-1", "net")
    owner = pod["metadata.ownerReferences.0"]
    assert (owner["kind"], owner["name"]) == ("StatefulSet", "web")
    assert owner["controller"] is owner["blockOwnerDeletion"] is True


async def test_numbers_may_begin_elsewhere(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(replicas=2, ordinals={"start": 5}))

    await stage.shows("web-5:1 ready", "web-6:1 ready")
    assert (await stage.wire.get("pods/web-6"))["metadata.labels"][
        "apps.kubernetes.io/pod-index"
    ] == "6"
    await stage.happens("+web-5", "+web-6")


async def test_a_new_beginning_moves_the_set_along(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(replicas=2))
    await stage.shows("web-0:1 ready", "web-1:1 ready")

    await stage.change("statefulsets/web", {"ordinals": {"start": 1}})

    await stage.shows("web-1:1 ready", "web-2:1 ready")
    await stage.happens("+web-0", "+web-1", "+web-2", "-web-0", "!web-0")


async def test_it_shrinks_from_the_top_one_by_one(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(replicas=3))
    await stage.shows("web-0:1 ready", "web-1:1 ready", "web-2:1 ready")
    stage.puppets.hold(start=True)

    await stage.change("statefulsets/web", {"replicas": 1})

    await stage.still_shows("web-0:1 ready", "web-1:1 ready", "web-2:1 leaving")
    await stage.puppets.go("web-2")
    await stage.shows("web-0:1 ready", "web-1:1 leaving")
    await stage.puppets.go("web-1")
    await stage.still_shows("web-0:1 ready")


async def test_in_parallel_it_shrinks_at_once(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(replicas=3, podManagementPolicy="Parallel"))
    await stage.shows("web-0:1 ready", "web-1:1 ready", "web-2:1 ready")
    stage.puppets.hold(start=True)

    await stage.change("statefulsets/web", {"replicas": 1})

    await stage.shows("web-0:1 ready", "web-1:1 leaving", "web-2:1 leaving")


async def test_it_does_not_shrink_while_a_pod_that_stays_is_not_ready(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(replicas=3))
    await stage.shows("web-0:1 ready", "web-1:1 ready", "web-2:1 ready")
    stage.puppets.hold(leave=True)
    await stage.puppets.run("web-0")
    await stage.says("statefulsets/web", status__readyReplicas=2)  # who shrinks it has noticed

    await stage.change("statefulsets/web", {"replicas": 2})

    await stage.still_shows("web-0:1 running", "web-1:1 ready", "web-2:1 ready")
    await stage.puppets.ready("web-0")
    await stage.shows("web-0:1 ready", "web-1:1 ready")


async def test_only_the_lowest_of_the_unready_ones_may_be_given_up(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(replicas=3))
    await stage.shows("web-0:1 ready", "web-1:1 ready", "web-2:1 ready")
    stage.puppets.hold(leave=True)
    await stage.puppets.run("web-1", "web-2")
    await stage.says("statefulsets/web", status__readyReplicas=1)

    await stage.change("statefulsets/web", {"replicas": 1})

    await stage.still_shows("web-0:1 ready", "web-1:1 running", "web-2:1 running")
    await stage.puppets.ready("web-1")
    await stage.shows("web-0:1 ready")


async def test_a_deleted_pod_comes_back_under_its_name(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(replicas=2))
    await stage.shows("web-0:1 ready", "web-1:1 ready")
    stage.puppets.hold()
    before = (await stage.wire.get("pods/web-0"))["metadata.uid"]

    (await stage.wire.delete("pods/web-0")).ok()

    await stage.still_shows("web-0:1 leaving", "web-1:1 ready")
    await stage.puppets.go("web-0")
    await stage.shows("web-0:1 pending", "web-1:1 ready")
    assert (await stage.wire.get("pods/web-0"))["metadata.uid"] != before


@pytest.mark.parametrize("end", ["fail", "succeed"])
async def test_a_pod_that_has_ended_is_replaced(stage: Stage, end: str) -> None:
    await stage.make("statefulsets", stateful_set(replicas=2))
    await stage.shows("web-0:1 ready", "web-1:1 ready")
    await stage.forgets(2)

    await getattr(stage.puppets, end)("web-1")

    await stage.says("pods/web-1", status__phase="Running")
    await stage.happens("-web-1", "!web-1", "+web-1")


async def test_two_deleted_pods_come_back_in_order(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(replicas=3))
    await stage.shows("web-0:1 ready", "web-1:1 ready", "web-2:1 ready")
    stage.puppets.hold(leave=True)

    for name in ("web-0", "web-1"):
        (await stage.wire.delete(f"pods/{name}")).ok()

    await stage.still_shows("web-0:1 pending", "web-2:1 ready")
    await stage.puppets.ready("web-0")
    await stage.shows("web-0:1 ready", "web-1:1 pending", "web-2:1 ready")


async def test_a_pod_is_waited_for_until_it_has_been_ready_for_a_while(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(replicas=2, minReadySeconds=2))

    await stage.still_shows("web-0:1 ready")
    await stage.says("statefulsets/web", status__readyReplicas=1, status__availableReplicas=0)
    await stage.shows("web-0:1 ready", "web-1:1 ready")
    await stage.says("statefulsets/web", status__readyReplicas=2, status__availableReplicas=2)


async def test_a_name_that_somebody_else_has_is_waited_for(stage: Stage) -> None:
    stranger = {
        "metadata": {"name": "web-1", "labels": {"app": "other"}},
        "spec": template(9)["spec"],
    }
    await stage.make("pods", stranger)
    await stage.make("statefulsets", stateful_set(replicas=2))

    await stage.still_shows("web-0:1 ready", "web-1:9 ready")
    await stage.says("statefulsets/web", status__replicas=1)
