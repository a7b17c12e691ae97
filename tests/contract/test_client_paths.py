"""Shares of pods, and names and paths of files: what is refused, and with which place."""

from __future__ import annotations

from typing import Any

import pytest

from contract.backends import Kube
from contract.words import (
    budget,
    config_map,
    deployment,
    pod,
    secret,
    shown,
    stateful_set,
    whole,
)
from stateward.kube.codec import Json
from stateward.kube.errors import Invalid
from stateward.kube.patch import merge_patch
from stateward.kube.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    DISRUPTION_BUDGETS,
    PODS,
    SECRETS,
    STATEFUL_SETS,
)


async def refused(kube: Kube, resource: Any, body: Json) -> set[str]:
    """Return the places that a refusal names, none when there is no refusal."""
    try:
        await kube.client.create(whole(resource), body, dry_run=True)
    except Invalid as error:
        return {cause.field for cause in error.causes}
    return set()


# ------------------------------------------------------------------ shares
@pytest.mark.parametrize(
    ("how", "wrong"),
    [
        ({"maxSurge": "abc"}, "maxSurge"),
        ({"maxSurge": "5"}, "maxSurge"),
        ({"maxSurge": "1.5%"}, "maxSurge"),
        ({"maxSurge": -1}, "maxSurge"),
        ({"maxSurge": "200%"}, ""),
        ({"maxUnavailable": -1}, "maxUnavailable"),
        ({"maxUnavailable": "101%"}, "maxUnavailable"),
        ({"maxUnavailable": "0%", "maxSurge": 0}, "maxUnavailable"),
        ({"maxUnavailable": "100%"}, ""),
    ],
    ids=shown,
)
async def test_a_rollout_goes_in_steps_that_can_be_made(kube: Kube, how: Json, wrong: str) -> None:
    body = merge_patch(deployment(kube, "a"), {"spec": {"strategy": {"rollingUpdate": how}}})

    found = await refused(kube, DEPLOYMENTS, body)

    assert found == ({f"spec.strategy.rollingUpdate.{wrong}"} if wrong else set())


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (
            {"updateStrategy": {"rollingUpdate": {"partition": -1}}},
            "spec.updateStrategy.rollingUpdate.partition",
        ),
        (
            {"updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}}},
            "spec.updateStrategy.rollingUpdate",
        ),
        ({"ordinals": {"start": -1}}, "spec.ordinals.start"),
    ],
    ids=shown,
)
async def test_a_stateful_set_counts_from_zero(kube: Kube, change: Json, wrong: str) -> None:
    body = merge_patch(stateful_set(kube, "a"), {"spec": change})

    assert await refused(kube, STATEFUL_SETS, body) == {wrong}


@pytest.mark.parametrize("share", ["abc", "101%", "5", "", "-1%", -1], ids=shown)
@pytest.mark.parametrize("name", ["minAvailable", "maxUnavailable"])
async def test_a_budget_is_a_number_or_a_share(kube: Kube, name: str, share: Any) -> None:
    body = merge_patch(budget(kube, "a", {"a": "b"}), {"spec": {"minAvailable": None, name: share}})

    assert await refused(kube, DISRUPTION_BUDGETS, body) == {f"spec.{name}"}


# ------------------------------------------------------------------ keys and paths
@pytest.mark.parametrize("key", [".", "..", "...", "..a", "a/b", "", "a\0b", "a" * 254], ids=repr)
async def test_a_key_can_be_the_name_of_a_file(kube: Kube, key: str) -> None:
    kept = config_map(kube, "a", {key: "x"})
    hidden = secret(kube, "a") | {"data": {key: "eA=="}}

    assert len(await refused(kube, CONFIG_MAPS, kept)) == 1
    assert len(await refused(kube, SECRETS, hidden)) == 1


def item(path: str, **more: Any) -> Json:
    return {"configMap": {"name": "c", "items": [{"key": "a", "path": path, **more}]}}


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        (item("b"), ""),
        (item("x/..b"), ""),
        (item("../b"), "configMap.items[0].path"),
        (item("b/../c"), "configMap.items[0].path"),
        (item("..b"), "configMap.items[0].path"),
        (item("/b"), "configMap.items[0].path"),
        (item(""), "configMap.items[0].path"),
        (item("b", mode=-1), "configMap.items[0].mode"),
        ({"configMap": {}}, "configMap.name"),
        ({"configMap": {"name": "c", "defaultMode": 1000}}, "configMap.defaultMode"),
        ({"secret": {"secretName": ""}}, "secret.secretName"),
        (
            {"projected": {"sources": [item("../b")]}},
            "projected.sources[0].configMap.items[0].path",
        ),
        (
            {"projected": {"sources": [item("b") | {"secret": {"name": "s"}}]}},
            "projected.sources[0]",
        ),
        ({"downwardAPI": {"items": [{"path": "a"}]}}, "downwardAPI"),
        ({"hostPath": {"path": "/a/../b"}}, "hostPath.path"),
        ({"hostPath": {"path": ""}}, "hostPath.path"),
        ({"hostPath": {"path": "/a", "type": "What"}}, "hostPath.type"),
        ({"hostPath": {"path": "/a:b"}}, ""),
        ({"emptyDir": {"sizeLimit": "-1"}}, "emptyDir.sizeLimit"),
        ({"emptyDir": {}, "hostPath": {"path": "/a"}}, "hostPath"),
        ({"persistentVolumeClaim": {"claimName": ""}}, "persistentVolumeClaim.claimName"),
    ],
    ids=shown,
)
async def test_files_stay_inside_their_volume(kube: Kube, source: Json, wrong: str) -> None:
    body = merge_patch(pod(kube, "a"), {"spec": {"volumes": [{"name": "v", **source}]}})

    found = await refused(kube, PODS, body)

    assert found == ({f"spec.volumes[0].{wrong}"} if wrong else set())


@pytest.mark.parametrize(
    ("mount", "wrong"),
    [
        ({"subPath": "b"}, ""),
        ({"subPath": "..b"}, ""),
        ({"subPath": "../b"}, "volumeMounts.subPath"),
        ({"subPath": "b/../c"}, "volumeMounts.subPath"),
        ({"subPath": "/b"}, "volumeMounts.subPath"),
        ({"subPathExpr": "../b"}, "volumeMounts.subPathExpr"),
        ({"subPath": "a", "subPathExpr": "b"}, "volumeMounts[0].subPathExpr"),
    ],
    ids=shown,
)
async def test_a_mount_shows_a_part_of_its_volume(kube: Kube, mount: Json, wrong: str) -> None:
    mounts = [{"name": "v", "mountPath": "/m", **mount}]
    main = {"name": "main", "image": "none", "volumeMounts": mounts}
    spec = {"volumes": [{"name": "v", "emptyDir": {}}], "containers": [main]}

    found = await refused(kube, PODS, merge_patch(pod(kube, "a"), {"spec": spec}))

    assert found == ({f"spec.containers[0].{wrong}"} if wrong else set())


@pytest.mark.parametrize(("name", "is_fine"), [("A.b-c d", True), ("a=b", False), ("a\0", False)])
async def test_a_variable_has_a_name_that_can_be_set(kube: Kube, name: str, is_fine: bool) -> None:
    main = {"name": "main", "image": "none", "env": [{"name": name, "value": "1"}]}

    found = await refused(kube, PODS, merge_patch(pod(kube, "a"), {"spec": {"containers": [main]}}))

    assert found == (set() if is_fine else {"spec.containers[0].env[0].name"})
