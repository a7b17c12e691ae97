"""What of a built-in kind is decided when it is made; all is asked as a rehearsal."""

from __future__ import annotations

from typing import Any, Final

import pytest

from contract.kubernetes.shapes import LABELS, SELECTOR, TEAM, WORK, claim, pod, thing
from contract.kubernetes.wire import Wire

FREE_IN_PODS: Final = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
FREE_IN_SETS: Final = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
)
TOLERATION: Final = {
    "key": "k",
    "operator": "Exists",
    "effect": "NoExecute",
    "tolerationSeconds": 10,
}


def main(**parts: Any) -> Any:
    return {"containers": [{"name": "main", **parts}]}


# ------------------------------------------------------------------ pods
@pytest.mark.parametrize(
    "spec",
    [main(image="other"), {"activeDeadlineSeconds": 50}],
    ids=["an image", "a nearer deadline"],
)
async def test_some_of_a_pod_can_change(wire: Wire, spec: Any) -> None:
    (await wire.post("pods", pod(activeDeadlineSeconds=100))).made()

    (await wire.patch("pods/a", {"spec": spec}, "strategic")).ok()


@pytest.mark.parametrize(
    "spec",
    [
        {"terminationGracePeriodSeconds": 5},
        {"restartPolicy": "Never"},
        {"serviceAccountName": "x"},
        {"hostname": "x"},
        {"nodeSelector": {"a": "b"}},
        {"volumes": [{"name": "v"}]},
        main(env=[{"name": "A", "value": "b"}]),
        main(resources={"requests": {"cpu": "1"}}),
        main(command=["x"]),
    ],
    ids=str,
)
async def test_the_rest_of_a_pod_stays(wire: Wire, spec: Any) -> None:
    (await wire.post("pods", pod())).made()

    answer = await wire.patch("pods/a", {"spec": spec}, "strategic", dryRun="All")

    answer.refused(422, "Invalid", "FieldValueForbidden spec", says=FREE_IN_PODS)


@pytest.mark.parametrize(
    ("spec", "cause", "says"),
    [
        (
            {"activeDeadlineSeconds": 150},
            "Invalid spec.activeDeadlineSeconds",
            "must be less than or equal to previous",
        ),
        (
            {"activeDeadlineSeconds": None},
            "Invalid spec.activeDeadlineSeconds",
            "must not update from a positive integer",
        ),
        (
            {"containers": [{"name": "more", "image": "x"}]},
            "Forbidden spec.containers",
            "pod updates may not add or remove containers",
        ),
        (
            {"initContainers": [{"name": "i", "image": "i"}]},
            "Forbidden spec.initContainers",
            "pod updates may not add or remove containers",
        ),
        (
            {"schedulingGates": [{"name": "example.com/wait"}]},
            "Forbidden spec.schedulingGates[0].name",
            "only deletion is allowed, but found new scheduling gate 'example.com/wait'",
        ),
    ],
    ids=["a later deadline", "no deadline", "a container", "an init container", "a gate"],
)
async def test_what_a_pod_does_not_get_later(wire: Wire, spec: Any, cause: str, says: str) -> None:
    (await wire.post("pods", pod(activeDeadlineSeconds=100))).made()

    answer = await wire.patch("pods/a", {"spec": spec}, "strategic", dryRun="All")

    answer.refused(422, "Invalid", f"FieldValue{cause}", says=says)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (
            {
                "op": "add",
                "path": "/spec/tolerations/-",
                "value": {"key": "z", "operator": "Exists"},
            },
            200,
        ),
        ({"op": "replace", "path": "/spec/tolerations/0/tolerationSeconds", "value": 5}, 200),
        ({"op": "remove", "path": "/spec/tolerations/0"}, 422),
        ({"op": "replace", "path": "/spec/tolerations/0/key", "value": "z"}, 422),
    ],
    ids=["one more", "for another time", "one less", "another one"],
)
async def test_what_a_pod_tolerates_can_only_grow(wire: Wire, change: Any, code: int) -> None:
    (await wire.post("pods", pod(tolerations=[TOLERATION]))).made()

    answer = await wire.patch("pods/a", [change], "json", dryRun="All")

    assert answer.code == code, answer.body
    if code == 422:
        says = "existing toleration can not be modified except its tolerationSeconds"
        answer.refused(422, "Invalid", "FieldValueForbidden spec.tolerations", says=says)


async def test_a_gate_can_be_opened(wire: Wire) -> None:
    (await wire.post("pods", pod(schedulingGates=[{"name": "example.com/wait"}]))).made()

    opened = (await wire.patch("pods/a", {"spec": {"schedulingGates": None}})).ok()

    assert opened["spec.schedulingGates"] is None


# ------------------------------------------------------------------ StatefulSets
@pytest.mark.parametrize(
    "spec",
    [
        {"replicas": 0, "minReadySeconds": 3},
        {"updateStrategy": {"type": "OnDelete", "rollingUpdate": None}},
        {"ordinals": {"start": 1}},
        {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"}},
        {"template": {"metadata": {"annotations": {"x": "y"}}}},
    ],
    ids=str,
)
async def test_some_of_a_stateful_set_can_change(wire: Wire, spec: Any) -> None:
    (await wire.post("statefulsets", thing(spec=TEAM))).made()

    (await wire.patch("statefulsets/a", {"spec": spec})).ok()


@pytest.mark.parametrize(
    "spec",
    [
        {"serviceName": "x"},
        {"podManagementPolicy": "Parallel"},
        {"volumeClaimTemplates": [claim("data")]},
    ],
    ids=" ".join,
)
async def test_the_rest_of_a_stateful_set_stays(wire: Wire, spec: Any) -> None:
    (await wire.post("statefulsets", thing(spec=TEAM))).made()

    answer = await wire.patch("statefulsets/a", {"spec": spec})

    answer.refused(
        422,
        "Invalid",
        "FieldValueForbidden spec",
        says="updates to statefulset spec for fields other than ",
    )
    assert (
        "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
        in answer["message"]
    )


# ------------------------------------------------------------------ others
STORE: Final = {"provisioner": "test.stateward.example/none"}
VOLUME: Final = {
    "capacity": {"storage": "1Gi"},
    "accessModes": ["ReadWriteOnce"],
    "hostPath": {"path": "/x"},
}
JOB: Final = {"suspend": True, "completions": 2, **WORK}
MORE: Final = {"matchLabels": LABELS | {"x": "y"}}
CASES: Final[list[tuple[str, Any, Any, str]]] = [
    (
        "deployments",
        thing(spec=TEAM),
        {"spec": {"selector": MORE, "template": {"metadata": {"labels": {"x": "y"}}}}},
        "Invalid spec.selector",
    ),
    (
        "replicasets",
        thing(spec=TEAM),
        {"spec": {"selector": MORE, "template": {"metadata": {"labels": {"x": "y"}}}}},
        "Invalid spec.selector",
    ),
    ("jobs", thing(spec=JOB), {"spec": {"completions": 3}}, "Invalid spec.completions"),
    (
        "jobs",
        thing(spec=JOB),
        {"spec": {"completionMode": "Indexed"}},
        "Invalid spec.completionMode",
    ),
    (
        "jobs",
        thing(spec=JOB),
        {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 1}}}},
        "Invalid spec.template",
    ),
    ("endpointslices", thing(addressType="IPv4"), {"addressType": "IPv6"}, "Invalid addressType"),
    (
        "controllerrevisions",
        thing(revision=1, data={"a": "b"}),
        {"data": {"a": "c"}},
        "Invalid data",
    ),
    ("storageclasses", STORE, {"provisioner": "other"}, "Forbidden provisioner"),
    ("storageclasses", STORE, {"parameters": {"a": "b"}}, "Forbidden parameters"),
    ("storageclasses", STORE, {"reclaimPolicy": "Retain"}, "Forbidden reclaimPolicy"),
    (
        "storageclasses",
        STORE,
        {"volumeBindingMode": "WaitForFirstConsumer"},
        "Invalid volumeBindingMode",
    ),
    (
        "persistentvolumes",
        {"spec": VOLUME},
        {"spec": {"hostPath": {"path": "/y"}}},
        "Forbidden spec.persistentvolumesource",
    ),
    (
        "persistentvolumes",
        {"spec": VOLUME},
        {"spec": {"volumeMode": "Block"}},
        "Invalid volumeMode",
    ),
]


@pytest.mark.parametrize(
    ("kind", "body", "change", "cause"), CASES, ids=[f"{it[0]} {it[3]}" for it in CASES]
)
async def test_what_stays(wire: Wire, kind: str, body: Any, change: Any, cause: str) -> None:
    name = "a" if "metadata" in body else wire.namespace
    (await wire.post(kind, body if "metadata" in body else thing(name, **body))).made()

    answer = await wire.patch(f"{kind}/{name}", change, dryRun="All")

    answer.refused(422, "Invalid", f"FieldValue{cause}")
    (await wire.delete(f"{kind}/{name}")).ok()


FREE: Final[list[tuple[str, Any, Any]]] = [
    ("jobs", thing(spec=JOB), {"spec": {"parallelism": 3, "backoffLimit": 1}}),
    ("jobs", thing(spec=JOB), {"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}}),
    ("storageclasses", STORE, {"allowVolumeExpansion": True}),
    ("persistentvolumes", {"spec": VOLUME}, {"spec": {"persistentVolumeReclaimPolicy": "Delete"}}),
    ("persistentvolumes", {"spec": VOLUME}, {"spec": {"capacity": {"storage": "2Gi"}}}),
    (
        "poddisruptionbudgets",
        thing(spec={"minAvailable": 1, "selector": SELECTOR}),
        {"spec": {"selector": {"matchLabels": {"x": "y"}}}},
    ),
]


@pytest.mark.parametrize(("kind", "body", "change"), FREE, ids=[f"{it[0]} {it[2]}" for it in FREE])
async def test_what_can_change(wire: Wire, kind: str, body: Any, change: Any) -> None:
    name = "a" if "metadata" in body else wire.namespace
    (await wire.post(kind, body if "metadata" in body else thing(name, **body))).made()

    (await wire.patch(f"{kind}/{name}", change, dryRun="All")).ok()

    (await wire.delete(f"{kind}/{name}")).ok()


async def test_the_selector_must_go_on_matching(wire: Wire) -> None:
    (await wire.post("deployments", thing(spec=TEAM))).made()

    answer = await wire.patch(
        "deployments/a", {"spec": {"template": {"metadata": {"labels": {"app": "x"}}}}}
    )

    says = "`selector` does not match template `labels`"
    answer.refused(422, "Invalid", "FieldValueInvalid spec.template.metadata.labels", says=says)
