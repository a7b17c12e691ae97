"""kubectl apply, edit, patch, scale, delete and the like."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kubectl.manifests import CONFIG, DEPLOYMENT, POD
from local.clusters import Kubectl


def test_applying(kubectl: Kubectl) -> None:
    green = CONFIG.replace("red", "green")
    said = [kubectl("apply", "-f", "-", stdin=text).split()[-1] for text in (CONFIG, CONFIG, green)]

    assert said == ["created", "unchanged", "configured"]
    assert kubectl.json("get", "cm", "conf")["data"] == {"color": "green"}


def test_what_is_no_longer_in_the_manifest_goes(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=DEPLOYMENT)
    kubectl(
        "apply",
        "-f",
        "-",
        stdin=DEPLOYMENT.replace('\n      - {name: side, image: "helper:1"}', ""),
    )

    containers = kubectl.json("get", "deploy", "web")["spec"]["template"]["spec"]["containers"]
    assert [it["name"] for it in containers] == ["main"]


def test_applying_at_the_server(kubectl: Kubectl) -> None:
    kubectl("apply", "--server-side", "-f", "-", stdin=CONFIG)
    green = CONFIG.replace("red", "green")
    refused = kubectl(
        "apply", "--server-side", "--field-manager=rival", "-f", "-", stdin=green, code=1
    )
    kubectl(
        "apply",
        "--server-side",
        "--field-manager=rival",
        "--force-conflicts",
        "-f",
        "-",
        stdin=green,
    )

    assert 'conflict with "kubectl": .data.color' in refused
    assert kubectl.json("get", "cm", "conf")["data"] == {"color": "green"}


def test_rehearsals(kubectl: Kubectl) -> None:
    assert "server dry run" in kubectl("apply", "--dry-run=server", "-f", "-", stdin=CONFIG)
    assert "not found" in kubectl("get", "cm", "conf", code=1)


def test_differences(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=CONFIG)

    assert kubectl("diff", "-f", "-", stdin=CONFIG) == ""
    told = kubectl("diff", "-f", "-", stdin=CONFIG.replace("red", "green"), code=1)
    assert "-  color: red" in told
    assert "+  color: green" in told


@pytest.mark.parametrize(
    ("manifest", "told"),
    [
        (POD.replace("containers", "containrs"), 'unknown field "spec.containrs"'),
        (POD.replace("image", "imgae"), 'unknown field "spec.containers[0].imgae"'),
        (POD.replace("db-0", "DB_0"), 'The Pod "DB_0" is invalid: metadata.name'),
        (DEPLOYMENT.replace("replicas: 2", "replicas: two"), "replicas"),
        (
            DEPLOYMENT.replace("labels: {app: shop}}\n    spec", "labels: {app: other}}\n    spec"),
            "selector",
        ),
        (CONFIG.replace("ConfigMap", "ConfigMop"), 'no matches for kind "ConfigMop"'),
        (CONFIG.replace("color: red", "color: 3"), "cannot be handled as a ConfigMap"),
    ],
    ids=["typo", "nested typo", "name", "type", "selector", "kind", "value"],
)
def test_a_bad_manifest_is_refused_readably(kubectl: Kubectl, manifest: str, told: str) -> None:
    said = kubectl("apply", "-f", "-", stdin=manifest, code=1)

    assert told in said
    assert "Traceback" not in said


def test_creating(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "c", "--from-literal=a=b")
    kubectl("create", "secret", "generic", "s", "--from-literal=a=b")
    kubectl("create", "deployment", "d", "--image=server:1", "--replicas=0", "--port=80")
    kubectl("create", "job", "j", "--image=server:1", "--", "run", "it")
    kubectl("create", "cronjob", "cj", "--image=server:1", "--schedule=0 * * * *")
    kubectl("create", "serviceaccount", "sa")
    kubectl("create", "role", "r", "--verb=get", "--resource=pods")
    kubectl("create", "poddisruptionbudget", "b", "--selector=app=x", "--min-available=50%")
    kubectl("create", "service", "clusterip", "svc", "--tcp=80:8080")
    again = kubectl("create", "configmap", "c", code=1)

    assert 'configmaps "c" already exists' in again
    assert kubectl.json("get", "deploy", "d")["spec"]["replicas"] == 0
    assert kubectl.json("get", "secret", "s")["data"] == {"a": "Yg=="}
    containers = kubectl.json("get", "job", "j")["spec"]["template"]["spec"]["containers"]
    assert containers[0]["command"] == ["run", "it"]
    assert kubectl.json("get", "pdb", "b")["spec"]["minAvailable"] == "50%"
    assert kubectl.json("get", "svc", "svc")["spec"]["ports"][0]["targetPort"] == 8080


def test_editing(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("apply", "-f", "-", stdin=CONFIG)
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/color: red/color: blue/' \"$1\"\n")
    editor.chmod(0o755)
    said = kubectl("edit", "cm", "conf", EDITOR=str(editor), KUBE_EDITOR=str(editor))

    assert "edited" in said
    assert kubectl.json("get", "cm", "conf")["data"] == {"color": "blue"}


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        (
            "strategic",
            '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"server:2"}]}}}}',
        ),
        (
            "json",
            '[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"server:2"}]',
        ),
        (
            "merge",
            '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"server:2"}]}}}}',
        ),
    ],
)
def test_patching(kubectl: Kubectl, kind: str, patch: str) -> None:
    kubectl("apply", "-f", "-", stdin=DEPLOYMENT)
    kubectl("patch", "deploy", "web", f"--type={kind}", "-p", patch)

    containers = kubectl.json("get", "deploy", "web")["spec"]["template"]["spec"]["containers"]
    # A merge patch knows nothing of names: its list is the list.
    assert [it["image"] for it in containers] == ["server:2", "helper:1"][
        : 1 if kind == "merge" else 2
    ]


def test_scaling(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=DEPLOYMENT)
    kubectl("scale", "deploy", "web", "--replicas=5")
    refused = kubectl("scale", "deploy", "web", "--current-replicas=2", "--replicas=1", code=1)

    assert "Expected replicas to be 2, was 5" in refused
    assert kubectl.json("get", "deploy", "web")["spec"]["replicas"] == 5


def test_labels_and_annotations(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=CONFIG)
    kubectl("label", "cm", "conf", "tier=front")
    kubectl("label", "cm", "conf", "tier=back", "--overwrite", "app-")
    kubectl("annotate", "cm", "conf", "why=because")
    metadata = kubectl.json("get", "cm", "conf")["metadata"]

    assert metadata["labels"] == {"tier": "back"}
    assert metadata["annotations"]["why"] == "because"


# ------------------------------------------------------------------ the end of things
def owned(kubectl: Kubectl) -> None:
    """Make a ConfigMap that a Deployment owns."""
    kubectl("apply", "-f", "-", stdin=DEPLOYMENT)
    uid = kubectl("get", "deploy", "web", "-o", "jsonpath={.metadata.uid}")
    owner = f"{{apiVersion: apps/v1, kind: Deployment, name: web, uid: {uid}, blockOwnerDeletion: true}}"
    kubectl(
        "apply",
        "-f",
        "-",
        stdin=CONFIG.replace("metadata:", f"metadata:\n  ownerReferences: [{owner}]"),
    )


@pytest.mark.parametrize(
    ("cascade", "left"), [("background", False), ("foreground", False), ("orphan", True)]
)
def test_what_becomes_of_what_was_owned(kubectl: Kubectl, cascade: str, left: bool) -> None:
    owned(kubectl)
    kubectl("delete", "deploy", "web", f"--cascade={cascade}")
    if not left:
        kubectl("wait", "--for=delete", "cm/conf", "--timeout=5s")

    assert ("conf" in kubectl.names("cm")) is left
    assert kubectl.names("deploy") == []


def test_deleting(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=f"{CONFIG}---{POD}")
    assert "force deleted" in kubectl("delete", "pod", "db-0", "--grace-period=0", "--force")
    assert "deleted" in kubectl("delete", "cm", "-l", "app=shop")
    assert "not found" in kubectl("delete", "cm", "conf", code=1)
    assert kubectl("delete", "cm", "conf", "--ignore-not-found") == ""


def test_waiting(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=POD)
    ready = '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'
    late = threading.Timer(
        0.3, kubectl, ["patch", "pod", "db-0", "--subresource=status", "-p", ready]
    )
    late.start()
    kubectl("wait", "--for=condition=Ready", "pod/db-0", "--timeout=10s")
    late.join()
    kubectl("wait", "--for=jsonpath={.status.phase}=Pending", "pod/db-0", "--timeout=10s")
    gone = threading.Timer(0.3, kubectl, ["delete", "pod", "db-0", "--force"])
    gone.start()
    kubectl("wait", "--for=delete", "pod/db-0", "--timeout=10s")
    gone.join()

    assert "timed out" in kubectl("wait", "--for=create", "pod/nobody", "--timeout=0.1s", code=1)
