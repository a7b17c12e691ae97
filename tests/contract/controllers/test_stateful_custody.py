"""StatefulSets: whose the pods are, and what becomes of them when the set goes."""

from __future__ import annotations

from typing import Any

from contract.controllers.scripts import LABELS, stateful_set, template
from contract.controllers.stage import Stage

SET = "statefulsets/web"


async def ready(stage: Stage) -> None:
    await stage.make("statefulsets", stateful_set(2))
    await stage.shows("web-0:1 ready", "web-1:1 ready")
    await stage.says(SET, status__readyReplicas=2)
    await stage.forgets(2)


async def owner(stage: Stage, pod: str) -> Any:
    return (await stage.wire.get(f"pods/{pod}"))["metadata.ownerReferences"]


async def test_a_set_that_is_deleted_takes_its_pods_along(stage: Stage) -> None:
    await ready(stage)

    await stage.delete(SET)

    await stage.shows()
    await stage.listed("controllerrevisions", 0)


async def test_in_the_foreground_the_set_goes_after_its_pods(stage: Stage) -> None:
    await ready(stage)
    stage.puppets.hold(start=True)

    await stage.delete(SET, "Foreground")

    await stage.still_shows("web-0:1 leaving", "web-1:1 leaving")
    assert (await stage.wire.get(SET))["metadata.finalizers"] == ["foregroundDeletion"]
    await stage.puppets.go("web-0", "web-1")
    await stage.wire.gone(SET)
    await stage.still_shows()


async def test_orphans_stay_and_are_adopted_by_the_next_set(stage: Stage) -> None:
    await ready(stage)

    await stage.delete(SET, "Orphan")
    await stage.wire.gone(SET)
    assert await owner(stage, "web-0") is None
    made = await stage.make("statefulsets", stateful_set(2))
    await stage.says(SET, status__readyReplicas=2)

    await stage.still_shows("web-0:1 ready", "web-1:1 ready")
    await stage.happens()
    found = await owner(stage, "web-0")
    assert [it["uid"] for it in found] == [made["metadata.uid"]]


async def test_only_pods_with_its_names_are_adopted(stage: Stage) -> None:
    for name in ("web-0", "web-x", "other-0"):
        body = {"metadata": {"name": name, "labels": LABELS}, "spec": template(9)["spec"]}
        await stage.make("pods", body)
    await stage.shows("other-0:9 ready", "web-0:9 ready", "web-x:9 ready")

    await stage.make("statefulsets", stateful_set(1, updateStrategy={"type": "OnDelete"}))
    await stage.says(SET, status__replicas=1, status__readyReplicas=1)

    await stage.still_shows("other-0:9 ready", "web-0:9 ready", "web-x:9 ready")
    assert (await owner(stage, "web-0"))[0]["name"] == "web"
    assert (await stage.wire.get("pods/web-0"))["metadata.labels"] == {
        **LABELS,
        "statefulset.kubernetes.io/pod-name": "web-0",
        "apps.kubernetes.io/pod-index": "0",
    }
    assert await owner(stage, "other-0") is None
    assert await owner(stage, "web-x") is None


async def test_an_adopted_pod_is_replaced_by_one_of_the_template(stage: Stage) -> None:
    body = {"metadata": {"name": "web-0", "labels": LABELS}, "spec": template(9)["spec"]}
    await stage.make("pods", body)
    await stage.shows("web-0:9 ready")

    await stage.make("statefulsets", stateful_set(1))

    await stage.shows("web-0:1 ready")


async def test_a_pod_that_loses_its_labels_is_let_go_and_keeps_its_name(stage: Stage) -> None:
    await ready(stage)

    (await stage.wire.patch("pods/web-1", {"metadata": {"labels": {"app": None}}})).ok()

    await stage.says("pods/web-1", metadata__ownerReferences=None)
    await stage.still_shows("web-0:1 ready", "web-1:1 ready")
    await stage.says(SET, status__replicas=1)
    (await stage.wire.delete("pods/web-1")).ok()
    await stage.says(SET, status__replicas=2)
    assert (await owner(stage, "web-1"))[0]["name"] == "web"


async def test_a_pod_of_another_owner_is_left_alone(stage: Stage) -> None:
    made = await stage.make("configmaps", {"metadata": {"name": "boss"}})
    boss = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "boss",
        "uid": made["metadata.uid"],
        "controller": True,
    }
    meta = {"name": "web-1", "labels": LABELS, "ownerReferences": [boss]}
    await stage.make("pods", {"metadata": meta, "spec": template(9)["spec"]})

    await stage.make("statefulsets", stateful_set(3))

    await stage.still_shows("web-0:1 ready", "web-1:9 ready")
    assert [it["kind"] for it in await owner(stage, "web-1")] == ["ConfigMap"]


async def test_labels_of_its_identity_are_restored(stage: Stage) -> None:
    await ready(stage)
    label = "statefulset.kubernetes.io/pod-name"

    (await stage.wire.patch("pods/web-0", {"metadata": {"labels": {label: "other"}}})).ok()

    async def is_restored() -> bool:
        return bool((await stage.wire.get("pods/web-0"))["metadata.labels"][label] == "web-0")

    await stage.wire.until(is_restored)
    await stage.happens()


async def test_a_set_of_none_has_no_pods(stage: Stage) -> None:
    await ready(stage)

    await stage.change(SET, {"replicas": 0})

    await stage.shows()
    await stage.happens("-web-1", "!web-1", "-web-0", "!web-0")
    found = await stage.says(SET, status__observedGeneration=2, status__replicas=0)
    assert found["status.availableReplicas"] == 0
    assert "readyReplicas" not in found["status"]
