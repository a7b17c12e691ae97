"""What a pod's status says, as a table."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.kube.codec import Json
from stateward.local.agent.life import status
from stateward.local.agent.life.status import ContainerView, PodFacts, Running, Terminated, Waiting

NOW = 1_700_000_000.0
RUNS = Running(NOW)
WELL, BADLY = Terminated(0), Terminated(1, reason="Error")


def views(*states: Any) -> list[ContainerView]:
    found = []
    for number, state in enumerate(states):
        last = BADLY if state == "looping" else None
        now = Waiting("CrashLoopBackOff") if last else state
        found.append(ContainerView(f"c{number}", "busybox", now, last, ready=state is RUNS))
    return found


@pytest.mark.parametrize(
    ("policy", "mains", "phase"),
    [
        ("Always", [Waiting("ContainerCreating")], "Pending"),
        ("Always", [RUNS], "Running"),
        ("Always", [RUNS, Waiting("ErrImagePull")], "Pending"),
        ("Always", [RUNS, "looping"], "Running"),
        ("Always", ["looping"], "Running"),
        ("Always", [WELL], "Running"),
        ("OnFailure", [WELL], "Succeeded"),
        ("OnFailure", [BADLY], "Running"),
        ("OnFailure", [WELL, RUNS], "Running"),
        ("Never", [WELL, WELL], "Succeeded"),
        ("Never", [WELL, BADLY], "Failed"),
        ("Never", [RUNS, BADLY], "Running"),
    ],
)
def test_the_phase_of_containers(policy: str, mains: list[Any], phase: str) -> None:
    assert status.phase_of({"restartPolicy": policy}, PodFacts(mains=views(*mains))) == phase


@pytest.mark.parametrize(
    ("policy", "init", "phase"),
    [
        ("Always", RUNS, "Pending"),
        ("Always", BADLY, "Pending"),
        ("Never", BADLY, "Failed"),
        ("Never", WELL, "Pending"),
    ],
)
def test_the_phase_while_init_containers_work(policy: str, init: Any, phase: str) -> None:
    facts = PodFacts(inits=views(init), mains=views(Waiting("PodInitializing")))
    assert status.phase_of({"restartPolicy": policy}, facts) == phase


@pytest.mark.parametrize(
    ("code", "exit_code", "signal", "reason"),
    [(0, 0, 0, "Completed"), (3, 3, 0, "Error"), (-9, 137, 9, "Error"), (-15, 143, 15, "Error")],
)
def test_how_a_process_ended(code: int, exit_code: int, signal: int, reason: str) -> None:
    over = status.ended(code, NOW, NOW, "id")
    assert (over.exit_code, over.signal, over.reason) == (exit_code, signal, reason)


@pytest.mark.parametrize(
    ("limits", "requests", "quality"),
    [
        ({}, {}, "BestEffort"),
        ({"cpu": "1"}, {}, "Burstable"),
        ({}, {"memory": "1Gi"}, "Burstable"),
        ({"cpu": "1", "memory": "1Gi"}, {}, "Guaranteed"),
        ({"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"}, "Guaranteed"),
        ({"cpu": "1", "memory": "1Gi"}, {"cpu": "500m"}, "Burstable"),
    ],
)
def test_the_quality_of_service(limits: Json, requests: Json, quality: str) -> None:
    spec = {"containers": [{"resources": {"limits": limits, "requests": requests}}]}
    assert status.qos_class(spec) == quality


def condition(found: Json, kind: str) -> Json:
    return next(it for it in found["conditions"] if it["type"] == kind)


def told(facts: PodFacts, old: Json | None = None, now: float = NOW, **spec: Any) -> Json:
    return status.pod_status(2, spec, old or {}, facts, now)


def test_a_condition_keeps_the_time_since_which_it_holds() -> None:
    early = told(PodFacts(mains=views(Waiting("ContainerCreating"))))
    later = told(PodFacts(mains=views(RUNS)), early, NOW + 60)

    assert condition(early, "Ready")["message"] == "containers with unready status: [c0]"
    assert condition(later, "Ready") == {
        "type": "Ready",
        "status": "True",
        "lastTransitionTime": "2023-11-14T22:14:20Z",
    }
    assert condition(later, "PodScheduled")["lastTransitionTime"] == "2023-11-14T22:13:20Z"


def test_finished_pods_are_not_ready_and_say_why() -> None:
    found = told(PodFacts(mains=views(WELL)), restartPolicy="Never")
    assert condition(found, "Ready")["reason"] == "PodCompleted"
    assert condition(found, "Initialized")["status"] == "True"


def test_only_what_is_different_is_written() -> None:
    facts = PodFacts("127.1.2.3", "127.9.9.9", NOW, mains=views(RUNS))
    found = told(facts)
    facts.failed = None

    assert status.changes(found, told(facts, found, NOW + 99)) == {}
    assert status.changes({**found, "reason": "Evicted"}, found) == {"reason": None}
    facts.mains[0].ready = False
    assert status.changes(found, told(facts, found)).keys() == {"conditions", "containerStatuses"}


@pytest.mark.parametrize(
    ("state", "exit_code"),
    [
        ({"running": {"startedAt": "2023-11-14T22:13:20Z"}}, 137),
        ({"terminated": {"exitCode": 4, "startedAt": "odd"}}, 4),
        ({"waiting": {"reason": "CrashLoopBackOff"}}, None),
    ],
)
def test_what_an_earlier_agent_left(state: Json, exit_code: int | None) -> None:
    old = {
        "containerStatuses": [{"name": "c", "restartCount": 5, "containerID": "x", "state": state}]
    }
    view = status.recalled({"name": "c", "image": "i"}, old, NOW)

    assert view.restarts == 5
    assert (view.state.exit_code if isinstance(view.state, Terminated) else None) == exit_code
