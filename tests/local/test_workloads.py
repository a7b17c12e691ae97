"""Workloads on a local cluster, driven by kubectl: sets, rollouts, jobs, drains. Real processes."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from local.clusters import EXAMPLES, Kubectl, kubectl_for, until, up

WEB = str(EXAMPLES / "web.yaml")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory, control_plane: str) -> Iterator[Kubectl]:
    temporary = tmp_path_factory.mktemp("cluster")
    with up(temporary, "--control-plane", control_plane) as command:
        command.read_until("Ctrl-C ends it")
        yield kubectl_for(command.kubeconfig, temporary)


@pytest.fixture
def kubectl(driver: Kubectl, request: pytest.FixtureRequest) -> Iterator[Kubectl]:
    """kubectl with a namespace of the test's own."""
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[:60].strip("-")
    driver("create", "namespace", name)
    until("pods are accepted", lambda: driver.names("serviceaccounts", "-n", name))
    driver("config", "set-context", "--current", f"--namespace={name}")
    yield driver
    driver("delete", "namespace", name, "--wait=false")


def pods(kubectl: Kubectl, *words: str) -> dict[str, Any]:
    return {it["metadata"]["name"]: it for it in kubectl.json("get", "pods", *words)["items"]}


def ask(pod: dict[str, Any], path: str = "/") -> str:
    with urllib.request.urlopen(f"http://{pod['status']['podIP']}:8080{path}", timeout=5) as answer:
        return answer.read().decode()


def test_a_set(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", WEB)
    until("three pods are ready", lambda: _ready(kubectl) == 3)
    first = pods(kubectl)
    assert len({it["spec"]["nodeName"] for it in first.values()}) == 3
    assert len({it["status"]["podIP"] for it in first.values()}) == 3
    assert "web-1" in ask(first["web-1"])

    kubectl("delete", "pod", "web-1")
    kubectl("rollout", "status", "statefulset/web", "--timeout=60s")
    second = pods(kubectl)
    assert second["web-1"]["metadata"]["uid"] != first["web-1"]["metadata"]["uid"]
    assert second["web-1"]["status"]["podIP"] == first["web-1"]["status"]["podIP"]
    assert second["web-0"]["metadata"]["uid"] == first["web-0"]["metadata"]["uid"]

    kubectl("scale", "statefulset/web", "--replicas=1")
    until("one pod is left", lambda: list(pods(kubectl)) == ["web-0"])
    assert kubectl.names("pvc") == ["data-web-0", "data-web-1", "data-web-2"]
    kubectl("scale", "statefulset/web", "--replicas=2")
    kubectl("rollout", "status", "statefulset/web", "--timeout=60s")
    assert sorted(pods(kubectl)) == ["web-0", "web-1"]


def _ready(kubectl: Kubectl) -> int:
    return kubectl.json("get", "statefulset", "web").get("status", {}).get("readyReplicas", 0)


def test_volumes_outlive_their_pods(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", WEB)
    kubectl("rollout", "status", "statefulset/web", "--timeout=60s")
    counted = [ask(pods(kubectl)["web-0"], "/count") for _ in range(2)]
    kubectl("delete", "pod", "web-0", "--grace-period=0", "--force")
    kubectl("rollout", "status", "statefulset/web", "--timeout=60s")

    assert counted == ["1\n", "2\n"]
    assert ask(pods(kubectl)["web-0"], "/count") == "3\n"


def test_a_claim_that_is_deleted_is_made_anew_once_its_pod_is_gone(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", WEB)
    kubectl("rollout", "status", "statefulset/web", "--timeout=60s")
    assert ask(pods(kubectl)["web-0"], "/count") == "1\n"
    before = kubectl.json("get", "pvc", "data-web-0")["metadata"]["uid"]

    kubectl("delete", "pvc", "data-web-0", "--wait=false")
    held = kubectl.json("get", "pvc", "data-web-0")["metadata"]
    assert held["deletionTimestamp"]
    assert held["finalizers"] == ["kubernetes.io/pvc-protection"]
    assert ask(pods(kubectl)["web-0"], "/count") == "2\n"
    kubectl("delete", "pod", "web-0")

    until("all are ready", lambda: _ready(kubectl) == 3 and "web-0" in pods(kubectl))
    kubectl("wait", "pod/web-0", "--for=condition=Ready", "--timeout=60s")
    assert kubectl.json("get", "pvc", "data-web-0")["metadata"]["uid"] != before
    assert ask(pods(kubectl)["web-0"], "/count") == "1\n"


def test_a_claim_may_grow_and_not_shrink(kubectl: Kubectl) -> None:
    def sized(size: str) -> str:
        return f'{{"spec":{{"resources":{{"requests":{{"storage":"{size}"}}}}}}}}'

    kubectl("apply", "-f", WEB)
    kubectl("rollout", "status", "statefulset/web", "--timeout=60s")

    kubectl("patch", "pvc", "data-web-0", "-p", sized("3Gi"))
    until("it has grown", lambda: _capacity(kubectl, "data-web-0") == "3Gi")
    assert "Forbidden" in kubectl("patch", "pvc", "data-web-0", "-p", sized("2Gi"), code=1)
    assert _capacity(kubectl, "data-web-0") == "3Gi"


def _capacity(kubectl: Kubectl, claim: str) -> str:
    return str(kubectl.json("get", "pvc", claim)["status"]["capacity"]["storage"])


def test_a_deployment_rolls(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", str(EXAMPLES / "rolling.yaml"))
    kubectl("rollout", "status", "deployment/rolling", "--timeout=60s")
    kubectl("set", "env", "deployment/rolling", "GREETING=hello")
    assert "successfully rolled out" in kubectl(
        "rollout", "status", "deployment/rolling", "--timeout=60s"
    )
    until("only new pods are left", lambda: len(pods(kubectl)) == 3)
    assert all(
        "GREETING" in str(it["spec"]["containers"][0]["env"]) for it in pods(kubectl).values()
    )
    kubectl("rollout", "undo", "deployment/rolling")
    kubectl("rollout", "status", "deployment/rolling", "--timeout=60s")
    until("only old pods are left", lambda: len(pods(kubectl)) == 3)
    assert all("env" not in it["spec"]["containers"][0] for it in pods(kubectl).values())


def test_jobs(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", str(EXAMPLES / "work.yaml"))
    kubectl("wait", "job/count", "--for=condition=Complete", "--timeout=60s")
    assert "counted 1\ncounted 2\ncounted 3\n" in kubectl("logs", "job/count")
    kubectl("create", "job", "now", "--from=cronjob/greet")
    kubectl("wait", "job/now", "--for=condition=Complete", "--timeout=60s")
    assert kubectl("logs", "-f", "job/now") == "good day\n"


def test_a_drained_node_is_left_by_its_pods(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", WEB)
    kubectl("rollout", "status", "statefulset/web", "--timeout=60s")
    node = pods(kubectl)["web-0"]["spec"]["nodeName"]
    try:
        told = kubectl(
            "drain",
            node,
            "--ignore-daemonsets",
            "--delete-emptydir-data",
            "--force",
            "--timeout=60s",
        )
        assert "drained" in told
        kubectl("rollout", "status", "statefulset/web", "--timeout=60s")
        assert node not in {it["spec"]["nodeName"] for it in pods(kubectl).values()}
        assert "SchedulingDisabled" in kubectl("get", "node", node)
    finally:
        kubectl("uncordon", node)


def test_logs_describe_and_a_crashing_container(kubectl: Kubectl) -> None:
    kubectl("run", "crash", "--image=busybox", "--", "sh", "-c", "echo about to fail; exit 3")
    until("it is waited with", lambda: "CrashLoopBackOff" in kubectl("get", "pod", "crash"))
    assert "about to fail" in kubectl("logs", "crash", "--previous")
    told = kubectl("describe", "pod", "crash")
    assert "Exit Code:    3" in told
    assert "BackOff" in told


def test_an_unknown_image_says_what_is_known(kubectl: Kubectl) -> None:
    kubectl("run", "odd", "--image=example.com/nobody/knows:1")
    until("it is refused", lambda: "ImagePull" in kubectl("get", "pod", "odd"))
    assert "stateward.dev/web" in kubectl("describe", "pod", "odd")


def test_a_pod_that_fits_nowhere_says_why(kubectl: Kubectl) -> None:
    selector = '{"spec": {"nodeSelector": {"disk": "fast"}}}'
    kubectl("run", "picky", "--image=busybox", f"--overrides={selector}", "--", "sleep", "1000")
    until("it is said", lambda: "FailedScheduling" in kubectl("describe", "pod", "picky"))
    assert "0/3 nodes are available" in kubectl("describe", "pod", "picky")
    kubectl("label", "node", "node-1", "disk=fast")
    kubectl("wait", "pod/picky", "--for=condition=Ready", "--timeout=60s")
    kubectl("label", "node", "node-1", "disk-")
