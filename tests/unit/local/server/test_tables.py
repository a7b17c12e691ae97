"""Tables: ages, the words for what pods do, paths of columns, and a line of every kind."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.kube.resources import (
    CRON_JOBS,
    DISRUPTION_BUDGETS,
    EVENTS,
    JOBS,
    NODES,
    PODS,
    SERVICES,
    STATEFUL_SETS,
    VOLUME_CLAIMS,
    Resource,
)
from stateward.local import catalog
from stateward.local.kinds import Column, Kind, built_in
from stateward.local.server.tables import jsonpaths
from stateward.local.server.tables.ages import age, duration
from stateward.local.server.tables.custom import layout_of
from stateward.local.server.tables.pods import status_word

NOW = 1_700_000_000.0
AN_HOUR_AGO = "2023-11-14T21:13:20Z"
MINUTE, HOUR, DAY, YEAR = 60, 3600, 86_400, 31_536_000


# ------------------------------------------------------------------ ages
@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (2 * MINUTE, "2m"),
        (2 * MINUTE + 30, "2m30s"),
        (10 * MINUTE + 30, "10m"),
        (3 * HOUR - 1, "179m"),
        (3 * HOUR, "3h"),
        (7 * HOUR + 5 * MINUTE, "7h5m"),
        (8 * HOUR + 5 * MINUTE, "8h"),
        (47 * HOUR, "47h"),
        (3 * DAY, "3d"),
        (3 * DAY + 7 * HOUR, "3d7h"),
        (9 * DAY + HOUR, "9d"),
        (729 * DAY, "729d"),
        (3 * YEAR, "3y"),
        (3 * YEAR + 10 * DAY, "3y10d"),
        (9 * YEAR + 10 * DAY, "9y"),
    ],
)
def test_durations(seconds: int, said: str) -> None:
    assert duration(seconds) == said


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        (AN_HOUR_AGO, "60m"),
        (None, "<unknown>"),
        ("", "<unknown>"),
        ("noon", "<invalid>"),
        (5, "<unknown>"),
    ],
)
def test_ages(moment: object, said: str) -> None:
    assert age(moment, NOW) == said


# ------------------------------------------------------------------ what a pod does
def waiting(reason: str) -> Any:
    return {"state": {"waiting": {"reason": reason}}}


def ended(code: int, reason: str = "", **more: Any) -> Any:
    return {
        "state": {
            "terminated": {"exitCode": code, **({"reason": reason} if reason else {}), **more}
        }
    }


RUNNING: Any = {"state": {"running": {}}, "ready": True}


def pod(
    phase: str, *main: Any, inits: tuple[Any, ...] = (), leaving: bool = False, **status: Any
) -> Any:
    return {
        "metadata": {"name": "p", **({"deletionTimestamp": AN_HOUR_AGO} if leaving else {})},
        "spec": {
            "containers": [{"name": str(n)} for n, _ in enumerate(main)],
            "initContainers": [{"name": str(n)} for n, _ in enumerate(inits)],
        },
        "status": {
            "phase": phase,
            "containerStatuses": list(main),
            "initContainerStatuses": list(inits),
            **status,
        },
    }


@pytest.mark.parametrize(
    ("document", "word"),
    [
        (pod("Pending"), "Pending"),
        (pod("Pending", waiting("ContainerCreating")), "ContainerCreating"),
        (pod("Pending", waiting("ErrImagePull")), "ErrImagePull"),
        (pod("Running", RUNNING), "Running"),
        (pod("Running", waiting("CrashLoopBackOff")), "CrashLoopBackOff"),
        (pod("Running", RUNNING, waiting("CrashLoopBackOff")), "CrashLoopBackOff"),
        (pod("Succeeded", ended(0, "Completed")), "Completed"),
        (pod("Failed", ended(1, "Error")), "Error"),
        (pod("Failed", ended(3)), "ExitCode:3"),
        (pod("Failed", ended(0, signal=9)), "Signal:9"),
        (pod("Failed", reason="Evicted"), "Evicted"),
        (pod("Running", ended(0, "Completed"), RUNNING), "NotReady"),
        (
            pod(
                "Running",
                ended(0, "Completed"),
                RUNNING,
                conditions=[{"type": "Ready", "status": "True"}],
            ),
            "Running",
        ),
        (pod("Pending", inits=({"state": {"running": {}}},)), "Init:0/1"),
        (pod("Pending", inits=(ended(0), waiting("PodInitializing"))), "Init:1/2"),
        (pod("Pending", inits=(waiting("CrashLoopBackOff"),)), "Init:CrashLoopBackOff"),
        (pod("Pending", inits=(ended(1, "Error"),)), "Init:Error"),
        (pod("Pending", inits=(ended(2),)), "Init:ExitCode:2"),
        (pod("Running", RUNNING, inits=(ended(0),)), "Running"),
        (pod("Running", RUNNING, leaving=True), "Terminating"),
        (pod("Succeeded", ended(0, "Completed"), leaving=True), "Completed"),
        (pod("Running", leaving=True, reason="NodeLost"), "Unknown"),
        (
            pod("Pending", conditions=[{"type": "PodScheduled", "reason": "SchedulingGated"}]),
            "SchedulingGated",
        ),
        ({"metadata": {}}, "Unknown"),
    ],
    ids=lambda it: it if isinstance(it, str) else "",
)
def test_the_word_for_a_pod(document: Any, word: str) -> None:
    assert status_word(document) == word


# ------------------------------------------------------------------ lines
def line(resource: Resource[Any], document: Any) -> list[Any]:
    metadata = {"name": "x", "creationTimestamp": AN_HOUR_AGO} | document.pop("metadata", {})
    return layout_of(built_in(resource)).line({"metadata": metadata, **document}, NOW)


RESTARTED: Any = {
    "ready": True,
    "restartCount": 3,
    "lastState": {"terminated": {"finishedAt": AN_HOUR_AGO}},
}
SERVED: Any = {
    "type": "NodePort",
    "clusterIP": "10.0.0.1",
    "ports": [{"port": 80, "nodePort": 30080}],
    "selector": {"a": "b"},
}
CLASS = "storageclass.kubernetes.io/is-default-class"


@pytest.mark.parametrize(
    ("resource", "document", "cells"),
    [
        (
            PODS,
            pod("Running", RUNNING | RESTARTED),
            [
                "p",
                "1/1",
                "Running",
                "3 (60m ago)",
                "60m",
                "<none>",
                "<none>",
                "<none>",
                "<none>",
            ],
        ),
        (
            PODS,
            pod("Pending", waiting("PodInitializing"), inits=(RESTARTED | ended(1, "Error"),)),
            ["p", "0/1", "Init:Error", "3 (60m ago)", "60m", *["<none>"] * 4],
        ),
        (
            PODS,
            pod("Running", RUNNING, inits=(RESTARTED | ended(0, "Completed"),)),
            ["p", "1/1", "Running", "0", "60m", *["<none>"] * 4],
        ),
        (
            NODES,
            {
                "metadata": {"labels": {"node-role.kubernetes.io/worker": ""}},
                "spec": {"unschedulable": True},
                "status": {
                    "conditions": [{"type": "Ready", "status": "True"}],
                    "nodeInfo": {"kubeletVersion": "v1"},
                    "addresses": [{"type": "InternalIP", "address": "127.0.0.2"}],
                },
            },
            [
                "x",
                "Ready,SchedulingDisabled",
                "worker",
                "60m",
                "v1",
                "127.0.0.2",
                "<none>",
                "<unknown>",
                "<unknown>",
                "<unknown>",
            ],
        ),
        (
            SERVICES,
            {"spec": SERVED},
            ["x", "NodePort", "10.0.0.1", "<none>", "80:30080/TCP", "60m", "a=b"],
        ),
        (
            STATEFUL_SETS,
            {"spec": {"replicas": 3}, "status": {"readyReplicas": 2}},
            ["x", "2/3", "60m", "", ""],
        ),
        (
            JOBS,
            {"spec": {"completions": 2}, "status": {"succeeded": 1, "startTime": AN_HOUR_AGO}},
            ["x", "Running", "1/2", "60m", "60m", "", "", "<none>"],
        ),
        (
            JOBS,
            {"status": {"conditions": [{"type": "Complete", "status": "True"}]}},
            ["x", "Complete", "0/1", "", "60m", "", "", "<none>"],
        ),
        (
            CRON_JOBS,
            {"spec": {"schedule": "* * * * *"}},
            ["x", "* * * * *", "<none>", "False", 0, "<none>", "60m", "", "", "<none>"],
        ),
        (
            VOLUME_CLAIMS,
            {
                "spec": {"volumeName": "v"},
                "status": {
                    "phase": "Bound",
                    "capacity": {"storage": "1Gi"},
                    "accessModes": ["ReadWriteOnce"],
                },
            },
            ["x", "Bound", "v", "1Gi", "RWO", "", "<unset>", "60m", "<unset>"],
        ),
        (
            catalog.STORAGE_CLASSES,
            {"metadata": {"annotations": {CLASS: "true"}}, "provisioner": "local"},
            ["x (default)", "local", "Delete", "Immediate", False, "60m"],
        ),
        (
            DISRUPTION_BUDGETS,
            {"spec": {"minAvailable": "50%"}, "status": {"disruptionsAllowed": 1}},
            ["x", "50%", "N/A", 1, "60m"],
        ),
        (
            EVENTS,
            {
                "type": "Warning",
                "reason": "Failed",
                "message": "oh ",
                "lastTimestamp": AN_HOUR_AGO,
                "involvedObject": {"kind": "Pod", "name": "p"},
            },
            ["60m", "Warning", "Failed", "pod/p", "", "", "oh", "<unknown>", 1, "x"],
        ),
        (
            catalog.ENDPOINT_SLICES,
            {
                "addressType": "IPv4",
                "ports": [{"port": 80}],
                "endpoints": [{"addresses": [f"10.0.0.{n}"]} for n in range(5)],
            },
            ["x", "IPv4", "80", "10.0.0.0,10.0.0.1,10.0.0.2 + 2 more...", "60m"],
        ),
        (
            catalog.ROLE_BINDINGS,
            {
                "roleRef": {"kind": "Role", "name": "r"},
                "subjects": [
                    {"kind": "User", "name": "u"},
                    {"kind": "ServiceAccount", "namespace": "n", "name": "s"},
                ],
            },
            ["x", "Role/r", "60m", "u", "", "n/s"],
        ),
    ],
    ids=lambda it: str(it) if isinstance(it, Resource) else "",
)
def test_a_line(resource: Resource[Any], document: Any, cells: list[Any]) -> None:
    assert line(resource, document) == cells


@pytest.mark.parametrize("resource", list(catalog.SERVED), ids=str)
def test_every_line_is_as_long_as_its_head_even_of_an_empty_object(resource: Resource[Any]) -> None:
    layout = layout_of(built_in(resource))

    assert len(layout.line({"metadata": {"name": "x"}}, NOW)) == len(layout.columns)


@pytest.mark.parametrize("resource", list(catalog.SERVED), ids=str)
def test_no_line_stumbles_over_nonsense(resource: Resource[Any]) -> None:
    odd: Any = {
        "metadata": {"name": "x", "creationTimestamp": "?"},
        "spec": [],
        "status": "?",
        "data": {},
    }

    assert layout_of(built_in(resource)).line(odd, NOW)


# ------------------------------------------------------------------ columns of custom kinds
DOCUMENT: Any = {
    "metadata": {"name": "w", "labels": {"a.b/c": "d"}, "creationTimestamp": AN_HOUR_AGO},
    "spec": {"size": 3, "on": True, "parts": [{"name": "x", "n": 1}, {"name": "y", "n": 2}]},
    "status": {
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "Odd", "status": "False"}]
    },
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".spec.size", [3]),
        ("{.spec.size}", [3]),
        (".spec.parts[0].name", ["x"]),
        (".spec.parts[-1].name", ["y"]),
        (".spec.parts[7].name", []),
        (".spec.parts[*].n", [1, 2]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type=='Odd')].status", ["False"]),
        ('.status.conditions[?(@.type!="Ready")].type', ["Odd"]),
        ("['spec'].size", [3]),
        (r".metadata.labels.a\.b/c", ["d"]),
        (".spec.nothing.at.all", []),
        (".spec[", []),
        ("nonsense", []),
    ],
)
def test_paths(path: str, found: list[Any]) -> None:
    assert jsonpaths.values(DOCUMENT, path) == found


def test_the_columns_that_a_kind_asks_for() -> None:
    columns = (
        Column("Size", "integer", ".spec.size"),
        Column("On", "boolean", ".spec.on"),
        Column("Parts", "string", ".spec.parts[*].name"),
        Column("Raw", "string", ".spec.parts[0]"),
        Column("Missing", "string", ".spec.none"),
        Column("Age", "date", ".metadata.creationTimestamp"),
    )
    kind = Kind(catalog.ROLES, columns=columns)

    assert layout_of(kind).line(DOCUMENT, NOW) == [
        "w",
        3,
        True,
        "x",
        '{"name":"x","n":1}',
        None,
        "60m",
    ]
