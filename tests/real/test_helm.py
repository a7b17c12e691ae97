"""Helm makes of our chart what we make of it, and refuses what we refuse."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from stateward.app.install import chart
from stateward.app.install.choices import laid_over
from stateward.kube.codec import Json, decode_json, encode
from stateward.local.real import programs

ARGUMENTS = ("template", "rel", str(chart.home()), "--namespace", "ns")

CHOICES: dict[str, Json] = {
    "usual": {},
    "everywhere": {"watch": {"clusterWide": True, "selector": "fleet=blue"}},
    "two namespaces": {"watch": {"namespaces": ["a", "b"]}},
    "alone": {"replicas": 1, "image": {"digest": f"sha256:{'0' * 64}"}},
    "no metrics": {"metrics": {"enabled": False}},
    "monitored": {"metrics": {"serviceMonitor": {"enabled": True, "labels": {"team": "db"}}}},
    "placed": {
        "rescueVolume": {"persistentVolumeClaim": {"claimName": "rescue"}},
        "tolerations": [{"operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "nodeSelector": {"disk": "ssd"},
        "topologySpreadConstraints": [{"maxSkew": 2, "topologyKey": "zone"}],
        "priorityClassName": "system-cluster-critical",
        "podLabels": {"number": "1"},
        "podAnnotations": {"note": 'say "hi"'},
        "resources": {"limits": {"memory": "1Gi"}},
    },
    "by hand": {
        "serviceAccount": {"create": False, "name": "mine"},
        "rbac": {"create": False, "userRoles": False},
        "crds": {"install": False},
        "networkPolicy": {"enabled": False},
        "podDisruptionBudget": {"enabled": False},
        "imagePullSecrets": [{"name": "key"}],
    },
    "let be": {
        "podSecurityContext": dict.fromkeys(("runAsUser", "runAsGroup", "fsGroup")),
        "networkPolicy": {"dnsPorts": [53, 5353], "apiServerPorts": [8443]},
        "watch": {"selector": "x.y/a in (b, c), !d"},
    },
    "etcd alone": {"products": {"foundationdb": False}},
    "foundationdb alone": {
        "products": {"etcd": False},
        "foundationdb": {
            "binaries": [{"version": "7.1.67"}, {"version": "7.3.79", "image": "x/y"}],
            "blobSecret": "stores",
        },
        "networkPolicy": {"blobStorePorts": [9000, 8333]},
        "rescueVolume": {"emptyDir": {}},
    },
    "foundationdb without programs": {"foundationdb": {"binaries": []}},
    "named": {"serviceAccount": {"name": "me", "annotations": {"role": "arn:x"}}},
}


def helm(*words: str) -> subprocess.CompletedProcess[str]:
    found = programs.find(programs.HELM, "helm")
    assert found is not None, "`make real` obtains helm"
    release = f"{programs.KUBERNETES.release}.0"
    command = [str(found.path), *words, "--kube-version", release]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def rendered(values: Json, folder: Path) -> subprocess.CompletedProcess[str]:
    file = folder / "values.yaml"
    file.write_text(yaml.safe_dump(values))
    return helm(*ARGUMENTS, "--values", str(file))


def by_name(documents: list[Json]) -> dict[tuple[str, ...], Json]:
    return {
        (it["kind"], it["metadata"].get("namespace", ""), it["metadata"]["name"]): it
        for it in documents
    }


@pytest.mark.parametrize("name", CHOICES)
def test_we_render_what_helm_renders(real_programs: None, name: str, tmp_path: Path) -> None:
    ended = rendered(CHOICES[name], tmp_path)
    assert ended.returncode == 0, ended.stderr
    # Who installs is the only thing that differs.
    text = ended.stdout.replace("managed-by: Helm", "managed-by: stateward")
    theirs = [it for it in yaml.safe_load_all(text) if it]

    values = laid_over(chart.usual_values(), CHOICES[name])
    ours = chart.objects(chart.Release("rel", "ns"), values)
    assert by_name(ours) == by_name(decode_json(encode(theirs)))
    assert len(ours) == len(theirs)


@pytest.mark.parametrize(
    "values",
    [
        {"replcas": 2},
        {"replicas": 0},
        {"replicas": "two"},
        {"image": {"digest": "sha256:1"}},
        {"image": {"pullPolicy": "Often"}},
        {"watch": {"namespaces": ["Shop"]}},
        {"podLabels": {"a": 1}},
        {"products": {"etcd": False, "foundationdb": False}},
        {"foundationdb": {"binaries": [{"image": "x"}]}},
        {"foundationdb": {"binaries": [{"version": "7.3"}]}},
        {"watch": None},
        {"image": {"tag": None}},
        {"watch": {"selector": "a=b=c"}},
        {"watch": {"clusterWide": True, "namespaces": ["a"]}},
        {"metrics": {"enabled": False, "serviceMonitor": {"enabled": True}}},
        {"podLabels": {"app.kubernetes.io/name": "x"}},
        {"rescueVolume": {"name": "x"}},
        {"rescueVolume": {"emptyDir": {}, "nfs": {}}},
        {"networkPolicy": {"dnsPorts": []}},
        {"serviceAccount": {"create": False}},
        {"image": {"tag": "a b"}},
        {"image": {"repository": "Foo/Bar"}},
    ],
    ids=str,
)
def test_helm_refuses_what_we_refuse(real_programs: None, values: Json, tmp_path: Path) -> None:
    assert rendered(values, tmp_path).returncode != 0


def test_helm_takes_numbers_for_names(real_programs: None) -> None:
    ended = helm("template", "on", str(chart.home()), "--namespace", "123")
    assert ended.returncode == 0, ended.stderr
    theirs = [decode_json(encode(it)) for it in yaml.safe_load_all(ended.stdout) if it]
    ours = chart.objects(chart.Release("on", "123"), chart.usual_values())
    assert by_name(theirs).keys() == by_name(ours).keys()
    refused = helm("template", "7", str(chart.home()))
    assert "must begin with a letter" in refused.stderr


def test_helm_has_no_complaint(real_programs: None) -> None:
    ended = helm("lint", "--strict", str(chart.home()))
    assert ended.returncode == 0, ended.stdout
