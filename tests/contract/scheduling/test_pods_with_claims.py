"""Pods that need volumes: which nodes will do, and what they wait for."""

from __future__ import annotations

import pytest

from contract.scheduling.stage import Stage, never, nobody, node
from contract.scheduling.volumes import (
    bound,
    claim,
    claims,
    classes,
    lose,
    only_on,
    phase,
    storage_class,
    uses,
    volume,
    volumes,
)

pytestmark = pytest.mark.xdist_group("scheduling")

CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
NONE_LEFT = "node(s) didn't find available persistent volumes to bind"


async def test_a_claim_that_is_not_there(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b"))

    await stage.pod(**uses("data"))

    why = 'persistentvolumeclaim "data" not found'
    await stage.says("it", never(2, why))


async def test_a_claim_that_comes_later(stage: Stage) -> None:
    await stage.nodes(node("a"))
    await stage.pod(**uses("data"))
    await stage.refusal()

    await volumes(stage, volume("one"))
    await claims(stage, claim())

    assert await stage.placed() == "a"


async def test_a_claim_without_a_volume(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b"))
    await claims(stage, claim())

    await stage.pod(**uses("data"))

    why = "pod has unbound immediate PersistentVolumeClaims"
    await stage.says("it", never(2, why))


async def test_a_claim_that_is_going(stage: Stage) -> None:
    await stage.nodes(node("a"))
    await volumes(stage, volume("one"))
    await claims(stage, claim())
    await bound(stage)
    await stage.there("other", "a", **uses("data"))
    await stage.wire.delete("persistentvolumeclaims/data")

    await stage.pod(**uses("data"))

    why = 'persistentvolumeclaim "data" is being deleted'
    await stage.says("it", never(1, why))


async def test_a_claim_whose_volume_is_lost(stage: Stage) -> None:
    await stage.nodes(node("a"))
    await volumes(stage, volume("one"))
    await claims(stage, claim())
    await bound(stage)
    await lose(stage, "one")
    await phase(stage, "persistentvolumeclaims/data", "Lost")

    await stage.pod(**uses("data"))

    why = 'persistentvolumeclaim "data" bound to non-existent persistentvolume "one"'
    await stage.says("it", never(1, why))


async def test_a_pod_goes_where_its_volume_is(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b"), node("c"))
    await volumes(stage, volume("one", nodeAffinity=only_on("b")))
    await claims(stage, claim())
    await bound(stage)

    await stage.pod(**uses("data"))

    assert await stage.placed() == "b"


async def test_a_pod_that_may_not_go_where_its_volume_is(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b", taints=("only=db:NoSchedule",)))
    await volumes(stage, volume("one", nodeAffinity=only_on("b")))
    await claims(stage, claim())
    await bound(stage)

    await stage.pod(**uses("data"))

    why = f"1 {CONFLICT}, 1 node(s) had untolerated taint(s)"
    await stage.says("it", nobody(2, why, hopeless=2))


async def test_two_volumes_that_are_not_together(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b"))
    await volumes(
        stage,
        volume("one", "1Gi", nodeAffinity=only_on("a")),
        volume("two", "2Gi", nodeAffinity=only_on("b")),
    )
    await claims(stage, claim("small", "1Gi"), claim("large", "2Gi"))
    assert await bound(stage, "small") == "one"
    assert await bound(stage, "large") == "two"

    await stage.pod(**uses("small", "large"))

    await stage.says("it", nobody(2, f"2 {CONFLICT}", hopeless=2))


# ------------------------------------------------------------------ volumes that wait for a pod
async def test_a_claim_waits_for_the_pod_and_is_bound_where_it_goes(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b"))
    await classes(stage, storage_class("local", late=True))
    await volumes(
        stage,
        volume("one", storageClassName="local", nodeAffinity=only_on("a")),
        volume("two", storageClassName="local", nodeAffinity=only_on("b")),
    )
    await claims(stage, claim(storageClassName="local"))
    told = await stage.events("data", "WaitForFirstConsumer")
    assert told == ["waiting for first consumer to be created before binding"]

    await stage.pod(nodeSelector={"kubernetes.io/hostname": "b"}, **uses("data"))

    assert await stage.placed() == "b"
    assert await bound(stage) == "two"
    assert (await stage.wire.get("persistentvolumeclaims/data"))["status.phase"] == "Bound"


async def test_a_pod_goes_where_there_is_a_free_volume(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b"), node("c"))
    await classes(stage, storage_class("local", late=True))
    await volumes(stage, volume("one", storageClassName="local", nodeAffinity=only_on("c")))
    await claims(stage, claim(storageClassName="local"))

    await stage.pod(**uses("data"))

    assert await stage.placed() == "c"
    assert await bound(stage) == "one"


async def test_no_free_volume_anywhere(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b"))
    await classes(stage, storage_class("local", late=True))
    await claims(stage, claim(storageClassName="local"))

    await stage.pod(**uses("data"))

    await stage.says("it", nobody(2, f"2 {NONE_LEFT}", hopeless=2))


async def test_a_volume_that_comes_ends_the_wait(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b"))
    await classes(stage, storage_class("local", late=True))
    await claims(stage, claim(storageClassName="local"))
    await stage.pod(**uses("data"))
    await stage.refusal()

    await volumes(stage, volume("one", storageClassName="local", nodeAffinity=only_on("b")))

    assert await stage.placed() == "b"


async def test_two_claims_of_a_pod_get_volumes_of_one_node(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b"))
    await classes(stage, storage_class("local", late=True))
    await volumes(
        stage,
        volume("one", storageClassName="local", nodeAffinity=only_on("a")),
        volume("two", storageClassName="local", nodeAffinity=only_on("b")),
        volume("three", storageClassName="local", nodeAffinity=only_on("b")),
    )
    await claims(stage, claim("x", storageClassName="local"), claim("y", storageClassName="local"))

    await stage.pod(**uses("x", "y"))

    assert await stage.placed() == "b"
    assert {await bound(stage, "x"), await bound(stage, "y")} == {"two", "three"}


async def test_an_early_claim_and_a_late_one(stage: Stage) -> None:
    await stage.nodes(node("a"), node("b"))
    await classes(stage, storage_class("local", late=True))
    await claims(stage, claim("early"), claim("late", storageClassName="local"))

    await stage.pod(**uses("early", "late"))

    why = "pod has unbound immediate PersistentVolumeClaims"
    await stage.says("it", never(2, why))
