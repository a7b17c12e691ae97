"""StatefulSets: the claims of their pods, and whom those end with."""

from __future__ import annotations

from typing import Any

from contract.controllers.scripts import stateful_set
from contract.controllers.stage import Stage

SET = "statefulsets/web"


def with_claims(
    replicas: int = 2, when_scaled: str = "Retain", when_deleted: str = "Retain"
) -> Any:
    claim = {
        "metadata": {"name": "data", "labels": {"disk": "yes"}, "annotations": {"note": "mine"}},
        "spec": {
            "storageClassName": "none",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    return stateful_set(
        replicas,
        volumeClaimTemplates=[claim],
        persistentVolumeClaimRetentionPolicy={
            "whenScaled": when_scaled,
            "whenDeleted": when_deleted,
        },
    )


async def all_ready(stage: Stage, replicas: int = 2) -> None:
    await stage.shows(*(f"web-{it}:1 ready" for it in range(replicas)))
    await stage.says(SET, status__availableReplicas=replicas)
    await stage.forgets(replicas)


async def owners(stage: Stage, claim: str) -> list[tuple[str, str]]:
    """Return the owners of a claim, each of which must control it."""
    found = await stage.wire.get(f"persistentvolumeclaims/{claim}")
    references = found["metadata.ownerReferences"] or ()
    assert all(it["controller"] and it["blockOwnerDeletion"] for it in references)
    return [(it["kind"], it["name"]) for it in references]


async def owned_by(stage: Stage, claim: str, *wanted: tuple[str, str]) -> None:
    async def holds() -> bool:
        return await owners(stage, claim) == list(wanted)

    await stage.wire.until(holds)


async def test_every_pod_gets_a_claim_of_its_own(stage: Stage) -> None:
    await stage.make("statefulsets", with_claims())
    await all_ready(stage)

    claims = await stage.listed("persistentvolumeclaims", 2)

    assert [it["metadata"]["name"] for it in claims] == ["data-web-0", "data-web-1"]
    assert [it["metadata"]["labels"] for it in claims] == [{"disk": "yes", "app": "web"}] * 2
    assert claims[0]["metadata"]["annotations"]["note"] == "mine"
    assert "ownerReferences" not in claims[0]["metadata"]
    volumes = (await stage.wire.get("pods/web-1"))["spec.volumes"]
    assert {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-1"}} in volumes


async def test_claims_stay_when_the_set_shrinks_and_goes(stage: Stage) -> None:
    await stage.make("statefulsets", with_claims())
    await all_ready(stage)

    await stage.change(SET, {"replicas": 1})
    await stage.shows("web-0:1 ready")
    await stage.delete(SET)
    await stage.shows()

    await stage.listed("persistentvolumeclaims", 2)


async def test_a_pod_that_comes_back_gets_its_claim_again(stage: Stage) -> None:
    await stage.make("statefulsets", with_claims())
    await all_ready(stage)
    before = (await stage.wire.get("persistentvolumeclaims/data-web-1"))["metadata.uid"]

    await stage.change(SET, {"replicas": 1})
    await stage.shows("web-0:1 ready")
    await stage.change(SET, {"replicas": 2})
    await stage.shows("web-0:1 ready", "web-1:1 ready")

    assert (await stage.wire.get("persistentvolumeclaims/data-web-1"))["metadata.uid"] == before


async def test_claims_may_end_with_the_pods_that_are_scaled_away(stage: Stage) -> None:
    await stage.make("statefulsets", with_claims(3, when_scaled="Delete"))
    await all_ready(stage, 3)
    stage.puppets.hold(start=True)
    assert await owners(stage, "data-web-2") == []

    await stage.change(SET, {"replicas": 1})

    await stage.shows("web-0:1 ready", "web-1:1 ready", "web-2:1 leaving")
    await owned_by(stage, "data-web-2", ("Pod", "web-2"))
    await owned_by(stage, "data-web-1", ("Pod", "web-1"))
    stage.puppets.hold(start=True, leave=True)
    await stage.puppets.go("web-2")
    await stage.shows("web-0:1 ready")
    left = await stage.listed("persistentvolumeclaims", 1)
    assert left[0]["metadata"]["name"] == "data-web-0"


async def test_a_replaced_pod_keeps_its_claim_whatever_is_said_about_scaling(stage: Stage) -> None:
    await stage.make("statefulsets", with_claims(when_scaled="Delete"))
    await all_ready(stage)
    before = (await stage.wire.get("persistentvolumeclaims/data-web-1"))["metadata.uid"]

    (await stage.wire.delete("pods/web-1")).ok()

    await stage.happens("-web-1", "!web-1", "+web-1")
    await stage.shows("web-0:1 ready", "web-1:1 ready")
    assert (await stage.wire.get("persistentvolumeclaims/data-web-1"))["metadata.uid"] == before


async def test_claims_may_end_with_the_set(stage: Stage) -> None:
    await stage.make("statefulsets", with_claims(when_deleted="Delete"))
    await all_ready(stage)
    await owned_by(stage, "data-web-0", ("StatefulSet", "web"))

    await stage.change(SET, {"replicas": 1})
    await stage.shows("web-0:1 ready")
    await owned_by(stage, "data-web-1", ("StatefulSet", "web"))
    await stage.delete(SET)

    await stage.listed("persistentvolumeclaims", 0)


async def test_a_changed_policy_reaches_claims_that_are_there(stage: Stage) -> None:
    await stage.make("statefulsets", with_claims())
    await all_ready(stage)
    assert await owners(stage, "data-web-0") == []

    policy = {"whenDeleted": "Delete", "whenScaled": "Retain"}
    await stage.change(SET, {"persistentVolumeClaimRetentionPolicy": policy})
    await owned_by(stage, "data-web-0", ("StatefulSet", "web"))
    policy["whenDeleted"] = "Retain"
    await stage.change(SET, {"persistentVolumeClaimRetentionPolicy": policy})

    await owned_by(stage, "data-web-0")


async def test_a_claim_that_was_deleted_is_made_again_for_a_pod_that_waits(stage: Stage) -> None:
    stage.puppets.hold(leave=True)
    await stage.make("statefulsets", with_claims(1))
    await stage.shows("web-0:1 pending")
    path = "persistentvolumeclaims/data-web-0"
    before = (await stage.wire.get(path))["metadata.uid"]

    await stage.wire.patch(path, {"metadata": {"finalizers": None}})
    await stage.wire.delete(path)
    await stage.wire.patch(path, {"metadata": {"finalizers": None}})
    await stage.wire.patch("pods/web-0", {"metadata": {"labels": {"touched": "yes"}}})

    async def is_another() -> bool:
        found = await stage.wire.get(path)
        return found.code == 200 and found["metadata.uid"] != before

    await stage.wire.until(is_another)


async def test_a_claim_takes_the_place_of_a_volume_of_its_name(stage: Stage) -> None:
    body = with_claims(1)
    body["spec"]["template"]["spec"]["volumes"] = [
        {"name": "data", "emptyDir": {}},
        {"name": "other", "emptyDir": {}},
    ]
    await stage.make("statefulsets", body)
    await stage.shows("web-0:1 ready")

    volumes = (await stage.wire.get("pods/web-0"))["spec.volumes"]
    kinds = {
        it["name"]: sorted(it.keys() - {"name"}) for it in volumes if "kube-api" not in it["name"]
    }
    assert kinds == {"data": ["persistentVolumeClaim"], "other": ["emptyDir"]}
