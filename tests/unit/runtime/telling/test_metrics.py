"""Metrics: the names that dashboards know, and nothing that grows without bound."""

from __future__ import annotations

import pytest
from prometheus_client import REGISTRY

from fakes.hand_clock import HandClock
from stateward.core.errors import HouseError, PeerUnreachable
from stateward.core.outcome import DONE, Blocked, Retry, Wait
from stateward.runtime.pipeline import Failure, Report, Said
from stateward.runtime.telling.metrics import COUNTERS, GAUGES, HISTOGRAMS, Metrics


def told(metrics: Metrics) -> dict[str, float]:
    """Every series of a scrape, without the buckets."""
    text, _ = metrics.render()
    series = (line.rsplit(" ", 1) for line in text.decode().splitlines() if line[0] != "#")
    return {name: float(value) for name, value in series if "_bucket{" not in name}


def changed(metrics: Metrics, before: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in told(metrics).items() if before.get(name) != value}


def test_a_queue_tells_what_dashboards_expect() -> None:
    metrics = Metrics(HandClock())
    queue = metrics.queue("etcd")
    before = told(metrics)
    queue.added()
    queue.depth(4)
    queue.started(0.5)
    queue.retried()
    queue.finished(2.0)
    where = '{controller="etcd",name="etcd"}'
    assert changed(metrics, before) == {
        f"workqueue_adds_total{where}": 1,
        f"workqueue_depth{where}": 4,
        f"workqueue_queue_duration_seconds_count{where}": 1,
        f"workqueue_queue_duration_seconds_sum{where}": 0.5,
        f"workqueue_retries_total{where}": 1,
        f"workqueue_work_duration_seconds_count{where}": 1,
        f"workqueue_work_duration_seconds_sum{where}": 2,
    }


def test_work_under_way_is_measured_when_somebody_looks() -> None:
    clock = HandClock()
    metrics = Metrics(clock)
    queue = metrics.queue("etcd")

    def under_way() -> tuple[float, float]:
        where = '{controller="etcd",name="etcd"}'
        series = told(metrics)
        return (
            series[f"workqueue_unfinished_work_seconds{where}"],
            series[f"workqueue_longest_running_processor_seconds{where}"],
        )

    assert under_way() == (0, 0)
    queue.started(0)
    clock.advance(10)
    metrics.queue("etcd").started(0)  # the same facet, not a second one
    clock.advance(5)
    assert under_way() == (20, 15)
    queue.finished(5)  # the younger of the two
    assert under_way() == (15, 15)
    queue.finished(15)
    assert under_way() == (0, 0)
    queue.finished(1)  # one too many does no harm
    assert under_way() == (0, 0)


@pytest.mark.parametrize(
    ("result", "errors"), [("success", 0), ("error", 1), ("requeue", 0), ("requeue_after", 0)]
)
def test_a_pass_is_counted_by_its_result(result: str, errors: int) -> None:
    metrics = Metrics(HandClock())
    controller = metrics.controller("etcd")
    controller.limit(4)
    controller.active(3)
    controller.finished(result, 0.25)
    series = told(metrics)
    passes = "controller_runtime_reconcile_total"
    assert {name: value for name, value in series.items() if name.startswith(passes)} == {
        f'{passes}{{controller="etcd",result="{each}"}}': float(each == result)
        for each in ("success", "error", "requeue", "requeue_after")
    }
    assert series['controller_runtime_reconcile_errors_total{controller="etcd"}'] == errors
    assert series['controller_runtime_reconcile_time_seconds_sum{controller="etcd"}'] == 0.25
    assert series['controller_runtime_max_concurrent_reconciles{controller="etcd"}'] == 4
    assert series['controller_runtime_active_workers{controller="etcd"}'] == 3


def test_a_result_that_nobody_knows_is_a_bug() -> None:
    with pytest.raises(HouseError, match="must be one of"):
        Metrics(HandClock()).controller("etcd").finished("fine", 1)


def test_steps_are_told_from_the_report() -> None:
    metrics = Metrics(HandClock())
    report = Report(
        said=[
            Said("Observe", DONE, 0.5),
            Said("AddPods", Wait("PodPending", "…"), 0.25),
            Said("Promote", Retry(5, "LearnerBehind", "…"), 0.0),
        ],
        failure=Failure("Remove", PeerUnreachable("no answer")),
    )
    metrics.steps("etcd").record(report)
    metrics.steps("etcd").record(report)
    metrics.steps("etcd").refused("has_quorum")
    outcomes = {k: v for k, v in told(metrics).items() if k.startswith("stateward_step_outcomes")}
    assert outcomes == {
        _outcome("Observe", "Done", ""): 2,
        _outcome("AddPods", "Wait", "PodPending"): 2,
        _outcome("Promote", "Retry", "LearnerBehind"): 2,
        _outcome("Remove", "Failed", "PeerUnreachable"): 2,
    }
    assert told(metrics)['stateward_step_seconds_sum{controller="etcd",step="Observe"}'] == 1
    refusals = 'stateward_guard_refusals_total{controller="etcd",guard="has_quorum"}'
    assert told(metrics)[refusals] == 1


def test_a_runaway_reason_ends_in_other_and_leaves_other_controllers_alone() -> None:
    metrics = Metrics(HandClock(), max_reasons=3)
    for n in range(50):
        said = Said("Check", Blocked(f"Reason{n}", "…", "…"), 0)
        metrics.steps("etcd").record(Report(said=[said]))
        metrics.events().told("Warning", f"Reason{n}")
        metrics.informer("pods").relisted(f"reason {n}")
    metrics.steps("fdb").record(Report(said=[Said("Check", Wait("Late", "…"), 0)]))
    series = told(metrics)
    outcomes = [name for name in series if name.startswith("stateward_step_outcomes")]
    assert len(outcomes) == 5
    assert series[_outcome("Check", "Blocked", "other")] == 47
    assert _outcome("Check", "Wait", "Late").replace("etcd", "fdb") in series
    assert series['stateward_events_total{reason="other",type="Warning"}'] == 47
    assert series['stateward_informer_relists_total{resource="pods",why="other"}'] == 47


def test_informers_requests_elections_and_events() -> None:
    metrics = Metrics(HandClock(), version="1.2.3")
    before = told(metrics)
    informer = metrics.informer("pods")
    informer.objects(7)
    informer.malformed(1)
    informer.relisted("Gone")
    informer.restarted("closed")
    metrics.rest().answered("GET", 200, 0.5)
    metrics.rest().failed("PATCH", 2)
    metrics.leader("stateward").leads(True)
    metrics.leader("other").leads(True)
    metrics.leader("other").leads(False)
    metrics.events().told("Normal", "Created")
    metrics.events().lost("throttled")
    assert before['stateward_build_info{version="1.2.3"}'] == 1
    assert changed(metrics, before) == {
        'stateward_informer_objects{resource="pods"}': 7,
        'stateward_malformed_objects{resource="pods"}': 1,
        'stateward_informer_relists_total{resource="pods",why="Gone"}': 1,
        'stateward_watch_restarts_total{resource="pods",why="closed"}': 1,
        'rest_client_requests_total{code="200",method="GET"}': 1,
        'rest_client_requests_total{code="<error>",method="PATCH"}': 1,
        'rest_client_request_duration_seconds_count{verb="GET"}': 1,
        'rest_client_request_duration_seconds_sum{verb="GET"}': 0.5,
        'rest_client_request_duration_seconds_count{verb="PATCH"}': 1,
        'rest_client_request_duration_seconds_sum{verb="PATCH"}': 2,
        'leader_election_master_status{name="stateward"}': 1,
        'leader_election_master_status{name="other"}': 0,
        'stateward_events_total{reason="Created",type="Normal"}': 1,
        'stateward_events_lost_total{why="throttled"}': 1,
    }


def test_every_instance_has_a_registry_of_its_own() -> None:
    one, other = Metrics(HandClock()), Metrics(HandClock())
    one.queue("etcd").added()
    assert "etcd" not in other.render()[0].decode()
    ours = {*COUNTERS, *GAUGES, *HISTOGRAMS}
    assert not ours & {family.name for family in REGISTRY.collect()}


def test_the_text_is_the_same_in_every_universe() -> None:
    def text() -> bytes:
        metrics = Metrics(HandClock())
        metrics.queue("etcd").started(1)
        metrics.controller("etcd").finished("success", 1)
        return metrics.render()[0]

    assert text() == text()
    assert b"_created" not in text()  # they would read the machine's clock
    assert Metrics(HandClock()).render()[1] == "text/plain; version=0.0.4; charset=utf-8"


def _outcome(step: str, outcome: str, reason: str) -> str:
    labels = f'controller="etcd",outcome="{outcome}",reason="{reason}",step="{step}"'
    return f"stateward_step_outcomes_total{{{labels}}}"
