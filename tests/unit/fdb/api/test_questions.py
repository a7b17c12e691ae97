"""What steps ask of a spec."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from operators.fdb_compatible import COMPATIBLE
from operators.fdb_manifests import spec
from stateward.fdb.api import questions
from stateward.fdb.api.defaults import normalized
from stateward.fdb.api.questions import FieldPath, Fixed, Source, Variable
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.model import locks
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.names import MAIN_CONTAINER, SIDECAR_CONTAINER, ProcessGroupID
from stateward.kube.codec import Json

STORAGE, LOG, STATELESS = ProcessClass.STORAGE, ProcessClass.LOG, ProcessClass.STATELESS
NODE, POD = FieldPath("spec.nodeName"), FieldPath("metadata.name")
GROUP = ProcessGroupID(STORAGE, 1, "dc1")


def full(**said: Any) -> FoundationDBClusterSpec:
    return normalized(msgspec.convert(spec(**said), FoundationDBClusterSpec))


# ------------------------------------------------------------------ processes
def test_a_class_overrides_field_by_field() -> None:
    found = full(
        processes={
            "general": {
                "customParameters": ["a=1"],
                "podTemplate": {"spec": {"nodeName": "general"}},
            },
            "storage": {"podTemplate": {"spec": {"priorityClassName": "high"}}},
            "log": {"customParameters": []},
        }
    )
    storage, log = (questions.settings_for(found, it) for it in (STORAGE, LOG))

    assert storage.custom_parameters == ("a=1",)
    assert log.custom_parameters == ()  # said, and so not the general ones
    assert storage.pod_template is not None
    assert log.pod_template is not None
    assert "nodeName" not in storage.pod_template.spec  # a template is never mixed of two
    assert log.pod_template.spec["nodeName"] == "general"
    assert questions.settings_for(found, STATELESS) == found.processes["general"]


@pytest.mark.parametrize(
    ("process_class", "servers"),
    [
        (STORAGE, 2),
        (LOG, 3),
        (ProcessClass.TRANSACTION, 3),
        (STATELESS, 1),
        (ProcessClass.COORDINATOR, 1),
    ],
)
def test_servers_per_pod(process_class: ProcessClass, servers: int) -> None:
    found = full(storageServersPerPod=2, logServersPerPod=3)

    assert questions.servers_per_pod(found, process_class) == servers


@pytest.mark.parametrize(
    ("size", "process_class", "has"),
    [("16G", STORAGE, True), ("0", STORAGE, False), (0, LOG, False), ("16G", STATELESS, False),
     ("1Gi", ProcessClass.COORDINATOR, True)],
)  # fmt: skip
def test_who_has_a_volume(size: Any, process_class: ProcessClass, has: bool) -> None:
    claim = {"spec": {"resources": {"requests": {"storage": size}}}}
    found = full(processes={"general": {"volumeClaimTemplate": claim}})

    assert questions.has_volume(found, process_class) is has


def test_storage_is_preferred_for_coordinators() -> None:
    by_default = [
        questions.coordinator_priority(full(), it)
        for it in ("storage", "log", "transaction", "stateless")
    ]
    chosen = full(coordinatorSelection=[{"processClass": "log", "priority": 5}])

    assert by_default == [2, 1, 0, None]
    assert [questions.coordinator_priority(chosen, it) for it in ("log", "storage")] == [5, None]


# ------------------------------------------------------------------ images
@pytest.mark.parametrize(
    ("said", "main", "sidecar"),
    [
        ({}, "foundationdb/fdb-kubernetes-monitor:7.3.63", "foundationdb/fdb-kubernetes-monitor:7.3.63"),
        ({"imageType": "split"}, "foundationdb/foundationdb:7.3.63", "foundationdb/foundationdb-kubernetes-sidecar:7.3.63-1"),
        ({"mainContainer": {"imageConfigs": [{"baseImage": "me/fdb"}, {"tagSuffix": "-x"}]}}, "me/fdb:7.3.63-x", None),
        ({"mainContainer": {"imageConfigs": [{"version": "7.1.1", "tag": "old"}, {"version": "7.3.63", "tag": "new"}]}},
         "foundationdb/fdb-kubernetes-monitor:new", None),
        ({"processes": {"general": {"podTemplate": {"spec": {"containers": [{"name": "foundationdb", "image": "h:5000/fdb"}]}}}}},
         "h:5000/fdb:7.3.63", "foundationdb/fdb-kubernetes-monitor:7.3.63"),
        ({"imageType": "split", "sidecarContainer": {"imageConfigs": [{"tag": "7.3.63"}]}}, None,
         "foundationdb/foundationdb-kubernetes-sidecar:7.3.63"),
    ],
)  # fmt: skip
def test_images(said: Json, main: str | None, sidecar: str | None) -> None:
    found = full(**said)
    for container, image in ((MAIN_CONTAINER, main), (SIDECAR_CONTAINER, sidecar)):
        asked = questions.image_of(found, STORAGE, container, "7.3.63")
        assert image in (None, asked)


# ------------------------------------------------------------------ fault domains
@pytest.mark.parametrize(
    ("domain", "zone", "machine", "spread"),
    [
        ({}, NODE, NODE, "kubernetes.io/hostname"),
        ({"key": "rack", "valueFrom": "$RACK"}, Variable("RACK"), NODE, "rack"),
        (
            {"key": "rack", "valueFrom": "metadata.labels['rack']"},
            FieldPath("metadata.labels['rack']"),
            NODE,
            "rack",
        ),
        ({"key": "foundationdb.org/none"}, POD, POD, None),
        ({"key": "foundationdb.org/kubernetes-cluster", "value": "kc1"}, Fixed("kc1"), NODE, None),
    ],
)
def test_fault_domains(domain: Json, zone: Source, machine: Source, spread: str | None) -> None:
    found = full(faultDomain=domain)

    assert (questions.zone_of(found), questions.machine_of(found)) == (zone, machine)
    assert questions.spread_over(found) == spread


# ------------------------------------------------------------------ locks
TWO = [{"datacenters": [{"id": "dc1"}]}, {"datacenters": [{"id": "dc2"}]}]


@pytest.mark.parametrize(
    ("said", "used"),
    [
        ({}, False),
        ({"lockOptions": {"disableLocks": False}}, True),
        ({"lockOptions": {"disableLocks": True}, "faultDomain": {"zoneCount": 3}}, False),
        ({"faultDomain": {"zoneCount": 3}}, True),
        ({"faultDomain": {"zoneCount": 1}}, False),
        ({"databaseConfiguration": {"regions": TWO}}, True),
        ({"databaseConfiguration": {"usable_regions": 2, "regions": TWO}}, True),
        ({"databaseConfiguration": {"redundancy_mode": "three_data_hall"}}, True),
        ({"automationOptions": {"synchronizationMode": "global"}}, True),
    ],
)
def test_when_turns_are_taken(said: Json, used: bool) -> None:
    assert questions.uses_locks(full(**said)) is used


def test_who_takes_them_and_where() -> None:
    found = full(processGroupIDPrefix="dc1", lockOptions={"lockKeyPrefix": "/locks"})

    assert questions.lock_owner(found) == "dc1"
    assert questions.lock_prefix(found) == b"/locks"
    assert questions.lock_prefix(full()) == locks.PREFIX


# ------------------------------------------------------------------ labels
def test_labels_of_a_group() -> None:
    assert questions.group_labels("shop", full(), GROUP) == {
        "foundationdb.org/fdb-cluster-name": "shop",
        "foundationdb.org/fdb-process-class": "storage",
        "foundationdb.org/fdb-process-group-id": "dc1-storage-1",
    }


def test_labels_under_other_keys() -> None:
    found = full(
        labels={
            "matchLabels": {"app": "shop"},
            "resourceLabels": {"team": "data"},
            "processGroupIDLabels": ["id", "old-id"],
            "processClassLabels": ["class"],
        }
    )
    labels = questions.group_labels("shop", found, GROUP)

    assert labels == {
        "app": "shop",
        "team": "data",
        "id": "dc1-storage-1",
        "old-id": "dc1-storage-1",
        "class": "storage",
    }
    assert questions.resource_labels("shop", found) == {"app": "shop", "team": "data"}
    assert questions.match_labels("shop", found) == {"app": "shop"}
    assert questions.group_id_of(found, labels) == "dc1-storage-1"
    assert questions.group_id_of(found, {"old-id": "x"}) is None


# ------------------------------------------------------------------ times, limits, faults
@pytest.mark.parametrize(
    ("said", "seconds"), [(300_000_000_000, 300), ("5m", 300), ("90s", 90), (0, 0)]
)
def test_how_long_a_pod_may_wait(said: Any, seconds: float) -> None:
    found = full(automationOptions={"ignorePendingPodsDuration": said})

    assert questions.pending_seconds(found) == seconds
    assert questions.pending_seconds(full()) == 300


def test_who_shall_not_start() -> None:
    found = full(
        buggify={
            "crashLoop": ["dc1-storage-1"],
            "crashLoopContainers": [
                {"containerName": "a", "targets": ["*"]},
                {"containerName": "b", "targets": ["log-1"]},
            ],
        }
    )

    assert questions.crash_loops(found, GROUP) == {"a", "foundationdb"}


@pytest.mark.parametrize("body", COMPATIBLE.values(), ids=COMPATIBLE)
def test_every_class_of_every_cluster_has_all_it_needs(body: Json) -> None:
    found = normalized(msgspec.convert(body, FoundationDBClusterSpec))
    for process_class in ProcessClass:
        settings = questions.settings_for(found, process_class)
        assert None not in (
            settings.pod_template,
            settings.volume_claim_template,
            settings.custom_parameters,
        )
        for container in (MAIN_CONTAINER, SIDECAR_CONTAINER):
            assert questions.image_of(found, process_class, container, found.version).count(
                ":"
            ) in {1, 2}
