"""Kinds that look after pods: what nobody said, and what makes no sense."""

from __future__ import annotations

from typing import Any, Final

import pytest

from contract.kubernetes.shapes import (
    CONTAINERS,
    LABELS,
    SELECTOR,
    TEAM,
    TEMPLATE,
    WORK,
    claim,
    thing,
)
from contract.kubernetes.wire import Wire

CONTAINER: Final = {
    "name": "main",
    "image": "none",
    "imagePullPolicy": "Always",
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
POD: Final = {
    "containers": [CONTAINER],
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}
STORED: Final = {
    "replicas": 0,
    "selector": SELECTOR,
    "template": {"metadata": {"labels": LABELS}, "spec": POD},
}


def plain(value: Any) -> Any:
    """Leave out what says nothing: older servers write the age of what has none."""
    if isinstance(value, dict):
        return {name: plain(it) for name, it in value.items() if it is not None}
    return [plain(it) for it in value] if isinstance(value, list) else value


async def test_a_deployment_as_it_is_stored(wire: Wire) -> None:
    made = (await wire.post("deployments", thing(spec=TEAM))).made()

    assert plain(made["spec"]) == STORED | {
        "progressDeadlineSeconds": 600,
        "revisionHistoryLimit": 10,
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
        },
    }
    assert made["metadata.generation"] == 1


async def test_a_stateful_set_as_it_is_stored(wire: Wire) -> None:
    template = claim("data", resources={"requests": {"storage": "1024Mi"}})

    made = (
        await wire.post(
            "statefulsets",
            thing(spec=TEAM | {"serviceName": "web", "volumeClaimTemplates": [template]}),
        )
    ).made()

    assert plain(made["spec"]) == STORED | {
        "serviceName": "web",
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
        "podManagementPolicy": "OrderedReady",
        "revisionHistoryLimit": 10,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        "volumeClaimTemplates": [
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": "data"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                    "storageClassName": "nobody",
                    "volumeMode": "Filesystem",
                },
                "status": {"phase": "Pending"},
            }
        ],
    }


async def test_a_replica_set_as_it_is_stored(wire: Wire) -> None:
    made = (await wire.post("replicasets", thing(spec=TEAM))).made()

    assert plain(made["spec"]) == STORED


async def test_one_pod_is_wanted_where_nobody_counts(wire: Wire) -> None:
    spec = {"paused": True, "selector": SELECTOR, "template": TEMPLATE}

    made = (await wire.post("deployments", thing(spec=spec), dryRun="All")).made()

    assert made["spec.replicas"] == 1


@pytest.mark.parametrize(
    ("kind", "field", "said"),
    [
        ("deployments", "strategy", {"type": "Recreate"}),
        ("statefulsets", "updateStrategy", {"type": "OnDelete"}),
    ],
)
async def test_other_strategies_get_no_numbers(
    wire: Wire, kind: str, field: str, said: Any
) -> None:
    made = (await wire.post(kind, thing(spec=TEAM | {field: said}))).made()

    assert made[f"spec.{field}"] == said


async def test_a_job_as_it_is_stored(wire: Wire) -> None:
    made = (await wire.post("jobs", thing(spec={"suspend": True, **WORK}))).made()

    mine = {"controller-uid": made["metadata.uid"], "job-name": "a"}
    labels = {**mine, **{f"batch.kubernetes.io/{name}": value for name, value in mine.items()}}
    spec = plain(made["spec"])
    assert spec == {
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "completions": 1,
        "manualSelector": False,
        "parallelism": 1,
        "podReplacementPolicy": "TerminatingOrFailed",
        "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": made["metadata.uid"]}},
        "suspend": True,
        "template": {"metadata": {"labels": labels}, "spec": POD | {"restartPolicy": "Never"}},
    }
    assert made["metadata.labels"] == labels


@pytest.mark.parametrize(
    ("said", "completions", "parallelism"),
    [
        ({"parallelism": 3}, None, 3),
        ({"completions": 3}, 3, 1),
        ({"completions": 3, "completionMode": "Indexed"}, 3, 1),
    ],
    ids=["a queue of work", "so many", "so many, numbered"],
)
async def test_how_much_work_there_is(
    wire: Wire, said: Any, completions: int | None, parallelism: int
) -> None:
    made = (await wire.post("jobs", thing(spec={"suspend": True, **WORK, **said}))).made()

    assert (made["spec.completions"], made["spec.parallelism"]) == (completions, parallelism)


async def test_a_cron_job_as_it_is_stored(wire: Wire) -> None:
    spec = {"suspend": True, "schedule": "0 4 * * *", "jobTemplate": {"spec": WORK}}

    made = (await wire.post("cronjobs", thing(spec=spec))).made()

    assert plain(made["spec"]) == {
        "concurrencyPolicy": "Allow",
        "failedJobsHistoryLimit": 1,
        "jobTemplate": {
            "metadata": {},
            "spec": {"template": {"metadata": {}, "spec": POD | {"restartPolicy": "Never"}}},
        },
        "schedule": "0 4 * * *",
        "successfulJobsHistoryLimit": 3,
        "suspend": True,
    }


# ------------------------------------------------------------------ what makes no sense
OTHER: Final = {"matchLabels": {"app": "another"}}
SPEC: Final = "spec.template.spec"


def team(**parts: Any) -> Any:
    return TEAM | parts


def cron(**parts: Any) -> Any:
    return {"schedule": "* * * * *", "jobTemplate": {"spec": WORK}} | parts


WRONG: Final[list[tuple[str, str, Any, tuple[str, ...]]]] = [
    (
        "others' pods",
        "statefulsets",
        team(selector=OTHER),
        ("Invalid spec.template.metadata.labels",),
    ),
    (
        "others' pods",
        "deployments",
        team(selector=OTHER),
        ("Invalid spec.template.metadata.labels",),
    ),
    ("everybody", "statefulsets", team(selector={}), ("Invalid spec.selector",)),
    (
        "nobody",
        "statefulsets",
        {"template": TEMPLATE},
        ("Required spec.selector", "Invalid spec.template.metadata.labels"),
    ),
    ("less than none", "statefulsets", team(replicas=-1), ("Invalid spec.replicas",)),
    ("less than none", "deployments", team(replicas=-1), ("Invalid spec.replicas",)),
    (
        "pods that end",
        "statefulsets",
        team(template=TEMPLATE | {"spec": {**CONTAINERS, "restartPolicy": "Never"}}),
        (f"NotSupported {SPEC}.restartPolicy",),
    ),
    (
        "pods with a deadline",
        "deployments",
        team(template=TEMPLATE | {"spec": {**CONTAINERS, "activeDeadlineSeconds": 5}}),
        (f"Forbidden {SPEC}.activeDeadlineSeconds",),
    ),
    (
        "pods that make no sense",
        "deployments",
        team(template=TEMPLATE | {"spec": {"containers": [{"name": "main"}]}}),
        (f"Required {SPEC}.containers[0].image",),
    ),
    (
        "order",
        "statefulsets",
        team(podManagementPolicy="Any"),
        ("Invalid spec.podManagementPolicy",),
    ),
    (
        "strategy",
        "statefulsets",
        team(updateStrategy={"type": "Any"}),
        ("Invalid spec.updateStrategy",),
    ),
    (
        "partition",
        "statefulsets",
        team(updateStrategy={"rollingUpdate": {"partition": -1}}),
        ("Invalid spec.updateStrategy.rollingUpdate.partition",),
    ),
    ("ordinals", "statefulsets", team(ordinals={"start": -1}), ("Invalid spec.ordinals.start",)),
    (
        "keeping claims",
        "statefulsets",
        team(persistentVolumeClaimRetentionPolicy={"whenDeleted": "Maybe"}),
        ("NotSupported spec.persistentVolumeClaimRetentionPolicy.whenDeleted",),
    ),
    ("strategy", "deployments", team(strategy={"type": "Any"}), ("NotSupported spec.strategy",)),
    (
        "numbers of no use",
        "deployments",
        team(strategy={"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}),
        ("Forbidden spec.strategy.rollingUpdate",),
    ),
    (
        "no way to begin",
        "deployments",
        team(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}),
        ("Invalid spec.strategy.rollingUpdate.maxUnavailable",),
    ),
    (
        "more than all",
        "deployments",
        team(strategy={"rollingUpdate": {"maxUnavailable": "101%"}}),
        ("Invalid spec.strategy.rollingUpdate.maxUnavailable",),
    ),
    (
        "late before it is ready",
        "deployments",
        team(progressDeadlineSeconds=5, minReadySeconds=5),
        ("Invalid spec.progressDeadlineSeconds",),
    ),
    (
        "pods that never end",
        "jobs",
        {"template": {"spec": CONTAINERS}},
        (f"Required {SPEC}.restartPolicy",),
    ),
    (
        "numbers without an end",
        "jobs",
        {"completionMode": "Indexed", "parallelism": 2, **WORK},
        ("Required spec.completions",),
    ),
    ("less than none", "jobs", {"parallelism": -1, **WORK}, ("Invalid spec.parallelism",)),
    ("less than no try", "jobs", {"backoffLimit": -1, **WORK}, ("Invalid spec.backoffLimit",)),
    (
        "gone before",
        "jobs",
        {"ttlSecondsAfterFinished": -1, **WORK},
        ("Invalid spec.ttlSecondsAfterFinished",),
    ),
    ("never", "cronjobs", {"jobTemplate": {"spec": WORK}}, ("Required spec.schedule",)),
    ("some time", "cronjobs", cron(schedule="sometimes"), ("Invalid spec.schedule",)),
    (
        "a zone in the schedule",
        "cronjobs",
        cron(schedule="TZ=UTC * * * * *"),
        ("Invalid spec.schedule",),
    ),
    ("an odd zone", "cronjobs", cron(timeZone="Moon/Base"), ("Invalid spec.timeZone",)),
    (
        "an odd policy",
        "cronjobs",
        cron(concurrencyPolicy="Any"),
        ("NotSupported spec.concurrencyPolicy",),
    ),
    (
        "less than no memory",
        "cronjobs",
        cron(failedJobsHistoryLimit=-1),
        ("Invalid spec.failedJobsHistoryLimit",),
    ),
]


@pytest.mark.parametrize(
    ("kind", "spec", "causes"), [it[1:] for it in WRONG], ids=[f"{it[1]} {it[0]}" for it in WRONG]
)
async def test_what_makes_no_sense(
    wire: Wire, kind: str, spec: Any, causes: tuple[str, ...]
) -> None:
    answer = await wire.post(kind, thing(spec=spec))

    answer.refused(422, "Invalid", *(f"FieldValue{it}" for it in causes))
