"""What makes no sense in a pod, and where it is said to be wrong; nothing is kept."""

from __future__ import annotations

from typing import Any, Final

import pytest

from contract.kubernetes.shapes import CONTAINERS, NODE, pod, thing
from contract.kubernetes.wire import Wire


def container(**parts: Any) -> Any:
    return {"containers": [{"name": "main", "image": "none", **parts}]}


def probe(**parts: Any) -> Any:
    return container(livenessProbe=parts)


def mounted(*mounts: Any, volumes: Any = ({"name": "v"},)) -> Any:
    return {**container(volumeMounts=list(mounts)), "volumes": list(volumes)}


def volume(*volumes: Any) -> Any:
    return {**CONTAINERS, "volumes": [{"name": "v", **it} for it in volumes]}


def tolerating(**toleration: Any) -> Any:
    return {**CONTAINERS, "tolerations": [toleration]}


ONE: Final = {"name": "main", "image": "none"}
TCP: Final = {"tcpSocket": {"port": 1}}
FIRST: Final = "spec.containers[0]"
LATER: Final = "DuringSchedulingIgnoredDuringExecution"
CASES: Final[list[tuple[str, Any, str]]] = [
    ("no containers", {"containers": []}, "Required spec.containers"),
    ("no name", {"containers": [{"image": "i"}]}, f"Required {FIRST}.name"),
    ("an odd name", {"containers": [{"name": "M_", "image": "i"}]}, f"Invalid {FIRST}.name"),
    ("no image", {"containers": [{"name": "main"}]}, f"Required {FIRST}.image"),
    ("image with a space", container(image=" i"), f"Invalid {FIRST}.image"),
    ("a name twice", {"containers": [ONE, ONE]}, "Duplicate spec.containers[1].name"),
    (
        "init of the same name",
        {**CONTAINERS, "initContainers": [ONE]},
        "Duplicate spec.initContainers[0].name",
    ),
    ("restartPolicy", {**CONTAINERS, "restartPolicy": "Maybe"}, "NotSupported spec.restartPolicy"),
    ("dnsPolicy", {**CONTAINERS, "dnsPolicy": "Maybe"}, "NotSupported spec.dnsPolicy"),
    ("pull policy", container(imagePullPolicy="Often"), f"NotSupported {FIRST}.imagePullPolicy"),
    (
        "message policy",
        container(terminationMessagePolicy="Mail"),
        f"NotSupported {FIRST}.terminationMessagePolicy",
    ),
    ("port 0", container(ports=[{"containerPort": 0}]), f"Required {FIRST}.ports[0].containerPort"),
    (
        "a port too large",
        container(ports=[{"containerPort": 70000}]),
        f"Invalid {FIRST}.ports[0].containerPort",
    ),
    (
        "a host port too large",
        container(ports=[{"containerPort": 1, "hostPort": 70000}]),
        f"Invalid {FIRST}.ports[0].hostPort",
    ),
    (
        "protocol",
        container(ports=[{"containerPort": 1, "protocol": "HTTP"}]),
        f"NotSupported {FIRST}.ports[0].protocol",
    ),
    (
        "a long name of a port",
        container(ports=[{"containerPort": 1, "name": "much-too-long-a-name"}]),
        f"Invalid {FIRST}.ports[0].name",
    ),
    (
        "a number as name of a port",
        container(ports=[{"containerPort": 1, "name": "80"}]),
        f"Invalid {FIRST}.ports[0].name",
    ),
    (
        "a name of a port twice",
        container(ports=[{"containerPort": it, "name": "web"} for it in (1, 2)]),
        f"Duplicate {FIRST}.ports[1].name",
    ),
    (
        "more asked than allowed",
        container(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
        f"Invalid {FIRST}.resources.requests",
    ),
    (
        "less than nothing",
        container(resources={"requests": {"cpu": "-1"}}),
        f"Invalid {FIRST}.resources.requests[cpu]",
    ),
    (
        "others' resources without a limit",
        container(resources={"requests": {"example.com/gpu": "1"}}),
        f"Required {FIRST}.resources.limits",
    ),
    ("a probe of nothing", probe(), f"Required {FIRST}.livenessProbe"),
    (
        "a probe of two things",
        probe(httpGet={"port": 1}, **TCP),
        f"Forbidden {FIRST}.livenessProbe.tcpSocket",
    ),
    (
        "a probe of port 0",
        probe(tcpSocket={"port": 0}),
        f"Invalid {FIRST}.livenessProbe.tcpSocket.port",
    ),
    ("a probe of no command", probe(exec={}), f"Required {FIRST}.livenessProbe.exec.command"),
    (
        "a negative period",
        probe(**TCP, periodSeconds=-1),
        f"Invalid {FIRST}.livenessProbe.periodSeconds",
    ),
    (
        "twice alive",
        probe(**TCP, successThreshold=2),
        f"Invalid {FIRST}.livenessProbe.successThreshold",
    ),
    (
        "scheme",
        probe(httpGet={"port": 1, "scheme": "FTP"}),
        f"NotSupported {FIRST}.livenessProbe.httpGet.scheme",
    ),
    (
        "a probe of an init container",
        {**CONTAINERS, "initContainers": [{"name": "i", "image": "i", "livenessProbe": TCP}]},
        "Forbidden spec.initContainers[0].livenessProbe",
    ),
    (
        "a hook of nothing",
        container(lifecycle={"preStop": {}}),
        f"Required {FIRST}.lifecycle.preStop",
    ),
    (
        "a mount of no volume",
        mounted({"name": "w", "mountPath": "/x"}),
        f"NotFound {FIRST}.volumeMounts[0].name",
    ),
    ("a mount nowhere", mounted({"name": "v"}), f"Required {FIRST}.volumeMounts[0].mountPath"),
    (
        "a mount twice",
        mounted(*[{"name": "v", "mountPath": "/x"}] * 2),
        f"Invalid {FIRST}.volumeMounts[1].mountPath",
    ),
    (
        "a mount of what is above",
        mounted({"name": "v", "mountPath": "/x", "subPath": "../y"}),
        f"Invalid {FIRST}.volumeMounts.subPath",
    ),
    ("a volume twice", volume({}, {}), "Duplicate spec.volumes[1].name"),
    ("an odd name of a volume", volume({"name": "V_"}), "Invalid spec.volumes[0].name"),
    (
        "a volume of two things",
        volume({"emptyDir": {}, "hostPath": {"path": "/x"}}),
        "Forbidden spec.volumes[0].hostPath",
    ),
    (
        "a volume of no claim",
        volume({"persistentVolumeClaim": {}}),
        "Required spec.volumes[0].persistentVolumeClaim.claimName",
    ),
    (
        "an odd mode",
        volume({"configMap": {"name": "c", "defaultMode": 9999}}),
        "Invalid spec.volumes[0].configMap.defaultMode",
    ),
    ("a variable of no name", container(env=[{"name": ""}]), f"Required {FIRST}.env[0].name"),
    ("an odd variable", container(env=[{"name": "a=b"}]), f"Invalid {FIRST}.env[0].name"),
    (
        "a variable from nowhere",
        container(env=[{"name": "A", "valueFrom": {}}]),
        f"Invalid {FIRST}.env[0].valueFrom",
    ),
    (
        "a variable from two places",
        container(
            env=[
                {
                    "name": "A",
                    "value": "x",
                    "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}},
                }
            ]
        ),
        f"Invalid {FIRST}.env[0].valueFrom",
    ),
    (
        "a variable of an unknown field",
        container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.colour"}}}]),
        f"Invalid {FIRST}.env[0].valueFrom.fieldRef.fieldPath",
    ),
    (
        "a variable of no key",
        container(env=[{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c"}}}]),
        f"Required {FIRST}.env[0].valueFrom.configMapKeyRef.key",
    ),
    (
        "a deadline of nothing",
        {**CONTAINERS, "activeDeadlineSeconds": 0},
        "Invalid spec.activeDeadlineSeconds",
    ),
    (
        "an odd toleration",
        tolerating(key="k", operator="Near"),
        "NotSupported spec.tolerations[0].operator",
    ),
    (
        "an odd effect",
        tolerating(key="k", effect="Maybe"),
        "NotSupported spec.tolerations[0].effect",
    ),
    (
        "a value that does not matter",
        tolerating(key="k", operator="Exists", value="x"),
        "Invalid spec.tolerations[0].operator",
    ),
    (
        "a value of no key",
        tolerating(operator="Equal", value="x"),
        "Invalid spec.tolerations[0].operator",
    ),
    (
        "seconds without an end",
        tolerating(key="k", operator="Exists", effect="NoSchedule", tolerationSeconds=5),
        "Invalid spec.tolerations[0].effect",
    ),
    ("an odd node", {**CONTAINERS, "nodeName": "Bad_Name"}, "Invalid spec.nodeName"),
    ("an odd selector", {**CONTAINERS, "nodeSelector": {"a b": "c"}}, "Invalid spec.nodeSelector"),
    ("an odd hostname", {**CONTAINERS, "hostname": "a.b"}, "Invalid spec.hostname"),
    ("an odd subdomain", {**CONTAINERS, "subdomain": "a.b"}, "Invalid spec.subdomain"),
    (
        "an odd gate",
        {**CONTAINERS, "schedulingGates": [{"name": "Bad Gate"}]},
        "Invalid spec.schedulingGates[0]",
    ),
    (
        "a gate before a node",
        {**CONTAINERS, "nodeName": NODE, "schedulingGates": [{"name": "example.com/wait"}]},
        "Forbidden spec.nodeName",
    ),
    (
        "ephemeral containers",
        {**CONTAINERS, "ephemeralContainers": [{"name": "e", "image": "i"}]},
        "Forbidden spec.ephemeralContainers",
    ),
]


@pytest.mark.parametrize(("spec", "cause"), [it[1:] for it in CASES], ids=[it[0] for it in CASES])
async def test_what_makes_no_sense(wire: Wire, spec: Any, cause: str) -> None:
    answer = await wire.post("pods", thing(spec=spec))

    answer.refused(422, "Invalid", f"FieldValue{cause}", says='Pod "a" is invalid: ')
    (await wire.get("pods/a")).refused(404, "NotFound")


async def test_everything_wrong_is_said_at_once(wire: Wire) -> None:
    spec = {"restartPolicy": "Maybe", "containers": [{"name": "main"}, {"image": "i"}]}

    answer = await wire.post("pods", thing(spec=spec))

    answer.refused(
        422,
        "Invalid",
        "FieldValueRequired spec.containers[0].image",
        "FieldValueRequired spec.containers[1].name",
        "FieldValueNotSupported spec.restartPolicy",
        says='Pod "a" is invalid: [',
    )


@pytest.mark.parametrize(
    "spec",
    [
        {"containers": {}},
        container(resources={"requests": {"cpu": "lots"}}),
        {**CONTAINERS, "hostNetwork": "yes"},
    ],
    ids=["no list", "no quantity", "no boolean"],
)
async def test_what_cannot_be_read(wire: Wire, spec: Any) -> None:
    (await wire.post("pods", thing(spec=spec))).refused(400, "BadRequest")


async def test_a_negative_grace_is_a_second(wire: Wire) -> None:
    made = (await wire.post("pods", pod(terminationGracePeriodSeconds=-1))).made()

    assert made["spec.terminationGracePeriodSeconds"] == 1


# ------------------------------------------------------------------ logs of pods that run nowhere
async def test_no_log_of_an_unknown_container(wire: Wire) -> None:
    (await wire.post("pods", pod(node=NODE))).made()

    answer = await wire.get("pods/a/log", container="x")

    answer.refused(400, "BadRequest", says="container x is not valid for pod a")


async def test_no_log_without_a_choice_among_containers(wire: Wire) -> None:
    two = [{"name": it, "image": "none"} for it in ("one", "two")]
    (await wire.post("pods", pod(node=NODE, containers=two))).made()

    answer = await wire.get("pods/a/log")

    says = "a container name must be specified for pod a, choose one of: [one two]"
    answer.refused(400, "BadRequest", says=says)


async def test_no_log_of_nobody(wire: Wire) -> None:
    (await wire.get("pods/none/log")).refused(404, "NotFound", says='pods "none" not found')


async def test_no_log_where_there_is_no_node(wire: Wire) -> None:
    (await wire.post("pods", pod(node=NODE))).made()

    (await wire.get("pods/a/log")).refused(404, "NotFound")


@pytest.mark.parametrize(
    "spec",
    [
        {"affinity": {"podAntiAffinity": {f"required{LATER}": [{"labelSelector": {}}]}}},
        {"topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "zone"}]},
        {"securityContext": {"runAsUser": -1}},
    ],
    ids=str,
)
@pytest.mark.differs("Affinity, topology and security contexts are checked for their types only.")
async def test_what_a_pod_asks_of_its_place_must_make_sense(wire: Wire, spec: Any) -> None:
    (await wire.post("pods", pod(**spec), dryRun="All")).refused(422, "Invalid")
