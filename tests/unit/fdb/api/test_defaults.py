"""From a spec as it is written to one that says everything."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from operators.fdb_compatible import COMPATIBLE
from operators.fdb_manifests import main, pod, spec
from stateward.fdb.api.defaults import folded, normalized
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.kube.codec import Json, plain

MAIN, SIDECAR, INIT = (
    "foundationdb",
    "foundationdb-kubernetes-sidecar",
    "foundationdb-kubernetes-init",
)
GREAT = {"cpu": "1", "memory": "8Gi"}
SMALL = {"cpu": "100m", "memory": "256Mi"}


def read(body: Json) -> FoundationDBClusterSpec:
    return msgspec.convert(body, FoundationDBClusterSpec)


def full(**said: Any) -> FoundationDBClusterSpec:
    return normalized(read(spec(**said)))


def resources(body: Json, name: str = MAIN) -> Json:
    """What the general pod template says of a container's resources."""
    template = normalized(read(body)).processes["general"].pod_template
    assert template is not None
    return next(it["resources"] for it in template.spec["containers"] if it["name"] == name)


@pytest.mark.parametrize("body", COMPATIBLE.values(), ids=COMPATIBLE)
def test_twice_is_once(body: Json) -> None:
    once = normalized(read(body))

    assert normalized(once) == once
    assert folded(folded(read(body))) == folded(read(body))


@pytest.mark.parametrize("body", COMPATIBLE.values(), ids=COMPATIBLE)
def test_a_spec_as_written_stays_as_it_was(body: Json) -> None:
    given = read(body)
    before = plain(given)
    normalized(given)

    assert plain(given) == before


# ------------------------------------------------------------------ older words
def test_older_words_say_the_same() -> None:
    older = full(
        instanceIDPrefix="dc1",
        services={"headless": True, "publicIPSource": "service"},
        instancesToRemove=["storage-1"],
        instancesToRemoveWithoutExclusion=["log-1"],
        cancelReplacementsForInstance=["storage-2"],
        useUnifiedImage=False,
        useExplicitListenAddress=True,
        processCounts={"tester": 2},
        processes={"tester": {"customParameters": ["a=b"]}},
        automationOptions={"synronizationMode": "global", "useManagementAPI": True,
                           "cancelReplacementsForInstance": ["storage-3"]},
        buggify={"crashLoop": ["storage-4"]},
    )  # fmt: skip
    newer = full(
        processGroupIDPrefix="dc1",
        routing={"headlessService": True, "publicIPSource": "service"},
        processGroupsToRemove=["storage-1"],
        processGroupsToRemoveWithoutExclusion=["log-1"],
        imageType="split",
        processCounts={"test": 2},
        processes={"test": {"customParameters": ["a=b"]}},
        automationOptions={"synchronizationMode": "global", "databaseInteractionMode": "managementapi",
                           "cancelReplacementsForProcessGroups": ["storage-3", "storage-2"]},
        buggify={"crashLoopContainers": [{"containerName": MAIN, "targets": ["storage-4"]}]},
    )  # fmt: skip

    assert older == newer


def test_newer_words_win() -> None:
    found = full(
        imageType="unified",
        useUnifiedImage=False,
        routing={"headlessService": False},
        services={"headless": True},
        automationOptions={"databaseInteractionMode": "fdbcli", "useManagementAPI": True},
    )

    assert found.image_type == "unified"
    assert (
        folded(
            read(spec(routing={"headlessService": False}, services={"headless": True}))
        ).routing.headless_service
        is False
    )
    assert found.automation_options.database_interaction_mode == "fdbcli"


def test_lists_are_put_together_and_nothing_is_named_twice() -> None:
    found = full(processGroupsToRemove=["log-1", "log-2"], instancesToRemove=["log-2", "log-3"])

    assert found.process_groups_to_remove == ("log-1", "log-2", "log-3")


def test_no_crash_loop_is_forgotten() -> None:
    said = [{"containerName": MAIN, "targets": ["log-1"]}, {"containerName": SIDECAR, "targets": ["*"]},
            {"containerName": MAIN, "targets": ["log-2"]}]  # fmt: skip
    found = full(buggify={"crashLoop": ["log-3"], "crashLoopContainers": said}).buggify

    assert [(it.container_name, it.targets) for it in found.crash_loop_containers] == [
        (MAIN, ("log-1", "log-2", "log-3")),
        (SIDECAR, ("*",)),
    ]


# ------------------------------------------------------------------ what is not said
def test_a_spec_that_says_nothing() -> None:
    found = full()

    assert found.image_type == "unified"
    assert found.automation_options.synchronization_mode == "local"
    assert found.automation_options.database_interaction_mode == "fdbcli"
    assert found.automation_options.ignore_log_groups_for_upgrade == ("fdb-kubernetes-operator",)
    assert not found.automation_options.replacements.enabled
    assert found.routing.headless_service
    assert found.routing.define_dns_locality_fields
    assert found.routing.public_ip_source == "pod"
    assert (
        found.main_container.enable_liveness_probe,
        found.sidecar_container.enable_liveness_probe,
    ) == (False, True)
    assert found.deletion_policy == "Retain"
    claim = found.processes["general"].volume_claim_template
    assert claim is not None
    assert claim.spec == {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "128G"}},
    }


@pytest.mark.parametrize(
    ("version", "can"),
    [("7.1.41", False), ("7.1.42", True), ("7.2.9", False), ("7.3.25", False), ("7.3.26", True)],
)
def test_exclusions_go_by_locality_where_the_version_can(version: str, can: bool) -> None:
    found = normalized(read({"version": version}))

    assert found.automation_options.use_localities_for_exclusion is can


def test_without_names_no_service_is_needed() -> None:
    found = full(routing={"useDNSInClusterFile": False}).routing

    assert (found.headless_service, found.define_dns_locality_fields) == (False, False)
    assert full(
        routing={"useDNSInClusterFile": False, "defineDNSLocalityFields": True}
    ).routing.headless_service


def test_no_servers_are_one() -> None:
    found = full(
        storageServersPerPod=0, logServersPerPod=0, databaseConfiguration={"usable_regions": 0}
    )

    assert (found.storage_servers_per_pod, found.log_servers_per_pod) == (1, 1)
    assert found.database_configuration.usable_regions == 1


# ------------------------------------------------------------------ containers
@pytest.mark.parametrize(
    ("said", "requests", "limits"),
    [
        ({}, GREAT, GREAT),
        ({"requests": {"cpu": "4"}}, {"cpu": "4"}, {"cpu": "4"}),
        ({"limits": {"cpu": "500m"}}, {"cpu": "500m"}, {"cpu": "500m"}),
        ({"requests": {"cpu": "1"}, "limits": {}}, {"cpu": "1"}, {}),
        ({"requests": {}}, {}, {}),
    ],
)
def test_what_a_container_may_take(said: Json, requests: Json, limits: Json) -> None:
    assert resources(main(resources=said)) == {"requests": requests, "limits": limits}


def test_beside_it_less_is_needed() -> None:
    assert resources(spec(), SIDECAR) == {"requests": SMALL, "limits": SMALL}


@pytest.mark.parametrize(("image_type", "first"), [("split", [INIT]), ("unified", [])])
def test_containers_of_an_image_type(image_type: str, first: list[str]) -> None:
    body = pod(initContainers=[{"name": INIT}], containers=[{"name": "mine"}])
    template = normalized(read(body | {"imageType": image_type})).processes["general"].pod_template

    assert template is not None
    assert [it["name"] for it in template.spec["containers"]] == ["mine", MAIN, SIDECAR]
    assert [it["name"] for it in template.spec.get("initContainers", [])] == first
