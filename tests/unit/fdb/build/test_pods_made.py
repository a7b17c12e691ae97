"""Pods of process groups: what of them is ours, what is the user's, and when one is another."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.fdb_compatible import COMPATIBLE
from operators.fdb_manifests import main, processes, says, spec
from operators.fdb_manifests import pod as pod_template
from stateward.fdb.api.group import FoundationDBProcessGroupSpec
from stateward.fdb.build.claim import claim, claim_hash
from stateward.fdb.build.pod import pod, pod_hash
from stateward.fdb.model import names
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.names import ProcessGroupID
from stateward.kube.codec import Json, encode
from unit.fdb.build.clusters import cluster, container, env, group, wanted

SIDECAR, INIT = names.SIDECAR_CONTAINER, names.INIT_CONTAINER
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
ALLOWED = {"key": "foundationdb.org/no-schedule-allowed", "operator": "In", "values": ["true"]}


def made(name: str = "storage-1", **said: Any) -> Json:
    return pod(group(cluster(**said), name))


def mounts(document: Json, name: str = names.MAIN_CONTAINER) -> dict[str, str]:
    return {it["mountPath"]: it["name"] for it in container(document, name)["volumeMounts"]}


def volumes(document: Json) -> dict[str, Json]:
    return {it["name"]: it for it in document["spec"]["volumes"]}


# ------------------------------------------------------------------ a first picture of each layout
def test_a_pod_of_unified_images() -> None:
    found = made()

    assert found["metadata"]["name"] == "shop-storage-1"
    assert found["metadata"]["namespace"] == "prod"
    assert says(
        found["metadata"]["labels"],
        {
            names.CLUSTER_LABEL: "shop",
            names.CLASS_LABEL: "storage",
            names.GROUP_ID_LABEL: "storage-1",
        },
    )
    (owner,) = found["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("FoundationDBProcessGroup", "group-uid")
    assert owner["controller"]
    assert owner["blockOwnerDeletion"]
    assert (found["spec"]["hostname"], found["spec"]["subdomain"]) == ("shop-storage-1", "shop")
    assert "initContainers" not in found["spec"]
    assert mounts(found) == {
        "/var/fdb/data": "data",
        "/var/dynamic-conf": "config-map",
        "/var/fdb/shared-binaries": "shared-binaries",
        "/var/log/fdb-trace-logs": "fdb-trace-logs",
    }
    assert volumes(found)["data"]["persistentVolumeClaim"] == {"claimName": "shop-storage-1-data"}
    assert volumes(found)["config-map"]["configMap"] == {
        "name": "shop-config",
        "items": [
            {"key": "cluster-file", "path": "fdb.cluster"},
            {"key": "fdbmonitor-conf-storage-json", "path": "config.json"},
        ],
    }
    one, other = container(found), container(found, SIDECAR)
    assert one["image"] == other["image"] == "foundationdb/fdb-kubernetes-monitor:7.3.63"
    assert other["args"][:2] == ["--mode", "sidecar"]
    assert one["securityContext"] == other["securityContext"] == {"readOnlyRootFilesystem": True}


def test_a_pod_of_split_images() -> None:
    found = made(imageType="split", trustedCAs=["PEM"], storageServersPerPod=2)

    assert container(found)["image"] == "foundationdb/foundationdb:7.3.63"
    assert container(found)["command"][:2] == ["sh", "-c"]
    assert container(found)["command"][2].startswith(
        "exec fdbmonitor --conffile /var/dynamic-conf/"
    )
    assert mounts(found)["/var/dynamic-conf"] == "dynamic-conf"
    for name in (SIDECAR, INIT):
        assert (
            container(found, name)["image"]
            == "foundationdb/foundationdb-kubernetes-sidecar:7.3.63-1"
        )
        assert mounts(found, name) == {
            "/var/input-files": "config-map",
            "/var/output-files": "dynamic-conf",
        }
        assert env(found, name)["FDB_INSTANCE_ID"] == "storage-1"
        assert env(found, name)["FDB_TLS_CA_FILE"] == "/var/input-files/ca.pem"
        assert env(found, name)["STORAGE_SERVERS_PER_POD"] == "2"
    args = container(found, SIDECAR)["args"]
    assert container(found, INIT)["args"] == [*args, "--init-mode"]
    assert args[-2:] == ["--substitute-variable", "FDB_DNS_NAME"]
    assert container(found, SIDECAR)["livenessProbe"]["tcpSocket"] == {"port": 8080}
    assert "livenessProbe" not in container(found, INIT)
    keys = {it["path"]: it["key"] for it in volumes(found)["config-map"]["configMap"]["items"]}
    assert keys["fdbmonitor.conf"] == "fdbmonitor-conf-storage-density-2"
    assert keys["ca.pem"] == "ca-file"


def test_variables_of_a_server() -> None:
    found = env(made(trustedCAs=["PEM"], logGroup="mine", logServersPerPod=3), names.MAIN_CONTAINER)
    assert found == {
        "FDB_INSTANCE_ID": "storage-1",
        "FDB_CLUSTER_FILE": "/var/dynamic-conf/fdb.cluster",
        "FDB_TLS_CA_FILE": "/var/dynamic-conf/ca.pem",
        "FDB_NETWORK_OPTION_TRACE_LOG_GROUP": "mine",
        "FDB_NETWORK_OPTION_TRACE_ENABLE": "/var/log/fdb-trace-logs",
        "FDB_POD_NAME": "metadata.name",
        "FDB_POD_NAMESPACE": "metadata.namespace",
        "FDB_NODE_NAME": "spec.nodeName",
        "FDB_PUBLIC_IP": "status.podIP",
        "FDB_POD_IP": "status.podIP",
        "FDB_MACHINE_ID": "spec.nodeName",
        "FDB_ZONE_ID": "spec.nodeName",
        "FDB_DNS_NAME": "$(FDB_POD_NAME).shop.prod.svc.cluster.local",
    }


def test_a_pod_with_several_processes_is_told_how_many() -> None:
    args = container(made("log-1", logServersPerPod=3))["args"]
    assert args[-2:] == ["--process-count", "3"]
    assert "--process-count" not in container(made("log-1"))["args"]


def test_what_differs_by_routing() -> None:
    found = made(routing={"podIPFamily": 6, "publicIPSource": "service"})
    assert env(found)["FDB_POD_IP"] == "status.podIPs"
    assert env(found)["FDB_PUBLIC_IP"] == "metadata.annotations['foundationdb.org/public-ip']"
    assert found["metadata"]["annotations"][names.IP_FAMILY] == "6"
    assert found["metadata"]["annotations"][names.PUBLIC_IP_SOURCE] == "service"
    nameless = made(routing={"useDNSInClusterFile": False})
    assert "subdomain" not in nameless["spec"]
    assert "FDB_DNS_NAME" not in env(nameless)


def test_the_address_of_a_service_is_no_part_of_what_a_pod_is() -> None:
    one = group(cluster(routing={"publicIPSource": "service"}))
    found = pod(one, "10.9.0.1")["metadata"]["annotations"]
    assert found[names.PUBLIC_IP] == "10.9.0.1"
    assert found[names.SPEC_HASH] == pod_hash(one)
    assert names.PUBLIC_IP not in pod(group(cluster()), "10.9.0.1")["metadata"]["annotations"]


# ------------------------------------------------------------------ what users say
def test_users_win_name_by_name() -> None:
    said = main(
        image="registry.example.org/fdb",
        env=[{"name": "FDB_ZONE_ID", "value": "z"}, {"name": "MINE", "value": "1"}],
        volumeMounts=[{"name": "fdb-trace-logs", "mountPath": "/logs"}],
        securityContext={"readOnlyRootFilesystem": False, "runAsUser": 1},
        args=["--enable-node-watch"],
        livenessProbe={"exec": {"command": ["true"]}},
    )
    other = {"name": "beside", "image": "x:1"}
    template = said["processes"]["general"]["podTemplate"]["spec"]
    template["containers"].append(other)
    template["volumes"] = [{"name": "fdb-trace-logs", "hostPath": {"path": "/l"}}]
    found = pod(group(wanted(said)))

    assert env(found)["FDB_ZONE_ID"] == "z"
    assert env(found)["MINE"] == "1"
    assert mounts(found)["/logs"] == "fdb-trace-logs"
    assert "/var/log/fdb-trace-logs" not in mounts(found)
    assert volumes(found)["fdb-trace-logs"] == template["volumes"][0]
    assert container(found)["image"] == "registry.example.org/fdb:7.3.63"
    assert container(found)["securityContext"] == {"readOnlyRootFilesystem": False, "runAsUser": 1}
    assert container(found)["args"][-1] == "--enable-node-watch"
    assert container(found)["livenessProbe"] == {"exec": {"command": ["true"]}}
    assert container(found, "beside") == other


def test_nobody_else_says_who_a_pod_is() -> None:
    found = pod(group(wanted(main(env=[{"name": "FDB_INSTANCE_ID", "value": "x"}]))))
    assert env(found)["FDB_INSTANCE_ID"] == "storage-1"


def test_a_variable_of_arguments_reaches_the_sidecar() -> None:
    said = main(env=[{"name": "RACK", "value": "r7"}, {"name": "OTHER", "value": "1"}])
    said |= {"imageType": "split", "faultDomain": {"key": "a.b/rack", "valueFrom": "$RACK"}}
    found = pod(group(wanted(said)))
    assert env(found, INIT)["RACK"] == "r7"
    assert "OTHER" not in env(found, INIT)
    assert "RACK" in container(found, SIDECAR)["args"]
    assert "FDB_ZONE_ID" not in env(found)


def test_labels_and_annotations_of_a_template() -> None:
    said = {"labels": {"team": "data", names.CLUSTER_LABEL: "x"}, "annotations": {"a/b": "c"}}
    found = pod(group(wanted(processes(podTemplate={"metadata": {"name": "no", **said}}))))
    assert found["metadata"]["name"] == "shop-storage-1"
    assert found["metadata"]["labels"]["team"] == "data"
    assert found["metadata"]["labels"][names.CLUSTER_LABEL] == "shop"
    assert found["metadata"]["annotations"]["a/b"] == "c"


# ------------------------------------------------------------------ versions
#: What runs, what is asked for; the images of fdbserver and of the container beside it.
VERSIONS = {
    "nothing changes": ("7.3.63", "7.3.63", "7.3.63", "7.3.63"),
    "a patch": ("7.3.43", "7.3.63", "7.3.63", "7.3.63"),
    "the next line, before all are told to": ("7.1.61", "7.3.63", "7.1.61", "7.3.63"),
    "back to an older patch": ("7.3.63", "7.3.43", "7.3.43", "7.3.43"),
}


@pytest.mark.parametrize("layout", ["unified", "split"])
@pytest.mark.parametrize("name", VERSIONS)
def test_images_while_versions_change(name: str, layout: str) -> None:
    now, asked, one, beside = VERSIONS[name]
    found = pod(group(wanted({"version": asked, "imageType": layout}, running=now)))
    assert container(found)["image"].endswith(f":{one}")
    assert container(found, SIDECAR)["image"].removesuffix("-1").endswith(f":{beside}")
    args = container(found, SIDECAR)["args"]
    assert args[args.index("--main-container-version") + 1] == one


# ------------------------------------------------------------------ where pods go
def test_pods_of_a_class_would_rather_not_share_a_node() -> None:
    mine = {"podAntiAffinity": {PREFERRED: [{"weight": 9}], REQUIRED: [{"topologyKey": "x"}]}}
    found = pod(group(wanted(pod_template(affinity=mine))))["spec"]["affinity"]["podAntiAffinity"]
    assert found[REQUIRED] == [{"topologyKey": "x"}]
    first, ours = found[PREFERRED]
    assert first == {"weight": 9}
    assert ours["podAffinityTerm"]["topologyKey"] == "kubernetes.io/hostname"
    labels = ours["podAffinityTerm"]["labelSelector"]["matchLabels"]
    assert labels == {names.CLUSTER_LABEL: "shop", names.CLASS_LABEL: "storage"}


def test_no_node_is_better_where_nodes_are_no_zones() -> None:
    assert "affinity" not in made(faultDomain={"key": "foundationdb.org/none"})["spec"]


# ------------------------------------------------------------------ faults that are asked for
def test_a_pod_that_finds_no_node() -> None:
    terms = [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {"matchFields": []}]
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}
    said = pod_template(affinity=affinity) | {"buggify": {"noSchedule": ["storage-1"]}}
    of = wanted(said)
    found = pod(group(of))["spec"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    assert all(it["matchExpressions"][-1] == ALLOWED for it in found)
    assert len(found) == 2
    assert "podAntiAffinity" in pod(group(of))["spec"]["affinity"]
    other = pod(group(of, "storage-2"))["spec"]["affinity"]["nodeAffinity"]
    assert other == affinity["nodeAffinity"]
    bare = made(buggify={"noSchedule": ["*"]})["spec"]["affinity"]["nodeAffinity"]
    assert bare == {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [ALLOWED]}]}}


def test_a_container_that_does_not_start() -> None:
    loops = [{"containerName": it, "targets": ["storage-1"]} for it in (INIT, SIDECAR)]
    of = cluster(imageType="split", buggify={"crashLoopContainers": loops})
    for name in (INIT, SIDECAR):
        found = container(pod(group(of)), name)
        assert (found["command"], found["args"]) == (["crash-loop"], ["crash-loop"])
        assert "command" not in container(pod(group(of, "storage-2")), name)
    assert container(pod(group(of)))["command"][0] == "sh"


# ------------------------------------------------------------------ claims
def test_a_claim() -> None:
    said = {
        "metadata": {"name": "ignored", "labels": {"tier": "fast"}, "annotations": {"a": "b"}},
        "spec": {"storageClassName": "fast", "resources": {"requests": {"storage": "1Ti"}}},
    }
    one = group(wanted(processes(volumeClaimTemplate=said)))
    found = claim(one, {"uid": "cluster-uid"})
    assert found is not None
    assert found["metadata"]["name"] == "shop-storage-1-data"
    assert found["metadata"]["labels"]["tier"] == "fast"
    assert found["metadata"]["labels"][names.CLUSTER_UID_LABEL] == "cluster-uid"
    assert found["metadata"]["labels"][names.GROUP_ID_LABEL] == "storage-1"
    assert found["metadata"]["annotations"] == {"a": "b", names.SPEC_HASH: claim_hash(one)}
    assert found["metadata"]["ownerReferences"] == [{"uid": "cluster-uid"}]
    assert found["spec"] == said["spec"] | {"accessModes": ["ReadWriteOnce"]}
    alone = claim(one, None)
    assert alone is not None
    assert "ownerReferences" not in alone["metadata"]


@pytest.mark.parametrize(
    ("name", "size"), [("stateless-1", "1G"), ("storage-1", "0"), ("cluster_controller-1", "1G")]
)
def test_data_that_lies_in_its_pod_only(name: str, size: str) -> None:
    said = {"spec": {"resources": {"requests": {"storage": size}}}}
    one = group(wanted(processes(volumeClaimTemplate=said)), name)
    assert claim(one, None) is None
    assert claim_hash(one) == ""
    assert volumes(pod(one))["data"] == {"name": "data", "emptyDir": {}}


# ------------------------------------------------------------------ laws
SAID = st.fixed_dictionaries(
    {},
    optional={
        "imageType": st.sampled_from(["unified", "split"]),
        "storageServersPerPod": st.integers(1, 3),
        "logGroup": st.sampled_from(["a", "b"]),
        "trustedCAs": st.just(["PEM"]),
        "dataCenter": st.sampled_from(["dc1", "dc2"]),
        "processGroupIDPrefix": st.sampled_from(["dc1", "dc2"]),
        "processes": st.sampled_from(
            [main(env=[{"name": "A", "value": it}])["processes"] for it in ("1", "2")]
        ),
        "sidecarContainer": st.sampled_from([{"enableTls": True}, {"enableLivenessProbe": False}]),
        "routing": st.sampled_from([{"podIPFamily": 6}, {"publicIPSource": "service"}]),
    },
)
CLASSES = st.sampled_from(["storage", "log", "stateless", "cluster_controller"])


@given(SAID, CLASSES, st.integers(1, 9), st.integers(1, 9))
@settings(max_examples=100, deadline=None)
def test_groups_of_a_class_are_made_from_the_same(said: Json, kind: str, a: int, b: int) -> None:
    of, again = cluster(**said), cluster(**said)
    one, other = group(of, f"{kind}-{a}"), group(again, f"{kind}-{b}")
    assert one.spec.process_settings == other.spec.process_settings
    assert (pod_hash(one) == pod_hash(other)) is (a == b)
    assert claim_hash(one) == claim_hash(other)
    read = msgspec.json.decode(encode(one.spec), type=FoundationDBProcessGroupSpec)
    assert read == one.spec  # what was written and read is no change


@given(SAID, SAID)
@settings(max_examples=100, deadline=None)
def test_a_pod_is_another_when_its_spec_is(one: Json, other: Json) -> None:
    first, second = (group(cluster(**it)) for it in (one, other))
    is_same = pod(first)["spec"] == pod(second)["spec"]
    assert (pod_hash(first) == pod_hash(second)) is is_same


def test_a_pod_is_the_same_while_a_cluster_begins_and_turns_to_tls() -> None:
    how: list[Json] = [{}, {"connection": None}, {"tls": True}, {"tls": True, "plain": False}]
    assert len({pod_hash(group(wanted(spec(imageType="split"), **it))) for it in how}) == 1


def test_settings_are_made_once() -> None:
    of = cluster()
    assert of.settings(ProcessClass.LOG) is of.settings(ProcessClass.LOG)
    assert of.group(ProcessGroupID(ProcessClass.LOG, 1)).process_settings is of.settings(
        ProcessClass.LOG
    )


def test_building_changes_no_template() -> None:
    of = cluster(imageType="split", buggify={"noSchedule": ["*"]})
    before = encode(of.spec)
    for name in ("storage-1", "storage-2", "stateless-1"):
        pod(group(of, name))
    assert encode(of.spec) == before


@pytest.mark.parametrize("title", COMPATIBLE)
@pytest.mark.parametrize("kind", ProcessClass)
def test_every_manifest_gives_pods(title: str, kind: ProcessClass) -> None:
    one = group(wanted(COMPATIBLE[title]), f"{kind}-1")
    found = pod(one)
    mounted = {
        mount["name"]
        for name in ("containers", "initContainers")
        for it in found["spec"].get(name, ())
        for mount in it.get("volumeMounts", ())
    }
    assert mounted <= volumes(found).keys()
    assert all(":" in it["image"] for it in found["spec"]["containers"])
