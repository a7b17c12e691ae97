"""kubectl get, describe, explain and the like."""

from __future__ import annotations

import subprocess

import pytest

from kubectl.manifests import CONFIG, DEPLOYMENT, POD
from local.clusters import Kubectl


@pytest.fixture
def shop(kubectl: Kubectl) -> Kubectl:
    kubectl("apply", "-f", "-", stdin=f"{CONFIG}---{DEPLOYMENT}---{POD}")
    return kubectl


#: What the tests made; a cluster puts things of its own into every namespace.
MINE = "app=shop"


def columns(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_columns(shop: Kubectl) -> None:
    assert columns(shop("get", "pods"))[0] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert columns(shop("get", "pods"))[1][:4] == ["db-0", "0/1", "Pending", "0"]
    assert columns(shop("get", "deploy", "-o", "wide"))[1][-3:] == [
        "main,side",
        "server:1,helper:1",
        "app=shop",
    ]
    assert columns(shop("get", "cm", "conf", "--no-headers"))[0][:2] == ["conf", "1"]


def test_every_kind_has_columns(ours: Kubectl) -> None:
    served = ours("api-resources", "--verbs=list", "-o", "name").split()
    told = ours("get", ",".join(served), "-A", code=None)

    assert len(served) >= 22
    assert not [line for line in told.splitlines() if line.lower().startswith("error")]
    assert "namespace/default" in told


def test_other_forms(shop: Kubectl) -> None:
    assert shop("get", "pod/db-0", "cm/conf", "-o", "name").split() == [
        "pod/db-0",
        "configmap/conf",
    ]
    assert shop("get", "deploy", "web", "-o", "jsonpath={.spec.replicas}") == "2"
    assert shop.json("get", "cm", "conf")["data"] == {"color": "red"}
    assert "color: red" in shop("get", "cm", "conf", "-o", "yaml")
    shown = shop("get", "cm", "-l", MINE, "-o", "custom-columns=N:.metadata.name,C:.data.color")
    assert columns(shown) == [["N", "C"], ["conf", "red"]]
    assert columns(shop("get", "cm", "-l", MINE, "--show-labels"))[1][-1] == "app=shop"
    assert "conf" in shop("get", "cm", "--sort-by=.metadata.name")


def test_selectors(shop: Kubectl) -> None:
    assert shop("get", "deploy,cm", "-l", MINE, "-o", "name").split() == [
        "deployment.apps/web",
        "configmap/conf",
    ]
    assert shop("get", "pods", "--field-selector", "status.phase=Running").startswith(
        "No resources"
    )
    assert "db-0" in shop("get", "pods", "--field-selector", "status.phase=Pending")
    refused = shop("get", "pods", "--field-selector", "spec.mood=good", code=1)
    assert "field label not supported: spec.mood" in refused


def test_in_pieces(shop: Kubectl) -> None:
    names = [f"c{number:02}" for number in range(12)]
    shop("apply", "-f", "-", stdin="---".join(CONFIG.replace("conf", name) for name in names))

    assert shop.names("cm", "-l", MINE, "--chunk-size=5") == [*names, "conf"]


def test_all_namespaces(shop: Kubectl) -> None:
    assert columns(shop("get", "pods", "-A"))[0][0] == "NAMESPACE"
    assert "kube-system" in shop("get", "ns", "-o", "name")


def test_watching(shop: Kubectl) -> None:
    program = [shop.program, "get", "cm", "conf", "-w", "--kubeconfig", str(shop.kubeconfig)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        seen = [watching.stdout.readline() for _ in range(2)]
        shop("patch", "cm", "conf", "-p", '{"data": {"size": "3"}}')
        seen.append(watching.stdout.readline())
        watching.terminate()

    assert [line.split()[:2] for line in seen] == [["NAME", "DATA"], ["conf", "1"], ["conf", "2"]]


def test_describing(shop: Kubectl) -> None:
    told = shop("describe", "deploy", "web")

    assert "2 desired | " in told
    assert "server:1" in told
    assert "Pending" in shop("describe", "pod", "db-0")


def test_explaining(anywhere: Kubectl) -> None:
    assert "maxUnavailable" in anywhere("explain", "deployment.spec.strategy.rollingUpdate")
    assert "<[]Container> -required-" in anywhere("explain", "pod.spec")


def test_what_there_is(anywhere: Kubectl) -> None:
    kinds = {line.split()[0] for line in anywhere("api-resources", "--no-headers").splitlines()}

    assert {"pods", "statefulsets", "cronjobs", "leases", "customresourcedefinitions"} <= kinds
    assert "apps/v1" in anywhere("api-versions").split()


def test_who_may_do_what(anywhere: Kubectl) -> None:
    assert anywhere("auth", "can-i", "create", "pods").strip() == "yes"


def test_it_says_who_it_is(ours: Kubectl) -> None:
    assert "+stateward" in ours("version")
    assert "stateward-local" in ours("auth", "whoami")


def test_what_is_not_there(anywhere: Kubectl) -> None:
    assert 'pods "nobody" not found' in anywhere("get", "pod", "nobody", code=1)
    assert "resource type" in anywhere("get", "unicorns", code=1)


def test_what_is_not_offered(ours: Kubectl) -> None:
    ours("run", "idle", "--image=none", "--overrides", '{"spec": {"nodeName": "nowhere"}}')

    assert "pods/exec is not offered here" in ours("exec", "idle", "--", "ls", code=1)
    assert "nothing runs pods here" in ours("logs", "idle", code=1)
