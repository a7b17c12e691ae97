"""Deployments: their ReplicaSets, and how a new template takes the place of an old one."""

from __future__ import annotations

from typing import Any

from contract.controllers.scripts import LABELS, deployment, image, replica_set, steps
from contract.controllers.stage import Stage

WEB = "deployments/web"
REVISION = "deployment.kubernetes.io/revision"
HASH = "pod-template-hash"


async def ready(stage: Stage, replicas: int = 3, **spec: Any) -> None:
    await stage.make("deployments", deployment(replicas, **spec))
    await stage.counts(v1_ready=replicas)
    await stage.condition(WEB, "Progressing", "True", "NewReplicaSetAvailable")


async def crews(stage: Stage) -> dict[str, Any]:
    """Return the ReplicaSets by the version of their template."""
    found = (await stage.wire.get("replicasets")).ok().body["items"]
    return {
        it["spec"]["template"]["spec"]["containers"][0]["image"].rpartition(":")[2]: it
        for it in found
    }


async def sizes(stage: Stage, **wanted: int) -> None:
    """Wait until ReplicaSets are asked for so many pods: ``v1=3``."""

    async def holds() -> bool:
        return {f"v{v}": it["spec"]["replicas"] for v, it in (await crews(stage)).items()} == wanted

    await stage.wire.until(holds)


async def test_a_replica_set_is_made_for_the_template(stage: Stage) -> None:
    await ready(stage, 2)

    (found,) = await stage.listed("replicasets", 1)

    digest = found["metadata"]["labels"][HASH]
    assert found["metadata"]["name"] == f"web-{digest}"
    assert found["metadata"]["labels"] == {**LABELS, HASH: digest}
    assert found["spec"]["selector"] == {"matchLabels": {**LABELS, HASH: digest}}
    assert found["spec"]["template"]["metadata"]["labels"] == {**LABELS, HASH: digest}
    assert found["metadata"]["annotations"] == {
        REVISION: "1",
        "deployment.kubernetes.io/desired-replicas": "2",
        "deployment.kubernetes.io/max-replicas": "3",
    }
    owner = found["metadata"]["ownerReferences"][0]
    assert (owner["kind"], owner["controller"]) == ("Deployment", True)
    pods = await stage.pods()
    assert [it["metadata"]["labels"][HASH] for it in pods] == [digest] * 2
    assert pods[0]["metadata"]["generateName"] == f"web-{digest}-"


async def test_what_a_complete_deployment_says(stage: Stage) -> None:
    await ready(stage, 2)
    found = await stage.says(WEB, status__availableReplicas=2)

    status = found["status"]
    assert {name: it for name, it in status.items() if name != "conditions"} == {
        "observedGeneration": 1,
        "replicas": 2,
        "updatedReplicas": 2,
        "readyReplicas": 2,
        "availableReplicas": 2,
        "terminatingReplicas": 0,
    }
    assert found["metadata.annotations"] == {REVISION: "1"}
    (crew,) = await stage.listed("replicasets", 1)
    said = {it["type"]: (it["status"], it["reason"], it["message"]) for it in status["conditions"]}
    name = crew["metadata"]["name"]
    assert said == {
        "Available": ("True", "MinimumReplicasAvailable", "Deployment has minimum availability."),
        "Progressing": (
            "True",
            "NewReplicaSetAvailable",
            f'ReplicaSet "{name}" has successfully progressed.',
        ),
    }


async def test_what_a_deployment_says_while_pods_are_missing(stage: Stage) -> None:
    stage.puppets.hold()
    await stage.make("deployments", deployment(2))

    await stage.condition(WEB, "Available", "False", "MinimumReplicasUnavailable")
    await stage.condition(WEB, "Progressing", "True", "ReplicaSetUpdated")
    await stage.says(WEB, status__unavailableReplicas=2, status__replicas=2)
    await stage.puppets.ready((await stage.names())[0])
    await stage.says(WEB, status__unavailableReplicas=1, status__availableReplicas=1)
    await stage.condition(WEB, "Available", "False", "MinimumReplicasUnavailable")


async def test_first_one_more_then_one_less(stage: Stage) -> None:
    await ready(stage, 2, strategy=steps(surge=1, unavailable=0))
    stage.puppets.hold(leave=True)

    await stage.change(WEB, image(2))

    await stage.still_counts(v1_ready=2, v2_pending=1)
    await stage.puppets.ready(*await stage.names("pending"))
    await stage.counts(v1_ready=1, v2_ready=1, v2_pending=1)
    await stage.puppets.ready(*await stage.names("pending"))
    await stage.counts(v2_ready=2)
    await sizes(stage, v1=0, v2=2)


async def test_first_one_less_then_one_more(stage: Stage) -> None:
    await ready(stage, 3, strategy=steps(surge=0, unavailable=1))
    stage.puppets.hold(leave=True)

    await stage.change(WEB, image(2))

    await stage.still_counts(v1_ready=2, v2_pending=1)
    await stage.puppets.ready(*await stage.names("pending"))
    await stage.counts(v1_ready=1, v2_ready=1, v2_pending=1)


async def test_shares_are_rounded_up_for_more_and_down_for_less(stage: Stage) -> None:
    await ready(stage, 5)
    stage.puppets.hold(leave=True)

    await stage.change(WEB, image(2))

    await stage.still_counts(v1_ready=4, v2_pending=3)


async def test_places_of_pods_that_are_about_to_end_may_be_taken(stage: Stage) -> None:
    await ready(stage, 3, strategy=steps(surge=0, unavailable=1))
    stage.puppets.hold()

    await stage.change(WEB, image(2))

    await stage.still_counts(v1_ready=2, v1_leaving=1, v2_pending=1)
    await stage.says(WEB, status__replicas=3, status__terminatingReplicas=1)


async def test_old_pods_that_are_not_ready_go_first(stage: Stage) -> None:
    await ready(stage, 3, strategy=steps(surge=1, unavailable=0))
    stage.puppets.hold(leave=True)
    await stage.change(WEB, image(2))
    await stage.counts(v1_ready=3, v2_pending=1)

    await stage.change(WEB, image(3))

    await stage.still_counts(v1_ready=3, v3_pending=1)
    await sizes(stage, v1=3, v2=0, v3=1)


async def test_to_recreate_all_old_pods_end_before_new_ones_begin(stage: Stage) -> None:
    await ready(stage, 2, strategy={"type": "Recreate"})
    stage.puppets.hold(start=True)

    await stage.change(WEB, image(2))

    await stage.still_counts(v1_leaving=2)
    await stage.puppets.go(*await stage.names())
    await stage.counts(v2_ready=2)


async def test_a_pause_holds_a_new_template_back_and_lets_the_size_through(stage: Stage) -> None:
    await ready(stage, 2)

    await stage.change(WEB, {"paused": True, **image(2)})
    await stage.condition(WEB, "Progressing", "Unknown", "DeploymentPaused")
    await stage.still_counts(v1_ready=2)
    await stage.change(WEB, {"replicas": 3})
    await stage.counts(v1_ready=3)
    await sizes(stage, v1=3)

    await stage.change(WEB, {"paused": False})

    await stage.counts(v2_ready=3)
    await stage.condition(WEB, "Progressing", "True", "NewReplicaSetAvailable")


async def test_a_deployment_that_begins_paused_makes_nothing(stage: Stage) -> None:
    await stage.make("deployments", deployment(2, paused=True))

    await stage.condition(WEB, "Progressing", "Unknown", "DeploymentPaused")
    await stage.still_counts()
    await stage.listed("replicasets", 0)


async def test_an_earlier_template_gets_its_replica_set_again(stage: Stage) -> None:
    await ready(stage, 1)
    await stage.change(WEB, image(2))
    await stage.counts(v2_ready=1)
    await sizes(stage, v1=0, v2=1)
    before = await crews(stage)

    await stage.change(WEB, image(1))

    await stage.counts(v1_ready=1)
    await sizes(stage, v1=1, v2=0)
    after = await crews(stage)
    assert after["1"]["metadata"]["uid"] == before["1"]["metadata"]["uid"]
    assert after["1"]["metadata"]["annotations"][REVISION] == "3"
    assert after["1"]["metadata"]["annotations"]["deployment.kubernetes.io/revision-history"] == "1"
    assert after["2"]["metadata"]["annotations"][REVISION] == "2"
    assert (await stage.wire.get(WEB))["metadata.annotations"][REVISION] == "3"


async def test_a_roll_that_does_not_progress_is_told(stage: Stage) -> None:
    await ready(stage, 1)
    stage.puppets.hold()

    await stage.change(WEB, {"progressDeadlineSeconds": 2, "minReadySeconds": 0, **image(2)})

    said = await stage.condition(WEB, "Progressing", "False", "ProgressDeadlineExceeded")
    name = (await crews(stage))["2"]["metadata"]["name"]
    assert said["message"] == f'ReplicaSet "{name}" has timed out progressing.'
    await stage.puppets.ready(*await stage.names("pending"))
    await stage.condition(WEB, "Progressing", "True", "NewReplicaSetAvailable")


async def test_a_new_size_during_a_roll_is_shared(stage: Stage) -> None:
    await ready(stage, 4, strategy=steps(surge=2, unavailable=0))
    stage.puppets.hold(leave=True)
    await stage.change(WEB, image(2))
    await stage.counts(v1_ready=4, v2_pending=2)

    await stage.change(WEB, {"replicas": 10})

    await sizes(stage, v1=8, v2=4)


async def test_a_smaller_size_during_a_roll_is_shared(stage: Stage) -> None:
    await ready(stage, 8, strategy=steps(surge=4, unavailable=0))
    stage.puppets.hold(leave=True)
    await stage.change(WEB, image(2))
    await stage.counts(v1_ready=8, v2_pending=4)

    await stage.change(WEB, {"replicas": 2})

    async def sized() -> bool:
        notes = [it["metadata"]["annotations"] for it in (await crews(stage)).values()]
        return {it["deployment.kubernetes.io/desired-replicas"] for it in notes} == {"2"}

    await stage.wire.until(sized)
    await sizes(stage, v1=2, v2=2)


async def test_old_replica_sets_beyond_the_limit_are_forgotten(stage: Stage) -> None:
    await ready(stage, 1, revisionHistoryLimit=1)
    for version in (2, 3, 4):
        await stage.change(WEB, image(version))
        await stage.counts(**{f"v{version}_ready": 1})
        await stage.condition(WEB, "Progressing", "True", "NewReplicaSetAvailable")

    await stage.listed("replicasets", 2)
    assert sorted(await crews(stage)) == ["3", "4"]


async def test_a_replica_set_that_it_selects_is_adopted(stage: Stage) -> None:
    orphan = replica_set(2)
    orphan["metadata"] = {"name": "lost", "labels": LABELS}
    await stage.make("replicasets", orphan)
    await stage.counts(v1_ready=2)

    await stage.make("deployments", deployment(2))

    await stage.says("replicasets/lost", metadata__ownerReferences__0__name="web")
    await stage.condition(WEB, "Progressing", "True", "NewReplicaSetAvailable")
    await stage.still_counts(v1_ready=2)
    await stage.listed("replicasets", 1)


async def test_a_replica_set_that_loses_its_labels_is_let_go(stage: Stage) -> None:
    await ready(stage, 1)
    (crew,) = await stage.listed("replicasets", 1)
    path = f"replicasets/{crew['metadata']['name']}"

    (await stage.wire.patch(path, {"metadata": {"labels": {"app": "other"}}})).ok()

    await stage.says(path, metadata__ownerReferences=None)


async def test_annotations_are_handed_on(stage: Stage) -> None:
    body = deployment(1)
    body["metadata"]["annotations"] = {"note": "one"}
    await stage.make("deployments", body)
    await stage.counts(v1_ready=1)

    (await stage.wire.patch(WEB, {"metadata": {"annotations": {"note": "two"}}})).ok()

    async def is_noted() -> bool:
        (crew,) = (await stage.wire.get("replicasets")).body["items"]
        return bool(crew["metadata"]["annotations"]["note"] == "two")

    await stage.wire.until(is_noted)


async def test_a_deployment_that_is_deleted_takes_all_along(stage: Stage) -> None:
    await ready(stage, 2)

    await stage.delete(WEB)

    await stage.listed("replicasets", 0)
    await stage.counts()


async def test_a_new_size_alone_makes_no_revision(stage: Stage) -> None:
    await ready(stage, 2)

    await stage.change(WEB, {"replicas": 3, "minReadySeconds": 1})

    await stage.counts(v1_ready=3)
    await stage.says(WEB, status__observedGeneration=2, status__availableReplicas=3)
    (crew,) = await stage.listed("replicasets", 1)
    assert crew["metadata"]["annotations"][REVISION] == "1"
    assert crew["spec"]["minReadySeconds"] == 1
