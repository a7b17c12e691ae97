"""What of a built-in kind is decided when it is made: later writes may say it again, but not otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from contract.backends import Kube
from contract.words import (
    Whole,
    config_map,
    deployment,
    job,
    key,
    pod,
    secret,
    shown,
    stateful_set,
    volume_claim,
    whole,
)
from stateward.kube.client import Apply, MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import Forbidden, Invalid
from stateward.kube.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    JOBS,
    PODS,
    SECRETS,
    STATEFUL_SETS,
    VOLUME_CLAIMS,
)

OTHER = {"name": "other", "image": "none"}
TOLERATION = {"key": "example.com/any", "operator": "Exists"}

#: How to make one that may be frozen, and whether a change of it is taken.
CASES: dict[str, tuple[Any, Any, Json, bool]] = {
    "set: replicas": (STATEFUL_SETS, stateful_set, {"replicas": 0}, True),
    "set: template": (
        STATEFUL_SETS,
        stateful_set,
        {"template": {"spec": {"containers": [OTHER]}}},
        True,
    ),
    "set: patience": (STATEFUL_SETS, stateful_set, {"minReadySeconds": 5}, True),
    "set: the default": (
        STATEFUL_SETS,
        stateful_set,
        {"podManagementPolicy": "OrderedReady"},
        True,
    ),
    "set: in parallel": (STATEFUL_SETS, stateful_set, {"podManagementPolicy": "Parallel"}, False),
    "set: service": (STATEFUL_SETS, stateful_set, {"serviceName": "other"}, False),
    "set: volumes": (
        STATEFUL_SETS,
        stateful_set,
        {
            "volumeClaimTemplates": [
                {
                    "metadata": {"name": "data"},
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Gi"}},
                    },
                }
            ]
        },
        False,
    ),
    "deployment: patience": (DEPLOYMENTS, deployment, {"minReadySeconds": 5}, True),
    "deployment: selector": (
        DEPLOYMENTS,
        deployment,
        {
            "selector": {"matchLabels": {"app": "a", "b": "c"}},
            "template": {"metadata": {"labels": {"app": "a", "b": "c"}}},
        },
        False,
    ),
    "pod: image": (PODS, pod, {"containers": [{"name": "main", "image": "newer"}]}, True),
    "pod: one more toleration": (PODS, pod, {"tolerations": [TOLERATION]}, True),
    "pod: deadline": (PODS, pod, {"activeDeadlineSeconds": 60}, True),
    "pod: the defaults": (
        PODS,
        pod,
        {"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "enableServiceLinks": True},
        True,
    ),
    "pod: one more container": (
        PODS,
        pod,
        {"containers": [{"name": "main", "image": "none"}, OTHER]},
        False,
    ),
    "pod: environment": (
        PODS,
        pod,
        {"containers": [{"name": "main", "image": "none", "env": [{"name": "A", "value": "b"}]}]},
        False,
    ),
    "pod: place": (PODS, pod, {"nodeSelector": {"a": "b"}}, False),
    "pod: restarts": (PODS, pod, {"restartPolicy": "Never"}, False),
    "pod: grace": (PODS, pod, {"terminationGracePeriodSeconds": 5}, False),
    "pod: volumes": (PODS, pod, {"volumes": [{"name": "v", "emptyDir": {}}]}, False),
    "claim: class": (VOLUME_CLAIMS, volume_claim, {"storageClassName": "other"}, False),
    "claim: modes": (VOLUME_CLAIMS, volume_claim, {"accessModes": ["ReadOnlyMany"]}, False),
    "claim: more, unbound": (
        VOLUME_CLAIMS,
        volume_claim,
        {"resources": {"requests": {"storage": "2Gi"}}},
        False,
    ),
    "claim: volume, once": (VOLUME_CLAIMS, volume_claim, {"volumeName": "v"}, True),
    "job: parallelism": (JOBS, job, {"parallelism": 2}, True),
    "job: go on": (JOBS, job, {"suspend": False}, True),
    "job: template": (
        JOBS,
        job,
        {"template": {"spec": {"containers": [{"name": "main", "image": "newer"}]}}},
        False,
    ),
    "job: mode": (JOBS, job, {"completionMode": "Indexed"}, False),
}


@pytest.mark.parametrize("case", list(CASES))
async def test_specs(kube: Kube, case: str) -> None:
    resource, body, change, is_taken = CASES[case]
    made = await kube.client.create(whole(resource), body(kube, "a"))

    if is_taken:
        await kube.client.patch(whole(resource), made.metadata.key, MergePatch({"spec": change}))
        return
    with pytest.raises(Invalid) as refusal:
        await kube.client.patch(whole(resource), made.metadata.key, MergePatch({"spec": change}))
    assert all(cause.field.startswith("spec") for cause in refusal.value.causes)
    assert (await kube.client.get(whole(resource), made.metadata.key)).spec == made.spec


async def test_an_apply_is_held_to_it_too(kube: Kube) -> None:
    body = stateful_set(kube, "a")
    await kube.client.patch(STATEFUL_SETS, key(kube, "a"), Apply(body, "us"))
    body["spec"]["serviceName"] = "other"

    with pytest.raises(Invalid):
        await kube.client.patch(STATEFUL_SETS, key(kube, "a"), Apply(body, "us"))


@pytest.mark.parametrize(
    ("change", "is_taken"),
    [
        ({"data": {"x": "2"}}, False),
        ({"data": {"y": "2"}}, False),
        ({"binaryData": {"y": "eA=="}}, False),
        ({"immutable": False}, False),
        ({"immutable": None}, False),
        ({"metadata": {"labels": {"a": "b"}}}, True),
        ({"data": {"x": "1"}, "immutable": True}, True),
    ],
    ids=shown,
)
async def test_a_config_map_may_be_frozen(kube: Kube, change: Json, is_taken: bool) -> None:
    body = config_map(kube, "a", {"x": "1"}) | {"immutable": True}
    made = await kube.client.create(CONFIG_MAPS, body)

    if is_taken:
        await kube.client.patch(CONFIG_MAPS, made.metadata.key, MergePatch(change))
    else:
        with pytest.raises(Invalid):
            await kube.client.patch(CONFIG_MAPS, made.metadata.key, MergePatch(change))


@pytest.mark.parametrize(
    ("change", "is_taken"),
    [
        ({"type": "example.com/other"}, False),
        ({"type": "Opaque"}, True),
        ({"data": {"password": "b3Blbg=="}}, True),
        ({"immutable": True}, True),
    ],
    ids=shown,
)
async def test_the_type_of_a_secret(kube: Kube, change: Json, is_taken: bool) -> None:
    made = await kube.client.create(SECRETS, secret(kube, "a"))

    if is_taken:
        await kube.client.patch(SECRETS, made.metadata.key, MergePatch(change))
    else:
        with pytest.raises(Invalid):
            await kube.client.patch(SECRETS, made.metadata.key, MergePatch(change))


async def test_tolerations_are_only_added(kube: Kube) -> None:
    made = await kube.client.create(whole(PODS), pod(kube, "a"))
    some = [*made.spec.get("tolerations", []), TOLERATION]

    async def tolerates(wanted: list[Json]) -> Whole:
        change = MergePatch({"spec": {"tolerations": wanted}})
        return await kube.client.patch(whole(PODS), made.metadata.key, change)

    now = await tolerates(some)
    with pytest.raises(Invalid):
        await tolerates(some[:-1])
    assert now.spec["tolerations"] == some


async def test_a_claim_grows_only_if_its_class_lets_it(kube: Kube) -> None:
    claims, where = whole(VOLUME_CLAIMS), key(kube, "a")
    await kube.client.create(claims, volume_claim(kube, "a"))
    bound = {"phase": "Bound", "capacity": {"storage": "1Gi"}}
    await kube.client.patch(claims, where, MergePatch({"status": bound}), subresource="status")
    more = MergePatch({"spec": {"resources": {"requests": {"storage": "2Gi"}}}})

    with pytest.raises(Forbidden, match="only dynamically provisioned pvc can be resized"):
        await kube.client.patch(claims, where, more)
