"""What an API server says to a FoundationDBCluster and to a process group, before anybody acts on it."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from operators.fdb_compatible import COMPATIBLE
from operators.fdb_manifests import BAD, Bad, manifest, says
from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.fdb.api.kind import (
    CLUSTER_KIND,
    CLUSTERS,
    PROCESS_GROUP_KIND,
    PROCESS_GROUPS,
    FoundationDBCluster,
)
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json, plain
from stateward.kube.crd.kind import crd
from stateward.kube.errors import ApiError
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CUSTOM_RESOURCES
from stateward.local.rules.admission import Author, Strictness
from stateward.local.schema.served import served_api
from stateward.sim.loop import SimClock

pytestmark = pytest.mark.virtual
SHOP = ObjectKey("default", "shop")
STORAGE = ObjectKey("default", "shop-storage-1")
DEFINITIONS = [crd(CLUSTER_KIND), crd(PROCESS_GROUP_KIND)]
GROUP = {"clusterName": "shop", "processGroupID": "storage-1", "processClass": "storage"}


def strict() -> Author:
    return Author(strictness=Strictness.STRICT)


def door() -> Any:
    """An API server that knows both kinds."""
    api = served_api(Ports(SimClock(asyncio.get_running_loop()), Chance(1)))
    for definition in DEFINITIONS:
        api.create(CUSTOM_RESOURCES, "", plain(definition), strict())
    return api


def group(**spec: Any) -> Json:
    return {
        "apiVersion": "apps.foundationdb.org/v1beta2",
        "kind": "FoundationDBProcessGroup",
        "metadata": {"name": "shop-storage-1"},
        "spec": GROUP | spec,
    }


@pytest.mark.parametrize("bad", [it for it in BAD if it.door], ids=lambda bad: bad.title)
async def test_refused(bad: Bad) -> None:
    with pytest.raises(ApiError) as refusal:
        door().create(CLUSTERS, "default", plain(manifest(bad.spec, bad.name)), strict())

    assert refusal.value.code in {400, 422}
    assert bad.door in str(refusal.value)


@pytest.mark.parametrize("bad", [it for it in BAD if not it.door], ids=lambda bad: bad.title)
async def test_left_to_the_operator(bad: Bad) -> None:
    """What a door cannot see it lets through, and the operator can read it to say so."""
    made = door().create(CLUSTERS, "default", plain(manifest(bad.spec, bad.name)), strict())

    msgspec.convert(made.document(), FoundationDBCluster)


@pytest.mark.parametrize("spec", COMPATIBLE.values(), ids=COMPATIBLE)
async def test_what_is_written_for_the_compatible_operator_is_taken(spec: Json) -> None:
    author = strict()
    made = door().create(CLUSTERS, "default", plain(manifest(spec)), author)

    assert author.warnings == []
    assert says(made.document()["spec"], spec)
    msgspec.convert(made.document(), FoundationDBCluster)


async def test_defaults_can_be_seen() -> None:
    made = door().create(CLUSTERS, "default", manifest({"version": "7.3.63"}), strict())

    assert made.document()["spec"] == {
        "version": "7.3.63",
        "databaseConfiguration": {
            "redundancy_mode": "double",
            "storage_engine": "ssd-2",
            "usable_regions": 1,
        },
        "automationOptions": {
            "configureDatabase": True,
            "killProcesses": True,
            "replacements": {
                "enabled": False,
                "failureDetectionTimeSeconds": 1800,
                "taintReplacementTimeSeconds": 1800,
                "maxConcurrentReplacements": 1,
                "faultDomainBasedReplacements": False,
                "maxFaultDomainsWithTaintedProcessGroups": "10%",
            },
            "useNonBlockingExcludes": False,
            "ignoreTerminatingPodsSeconds": 600,
            "ignoreMissingProcessesSeconds": 30,
            "failedPodDurationSeconds": 300,
            "deletionMode": "Zone",
            "removalMode": "Zone",
            "waitBetweenRemovalsSeconds": 60,
            "podUpdateStrategy": "ReplaceTransactionSystem",
            "maintenanceModeOptions": {
                "UseMaintenanceModeChecker": False,
                "resetMaintenanceMode": False,
                "maintenanceModeTimeSeconds": 600,
            },
        },
        "lockOptions": {"lockDurationMinutes": 10},
        "routing": {"useDNSInClusterFile": True, "dnsDomain": "cluster.local"},
        "ignoreUpgradabilityChecks": False,
        "storageServersPerPod": 1,
        "logServersPerPod": 1,
        "minimumUptimeSecondsForBounce": 600,
        "replaceInstancesWhenResourcesChange": False,
        "skip": False,
        "deletionPolicy": "Retain",
    }


async def test_what_is_filled_in_is_what_we_would_have_read_anyway() -> None:
    body = manifest({"version": "7.3.63"})
    made = door().create(CLUSTERS, "default", plain(body), strict())

    filled, bare = (msgspec.convert(it, FoundationDBCluster) for it in (made.document(), body))
    assert filled.spec == bare.spec


async def test_a_status_of_the_compatible_operator_stays() -> None:
    """What it knew of process groups is imported once, so it must survive until then."""
    status = {
        "databaseConfiguration": {"redundancy_mode": "three_data_hall_fallback", "logs": 3},
        "generations": {"reconciled": 4, "hasPendingRemoval": 4},
        "health": {"available": True, "healthy": True, "fullReplication": True},
        "requiredAddresses": {"nonTLS": True},
        "runningVersion": "7.1.61",
        "connectionString": "shop:x@10.0.0.1:4501",
        "configured": True,
        "hasListenIPsForAllPods": True,
        "storageServersPerDisk": [1],
        "logServersPerDisk": [1],
        "imageTypes": ["split"],
        "processGroups": [
            {
                "processGroupID": "storage-1",
                "processClass": "storage",
                "addresses": ["10.0.0.1"],
                "removalTimestamp": "2024-05-01T10:00:00Z",
                "exclusionTimestamp": "2024-05-01T10:05:00Z",
                "processGroupConditions": [
                    {"type": "ResourcesTerminating", "timestamp": 1714557600}
                ],
                "faultDomain": "node-1",
            }
        ],
        "locks": {"lockDenyList": ["dc2"]},
        "desiredProcessGroups": 16,
        "reconciledProcessGroups": 15,
    }
    api, author = door(), strict()
    api.create(CLUSTERS, "default", manifest({"version": "7.1.61"}), strict())
    api.patch(CLUSTERS, SHOP, MergePatch({"status": status}), author, subresource="status")

    found = api.get(CLUSTERS, SHOP).document()
    assert author.warnings == []
    assert says(found["status"], status)
    read = msgspec.convert(found, FoundationDBCluster).status
    assert read.process_groups[0].process_group_conditions[0].timestamp == 1714557600


async def test_a_process_group_is_made_and_marked() -> None:
    api = door()
    api.create(PROCESS_GROUPS, "default", group(), strict())
    mark = {"spec": {"remove": True, "removalTimestamp": "2026-01-01T00:00:00Z"}}
    api.patch(PROCESS_GROUPS, STORAGE, MergePatch(mark), strict())
    report = {
        "doing": "going",
        "pod": {"name": "shop-storage-1", "ready": False},
        "addresses": ["10.0.0.1"],
        "processes": [{"processID": "storage-1-1", "reporting": True}],
    }
    api.patch(
        PROCESS_GROUPS, STORAGE, MergePatch({"status": report}), strict(), subresource="status"
    )

    found = api.get(PROCESS_GROUPS, STORAGE).document()
    assert says(found["spec"], GROUP | mark["spec"] | {"excluded": False, "serversPerPod": 1})
    assert says(found["status"], report)


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ({"processGroupID": "storage-2"}, "a process group is one for good"),
        ({"processClass": "log"}, "make another process group"),
        ({"removalTimestamp": "2026-01-01T00:00:00Z"}, "removalTimestamp must go with remove"),
        (
            {"exclusionTimestamp": "2026-01-01T00:00:00Z"},
            "exclusionTimestamp must go with excluded",
        ),
        ({"serversPerPod": 0}, "serversPerPod"),
    ],
)
async def test_who_a_group_is_cannot_be_changed(patch: Json, said: str) -> None:
    api = door()
    api.create(PROCESS_GROUPS, "default", group(), strict())
    with pytest.raises(ApiError, match=said):
        api.patch(PROCESS_GROUPS, STORAGE, MergePatch({"spec": patch}), strict())
