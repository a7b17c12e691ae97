"""StatefulSets whose pods an operator replaces: all at once, on delete only, claims of its own."""

from __future__ import annotations

from typing import Any

from contract.controllers.scripts import image, stateful_set
from contract.controllers.stage import Stage

SET = "statefulsets/web"
CLAIM = "persistentvolumeclaims/data-web-0"
HOLD = "test.stateward.example/hold"


def by_hand(replicas: int = 3, version: int = 1, **spec: Any) -> Any:
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "storageClassName": "none",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    return stateful_set(
        replicas,
        version,
        podManagementPolicy="Parallel",
        updateStrategy={"type": "OnDelete"},
        volumeClaimTemplates=[claim],
        **spec,
    )


async def all_ready(stage: Stage, body: Any) -> None:
    replicas = body["spec"]["replicas"]
    await stage.make("statefulsets", body)
    await stage.says(SET, status__readyReplicas=replicas, status__availableReplicas=replicas)
    await stage.forgets(replicas)


async def uids(stage: Stage, kind: str = "pods") -> dict[str, str]:
    found = (await stage.wire.get(kind)).ok().body["items"]
    return {it["metadata"]["name"]: it["metadata"]["uid"] for it in found}


async def revisions(stage: Stage) -> dict[str, str]:
    return {
        it["metadata"]["name"]: it["metadata"]["labels"]["controller-revision-hash"]
        for it in await stage.pods()
    }


async def test_a_pod_keeps_its_revision_until_it_is_deleted(stage: Stage) -> None:
    await all_ready(stage, by_hand())
    first = (await stage.wire.get(SET))["status.updateRevision"]

    await stage.change(SET, image(2))
    await stage.says(SET, status__observedGeneration=2)

    await stage.still_shows("web-0:1 ready", "web-1:1 ready", "web-2:1 ready")
    found = await stage.wire.get(SET)
    second = found["status.updateRevision"]
    assert found["status.currentRevision"] == first != second
    assert (found["status.currentReplicas"], found["status.updatedReplicas"]) == (3, None)

    (await stage.wire.delete("pods/web-1")).ok()
    await stage.shows("web-0:1 ready", "web-1:2 ready", "web-2:1 ready")
    assert await revisions(stage) == {"web-0": first, "web-1": second, "web-2": first}
    await stage.says(SET, status__currentReplicas=2, status__updatedReplicas=1)


async def test_when_all_are_replaced_the_first_revision_is_still_the_current_one(
    stage: Stage,
) -> None:
    await all_ready(stage, by_hand(2))
    await stage.change(SET, image(2))
    await stage.says(SET, status__observedGeneration=2)

    for pod in ("web-0", "web-1"):
        (await stage.wire.delete(f"pods/{pod}")).ok()
    await stage.shows("web-0:2 ready", "web-1:2 ready")

    found = await stage.says(SET, status__updatedReplicas=2, status__readyReplicas=2)
    assert found["status.currentReplicas"] is None
    assert found["status.currentRevision"] != found["status.updateRevision"]


async def test_a_pod_that_is_added_is_of_the_new_template(stage: Stage) -> None:
    await all_ready(stage, by_hand(1))

    await stage.change(SET, {**image(2), "replicas": 3})

    await stage.still_shows("web-0:1 ready", "web-1:2 ready", "web-2:2 ready")


async def test_a_later_beginning_ends_the_first_pod_and_no_other(stage: Stage) -> None:
    await all_ready(stage, by_hand(3))
    before = await uids(stage)

    await stage.change(SET, {"ordinals": {"start": 1}, "replicas": 2})
    await stage.still_shows("web-1:1 ready", "web-2:1 ready")
    await stage.happens("-web-0", "!web-0")

    await stage.change(SET, {"ordinals": {"start": 0}, "replicas": 3})
    await stage.shows("web-0:1 ready", "web-1:1 ready", "web-2:1 ready")
    after = await uids(stage)
    assert {name for name in after if after[name] == before[name]} == {"web-1", "web-2"}


async def test_after_none_come_the_same_pods_on_the_same_claims(stage: Stage) -> None:
    await all_ready(stage, by_hand(3))
    before = await uids(stage, "persistentvolumeclaims")

    await stage.change(SET, {"replicas": 0})
    await stage.still_shows()
    found = await stage.says(SET, status__replicas=0)
    assert found["status.readyReplicas"] is None
    await stage.change(SET, {"replicas": 3})

    await stage.shows("web-0:1 ready", "web-1:1 ready", "web-2:1 ready")
    assert await uids(stage, "persistentvolumeclaims") == before


async def test_a_set_that_is_made_anew_takes_over_pods_and_claims_as_they_are(
    stage: Stage,
) -> None:
    await all_ready(stage, by_hand(2))
    pods, claims = await uids(stage), await uids(stage, "persistentvolumeclaims")

    await stage.delete(SET, "Orphan")
    await stage.wire.gone(SET)
    await stage.make("statefulsets", by_hand(2, version=2))
    found = await stage.says(SET, status__readyReplicas=2)

    await stage.still_shows("web-0:1 ready", "web-1:1 ready")
    assert (await uids(stage), await uids(stage, "persistentvolumeclaims")) == (pods, claims)
    assert found["status.updatedReplicas"] is None
    (await stage.wire.delete("pods/web-0")).ok()
    await stage.shows("web-0:2 ready", "web-1:1 ready")


async def held(stage: Stage) -> None:
    """Have a claim stay Terminating once it is deleted, whoever uses it."""
    (await stage.wire.patch(CLAIM, {"metadata": {"finalizers": [HOLD]}})).ok()


async def test_a_pod_is_not_made_while_its_claim_is_going(stage: Stage) -> None:
    await all_ready(stage, by_hand(1))
    before = await uids(stage, "persistentvolumeclaims")
    await held(stage)
    (await stage.wire.delete(CLAIM)).ok()

    (await stage.wire.delete("pods/web-0")).ok()
    await stage.still_shows()
    (await stage.wire.patch(CLAIM, {"metadata": {"finalizers": None}})).ok()

    await stage.shows("web-0:1 ready")
    after = await uids(stage, "persistentvolumeclaims")
    assert after.keys() == before.keys()
    assert after != before


async def test_a_claim_of_another_owner_stays_its_own(stage: Stage) -> None:
    await all_ready(stage, by_hand(1))
    other = (await stage.wire.post("configmaps", {"metadata": {"name": "owner"}})).made()
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": other["metadata.uid"]}
    (await stage.wire.patch(CLAIM, {"metadata": {"ownerReferences": [owner]}})).ok()

    await stage.delete(SET)
    await stage.wire.gone(SET)
    await stage.still_shows()
    found = (await stage.wire.get(CLAIM)).ok()

    assert [it["kind"] for it in found["metadata.ownerReferences"]] == ["ConfigMap"]
    await stage.wire.delete("configmaps/owner")
    await stage.wire.gone(CLAIM)
