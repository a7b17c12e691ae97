"""The Deployment of backup agents: what is in it, by both layouts of images and by what users say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from stateward.fdb.api.backups.kinds import FoundationDBBackup
from stateward.fdb.api.defaults import normalized
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.build.backup_agents import Around, agents
from stateward.kube.codec import Json

BLOBS: Json = {
    "name": "foundationdb",
    "env": [{"name": "FDB_BLOB_CREDENTIALS", "value": "/var/blobs/credentials.json"}],
    "volumeMounts": [{"name": "blobs", "mountPath": "/var/blobs"}],
}


def around(*, tls: bool = False, **spec: Any) -> Around:
    said = msgspec.convert({"version": "7.3.63", **spec}, FoundationDBClusterSpec)
    return Around("shop", normalized(said), tls)


def made(cluster: Around | None = None, **spec: Any) -> Json:
    document = {
        "metadata": {"name": "nightly", "namespace": "prod", "uid": "u-1"},
        "spec": {"version": "7.3.63", "clusterName": "shop", "fileURL": "file:///b", **spec},
    }
    found = agents(msgspec.convert(document, FoundationDBBackup), cluster or around())
    assert found is not None
    return found


def pod(found: Json) -> Json:
    spec: Json = found["spec"]["template"]["spec"]
    return spec


def variables(container: Json) -> dict[str, str]:
    return {it["name"]: it.get("value", "") for it in container["env"]}


@pytest.mark.parametrize(
    ("kind", "main", "first", "words"),
    [
        (
            "unified",
            "foundationdb/fdb-kubernetes-monitor:7.3.63",
            "foundationdb/fdb-kubernetes-monitor:7.3.63",
            ["--mode", "init"],
        ),
        (
            "split",
            "foundationdb/foundationdb:7.3.63",
            "foundationdb/foundationdb-kubernetes-sidecar:7.3.63-1",
            ["--init-mode"],
        ),
    ],
)
def test_both_layouts_copy_the_cluster_file_and_run_an_agent(
    kind: str, main: str, first: str, words: list[str]
) -> None:
    found = pod(made(imageType=kind, dataCenter="dc1", customParameters=["knob_a = 1"]))
    (agent,), (init,) = found["containers"], found["initContainers"]
    assert (agent["image"], init["image"]) == (main, first)
    assert agent["command"] == ["backup_agent"]
    assert agent["args"][-2:] == ["--locality_dcid=dc1", "--knob_a=1"]
    assert "--locality_zoneid=$(FDB_ZONE_ID)" in agent["args"]
    assert init["args"][: len(words)] == words
    assert init["args"][-4:] == ["--copy-file", "fdb.cluster", "--require-not-empty", "fdb.cluster"]
    assert agent["resources"]["requests"] == {"cpu": "1", "memory": "8Gi"}
    (config, *_) = found["volumes"]
    assert config["configMap"]["name"] == "shop-config"


def test_the_layout_and_the_images_are_the_cluster_s_where_nobody_says() -> None:
    images = [{"baseImage": "registry.example.org/fdb"}]
    cluster = around(imageType="split", mainContainer={"imageConfigs": images})
    assert pod(made(cluster))["containers"][0]["image"] == "registry.example.org/fdb:7.3.63"
    other = pod(made(cluster, imageType="unified"))
    assert other["containers"][0]["image"] == "foundationdb/fdb-kubernetes-monitor:7.3.63"


def test_what_a_user_says_of_a_pod_stands() -> None:
    beside = {"name": "beside", "image": "x:1"}
    volumes = [{"name": "blobs", "secret": {"secretName": "s"}}]
    template = {
        "metadata": {"labels": {"team": "db"}, "annotations": {"a": "b"}},
        "spec": {
            "containers": [BLOBS, beside],
            "volumes": volumes,
            "nodeSelector": {"disk": "hdd"},
        },
    }
    found = made(podTemplateSpec=template, backupDeploymentMetadata={"labels": {"l": "1"}})
    inner = pod(found)
    agent, other = inner["containers"]
    assert variables(agent)["FDB_BLOB_CREDENTIALS"] == "/var/blobs/credentials.json"
    assert {it["name"] for it in agent["volumeMounts"]} == {"logs", "dynamic-conf", "blobs"}
    assert other == beside
    assert inner["nodeSelector"] == {"disk": "hdd"}
    assert volumes[0] in inner["volumes"]
    labels = found["spec"]["template"]["metadata"]["labels"]
    selector = found["spec"]["selector"]["matchLabels"]
    assert labels == {"team": "db", **selector}
    assert found["metadata"]["labels"]["l"] == "1"
    assert found["metadata"]["labels"]["foundationdb.org/backup-for"] == "u-1"


def test_with_tls_agents_have_the_cluster_s_certificates_unless_they_have_their_own() -> None:
    main = {
        "name": "foundationdb",
        "env": [
            {"name": "FDB_TLS_KEY_FILE", "value": "/certs/key"},
            {"name": "OTHER", "value": "1"},
        ],
        "volumeMounts": [
            {"name": "certs", "mountPath": "/certs"},
            {"name": "x", "mountPath": "/x"},
        ],
    }
    volumes = [{"name": "certs", "secret": {"secretName": "c"}}, {"name": "x", "emptyDir": {}}]
    spec = {"containers": [main], "volumes": volumes}
    processes = {"general": {"podTemplate": {"spec": spec}}}
    cluster = around(tls=True, processes=processes, trustedCAs=["-----BEGIN CERTIFICATE-----"])
    found = pod(made(cluster))
    (agent,) = found["containers"]
    told = variables(agent)
    assert told["FDB_TLS_KEY_FILE"] == "/certs/key"
    assert told["FDB_TLS_CA_FILE"].endswith("/ca.pem")
    assert "OTHER" not in told
    assert {it["name"] for it in found["volumes"]} >= {"certs", "config-map"}
    own = {"name": "foundationdb", "env": [{"name": "FDB_TLS_KEY_FILE", "value": "/own/key"}]}
    template = {"spec": {"containers": [own]}}
    (agent,) = pod(made(cluster, podTemplateSpec=template))["containers"]
    assert variables(agent)["FDB_TLS_KEY_FILE"] == "/own/key"
    assert "certs" not in {it["name"] for it in agent["volumeMounts"]}


def test_a_change_is_seen_by_the_hash_and_no_agents_are_no_deployment() -> None:
    one, same, other = made(), made(), made(customParameters=["knob_a=2"])
    hashes = [
        it["metadata"]["annotations"]["foundationdb.org/last-applied-spec"] for it in (one, same)
    ]
    assert hashes[0] == hashes[1]
    assert one == same
    assert other["metadata"]["annotations"] != one["metadata"]["annotations"]
    assert made(agentCount=5)["spec"]["replicas"] == 5
    document = {
        "metadata": {"name": "n", "namespace": "p", "uid": "u"},
        "spec": {"version": "7.3.63", "clusterName": "shop", "agentCount": 0},
    }
    assert agents(msgspec.convert(document, FoundationDBBackup), around()) is None


def test_agents_of_a_cluster_that_was_made_anew_start_anew() -> None:
    one, other = (replace(around(), uid=it) for it in ("c1", "c2"))
    assert made(one) == made(one)
    assert made(one)["spec"]["template"] != made(other)["spec"]["template"]
    assert made(one)["spec"]["selector"] == made(other)["spec"]["selector"]
