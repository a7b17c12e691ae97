"""What is wrong with backups and restores: at the door, and by the operator's own word."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from fakes.fdb_backups import kinds_served
from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.fdb.api.backups import urls
from stateward.fdb.api.backups.checks import backup_problems, restore_problems
from stateward.fdb.api.backups.kinds import (
    BACKUPS,
    RESTORES,
    FoundationDBBackup,
    FoundationDBRestore,
)
from stateward.fdb.api.backups.stores import BlobStore, url_of
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import Invalid
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import Resource
from stateward.local.api import Api
from stateward.local.rules.admission import Author, Strictness
from stateward.sim.loop import SimClock

BLOB = {"accountName": "me@host"}
BACKUP: Json = {"version": "7.3.63", "clusterName": "shop", "blobStoreConfiguration": BLOB}
LITTLE: Json = {"requests": {"cpu": "100m"}}
RESTORE: Json = {"destinationClusterName": "shop", "blobStoreConfiguration": BLOB}


def document(resource: Resource[Any], spec: Json) -> Json:
    metadata = {"name": "it", "namespace": "default"}
    head = {"apiVersion": resource.api_version, "kind": resource.kind}
    return {**head, "metadata": metadata, "spec": {k: v for k, v in spec.items() if v is not None}}


@pytest.mark.parametrize(
    ("over", "field"),
    [
        ({}, ""),
        ({"tag": "a.b-C_1"}, ""),
        ({"tag": "-a"}, "spec.tag"),
        ({"retention": {"days": 1}}, ""),
        ({"schedule": "@daily", "backupMode": "oneTime"}, ""),
        ({"schedule": "@daily"}, "spec.schedule"),
        (
            {"schedule": "@daily", "backupMode": "oneTime", "retention": {"days": 1}},
            "spec.retention",
        ),
        ({"version": "7"}, "spec.version"),
        ({"version": "6.3.1"}, "spec.version"),
        ({"blobStoreConfiguration": None}, "spec"),
        ({"blobStoreConfiguration": None, "backupType": "unmanaged"}, ""),
        ({"fileURL": "file:///b"}, "spec.fileURL"),
        ({"blobStoreConfiguration": {"accountName": "key:secret@host"}}, ".accountName"),
        ({"blobStoreConfiguration": {**BLOB, "bucket": "B"}}, ".bucket"),
        ({"blobStoreConfiguration": {**BLOB, "bucket": "My_bucket.1"}}, ""),
        ({"blobStoreConfiguration": {**BLOB, "bucket": "b/../c"}}, ".bucket"),
        ({"blobStoreConfiguration": {**BLOB, "bucket": "bucket-"}}, ".bucket"),
        ({"encryptionKeyPath": "/key"}, "spec.encryptionKeyPath"),
        ({"encryptionKeyPath": "/key", "version": "7.3.79"}, ""),
        ({"encryptionKeyPath": "/key", "version": "7.4.5"}, "spec.encryptionKeyPath"),
        ({"blobStoreConfiguration": {**BLOB, "urlParameters": ["sc"]}}, ".urlParameters[0]"),
        ({"blobStoreConfiguration": {**BLOB, "urlParameters": ["a=b@c"]}}, ""),
        ({"blobStoreConfiguration": {**BLOB, "urlParameters": ["bucket=b"]}}, ".urlParameters[0]"),
        (
            {"blobStoreConfiguration": {"accountName": "host", "urlParameters": ["a=b@c"]}},
            ".urlParameters[0]",
        ),
        ({"blobStoreConfiguration": {**BLOB, "backupName": "a@b"}}, ".backupName"),
        ({"blobStoreConfiguration": {**BLOB, "backupName": "a b"}}, ".backupName"),
        ({"blobStoreConfiguration": {**BLOB, "backupName": "a/b_c.d-e"}}, ""),
        ({"blobStoreConfiguration": None, "fileURL": "file:///a//b"}, "spec.fileURL"),
        ({"blobStoreConfiguration": None, "fileURL": "file:///a/./b"}, "spec.fileURL"),
        ({"blobStoreConfiguration": None, "fileURL": "file:///a/b/"}, ""),
        ({"customParameters": ["knob_a=1", "knob-a=2"]}, "spec.customParameters[1]"),
        ({"customParameters": ["cluster_file=/x"]}, "spec.customParameters[0]"),
        ({"podTemplateSpec": {"spec": {"tolerationz": []}}}, "spec.podTemplateSpec.spec"),
        ({"mainContainer": {"imageConfigs": [{"baseImage": "a:1"}]}}, ".imageConfigs[0].baseImage"),
        ({"drill": {"schedule": "@weekly"}}, ""),
        ({"drill": {"schedule": "@weekly", "storage": "1Gi", "resources": LITTLE}}, ""),
        ({"drill": {"schedule": "@weekly"}, "backupType": "unmanaged"}, "spec.drill"),
        ({"drill": {"schedule": "@weekly", "storage": "much"}}, "spec.drill.storage"),
        ({"drill": {"schedule": "@weekly", "storage": 0}}, "spec.drill.storage"),
        ({"drill": {"schedule": "@weekly", "resources": {"cpu": "1"}}}, "spec.drill.resources.cpu"),
        (
            {"drill": {"schedule": "@weekly", "resources": {"requests": {"cpu": "much"}}}},
            "spec.drill.resources.requests.cpu",
        ),
        (
            {"drill": {"schedule": "@weekly", "resources": LITTLE | {"limits": {"cpu": "10m"}}}},
            "spec.drill.resources.limits.cpu",
        ),
    ],
)
def test_what_is_wrong_with_a_backup(over: Json, field: str) -> None:
    found = backup_problems(
        msgspec.convert(document(BACKUPS, {**BACKUP, **over}), FoundationDBBackup)
    )
    assert [it.field for it in found if field not in it.field] == []
    assert bool(found) is bool(field)
    assert all("secret@" not in str(it) for it in found)


@pytest.mark.parametrize(
    ("name", "is_one"), [("a" * 41, True), ("a" * 42, False), ("1st", False), ("", True)]
)
def test_a_backup_with_drills_leaves_room_for_names_of_pods(name: str, *, is_one: bool) -> None:
    made = document(BACKUPS, {**BACKUP, "drill": {"schedule": "@weekly"}})
    made["metadata"]["name"] = name
    found = backup_problems(msgspec.convert(made, FoundationDBBackup))
    assert [it.field for it in found] == ([] if is_one else ["metadata.name"])


@pytest.mark.parametrize(
    ("over", "field"),
    [
        ({}, ""),
        ({"blobStoreConfiguration": None}, "spec"),
        ({"backupName": "nightly"}, "spec.backupName"),
        ({"backupName": "nightly", "blobStoreConfiguration": None}, ""),
        ({"keyRanges": [{"start": "b", "end": "a"}]}, "spec.keyRanges[0]"),
        ({"keyRanges": [{"start": "a", "end": r"\xff"}]}, ""),
        ({"keyRanges": [{"start": r"a\\b", "end": "b"}]}, ""),
        ({"keyRanges": [{"start": r"a\b", "end": "b"}]}, "spec.keyRanges[0]"),
        ({"keyRanges": [{"start": r"a\xg0", "end": "b"}]}, "spec.keyRanges[0]"),
        ({"keyRanges": [{"start": "a\\", "end": "b"}]}, "spec.keyRanges[0]"),
        ({"keyRanges": [{"start": "a" * 9999, "end": "b" * 9999}] * 100}, "spec.keyRanges"),
        ({"keyRanges": [{"start": "a", "end": r"\xff"}], "destinationPolicy": "clear"}, ""),
        (
            {"keyRanges": [{"start": "a", "end": r"\xff\xff"}], "destinationPolicy": "clear"},
            "spec.keyRanges[0]",
        ),
    ],
)
def test_what_is_wrong_with_a_restore(over: Json, field: str) -> None:
    found = restore_problems(
        msgspec.convert(document(RESTORES, {**RESTORE, **over}), FoundationDBRestore)
    )
    assert [it.field for it in found if field not in it.field] == []
    assert bool(found) is bool(field)


def door() -> Api:
    return kinds_served(Ports(SimClock(asyncio.get_running_loop()), Chance(1)))


STRICT = Author(strictness=Strictness.STRICT)


@pytest.mark.virtual
async def test_manifests_of_the_compatible_operator_are_taken() -> None:
    api = door()
    whole = {
        **BACKUP,
        "version": "7.3.79",
        "dataCenter": "dc1",
        "backupState": "Running",
        "agentCount": 3,
        "snapshotPeriodSeconds": 3600,
        "backupDeploymentMetadata": {"labels": {"a": "b"}},
        "podTemplateSpec": {"spec": {"containers": [{"name": "foundationdb", "env": []}]}},
        "customParameters": ["knob_a=1"],
        "allowTagOverride": True,
        "blobStoreConfiguration": {
            **BLOB, "backupName": "n", "bucket": "fdb-backups", "urlParameters": ["sc=0"],
        },
        "encryptionKeyPath": "/key",
        "mainContainer": {"imageConfigs": [{"version": "7.3.63", "baseImage": "x"}]},
        "sidecarContainer": {"imageConfigs": [{"tagSuffix": "-1"}]},
        "imageType": "split",
        "backupType": "backup_agent",
        "deletionPolicy": "cleanup",
        "backupMode": "continuous",
        "tag": "nightly",
    }  # fmt: skip
    api.create(BACKUPS, "default", document(BACKUPS, whole), STRICT)
    assert backup_problems(msgspec.convert(document(BACKUPS, whole), FoundationDBBackup)) == ()
    ranges = [{"start": "a", "end": "b"}]
    restore = {
        **RESTORE,
        "keyRanges": ranges,
        "customParameters": ["knob_a=1"],
        "encryptionKeyPath": "/key",
        "backupVersion": 7,
    }
    api.create(RESTORES, "default", document(RESTORES, restore), STRICT)
    assert restore_problems(msgspec.convert(document(RESTORES, restore), FoundationDBRestore)) == ()


@pytest.mark.virtual
@pytest.mark.parametrize(
    "over",
    [
        {"backupState": "Off"},
        {"retention": {"days": 0}},
        {"retention": {}},
        {"schedule": "@daily"},
        {"schedule": "0 3 * *", "backupMode": "oneTime"},
        {"fileURL": "file:///b"},
        {"agentCount": -1},
        {"fileURL": "ftp://x"},
    ],
)
async def test_what_nobody_could_honour_is_refused_at_the_door(over: Json) -> None:
    with pytest.raises(Invalid):
        door().create(BACKUPS, "default", document(BACKUPS, {**BACKUP, **over}), STRICT)


@pytest.mark.virtual
async def test_a_backup_is_of_one_tag_and_one_cluster_for_good() -> None:
    api, key = door(), ObjectKey("default", "it")
    api.create(BACKUPS, "default", document(BACKUPS, BACKUP), STRICT)
    api.patch(BACKUPS, key, MergePatch({"spec": {"tag": "default"}}), STRICT)
    for over in ({"tag": "other"}, {"clusterName": "other"}):
        with pytest.raises(Invalid):
            api.patch(BACKUPS, key, MergePatch({"spec": over}), STRICT)


@pytest.mark.virtual
async def test_what_is_cleared_was_said_when_the_object_was_made() -> None:
    api, key = door(), ObjectKey("default", "it")
    ranges = [{"start": "a", "end": "b"}]
    made = {**RESTORE, "keyRanges": ranges, "destinationPolicy": "clear"}
    api.create(RESTORES, "default", document(RESTORES, made), STRICT)
    api.patch(RESTORES, key, MergePatch({"spec": {"backupVersion": 7}}), STRICT)
    for over in (
        {"destinationPolicy": "refuse"},
        {"keyRanges": None},
        {"destinationClusterName": "other"},
    ):
        with pytest.raises(Invalid):
            api.patch(RESTORES, key, MergePatch({"spec": over}), STRICT)


def test_where_a_backup_lies() -> None:
    blob = BlobStore(account_name="k@h:9", url_parameters=("sc=0",))
    assert url_of(blob, "", "n") == "blobstore://k@h:9/n?bucket=fdb-backups&sc=0"
    plain = BlobStore(account_name="k@h", url_parameters=("secure_connection=0",))
    assert url_of(plain, "", "n").startswith("blobstore://k@h:80/")
    assert url_of(BlobStore(account_name="[::1]"), "", "n").startswith("blobstore://[::1]:443/")
    assert url_of(None, "file:///b/", "n") == "file:///b"
    assert urls.is_at("file:///b", "file:///b/")
    assert not urls.is_at("file:///b/other", "file:///b")
    assert not urls.is_at("blobstore://h/n?bucket=a", "blobstore://h/n?bucket=b")
