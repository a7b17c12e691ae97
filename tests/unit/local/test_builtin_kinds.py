"""Kubernetes' own kinds beyond the contract: what is refused, what is filled in, and no crash at all."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.kube.codec import Json, plain
from stateward.kube.errors import BadRequest, Invalid
from stateward.kube.patch import merge_patch
from stateward.kube.resources import (
    CONFIG_MAPS,
    CRON_JOBS,
    CUSTOM_RESOURCES,
    DEPLOYMENTS,
    EVENTS,
    JOBS,
    LEASES,
    NODES,
    PODS,
    SERVICES,
    STATEFUL_SETS,
    Resource,
)
from stateward.local import catalog
from stateward.local.rules.writes import Author
from stateward.local.schema.served import served_api
from unit.local.pictures import Still

US = Author("us")
MAIN: Json = {"name": "main", "image": "none:1"}
WORK: Json = {"restartPolicy": "Never", "containers": [MAIN]}
TEAM: Json = {
    "selector": {"matchLabels": {"app": "a"}},
    "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [MAIN]}},
}
#: One of each kind that makes sense.
SOUND: dict[Resource[Any], Json] = {
    PODS: {"spec": {"containers": [MAIN]}},
    CONFIG_MAPS: {"data": {"a": "b"}},
    DEPLOYMENTS: {"spec": TEAM},
    STATEFUL_SETS: {"spec": TEAM},
    JOBS: {"spec": {"template": {"spec": WORK}}},
    CRON_JOBS: {
        "spec": {"schedule": "@hourly", "jobTemplate": {"spec": {"template": {"spec": WORK}}}}
    },
    SERVICES: {"spec": {"ports": [{"port": 80}]}},
    LEASES: {"spec": {"holderIdentity": "us"}},
    EVENTS: {"involvedObject": {"namespace": "default", "name": "a"}},
    NODES: {"status": {"capacity": {"cpu": "4000m"}}},
    catalog.VOLUMES: {
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/a"},
        }
    },
    catalog.STORAGE_CLASSES: {"provisioner": "x.example/p"},
    catalog.ENDPOINT_SLICES: {
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.0.0.1"]}],
        "ports": [{"port": 1}],
    },
    catalog.ROLES: {"rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]},
    catalog.ROLE_BINDINGS: {
        "roleRef": {"kind": "Role", "name": "r"},
        "subjects": [{"kind": "User", "name": "u"}],
    },
}


def created(resource: Resource[Any], change: Json | None = None) -> Json:
    api = served_api(Ports(Still(), Chance(1)))
    body = merge_patch(SOUND[resource] | {"metadata": {"name": "a"}}, change or {})
    return api.create(resource, "default" if resource.namespaced else "", body, US).document()


def container(**parts: Any) -> Json:
    return {"spec": {"containers": [MAIN | parts]}}


@pytest.mark.parametrize("resource", SOUND, ids=lambda resource: resource.kind)
def test_what_makes_sense_is_taken(resource: Resource[Any]) -> None:
    assert created(resource)["kind"] == resource.kind


@pytest.mark.parametrize(
    ("resource", "change", "field"),
    [
        (PODS, {"spec": {"dnsPolicy": "Magic"}}, "spec.dnsPolicy"),
        (PODS, {"spec": {"activeDeadlineSeconds": 0}}, "spec.activeDeadlineSeconds"),
        (PODS, {"spec": {"volumes": [{"emptyDir": {}}]}}, "spec.volumes[0].name"),
        (PODS, {"spec": {"volumes": [{"name": "v"}, {"name": "v"}]}}, "spec.volumes[1].name"),
        (PODS, {"spec": {"volumes": [{"name": "V"}]}}, "spec.volumes[0].name"),
        (
            PODS,
            {"spec": {"initContainers": [{"name": "main", "image": "i"}]}},
            "spec.initContainers[0].name",
        ),
        (PODS, {"spec": {"tolerations": [{"operator": "Like"}]}}, "spec.tolerations[0].operator"),
        (
            PODS,
            {"spec": {"tolerations": [{"operator": "Exists", "value": "x"}]}},
            "spec.tolerations[0].operator",
        ),
        (PODS, container(name=""), "spec.containers[0].name"),
        (PODS, container(image=" x"), "spec.containers[0].image"),
        (PODS, container(imagePullPolicy="Once"), "spec.containers[0].imagePullPolicy"),
        (PODS, container(env=[{"value": "x"}]), "spec.containers[0].env[0].name"),
        (PODS, container(ports=[{"name": "a"}]), "spec.containers[0].ports[0].containerPort"),
        (
            PODS,
            container(ports=[{"containerPort": 1, "name": "n" * 16}]),
            "spec.containers[0].ports[0].name",
        ),
        (
            PODS,
            container(ports=[{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]),
            "spec.containers[0].ports[1].name",
        ),
        (PODS, container(readinessProbe={}), "spec.containers[0].readinessProbe"),
        (
            PODS,
            container(readinessProbe={"exec": {}, "tcpSocket": {"port": 1}}),
            "spec.containers[0].readinessProbe.tcpSocket",
        ),
        (
            PODS,
            container(livenessProbe={"httpGet": {}}),
            "spec.containers[0].livenessProbe.httpGet.port",
        ),
        (
            PODS,
            container(livenessProbe={"exec": {}, "periodSeconds": -1}),
            "spec.containers[0].livenessProbe.periodSeconds",
        ),
        (PODS, container(volumeMounts=[{}]), "spec.containers[0].volumeMounts[0].mountPath"),
        (
            PODS,
            container(resources={"requests": {"cpu": "-1"}}),
            "spec.containers[0].resources.requests[cpu]",
        ),
        (DEPLOYMENTS, {"spec": {"selector": {"matchLabels": None}}}, "spec.selector"),
        (
            DEPLOYMENTS,
            {"spec": {"selector": {"matchExpressions": [{"key": "a", "operator": "Like"}]}}},
            "spec.selector",
        ),
        (
            DEPLOYMENTS,
            {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}}},
            "spec.strategy.rollingUpdate",
        ),
        (
            DEPLOYMENTS,
            {"spec": {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}}},
            "spec.strategy.rollingUpdate.maxUnavailable",
        ),
        (DEPLOYMENTS, {"spec": {"minReadySeconds": 600}}, "spec.progressDeadlineSeconds"),
        (STATEFUL_SETS, {"spec": {"podManagementPolicy": "Wild"}}, "spec.podManagementPolicy"),
        (STATEFUL_SETS, {"spec": {"updateStrategy": {"type": "Wild"}}}, "spec.updateStrategy"),
        (JOBS, {"spec": {"completionMode": "Indexed", "parallelism": 1}}, "spec.completions"),
        (JOBS, {"spec": {"manualSelector": True}}, "spec.selector"),
        (CRON_JOBS, {"spec": {"schedule": None}}, "spec.schedule"),
        (CRON_JOBS, {"spec": {"schedule": "TZ=UTC * * * * *"}}, "spec.schedule"),
        (CRON_JOBS, {"spec": {"timeZone": "Moon/Base"}}, "spec.timeZone"),
        (CRON_JOBS, {"spec": {"concurrencyPolicy": "Maybe"}}, "spec.concurrencyPolicy"),
        (SERVICES, {"spec": {"type": "ExternalName"}}, "spec.externalName"),
        (SERVICES, {"spec": {"type": "NodePort", "clusterIP": "None"}}, "spec.clusterIPs[0]"),
        (
            SERVICES,
            {"spec": {"ports": [{"port": 1, "name": "a"}, {"port": 1, "name": "a"}]}},
            "spec.ports[1].name",
        ),
        (SERVICES, {"spec": {"ports": [{"targetPort": 1}]}}, "spec.ports[0].port"),
        (LEASES, {"spec": {"leaseDurationSeconds": 0}}, "spec.leaseDurationSeconds"),
        (EVENTS, {"involvedObject": {"namespace": "shop"}}, "involvedObject.namespace"),
        (CONFIG_MAPS, {"binaryData": {"a": "YQ=="}}, "data[a]"),
        (CONFIG_MAPS, {"data": {"a": "x" * (1024 * 1024 + 1)}}, "[]"),
        (catalog.VOLUMES, {"spec": {"capacity": None}}, "spec.capacity"),
        (catalog.VOLUMES, {"spec": {"accessModes": ["Sometimes"]}}, "spec.accessModes"),
        (catalog.STORAGE_CLASSES, {"provisioner": None}, "provisioner"),
        (catalog.STORAGE_CLASSES, {"reclaimPolicy": "Burn"}, "reclaimPolicy"),
        (catalog.STORAGE_CLASSES, {"volumeBindingMode": "Soon"}, "volumeBindingMode"),
        (catalog.ENDPOINT_SLICES, {"addressType": None}, "addressType"),
        (catalog.ENDPOINT_SLICES, {"addressType": "IPv5"}, "addressType"),
        (catalog.ENDPOINT_SLICES, {"endpoints": [{}]}, "endpoints[0].addresses"),
        (catalog.ROLES, {"rules": [{}]}, "rules[0].verbs"),
        (catalog.ROLES, {"rules": [{"verbs": ["get"]}]}, "rules[0].resources"),
        (catalog.ROLE_BINDINGS, {"roleRef": None}, "roleRef.kind"),
        (
            catalog.ROLE_BINDINGS,
            {"subjects": [{"kind": "ServiceAccount"}]},
            "subjects[0].name",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "kind", ""),
)
def test_what_makes_no_sense_is_refused(resource: Resource[Any], change: Json, field: str) -> None:
    with pytest.raises(Invalid) as refusal:
        created(resource, change)

    assert field in {cause.field for cause in refusal.value.causes}


@pytest.mark.parametrize(
    ("resource", "change", "path", "value"),
    [
        (
            PODS,
            {"spec": {"hostNetwork": True} | container(ports=[{"containerPort": 9}])["spec"]},
            "spec.containers.0.ports.0.hostPort",
            9,
        ),
        (
            PODS,
            container(image="none@sha256:abc"),
            "spec.containers.0.imagePullPolicy",
            "IfNotPresent",
        ),
        (PODS, container(image="host:5000/none"), "spec.containers.0.imagePullPolicy", "Always"),
        (
            PODS,
            container(startupProbe={"grpc": {"port": 1}}),
            "spec.containers.0.startupProbe.grpc.service",
            "",
        ),
        (
            PODS,
            container(lifecycle={"preStop": {"httpGet": {"port": 1}}}),
            "spec.containers.0.lifecycle.preStop.httpGet.path",
            "/",
        ),
        (
            PODS,
            {"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}},
            "spec.volumes.0.hostPath.type",
            "",
        ),
        (
            PODS,
            {"spec": {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1024Mi"}}]}},
            "spec.volumes.0.emptyDir.sizeLimit",
            "1Gi",
        ),
        (
            PODS,
            {
                "spec": {
                    "volumes": [
                        {
                            "name": "v",
                            "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]},
                        }
                    ]
                }
            },
            "spec.volumes.0.projected.sources.0.serviceAccountToken.expirationSeconds",
            3600,
        ),
        (PODS, {"spec": {"serviceAccount": "us"}}, "spec.serviceAccountName", "us"),
        (SERVICES, {"spec": {"type": "LoadBalancer"}}, "spec.allocateLoadBalancerNodePorts", True),
        (SERVICES, {"spec": {"type": "LoadBalancer"}}, "spec.externalTrafficPolicy", "Cluster"),
        (
            SERVICES,
            {"spec": {"sessionAffinity": "ClientIP"}},
            "spec.sessionAffinityConfig.clientIP.timeoutSeconds",
            10_800,
        ),
        (SERVICES, {}, "status.loadBalancer", {}),
        (NODES, {}, "status.allocatable.cpu", "4"),
        (
            JOBS,
            {"spec": {"podFailurePolicy": {"rules": []}}},
            "spec.podReplacementPolicy",
            "Failed",
        ),
        (
            JOBS,
            {"spec": {"template": {"metadata": {"labels": {"x": "y"}}}}},
            "metadata.labels.x",
            "y",
        ),
        (catalog.VOLUMES, {}, "spec.persistentVolumeReclaimPolicy", "Retain"),
        (catalog.VOLUMES, {}, "spec.hostPath.type", ""),
        (catalog.STORAGE_CLASSES, {}, "reclaimPolicy", "Delete"),
        (catalog.STORAGE_CLASSES, {}, "volumeBindingMode", "Immediate"),
        (catalog.ROLE_BINDINGS, {}, "roleRef.apiGroup", "rbac.authorization.k8s.io"),
        (catalog.ROLE_BINDINGS, {}, "subjects.0.apiGroup", "rbac.authorization.k8s.io"),
        (catalog.ENDPOINT_SLICES, {}, "ports.0.protocol", "TCP"),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "kind", ""),
)
def test_what_nobody_said(resource: Resource[Any], change: Json, path: str, value: Any) -> None:
    found: Any = created(resource, change)
    for word in path.split("."):
        found = found[int(word)] if word.isdecimal() else found[word]

    assert found == value


# ------------------------------------------------------------------ anything at all
SCHEMA: Json = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["a"],
                "properties": {"a": {"type": "string", "default": "x"}},
            },
        }
    },
}
DEFINITION: Json = {
    "spec": {
        "group": "x.example",
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}
        ],
    }
}
ODD: list[Any] = [
    None,
    0,
    -1,
    1.5,
    True,
    "",
    "x",
    "1Gi",
    [],
    [None],
    [{}],
    {},
    {"x": None},
    {"": 1},
    2**70,
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(place for name, part in inner for place in places(part, (*path, name)))]


@pytest.mark.parametrize(
    ("resource", "change", "told"),
    [
        (JOBS, {"backoffLimit": 3}, []),
        (JOBS, {"podFailurePolicy": {"rules": []}}, ["spec.podFailurePolicy"]),
        (
            CRON_JOBS,
            {"jobTemplate": {"spec": {"podReplacementPolicy": "Failed"}}},
            ["spec.jobTemplate.spec.podReplacementPolicy"],
        ),
        (
            STATEFUL_SETS,
            {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 2}}},
            ["spec.updateStrategy.rollingUpdate.maxUnavailable"],
        ),
    ],
    ids=str,
)
def test_who_asks_in_vain_is_warned(resource: Resource[Any], change: Json, told: list[str]) -> None:
    author = Author("us")
    body = merge_patch(SOUND[resource] | {"metadata": {"name": "a"}}, {"spec": change})

    served_api(Ports(Still(), Chance(1))).create(resource, "default", body, author)

    assert author.warnings == [f"{it} has no effect in the embedded Kubernetes" for it in told]


@given(st.data())
def test_whatever_is_written_gets_an_answer(data: st.DataObject) -> None:
    api = served_api(Ports(Still(), Chance(1)))
    resource, sound = data.draw(st.sampled_from([*SOUND.items(), (CUSTOM_RESOURCES, DEFINITION)]))
    name = "things.x.example" if resource is CUSTOM_RESOURCES else "a"
    document = plain(sound) | {"metadata": {"name": name}}
    for _ in range(data.draw(st.integers(1, 2))):
        *way, last = data.draw(st.sampled_from(places(document)[1:]))
        part: Any = document
        for word in way:
            part = part[word]
        part[last] = plain({"it": data.draw(st.sampled_from(ODD))})["it"]

    with suppress(BadRequest, Invalid):
        api.create(resource, "default" if resource.namespaced else "", document, US)
