"""What stands around the pods of a cluster: services, and the config map."""

from __future__ import annotations

import json
from typing import Any

from operators.fdb_manifests import spec
from stateward.fdb.api.processes import ImageType
from stateward.fdb.build.config_map import conf_text, config_map, files_hash
from stateward.fdb.build.groups import group_document
from stateward.fdb.build.services import group_service, headless_service
from stateward.fdb.model import names
from stateward.fdb.model.classes import ProcessClass
from stateward.kube.codec import Json
from unit.fdb.build.clusters import CONNECTION, cluster, group, wanted

STORAGE, LOG = ProcessClass.STORAGE, ProcessClass.LOG
ALL: list[tuple[ProcessClass, int, ImageType]] = [
    (STORAGE, 1, "unified"),
    (STORAGE, 1, "split"),
    (STORAGE, 2, "split"),
    (LOG, 1, "unified"),
]


def made(**said: Any) -> Json:
    return config_map(cluster(**said), ALL)


def test_a_config_map_has_a_text_for_every_class_in_use() -> None:
    found = made()
    assert found["metadata"]["name"] == "shop-config"
    assert found["metadata"]["labels"]["stateward.dev/cluster-uid"] == "cluster-uid"
    assert set(found["data"]) == {
        "cluster-file",
        "running-version",
        "sidecar-conf",
        "fdbmonitor-conf-storage-json",
        "fdbmonitor-conf-storage",
        "fdbmonitor-conf-storage-density-2",
        "fdbmonitor-conf-log-json",
    }
    assert found["data"]["cluster-file"] == str(CONNECTION)
    assert found["data"]["running-version"] == "7.3.63"
    assert json.loads(found["data"]["sidecar-conf"])["COPY_FILES"] == ["fdb.cluster"]


def test_a_config_map_goes_with_its_cluster_only_where_volumes_do() -> None:
    assert "ownerReferences" not in made()["metadata"]
    (owner,) = made(deletionPolicy="Delete")["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("FoundationDBCluster", "cluster-uid")


def test_the_config_map_says_what_runs_and_its_texts_what_shall() -> None:
    found = config_map(wanted(spec(), running="7.1.61"), ALL)["data"]
    assert found["running-version"] == "7.1.61"
    assert json.loads(found["fdbmonitor-conf-log-json"])["version"] == "7.3.63"


def test_without_a_database_there_is_an_empty_cluster_file() -> None:
    assert config_map(wanted(spec(), connection=None), ALL)["data"]["cluster-file"] == ""


def test_authorities_are_one_file() -> None:
    found = made(trustedCAs=["one\n", "two"])["data"]
    assert found["ca-file"] == "one\ntwo\n"
    assert "ca.pem" in json.loads(found["sidecar-conf"])["COPY_FILES"]


def test_users_may_add_to_the_config_map_but_not_change_it() -> None:
    template = {
        "metadata": {"name": "no", "labels": {"a": "b", names.CLUSTER_LABEL: "x"}, "annotations": {"c": "d"}},
        "data": {"mine": "yes", "cluster-file": "evil", "fdbmonitor-conf-router": "old"},
        "binaryData": {"bytes": "eA==", "ca-file": "eA=="},
    }  # fmt: skip
    found = made(configMap=template)
    assert found["metadata"]["name"] == "shop-config"
    assert found["metadata"]["labels"]["a"] == "b"
    assert found["metadata"]["labels"][names.CLUSTER_LABEL] == "shop"
    assert found["metadata"]["annotations"] == {"c": "d"}
    assert found["data"]["mine"] == "yes"
    assert found["data"]["cluster-file"] == str(CONNECTION)
    assert "fdbmonitor-conf-router" not in found["data"]
    assert found["binaryData"] == {"bytes": "eA=="}


def test_a_group_finds_its_text() -> None:
    data = made()["data"]
    one, other = (group(cluster(imageType=it)).spec for it in ("split", "unified"))
    two = group(cluster(imageType="split", storageServersPerPod=2)).spec
    assert conf_text(data, one) == data["fdbmonitor-conf-storage"]
    assert conf_text(data, two) == data["fdbmonitor-conf-storage-density-2"]
    assert conf_text(data, other) == data["fdbmonitor-conf-storage-json"]
    assert conf_text({}, one) is None


def test_files_are_others_when_one_that_is_copied_is() -> None:
    one = group(cluster(imageType="split")).spec
    data = made()["data"]
    same = data | {"fdbmonitor-conf-log-json": "", "running-version": "1", "mine": "x"}
    assert files_hash(data, one) == files_hash(same, one)
    for key in ("cluster-file", "ca-file", "fdbmonitor-conf-storage"):
        assert files_hash(data, one) != files_hash(data | {key: "x"}, one)


# ------------------------------------------------------------------ services
def test_the_service_that_gives_names() -> None:
    found = headless_service(cluster())
    assert found["metadata"]["name"] == "shop"
    assert found["spec"]["clusterIP"] == "None"
    assert found["spec"]["publishNotReadyAddresses"] is True
    assert found["spec"]["selector"] == {names.CLUSTER_LABEL: "shop"}
    ports = {it["name"]: it["port"] for it in found["spec"]["ports"]}
    assert ports == {"tls": 4500, "fdb": 4501}
    six = headless_service(cluster(routing={"podIPFamily": 6}))
    assert six["spec"]["ipFamilies"] == ["IPv6"]


def test_the_service_of_a_group_has_ports_for_all_its_processes() -> None:
    of = cluster(routing={"publicIPSource": "service"}, logServersPerPod=2)
    found = group_service(group(of, "log-3"))
    assert found is not None
    assert found["metadata"]["name"] == "shop-log-3"
    assert found["metadata"]["ownerReferences"][0]["kind"] == "FoundationDBProcessGroup"
    assert [it["port"] for it in found["spec"]["ports"]] == [4500, 4501, 4502, 4503]
    assert len({it["name"] for it in found["spec"]["ports"]}) == 4
    assert group_service(group(cluster())) is None


def test_whoever_names_labels_selects_by_them() -> None:
    labels = {
        "matchLabels": {"app": "fdb", names.INSTANCE_LABEL: "other"},
        "resourceLabels": {"team": "data"},
        "processGroupIDLabels": ["id", "id2"],
        "processClassLabels": ["kind"],
    }
    of = cluster(labels=labels, routing={"publicIPSource": "service"})
    one = group(of)
    service = group_service(one)
    assert service is not None
    own = one.metadata.labels
    assert own["team"] == "data"
    assert own["kind"] == "storage"
    for found in (service["spec"]["selector"], headless_service(of)["spec"]["selector"]):
        assert found.items() <= own.items()
    assert service["spec"]["selector"].keys() >= {"id", "id2", names.INSTANCE_LABEL}
    assert not service["spec"]["selector"].items() <= group(of, "storage-2").metadata.labels.items()


def test_a_group_is_called_as_its_pod_and_says_its_class_and_cluster() -> None:
    of, mine = cluster(), names.ProcessGroupID(STORAGE, 7)
    found = group_document(of, mine)
    assert found["metadata"]["name"] == names.pod_name("shop", mine)
    labels = found["metadata"]["labels"]
    assert labels[names.CLASS_LABEL] == "storage"
    assert labels[names.CLUSTER_LABEL] == "shop"
    assert labels[names.GROUP_ID_LABEL] == "storage-7"
