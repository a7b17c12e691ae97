"""What is installed: made from our code, the least that works, and what it says to people."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tools.manifests import DEPLOY, PLAIN

from stateward import __version__
from stateward.app.install import chart, generated
from stateward.app.install.chart import Release
from stateward.app.install.choices import laid_over
from stateward.app.settings import FDB_BINARIES
from stateward.core.version import Version
from stateward.emulate.keepers import image as keeper
from stateward.emulate.keepers import kubernetes_monitor
from stateward.fdb.admin.binaries import Binaries
from stateward.kube.codec import Json

ALL_ON: Json = {
    "watch": {"clusterWide": True},
    "metrics": {"serviceMonitor": {"enabled": True}},
    "rescueVolume": {"emptyDir": {}},
}


def made(**chosen: Any) -> list[Json]:
    return chart.objects(Release(), laid_over(chart.usual_values(), chosen))


def one(kind: str, documents: list[Json], name: str = "") -> Json:
    (found,) = (
        it for it in documents if it["kind"] == kind and name in ("", it["metadata"]["name"])
    )
    return found


def test_what_is_generated_is_up_to_date() -> None:
    """If this fails: make manifests."""
    there = {
        str(it.relative_to(DEPLOY / "chart")): it.read_text()
        for it in (DEPLOY / "chart" / "templates").iterdir()
        if it.name.startswith(("crd-", "_rights"))
    }
    assert there == generated.files()
    assert PLAIN.read_text() == generated.manifest()


def test_the_chart_has_our_version() -> None:
    about = yaml.safe_load((DEPLOY / "chart" / "Chart.yaml").read_text())
    assert (about["version"], about["appVersion"]) == (__version__, __version__)


def rules(documents: list[Json]) -> Iterator[Json]:
    for it in documents:
        yield from it.get("rules") or ()


@pytest.mark.parametrize("chosen", [{}, ALL_ON], ids=["usual", "all on"])
def test_no_role_allows_what_nobody_needs(chosen: Json) -> None:
    for rule in rules(made(**chosen)):
        for words in rule.values():
            assert "*" not in words
        assert not {"escalate", "bind", "impersonate"} & set(rule["verbs"])
        assert not {"pods/exec", "nodes/proxy"} & set(rule["resources"])
        if "secrets" in rule["resources"]:
            assert rule["verbs"] == ["get"]


def test_in_a_namespace_it_has_no_right_outside() -> None:
    documents = made()
    assert not any(it["kind"] == "ClusterRoleBinding" for it in documents)
    users = {it["metadata"]["name"] for it in documents if it["kind"] == "ClusterRole"}
    assert users == {"stateward:stateward:view", "stateward:stateward:edit"}
    spaces = {it["metadata"]["namespace"] for it in documents if it["kind"] == "RoleBinding"}
    assert spaces == {"stateward"}


def test_nodes_are_listed_where_that_is_asked_for_and_no_more() -> None:
    found = [it for it in rules(made(rbac={"nodes": True})) if "nodes" in it["resources"]]
    assert found == [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"]}]
    assert not [it for it in rules(made()) if "nodes" in it["resources"]]


def test_of_several_namespaces_each_has_a_role() -> None:
    documents = made(watch={"namespaces": ["shop", "bank"]})
    where = [
        (it["metadata"]["namespace"], it["metadata"]["name"])
        for it in documents
        if it["kind"] == "Role"
    ]
    assert where == [
        ("stateward", "stateward-leases"),
        ("shop", "stateward"),
        ("shop", "stateward-detection"),
        ("bank", "stateward"),
        ("bank", "stateward-detection"),
    ]
    (container,) = one("Deployment", documents)["spec"]["template"]["spec"]["containers"]
    said = {it["name"]: it["value"] for it in container["env"]}
    assert said["STATEWARD_NAMESPACE"] == "shop,bank"


def test_our_pod_passes_the_strictest_standard() -> None:
    spec = one("Deployment", made(**ALL_ON))["spec"]["template"]["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] > 10_000
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in spec["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["requests"]
    assert not any(spec.get(it) for it in ("hostNetwork", "hostPID", "hostIPC"))


def test_a_platform_may_choose_whom_we_run_as() -> None:
    numbers = dict.fromkeys(("runAsUser", "runAsGroup", "fsGroup"))
    spec = one("Deployment", made(podSecurityContext=numbers))["spec"]["template"]["spec"]
    assert spec["securityContext"] == {
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def test_what_looks_like_a_number_is_a_name() -> None:
    values = laid_over(chart.usual_values(), {"image": {"tag": "1e3"}, **ALL_ON})
    for namespace in ("123", "0x1f", "1e3"):
        made_there = chart.objects(Release("on", namespace), values)
        names = [
            it["metadata"][name]
            for it in made_there
            for name in ("name", "namespace")
            if name in it["metadata"]
        ]
        assert [it for it in names if not isinstance(it, str)] == []
        assert one("Deployment", made_there)["metadata"]["name"] == "on"
        (container,) = one("Deployment", made_there)["spec"]["template"]["spec"]["containers"]
        assert container["image"] == "stateward:1e3"


def test_definitions_stay_when_the_release_goes() -> None:
    kept = [it for it in made() if it["kind"] == "CustomResourceDefinition"]
    assert [it["metadata"]["annotations"] for it in kept] == [generated.KEPT] * 5


def test_alone_it_has_no_budget_that_would_keep_a_node_from_being_emptied() -> None:
    assert not any(it["kind"] == "PodDisruptionBudget" for it in made(replicas=1))


def test_every_function_that_we_have_is_called() -> None:
    from stateward.app.install.functions import _FUNCTIONS  # noqa: PLC0415

    text = "".join(it.read_text() for it in (DEPLOY / "chart" / "templates").iterdir())
    assert [name for name in _FUNCTIONS if name not in text] == []


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"watch": {"clusterWide": True}},
        {"watch": {"namespaces": ["a", "b"]}},
        {"serviceAccount": {"create": False, "name": "shared"}},
        {"rbac": {"create": False, "userRoles": False}},
        {"rbac": {"nodes": True}},
        {"rbac": {"nodes": True}, "products": {"foundationdb": False}},
    ],
    ids=str,
)
def test_people_are_told_how_to_remove_all_but_the_definitions(chosen: Json) -> None:
    values = laid_over(chart.usual_values(), chosen)
    said = chart.notes(Release("mine", "here"), values).replace("\\\n", " ")
    removed = set()
    for line in said.splitlines():
        if line.startswith("  kubectl delete --ignore-not-found "):
            words = line.split()[3:]
            space = words[1] if words[0] == "--namespace" else ""
            removed |= {(space, *word.split("/")) for word in words if "/" in word}
    there = {
        (it["metadata"].get("namespace", ""), it["kind"].lower(), it["metadata"]["name"])
        for it in chart.objects(Release("mine", "here"), values)
    }
    kept = {it for it in there if it[1] == "customresourcedefinition"}
    assert removed == there - kept
    assert "helm" not in said


@pytest.mark.parametrize(
    ("chosen", "first"),
    [
        ({}, "Stateward {} looks after etcd and FoundationDB clusters in: stateward."),
        (
            {"watch": {"clusterWide": True}},
            "Stateward {} looks after etcd and FoundationDB clusters in all namespaces.",
        ),
        (
            {"products": {"foundationdb": False}},
            "Stateward {} looks after etcd clusters in: stateward.",
        ),
        (
            {"products": {"etcd": False}},
            "Stateward {} looks after FoundationDB clusters in: stateward.",
        ),
    ],
)
def test_what_people_are_told(chosen: Json, first: str) -> None:
    said = chart.notes(Release(), laid_over(chart.usual_values(), chosen))
    assert said.splitlines()[0] == first.format(__version__)
    assert "kubectl --namespace stateward rollout status deployment/stateward" in said


def ran(documents: list[Json]) -> Json:
    spec: Json = one("Deployment", documents)["spec"]["template"]["spec"]
    return spec


def test_programs_of_foundationdb_are_copied_to_where_the_operator_looks() -> None:
    chosen = [{"version": "7.1.67"}, {"version": "7.3.79", "image": "mine/fdb:1"}]
    spec = ran(made(foundationdb={"binaries": chosen}))
    before = spec["initContainers"]
    assert [it["image"] for it in before] == [
        "foundationdb/fdb-kubernetes-monitor:7.1.67",
        "mine/fdb:1",
    ]
    for it in before:
        words = it["args"]
        copied = {words[at + 1] for at, word in enumerate(words) if word == "--copy-binary"}
        assert copied == {"fdbcli", "fdbbackup", "fdbrestore"}, "backups are looked after, too"
    libraries = [it["args"][it["args"].index("--copy-library") + 1] for it in before]
    assert libraries == ["7.1", "7.3"], "locks are keys, and these are read by the library"
    (volume,) = {it["volumeMounts"][0]["name"] for it in before}
    mounts = {it["name"]: it["mountPath"] for it in spec["containers"][0]["volumeMounts"]}
    assert mounts == {volume: FDB_BINARIES, "temporary": "/tmp"}
    assert {it["name"] for it in spec["volumes"]} == set(mounts)


def test_what_is_copied_lies_where_the_operator_looks_for_it(tmp_path: Path) -> None:
    image, out = tmp_path / "image", tmp_path / "out"
    image.mkdir()
    for name in ("fdbcli", "fdbbackup", "fdbrestore", "libfdb_c_7.3.so"):
        (image / name).write_text("#!/bin/sh")
        (image / name).chmod(0o755)
    (before,) = ran(made(foundationdb={"binaries": [{"version": "7.3.63"}]}))["initContainers"]
    (mount,) = (it["mountPath"] for it in before["volumeMounts"])
    words = [str(out) if it == mount else it for it in before["args"]]
    environment = os.environ | {keeper.PROGRAMS: str(image), keeper.VERSION: "7.3.63"}
    monitor = [sys.executable, "-m", kubernetes_monitor.__name__, *words]
    subprocess.run(monitor, env=environment, check=True, capture_output=True)
    found, version = Binaries((out,)), Version.parse("7.3.63")
    assert all(found.find(it, version) for it in ("fdbcli", "fdbbackup", "fdbrestore"))
    assert found.find_library(version) is not None


def test_without_foundationdb_there_is_nothing_of_it() -> None:
    documents = made(products={"foundationdb": False})
    spec = ran(documents)
    assert not {"initContainers", "volumes"} & spec.keys()
    rules = one("Role", documents, "stateward")["rules"]
    assert not any("apps.foundationdb.org" in it["apiGroups"] for it in rules)
    (environment,) = (it["env"] for it in spec["containers"])
    assert {"name": "STATEWARD_PRODUCT", "value": "etcd"} in environment


def test_the_operator_is_given_a_certificate_for_foundationdb() -> None:
    pod = one("Deployment", made(foundationdb={"tlsSecret": "fdb-operator"}))["spec"]["template"][
        "spec"
    ]

    [container] = pod["containers"]
    told = {it["name"]: it.get("value") for it in container["env"]}
    assert told["FDB_TLS_CERTIFICATE_FILE"] == "/etc/foundationdb-tls/tls.crt"
    assert told["FDB_TLS_KEY_FILE"] == "/etc/foundationdb-tls/tls.key"
    assert told["FDB_TLS_CA_FILE"] == "/etc/foundationdb-tls/ca.crt"
    assert {"name": "foundationdb-tls", "secret": {"secretName": "fdb-operator"}} in pod["volumes"]
    assert "foundationdb-tls" in [it["name"] for it in container["volumeMounts"]]
    usual = one("Deployment", made())["spec"]["template"]["spec"]
    assert "foundationdb-tls" not in str(usual)


def test_the_operator_is_given_credentials_of_blob_stores_and_may_reach_them() -> None:
    chosen = {
        "foundationdb": {"blobSecret": "stores"},
        "networkPolicy": {"blobStorePorts": [9000]},
    }
    documents = made(**chosen)
    pod = ran(documents)
    [container] = pod["containers"]
    told = {it["name"]: it.get("value") for it in container["env"]}
    mounts = {it["name"]: it["mountPath"] for it in container["volumeMounts"]}
    assert told["FDB_BLOB_CREDENTIALS"] == f"{mounts['foundationdb-blobs']}/credentials.json"
    assert {"name": "foundationdb-blobs", "secret": {"secretName": "stores"}} in pod["volumes"]
    out = one("NetworkPolicy", documents)["spec"]["egress"]
    assert {"ports": [{"protocol": "TCP", "port": 9000}]} in out
    assert "foundationdb-blobs" not in str(made())
    assert "foundationdb-blobs" not in str(made(**chosen, products={"foundationdb": False}))
    assert "9000" not in str(made(**chosen, products={"foundationdb": False}))


@pytest.mark.parametrize(
    ("values", "where"),
    [
        ({}, []),
        ({"watch": {"namespaces": ["stateward"]}}, []),
        ({"watch": {"namespaces": ["stateward", "shop"]}}, ["shop"]),
        ({"watch": {"namespaces": ["shop"]}, "products": {"foundationdb": False}}, []),
    ],
)
def test_jobs_beside_their_clusters_have_an_account(values: Json, where: list[str]) -> None:
    """In its own namespace the operator's account is there; elsewhere one with fewer rights."""
    documents = [it for it in made(**values) if it["metadata"].get("namespace") != "stateward"]
    accounts = [it for it in documents if it["kind"] == "ServiceAccount"]
    assert [it["metadata"]["namespace"] for it in accounts] == where
    bound = [it for it in documents if it["metadata"]["name"].endswith("-detection")]
    assert [it["metadata"].get("namespace") for it in bound if it["kind"] == "RoleBinding"] == where


def test_the_operator_is_told_its_own_image_and_account() -> None:
    documents = made(image={"repository": "registry.example.org/stateward", "tag": "1.2.3"})
    (container,) = one("Deployment", documents)["spec"]["template"]["spec"]["containers"]
    said = {it["name"]: it["value"] for it in container["env"]}
    assert said["STATEWARD_IMAGE"] == container["image"] == "registry.example.org/stateward:1.2.3"
    assert said["STATEWARD_SERVICE_ACCOUNT"] == one("ServiceAccount", documents)["metadata"]["name"]
