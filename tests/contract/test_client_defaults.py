"""What an object says where its writer said nothing: clients and controllers rely on it."""

from __future__ import annotations

from typing import Any

import pytest

from contract.backends import Kube
from contract.words import (
    deployment,
    job,
    key,
    pod,
    secret,
    service,
    stateful_set,
    volume_claim,
    whole,
)
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import (
    CRON_JOBS,
    DEPLOYMENTS,
    JOBS,
    NAMESPACES,
    PODS,
    SECRETS,
    SERVICES,
    STATEFUL_SETS,
    VOLUME_CLAIMS,
    Resource,
)

_WORK = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]}


def cron_job(kube: Kube, name: str) -> Json:
    spec = {
        "schedule": "@daily",
        "suspend": True,
        "jobTemplate": {"spec": {"template": {"spec": _WORK}}},
    }
    return {"metadata": {"namespace": kube.namespace, "name": name}, "spec": spec}


def probed_pod(kube: Kube, name: str) -> Json:
    document = pod(kube, name)
    document["spec"]["containers"][0] |= {
        "image": "none:1",
        "ports": [{"containerPort": 80}],
        "readinessProbe": {"httpGet": {"port": 80}},
        "env": [{"name": "ME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "resources": {"limits": {"cpu": "1000m", "memory": "1024Mi"}},
    }
    document["spec"]["volumes"] = [
        {"name": "a", "configMap": {"name": "a"}},
        {"name": "b"},
    ]
    return document


def plain_service(kube: Kube, name: str) -> Json:
    return {
        "metadata": {"namespace": kube.namespace, "name": name},
        "spec": {"ports": [{"port": 80}]},
    }


def claimed(kube: Kube, name: str) -> Json:
    document = stateful_set(kube, name)
    claim = volume_claim(kube, "data")
    document["spec"]["volumeClaimTemplates"] = [
        {"metadata": {"name": "data"}, "spec": claim["spec"]}
    ]
    return document


#: What is written, and what is then said at some place of it.
CASES: list[tuple[Resource[Any], Any, str, Any]] = [
    (PODS, pod, "restartPolicy", "Always"),
    (PODS, pod, "dnsPolicy", "ClusterFirst"),
    (PODS, pod, "terminationGracePeriodSeconds", 30),
    (PODS, pod, "enableServiceLinks", True),
    (PODS, pod, "securityContext", {}),
    (PODS, pod, "containers.0.imagePullPolicy", "Always"),
    (PODS, pod, "containers.0.terminationMessagePath", "/dev/termination-log"),
    (PODS, pod, "containers.0.terminationMessagePolicy", "File"),
    (PODS, pod, "containers.0.resources", {}),
    (PODS, pod, "tolerations.0.key", "node.kubernetes.io/not-ready"),
    (PODS, pod, "tolerations.1.key", "node.kubernetes.io/unreachable"),
    (PODS, pod, "tolerations.1.tolerationSeconds", 300),
    (PODS, probed_pod, "containers.0.imagePullPolicy", "IfNotPresent"),
    (PODS, probed_pod, "containers.0.ports.0.protocol", "TCP"),
    (PODS, probed_pod, "containers.0.readinessProbe.periodSeconds", 10),
    (PODS, probed_pod, "containers.0.readinessProbe.failureThreshold", 3),
    (PODS, probed_pod, "containers.0.readinessProbe.httpGet.scheme", "HTTP"),
    (PODS, probed_pod, "containers.0.env.0.valueFrom.fieldRef.apiVersion", "v1"),
    (PODS, probed_pod, "containers.0.resources.limits.cpu", "1"),
    (PODS, probed_pod, "containers.0.resources.requests.memory", "1Gi"),
    (PODS, probed_pod, "volumes.0.configMap.defaultMode", 420),
    (PODS, probed_pod, "volumes.1.emptyDir", {}),
    (DEPLOYMENTS, deployment, "strategy.type", "RollingUpdate"),
    (DEPLOYMENTS, deployment, "strategy.rollingUpdate.maxSurge", "25%"),
    (DEPLOYMENTS, deployment, "revisionHistoryLimit", 10),
    (DEPLOYMENTS, deployment, "progressDeadlineSeconds", 600),
    (DEPLOYMENTS, deployment, "template.spec.schedulerName", "default-scheduler"),
    (STATEFUL_SETS, claimed, "podManagementPolicy", "OrderedReady"),
    (STATEFUL_SETS, claimed, "updateStrategy.rollingUpdate.partition", 0),
    (STATEFUL_SETS, claimed, "persistentVolumeClaimRetentionPolicy.whenDeleted", "Retain"),
    (STATEFUL_SETS, claimed, "volumeClaimTemplates.0.kind", "PersistentVolumeClaim"),
    (STATEFUL_SETS, claimed, "volumeClaimTemplates.0.spec.volumeMode", "Filesystem"),
    (STATEFUL_SETS, claimed, "volumeClaimTemplates.0.status.phase", "Pending"),
    (JOBS, job, "parallelism", 1),
    (JOBS, job, "completions", 1),
    (JOBS, job, "backoffLimit", 6),
    (JOBS, job, "completionMode", "NonIndexed"),
    (CRON_JOBS, cron_job, "concurrencyPolicy", "Allow"),
    (CRON_JOBS, cron_job, "successfulJobsHistoryLimit", 3),
    (CRON_JOBS, cron_job, "failedJobsHistoryLimit", 1),
    (SERVICES, service, "type", "ClusterIP"),
    (SERVICES, service, "clusterIP", "None"),
    (SERVICES, service, "clusterIPs", ["None"]),
    (SERVICES, service, "sessionAffinity", "None"),
    (SERVICES, service, "internalTrafficPolicy", "Cluster"),
    (SERVICES, service, "ports.0.targetPort", 80),
    (SERVICES, service, "ports.0.protocol", "TCP"),
    (VOLUME_CLAIMS, volume_claim, "volumeMode", "Filesystem"),
]


def at(document: Any, path: str) -> Any:
    for word in path.split("."):
        document = document[int(word)] if word.isdecimal() else document[word]
    return document


@pytest.mark.parametrize(
    ("resource", "body", "path", "value"), CASES, ids=[f"{r.kind} {p}" for r, _, p, _ in CASES]
)
async def test_what_nobody_said(
    kube: Kube, resource: Resource[Any], body: Any, path: str, value: Any
) -> None:
    made = await kube.client.create(whole(resource), body(kube, "a"))

    assert at(made.spec, path) == value


async def test_a_service_gets_an_address_of_its_own(kube: Kube) -> None:
    first = await kube.client.create(whole(SERVICES), plain_service(kube, "a"))
    second = await kube.client.create(whole(SERVICES), plain_service(kube, "b"))

    assert first.spec["clusterIPs"] == [first.spec["clusterIP"]]
    assert first.spec["clusterIP"] != second.spec["clusterIP"]


async def test_a_service_keeps_its_address(kube: Kube) -> None:
    made = await kube.client.create(whole(SERVICES), plain_service(kube, "a"))

    again = await kube.client.update(whole(SERVICES), plain_service(kube, "a"))

    assert again.spec["clusterIP"] == made.spec["clusterIP"]


async def test_a_service_on_nodes_gets_a_port_there(kube: Kube) -> None:
    document = plain_service(kube, "a")
    document["spec"]["type"] = "NodePort"

    made = await kube.client.create(whole(SERVICES), document)

    assert 30_000 <= made.spec["ports"][0]["nodePort"] <= 32_767


async def test_a_job_selects_its_own_pods(kube: Kube) -> None:
    made = await kube.client.create(whole(JOBS), job(kube, "a"))

    mine = {"batch.kubernetes.io/controller-uid": made.metadata.uid}
    assert made.spec["selector"] == {"matchLabels": mine}
    assert mine.items() <= made.spec["template"]["metadata"]["labels"].items()
    assert made.spec["template"]["metadata"]["labels"]["job-name"] == "a"


async def test_text_of_a_secret_becomes_data(kube: Kube) -> None:
    body = secret(kube, "a") | {"stringData": {"user": "us"}}

    made = await kube.client.create(whole(SECRETS), body)

    assert made.data == {"password": "c2VzYW1l", "user": "dXM="}


async def test_a_namespace_is_labelled_with_its_name(kube: Kube) -> None:
    found = await kube.client.get(whole(NAMESPACES), ObjectKey("", kube.namespace))

    assert found.metadata.labels["kubernetes.io/metadata.name"] == kube.namespace
    assert found.spec["finalizers"] == ["kubernetes"]
    assert found.status["phase"] == "Active"


async def test_a_default_comes_back_when_its_field_is_removed(kube: Kube) -> None:
    await kube.client.create(whole(DEPLOYMENTS), deployment(kube, "a"))

    left = await kube.client.patch(
        whole(DEPLOYMENTS), key(kube, "a"), MergePatch({"spec": {"revisionHistoryLimit": None}})
    )

    assert left.spec["revisionHistoryLimit"] == 10


async def test_who_creates_owns_the_defaults_but_not_what_the_server_decides(kube: Kube) -> None:
    made = await kube.client.create(whole(PODS), pod(kube, "a"))

    (entry,) = made.metadata.managed_fields
    owned = entry["fieldsV1"]["f:spec"]
    assert "f:restartPolicy" in owned
    assert not {"f:tolerations", "f:serviceAccountName", "."} & owned.keys()
