"""Generations count what is asked for; a write that changes nothing leaves no trace."""

from __future__ import annotations

import pytest

from contract.kubernetes.bodies import (
    Json,
    budget,
    cron_job,
    deployment,
    job,
    named,
    pod,
    service,
    stateful_set,
)
from contract.kubernetes.custom import NUMBER, TEXT, fields, things
from contract.kubernetes.wire import Wire

LABEL: Json = {"metadata": {"labels": {"x": "1"}}}
NOTE: Json = {"metadata": {"annotations": {"x": "1"}}}
HOLD: Json = {"metadata": {"finalizers": ["a.b/c"]}}
SLICE: Json = named("a", addressType="IPv4", endpoints=[])


@pytest.mark.parametrize(
    ("path", "body", "change"),
    [
        ("deployments", deployment(), {"spec": {"minReadySeconds": 5}}),
        ("statefulsets", stateful_set(), {"spec": {"minReadySeconds": 5}}),
        (
            "statefulsets",
            stateful_set(),
            {"spec": {"template": {"metadata": {"labels": {"z": "1"}}}}},
        ),
        ("replicasets", named("a", spec=stateful_set()["spec"]), {"spec": {"minReadySeconds": 5}}),
        ("jobs", job(), {"spec": {"parallelism": 3}}),
        ("cronjobs", cron_job(), {"spec": {"schedule": "2 * * * *"}}),
        ("poddisruptionbudgets", budget(), {"spec": {"minAvailable": 2}}),
        ("endpointslices", SLICE, {"ports": [{"name": "x", "port": 80}]}),
        ("endpointslices", SLICE, LABEL),
        ("deployments", deployment(), NOTE),
    ],
    ids=str,
)
async def test_what_is_asked_for_counts(wire: Wire, path: str, body: Json, change: Json) -> None:
    made = (await wire.post(path, body)).made()

    now = (await wire.patch(f"{path}/a", change)).ok()

    assert (made["metadata.generation"], now["metadata.generation"]) == (1, 2)


@pytest.mark.parametrize("change", [LABEL, HOLD, {"metadata": {"generation": 77}}, {}], ids=str)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("deployments", deployment()),
        ("statefulsets", stateful_set()),
        ("poddisruptionbudgets", budget()),
    ],
    ids=str,
)
async def test_what_is_said_about_it_does_not(
    wire: Wire, path: str, body: Json, change: Json
) -> None:
    (await wire.post(path, body)).made()

    now = (await wire.patch(f"{path}/a", change)).ok()

    assert now["metadata.generation"] == 1
    await wire.patch(f"{path}/a", {"metadata": {"finalizers": None}})


@pytest.mark.parametrize(
    ("path", "body", "change"),
    [
        ("services", service(), {"spec": {"ports": [{"port": 81}]}}),
        ("configmaps", named(), {"data": {"a": "b"}}),
        ("secrets", named(), {"data": {"a": "Yg=="}}),
        ("leases", named(), {"spec": {"holderIdentity": "b"}}),
        ("serviceaccounts", named(), {"automountServiceAccountToken": False}),
        ("controllerrevisions", named("a", revision=1, data={}), {"revision": 2}),
    ],
    ids=str,
)
async def test_some_kinds_count_nothing(wire: Wire, path: str, body: Json, change: Json) -> None:
    made = (await wire.post(path, body)).made()

    now = (await wire.patch(f"{path}/a", change)).ok()

    assert (made["metadata.generation"], now["metadata.generation"]) == (None, None)
    assert made.revision != now.revision


@pytest.mark.parametrize(
    ("path", "body", "again"),
    [
        ("cronjobs", cron_job(), {"spec": {"schedule": "1 1 1 1 *"}}),
        (
            "cronjobs",
            cron_job(),
            {"spec": {"concurrencyPolicy": "Allow", "failedJobsHistoryLimit": 1}},
        ),
        ("pods", pod(), {"spec": {"restartPolicy": "Always", "dnsPolicy": "ClusterFirst"}}),
        ("services", service(), {"spec": {"type": "ClusterIP", "sessionAffinity": "None"}}),
        ("configmaps", named("a", data={"x": "1"}), {"data": {"x": "1", "y": None}}),
        ("configmaps", named("a"), {"metadata": {"labels": {}, "annotations": None}}),
        ("configmaps", named("a"), {"metadata": {"creationTimestamp": None, "generation": 8}}),
    ],
    ids=str,
)
async def test_what_was_so_already_writes_nothing(
    wire: Wire, path: str, body: Json, again: Json
) -> None:
    made = (await wire.post(path, body)).made()

    now = (await wire.patch(f"{path}/a", again)).ok()

    assert (now.revision, now["metadata"]) == (made.revision, made["metadata"])


@pytest.mark.parametrize(
    ("change", "generation"),
    [
        ({"spec": {"size": 2}}, 2),
        ({"spec": None}, 2),
        (LABEL, 1),
        (NOTE, 1),
        ({"status": {"phase": "Done"}}, 1),
        ({"spec": {"nobody": "knows"}}, 1),
    ],
    ids=str,
)
async def test_custom_kinds_count_everything_but_metadata_and_status(
    wire: Wire, change: Json, generation: int
) -> None:
    async with things(wire, fields(size=NUMBER, word=TEXT), subresources={"status": {}}) as kind:
        await kind.made({"size": 1})
        now = await wire.patch(kind.at("a"), change)

    assert now.ok()["metadata.generation"] == generation


async def test_without_a_status_door_a_status_counts_too(wire: Wire) -> None:
    async with things(wire, fields(size=NUMBER)) as kind:
        await kind.made({"size": 1})
        now = await wire.patch(kind.at("a"), {"status": {"phase": "Done"}})

    assert (now.ok()["metadata.generation"], now["status.phase"]) == (2, "Done")
