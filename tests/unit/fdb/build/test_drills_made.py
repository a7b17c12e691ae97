"""What a drill makes: like the backed-up cluster where that matters, and unlike it where that does."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from stateward.fdb.api.backups.backup import FoundationDBBackupSpec
from stateward.fdb.api.backups.checks import backup_problems, restore_problems
from stateward.fdb.api.backups.drill import BackupDrill
from stateward.fdb.api.backups.kinds import FoundationDBBackup, FoundationDBRestore
from stateward.fdb.api.backups.stores import BlobStore, store_of, url_of
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.api.validation import problems
from stateward.fdb.build import drills
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectMeta

LABELS = {"labels": {"app": "shop"}, "annotations": {"proxy": "no"}}
CONTAINER = {"name": "foundationdb", "resources": {"requests": {"cpu": "4"}}, "env": []}
CLAIM = {"resources": {"requests": {"storage": "1T"}, "limits": {"storage": "2T"}},
         "storageClassName": "fast", "dataSource": {"kind": "x", "name": "y"}}  # fmt: skip
SPEC: Json = {
    "version": "7.3.63",
    "databaseConfiguration": {"redundancy_mode": "triple", "storage_engine": "ssd-redwood-1"},
    "processCounts": {"storage": 30, "coordinator": 5},
    "processGroupIDPrefix": "dc1",
    "labels": {"matchLabels": {"app": "shop"}},
    "mainContainer": {"imageConfigs": [{"baseImage": "mirror/fdb"}]},
    "imageType": "split",
    "sidecarVariables": ["MY_ZONE"],
    "routing": {"podIPFamily": 4},
    "seedConnectionString": "a:b@10.0.0.1:4501",
    "lockOptions": {"disableLocks": False},
    "processes": {
        "general": {
            "customParameters": ["knob_a=1"],
            "podTemplate": {"metadata": LABELS, "spec": {"containers": [CONTAINER]}},
        },
        "storage": {"volumeClaimTemplate": {"metadata": LABELS, "spec": CLAIM}},
    },
}


def plan(asked: Json, **over: Any) -> drills.Plan:
    spec = {"version": "7.3.50", "clusterName": "shop", "drill": {"schedule": "@weekly", **asked}}
    said = msgspec.convert({**spec, **over}, FoundationDBBackupSpec)
    backup = FoundationDBBackup(
        metadata=ObjectMeta(name="nightly", namespace="ns", uid="b1"), spec=said
    )
    assert isinstance(said.drill, BackupDrill)
    return drills.Plan(backup, said.drill, "900", "7.3.63")


def cluster(asked: Json, spec: Json = SPEC) -> Json:
    source = FoundationDBCluster(
        metadata=ObjectMeta(name="shop", namespace="ns", uid="c1", labels={"team": "db", "x": "y"}),
        spec=msgspec.convert(spec, FoundationDBClusterSpec),
    )
    return drills.throw_away(plan(asked), source, {"team": "db"})


def test_what_is_needed_to_read_the_data_is_as_in_the_cluster_and_nothing_else() -> None:
    made = cluster({})
    assert [str(it) for it in problems(msgspec.convert(made, FoundationDBCluster))] == []
    assert made["metadata"] == {
        "name": "nightly-drill",
        "namespace": "ns",
        "labels": {"team": "db", "stateward.dev/drill": "900"},
        # What is left of an earlier cluster of the name is neither adopted nor built upon.
        "annotations": {"foundationdb.org/left-volumes": "drill"},
        "ownerReferences": [
            {
                "apiVersion": "apps.foundationdb.org/v1beta2",
                "kind": "FoundationDBBackup",
                "name": "nightly",
                "uid": "b1",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }
    spec = made["spec"]
    assert spec["databaseConfiguration"] == {
        "redundancy_mode": "single", "storage_engine": "ssd-redwood-1", "logs": 1,
    }  # fmt: skip
    assert spec["processCounts"] == {"storage": 1, "log": 1, "stateless": 1}
    for name in ("mainContainer", "imageType", "sidecarVariables", "routing", "version"):
        assert spec[name] == SPEC[name]
    for name in ("processGroupIDPrefix", "labels", "seedConnectionString", "lockOptions"):
        assert name not in spec
    assert spec["deletionPolicy"] == "Delete"


@pytest.mark.parametrize(
    ("volumes", "shared"),
    [
        ([], ""),
        ([{"name": "data", "emptyDir": {}}], ""),
        ([{"name": "certificates", "hostPath": {"path": "/etc/ssl"}}], ""),
        ([{"name": "data", "hostPath": {"path": "/mnt/fdb"}}], "data"),
        ([{"name": "logs", "persistentVolumeClaim": {"claimName": "one"}}], "logs"),
    ],
)
@pytest.mark.parametrize("kind", ["general", "storage"])
def test_a_volume_that_two_databases_would_share_is_found(
    kind: str, volumes: list[Json], shared: str
) -> None:
    template = {"podTemplate": {"spec": {"volumes": volumes}}}
    source = FoundationDBCluster(
        metadata=ObjectMeta(name="shop", namespace="ns", uid="c1"),
        spec=msgspec.convert({**SPEC, "processes": {kind: template}}, FoundationDBClusterSpec),
    )
    assert drills.shared_volume(source) == shared


def test_templates_stay_but_for_labels_sizes_and_what_volumes_are_filled_from() -> None:
    general = cluster({})["spec"]["processes"]["general"]
    assert general["customParameters"] == ["knob_a=1"]
    assert general["podTemplate"] == {
        "metadata": {"annotations": {"proxy": "no"}},
        "spec": {"containers": [CONTAINER]},
    }
    storage = cluster({})["spec"]["processes"]["storage"]["volumeClaimTemplate"]
    assert storage["metadata"] == {"annotations": {"proxy": "no"}}
    assert storage["spec"] == {name: it for name, it in CLAIM.items() if name != "dataSource"}


@pytest.mark.parametrize("spec", [SPEC, {"version": "7.3.63"}])
def test_what_a_drill_asks_for_holds_for_all_classes(spec: Json) -> None:
    little = {"requests": {"cpu": "100m"}}
    counts = {"storage": 3, "log": 2}
    made = cluster({"storage": "5Gi", "resources": little, "processCounts": counts}, spec)
    assert problems(msgspec.convert(made, FoundationDBCluster)) == ()
    assert made["spec"]["processCounts"] == {"storage": 3, "log": 2, "stateless": 1}
    for settings in made["spec"]["processes"].values():
        claim = settings.get("volumeClaimTemplate", {}).get("spec", {})
        assert claim.get("resources") in (None, {"requests": {"storage": "5Gi"}})
        for container in settings.get("podTemplate", {}).get("spec", {}).get("containers", ()):
            assert container["resources"] == little
    general = made["spec"]["processes"]["general"]
    assert general["podTemplate"]["spec"]["containers"][0]["name"] == "foundationdb"


def test_agents_are_as_those_of_the_backup_and_make_none() -> None:
    template = {"metadata": LABELS, "spec": {"containers": [CONTAINER]}}
    blob = {"accountName": "k@host", "urlParameters": ["sc=0"]}
    over = {"podTemplateSpec": template, "customParameters": ["knob_a=1"], "agentCount": 9,
            "blobStoreConfiguration": blob, "tag": "t", "retention": {"days": 3}}  # fmt: skip
    made = drills.restorers(plan({}, **over))
    assert made["spec"] == {
        "version": "7.3.63",
        "clusterName": "nightly-drill",
        "backupType": "unmanaged",
        "agentCount": 1,
        "customParameters": ["knob_a=1"],
        "podTemplateSpec": {
            "metadata": {"annotations": {"proxy": "no"}},
            "spec": {"containers": [CONTAINER]},
        },
    }
    assert backup_problems(msgspec.convert(made, FoundationDBBackup)) == ()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("file:///b/backup-1", {"fileURL": "file:///b/backup-1"}),
        (
            "blobstore://k@host:443/nightly-20261119T030000Z?bucket=bbb&sc=0",
            {
                "blobStoreConfiguration": {
                    "accountName": "k@host:443", "backupName": "nightly-20261119T030000Z",
                    "bucket": "bbb", "urlParameters": ["sc=0"],
                }
            },
        ),
    ],
)  # fmt: skip
def test_the_restore_is_of_that_very_version_into_that_very_cluster(url: str, said: Json) -> None:
    made = drills.restoring(plan({}), "c2", url, 7)
    assert made["spec"] == {
        "destinationClusterName": "nightly-drill",
        "destinationClusterUID": "c2",
        "backupVersion": 7,
        **said,
    }
    assert restore_problems(msgspec.convert(made, FoundationDBRestore)) == ()


@pytest.mark.parametrize(
    "store",
    [
        BlobStore(account_name="k@host"),
        BlobStore(account_name="host:80", bucket="bb", url_parameters=("sc=0", "region=eu")),
        BlobStore(account_name="[::1]", backup_name="a/b"),
    ],
)
def test_a_url_of_a_blob_store_is_read_as_it_was_written(store: BlobStore) -> None:
    url = url_of(store, "", "nightly")
    assert url_of(store_of(url), "", "another") == url
