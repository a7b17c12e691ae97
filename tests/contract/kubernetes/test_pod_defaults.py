"""What a pod says where its writer says nothing, and what the cluster adds."""

from __future__ import annotations

from typing import Any, Final

import pytest

from contract.kubernetes.shapes import CONTAINERS, thing
from contract.kubernetes.wire import Wire

TOLERATED: Final = [
    {
        "key": f"node.kubernetes.io/{it}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    for it in ("not-ready", "unreachable")
]
CONTAINER: Final = {
    "name": "main",
    "image": "none",
    "imagePullPolicy": "Always",
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
QUIET: Final = {"automountServiceAccountToken": False}


async def test_a_pod_as_it_is_stored(wire: Wire) -> None:
    made = (await wire.post("pods", thing(spec={**QUIET, **CONTAINERS}))).made()

    assert made["spec"] == {
        **QUIET,
        "containers": [CONTAINER],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "serviceAccount": "default",
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30,
        "tolerations": TOLERATED,
    }
    assert made["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


PROBE: Final = {
    "failureThreshold": 3,
    "periodSeconds": 10,
    "successThreshold": 1,
    "timeoutSeconds": 1,
}
HTTP: Final = {"path": "/", "scheme": "HTTP"}
RICH: Final[list[tuple[Any, Any]]] = [
    ({"ports": [{"containerPort": 80}]}, {"ports": [{"containerPort": 80, "protocol": "TCP"}]}),
    (
        {"livenessProbe": {"tcpSocket": {"port": 1}}},
        {"livenessProbe": {"tcpSocket": {"port": 1}, **PROBE}},
    ),
    (
        {"readinessProbe": {"httpGet": {"port": 1}, "periodSeconds": 5}},
        {"readinessProbe": {"httpGet": {"port": 1, **HTTP}, **PROBE, "periodSeconds": 5}},
    ),
    (
        {"startupProbe": {"exec": {"command": ["x"]}}},
        {"startupProbe": {"exec": {"command": ["x"]}, **PROBE}},
    ),
    (
        {"lifecycle": {"preStop": {"httpGet": {"port": 1}}}},
        {"lifecycle": {"preStop": {"httpGet": {"port": 1, **HTTP}}}},
    ),
    (
        {"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]},
        {
            "env": [
                {
                    "name": "A",
                    "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}},
                }
            ]
        },
    ),
    (
        {"env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}]},
        {
            "env": [
                {
                    "name": "A",
                    "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}},
                }
            ]
        },
    ),
    (
        {"resources": {"limits": {"cpu": "1000m", "memory": "1024Mi"}, "requests": {"cpu": "0.5"}}},
        {
            "resources": {
                "limits": {"cpu": "1", "memory": "1Gi"},
                "requests": {"cpu": "500m", "memory": "1Gi"},
            }
        },
    ),
]


@pytest.mark.parametrize(("said", "stored"), RICH, ids=[" ".join(it) for it, _ in RICH])
async def test_a_container_as_it_is_stored(wire: Wire, said: Any, stored: Any) -> None:
    body = {"name": "main", "image": "none", **said}

    made = (await wire.post("pods", thing(spec={**QUIET, "containers": [body]}))).made()

    assert made["spec.containers"] == [CONTAINER | stored]


VOLUMES: Final[list[tuple[Any, Any]]] = [
    ({}, {"emptyDir": {}}),
    ({"emptyDir": {"sizeLimit": "1024Ki"}}, {"emptyDir": {"sizeLimit": "1Mi"}}),
    ({"configMap": {"name": "c"}}, {"configMap": {"name": "c", "defaultMode": 420}}),
    ({"secret": {"secretName": "s"}}, {"secret": {"secretName": "s", "defaultMode": 420}}),
    ({"hostPath": {"path": "/x"}}, {"hostPath": {"path": "/x", "type": ""}}),
    (
        {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
        {
            "projected": {
                "defaultMode": 420,
                "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}],
            }
        },
    ),
]


@pytest.mark.parametrize(
    ("said", "stored"), VOLUMES, ids=[" ".join(it) or "nothing" for it, _ in VOLUMES]
)
async def test_a_volume_as_it_is_stored(wire: Wire, said: Any, stored: Any) -> None:
    spec = {**QUIET, **CONTAINERS, "volumes": [{"name": "v", **said}]}

    made = (await wire.post("pods", thing(spec=spec))).made()

    assert made["spec.volumes"] == [{"name": "v", **stored}]


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("x", "Always"),
        ("x:latest", "Always"),
        ("x:1", "IfNotPresent"),
        (f"x@sha256:{'a' * 64}", "IfNotPresent"),
        ("host:5000/x", "Always"),
    ],
    ids=["no tag", "latest", "a tag", "a digest", "a port is no tag"],
)
async def test_how_an_image_is_pulled(wire: Wire, image: str, policy: str) -> None:
    spec = {**QUIET, "containers": [{"name": "main", "image": image}]}

    made = (await wire.post("pods", thing(spec=spec))).made()

    assert made["spec.containers.0.imagePullPolicy"] == policy


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "0"}}, "BestEffort"),
        ({"requests": {"ephemeral-storage": "1"}}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable"),
    ],
    ids=str,
)
async def test_the_quality_of_service(wire: Wire, resources: Any, quality: str) -> None:
    container = {"name": "main", "image": "none", "resources": resources}

    made = (await wire.post("pods", thing(spec={**QUIET, "containers": [container]}))).made()

    assert made["status.qosClass"] == quality


@pytest.mark.parametrize(
    ("said", "added"),
    [
        ([{"operator": "Exists"}], []),
        ([TOLERATED[0] | {"tolerationSeconds": 5}], TOLERATED[1:]),
        ([{"key": "x", "operator": "Exists"}], TOLERATED),
        ([{"key": TOLERATED[0]["key"], "operator": "Exists", "effect": "NoSchedule"}], TOLERATED),
    ],
    ids=["everything", "one of them, shorter", "something else", "another effect"],
)
async def test_a_lost_node_is_tolerated_for_a_while(wire: Wire, said: Any, added: Any) -> None:
    made = (
        await wire.post("pods", thing(spec={**QUIET, **CONTAINERS, "tolerations": said}))
    ).made()

    assert made["spec.tolerations"] == [*said, *added]


async def test_on_the_network_of_its_node_a_port_is_a_port_of_the_node(wire: Wire) -> None:
    container = {"name": "main", "image": "none", "ports": [{"containerPort": 80}]}

    made = (
        await wire.post(
            "pods", thing(spec={**QUIET, "hostNetwork": True, "containers": [container]})
        )
    ).made()

    assert made["spec.containers.0.ports"] == [
        {"containerPort": 80, "hostPort": 80, "protocol": "TCP"}
    ]


# ------------------------------------------------------------------ service accounts
async def test_an_account_may_keep_its_token_to_itself(wire: Wire) -> None:
    (await wire.post("serviceaccounts", thing("quiet", automountServiceAccountToken=False))).made()

    made = (
        await wire.post("pods", thing(spec={**CONTAINERS, "serviceAccountName": "quiet"}))
    ).made()

    assert (made["spec.serviceAccount"], made["spec.volumes"]) == ("quiet", None)


@pytest.mark.differs("No service account files and no KUBERNETES_SERVICE_HOST in pods")
async def test_a_pod_gets_the_token_of_its_account(wire: Wire) -> None:
    made = (await wire.post("pods", thing(spec=CONTAINERS))).made()

    (volume,) = made["spec.volumes"] or [{"name": ""}]
    assert volume["name"].startswith("kube-api-access-")
    assert made["spec.containers.0.volumeMounts"] == [
        {
            "name": volume["name"],
            "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
            "readOnly": True,
        }
    ]


@pytest.mark.differs("A pod may name a service account that is not there.")
async def test_an_account_must_be_there(wire: Wire) -> None:
    answer = await wire.post("pods", thing(spec={**CONTAINERS, "serviceAccountName": "nobody"}))

    answer.refused(403, "Forbidden", says='serviceaccount "nobody" not found')


@pytest.mark.differs(
    "Empty lists and numbers that are zero stay in built-in objects as they were written."
)
async def test_what_is_empty_is_not_kept(wire: Wire) -> None:
    made = (await wire.post("pods", thing(spec={**CONTAINERS, "schedulingGates": []}))).made()

    assert "schedulingGates" not in made["spec"]
