"""What the operator counts and measures, in the Prometheus text format.

Every operator instance owns a registry, because the simulation runs many of them in one process.
Names that controller-runtime has are used as it has them, so that existing dashboards and alerts
work; ours begin with ``stateward_``. ``controller_runtime_terminal_reconcile_errors_total`` is left
out on purpose: nothing ends our retries, and a pass that waits for a person is counted in
``stateward_step_outcomes_total``.

Each part of the runtime is handed a small facet with the few verbs it needs, never the whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.metrics_core import Metric

from stateward import __version__
from stateward.core.clock import Clock
from stateward.core.errors import HouseError
from stateward.core.outcome import Done
from stateward.runtime.pipeline import Report
from stateward.runtime.telling.bounds import Cap
from stateward.runtime.telling.programs import ProgramMetrics
from stateward.runtime.telling.series import Families, ObjectMetrics

_QUEUE = ("name", "controller")
_LAST_BUGS = 8

COUNTERS: Families = {
    "controller_runtime_reconcile_total": ("Passes, by how they ended.", ("controller", "result")),
    "controller_runtime_reconcile_errors_total": ("Passes that failed.", ("controller",)),
    "stateward_bugs_total": ("Passes that failed by a bug of ours.", ("controller",)),
    "workqueue_adds_total": ("Keys that came into the queue.", _QUEUE),
    "workqueue_retries_total": ("Keys that came back after a failure.", _QUEUE),
    "rest_client_requests_total": ("Requests to the API server.", ("code", "method")),
    "stateward_step_outcomes_total": (
        "What the steps of a pass said.",
        ("controller", "step", "outcome", "reason"),
    ),
    "stateward_guard_refusals_total": ("Acts that a guard held back.", ("controller", "guard")),
    "stateward_informer_relists_total": ("Full reads of a resource.", ("resource", "why")),
    "stateward_watch_restarts_total": ("Watches that were taken up again.", ("resource", "why")),
    "stateward_events_total": ("Kubernetes events told.", ("type", "reason")),
    "stateward_events_lost_total": ("Kubernetes events that could not be told.", ("why",)),
}
GAUGES: Families = {
    "controller_runtime_max_concurrent_reconciles": ("Passes allowed at once.", ("controller",)),
    "controller_runtime_active_workers": ("Passes under way.", ("controller",)),
    "workqueue_depth": ("Keys that wait.", _QUEUE),
    "workqueue_unfinished_work_seconds": ("Work under way, all workers together.", _QUEUE),
    "workqueue_longest_running_processor_seconds": ("Work under way, slowest worker.", _QUEUE),
    "leader_election_master_status": ("1 while this instance leads.", ("name",)),
    "stateward_informer_objects": ("Objects in the cache.", ("resource",)),
    "stateward_malformed_objects": ("Objects that exist and cannot be read.", ("resource",)),
    "stateward_build_info": ("Always 1; the label says which version runs.", ("version",)),
}
HISTOGRAMS: Families = {
    "controller_runtime_reconcile_time_seconds": ("How long passes take.", ("controller",)),
    "workqueue_queue_duration_seconds": ("How long keys wait.", _QUEUE),
    "workqueue_work_duration_seconds": ("How long keys are worked on.", _QUEUE),
    "rest_client_request_duration_seconds": ("How long requests take.", ("verb",)),
    "stateward_step_seconds": ("How long steps take.", ("controller", "step")),
}

#: How a pass can end, as controller-runtime spells it.
RESULTS = ("success", "error", "requeue", "requeue_after")
#: The text format that every Prometheus reads.
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

#: Passes and requests: from a hit in the cache to a peer that times out.
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
#: Waiting in a queue takes microseconds when all is well and many minutes when it is not.
_QUEUE_SECONDS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000)


@dataclass(frozen=True, slots=True)
class QueueMetrics:
    """One work queue. Who calls ``started`` calls ``finished`` for the same key later."""

    _adds: Counter
    _depth: Gauge
    _waited: Histogram
    _worked: Histogram
    _retries: Counter
    _clock: Clock
    _starts: list[float] = field(default_factory=list)

    def added(self) -> None:
        """A key came into the queue."""
        self._adds.inc()

    def depth(self, keys: int) -> None:
        """So many keys wait now."""
        self._depth.set(keys)

    def started(self, waited: float) -> None:
        """A worker took a key that had waited this long."""
        self._waited.observe(waited)
        self._starts.append(self._clock.monotonic())

    def finished(self, worked: float) -> None:
        """A worker is done with a key after this long."""
        self._worked.observe(worked)
        if self._starts:
            began = self._clock.monotonic() - worked
            self._starts.remove(min(self._starts, key=lambda start: abs(start - began)))

    def retried(self) -> None:
        """A key came back because its pass failed."""
        self._retries.inc()

    def unfinished_seconds(self) -> float:
        """Return the work that is under way, all workers together."""
        # An idle queue does not ask for the time: that takes a running loop, which tests may lack.
        return (
            len(self._starts) * self._clock.monotonic() - sum(self._starts) if self._starts else 0
        )

    def longest_seconds(self) -> float:
        """Return how long the slowest worker has been at its key."""
        return self._clock.monotonic() - min(self._starts) if self._starts else 0


@dataclass(frozen=True, slots=True)
class ControllerMetrics:
    """One controller's passes."""

    _results: dict[str, Counter]
    _errors: Counter
    _bugs: Counter
    _last_bugs: deque[str]
    _seconds: Histogram
    _active: Gauge
    _limit: Gauge

    def active(self, workers: int) -> None:
        """So many workers are busy now."""
        self._active.set(workers)

    def limit(self, workers: int) -> None:
        """So many workers may be busy at once."""
        self._limit.set(workers)

    def bug(self, error: Exception) -> None:
        """A pass failed for a reason that is nobody's fault but ours."""
        self._bugs.inc()
        self._last_bugs.append(f"{type(error).__name__}: {error}")

    def finished(self, result: str, seconds: float) -> None:
        """A pass ended with one of :data:`RESULTS`."""
        if result not in self._results:
            raise HouseError(f"the result of a pass must be one of {RESULTS}, got {result!r}")
        self._results[result].inc()
        if result == "error":
            self._errors.inc()
        self._seconds.observe(seconds)


@dataclass(frozen=True, slots=True)
class StepMetrics:
    """What one controller's steps and guards said."""

    _controller: str
    _seconds: Histogram
    _outcomes: Counter
    _refusals: Counter
    _reasons: Cap

    def record(self, report: Report) -> None:
        """Count what every step of a pass said, and the failure that ended it, if one did."""
        for said in report.said:
            self._seconds.labels(self._controller, said.step).observe(said.seconds)
            reason = "" if isinstance(said.outcome, Done) else said.outcome.reason
            self._count(said.step, type(said.outcome).__name__, reason)
        if report.failure is not None:
            self._count(report.failure.step, "Failed", report.failure.reason)

    def refused(self, guard: str) -> None:
        """A guard did not allow an act."""
        self._refusals.labels(self._controller, guard).inc()

    def _count(self, step: str, outcome: str, reason: str) -> None:
        self._outcomes.labels(
            self._controller,
            step,
            outcome,
            self._reasons.admit(f"steps/{self._controller}", reason),
        ).inc()


@dataclass(frozen=True, slots=True)
class InformerMetrics:
    """The cache of one resource."""

    _resource: str
    _objects: Gauge
    _malformed: Gauge
    _relists: Counter
    _restarts: Counter
    _reasons: Cap

    def objects(self, count: int) -> None:
        """So many objects are in the cache."""
        self._objects.set(count)

    def malformed(self, count: int) -> None:
        """So many objects are there that we cannot read."""
        self._malformed.set(count)

    def relisted(self, why: str) -> None:
        """Everything was read anew."""
        self._relists.labels(self._resource, self._reasons.admit("informers", why)).inc()

    def restarted(self, why: str) -> None:
        """A watch ended and was taken up again."""
        self._restarts.labels(self._resource, self._reasons.admit("informers", why)).inc()


@dataclass(frozen=True, slots=True)
class RestMetrics:
    """Requests to the API server."""

    _requests: Counter
    _seconds: Histogram

    def answered(self, method: str, code: int, seconds: float) -> None:
        """The server answered with this HTTP code."""
        self._requests.labels(str(code), method).inc()
        self._seconds.labels(method).observe(seconds)

    def observed(self, method: str, code: str, seconds: float) -> None:
        """A request ended: with an HTTP code, or with the word for why there is none."""
        if code.isdecimal():
            self.answered(method, int(code), seconds)
        else:
            self.failed(method, seconds)

    def failed(self, method: str, seconds: float) -> None:
        """No answer came. The code is then spelt as Go's client spells it."""
        self._requests.labels("<error>", method).inc()
        self._seconds.labels(method).observe(seconds)


@dataclass(frozen=True, slots=True)
class LeaderMetrics:
    """Whether this instance leads."""

    _status: Gauge

    def leads(self, leads: bool) -> None:  # noqa: FBT001 - a gauge of zero or one
        """Whether we lead now, and can prove it."""
        self._status.set(leads)


@dataclass(frozen=True, slots=True)
class EventMetrics:
    """Events told to people."""

    _told: Counter
    _lost: Counter
    _reasons: Cap

    def told(self, kind: str, reason: str) -> None:
        """An event was written, or counted on one that is there."""
        self._told.labels(kind, self._reasons.admit("events", reason)).inc()

    def lost(self, why: str) -> None:
        """An event could not be told."""
        self._lost.labels(why).inc()


class Metrics:
    """All the metrics of one operator instance. The same facet twice means the same series."""

    def __init__(self, clock: Clock, *, version: str = __version__, max_reasons: int = 100) -> None:
        self._clock = clock
        self._registry = CollectorRegistry()
        self._counters = {
            name: Counter(name, about, labels, registry=self._registry)
            for name, (about, labels) in COUNTERS.items()
        }
        self._gauges = {
            name: Gauge(name, about, labels, registry=self._registry)
            for name, (about, labels) in GAUGES.items()
        }
        self._histograms = {
            name: Histogram(name, about, labels, registry=self._registry, buckets=_buckets_of(name))
            for name, (about, labels) in HISTOGRAMS.items()
        }
        self._queues: dict[str, QueueMetrics] = {}
        self._reasons = Cap(max_reasons)
        #: What they were that are counted as bugs, for whoever runs operators to find some.
        self.last_bugs: deque[str] = deque(maxlen=_LAST_BUGS)
        self._gauges["stateward_build_info"].labels(version).set(1)

    def queue(self, name: str) -> QueueMetrics:
        """Return the facet of one work queue, which is named like its controller."""
        if name not in self._queues:
            self._queues[name] = self._new_queue(name)
        return self._queues[name]

    def controller(self, name: str) -> ControllerMetrics:
        """Return the facet of one controller."""
        results = self._counters["controller_runtime_reconcile_total"]
        return ControllerMetrics(
            {result: results.labels(name, result) for result in RESULTS},
            self._counters["controller_runtime_reconcile_errors_total"].labels(name),
            self._counters["stateward_bugs_total"].labels(name),
            self.last_bugs,
            self._histograms["controller_runtime_reconcile_time_seconds"].labels(name),
            self._gauges["controller_runtime_active_workers"].labels(name),
            self._gauges["controller_runtime_max_concurrent_reconciles"].labels(name),
        )

    def steps(self, controller: str) -> StepMetrics:
        """Return the facet of one controller's steps."""
        return StepMetrics(
            controller,
            self._histograms["stateward_step_seconds"],
            self._counters["stateward_step_outcomes_total"],
            self._counters["stateward_guard_refusals_total"],
            self._reasons,
        )

    def informer(self, resource: str) -> InformerMetrics:
        """Return the facet of one resource's cache."""
        return InformerMetrics(
            resource,
            self._gauges["stateward_informer_objects"].labels(resource),
            self._gauges["stateward_malformed_objects"].labels(resource),
            self._counters["stateward_informer_relists_total"],
            self._counters["stateward_watch_restarts_total"],
            self._reasons,
        )

    def rest(self) -> RestMetrics:
        """Return the facet of the API client."""
        return RestMetrics(
            self._counters["rest_client_requests_total"],
            self._histograms["rest_client_request_duration_seconds"],
        )

    def leader(self, name: str) -> LeaderMetrics:
        """Return the facet of one election."""
        return LeaderMetrics(self._gauges["leader_election_master_status"].labels(name))

    def events(self) -> EventMetrics:
        """Return the facet of the event recorder."""
        return EventMetrics(
            self._counters["stateward_events_total"],
            self._counters["stateward_events_lost_total"],
            self._reasons,
        )

    def objects(self, gauges: Families, counters: Families | None = None) -> ObjectMetrics:
        """Return the facet of an operator's own families, about the objects that it keeps.

        Each family may be asked for once.
        """
        return ObjectMetrics(self._registry, gauges, counters or {})

    def programs(self, product: str) -> ProgramMetrics:
        """Return the facet of programs that an operator runs to talk to a product.

        Each product may be asked for once.
        """
        return ProgramMetrics(self._registry, product, self._reasons)

    def tell_of_process(self) -> None:
        """Add what the system says of this process: memory, CPU time, open files."""
        ProcessCollector(registry=self._registry)

    def total(self, counter: str) -> int:
        """Return what a counter has come to, over all its labels."""
        samples = (it for family in self._counters[counter].collect() for it in family.samples)
        return sum(int(it.value) for it in samples if it.name == counter)

    def render(self) -> tuple[bytes, str]:
        """Return the text for a scrape, and its content type."""
        return generate_latest(_Ageless(self._registry)), CONTENT_TYPE

    def _new_queue(self, name: str) -> QueueMetrics:
        queue = QueueMetrics(
            self._counters["workqueue_adds_total"].labels(name, name),
            self._gauges["workqueue_depth"].labels(name, name),
            self._histograms["workqueue_queue_duration_seconds"].labels(name, name),
            self._histograms["workqueue_work_duration_seconds"].labels(name, name),
            self._counters["workqueue_retries_total"].labels(name, name),
            self._clock,
        )
        unfinished = self._gauges["workqueue_unfinished_work_seconds"]
        unfinished.labels(name, name).set_function(queue.unfinished_seconds)
        longest = self._gauges["workqueue_longest_running_processor_seconds"]
        longest.labels(name, name).set_function(queue.longest_seconds)
        return queue


def _buckets_of(name: str) -> tuple[float, ...]:
    return _QUEUE_SECONDS if name.startswith("workqueue_") else _SECONDS


@dataclass(frozen=True, slots=True)
class _Ageless:
    """The registry without ``_created`` series, which read the machine's clock."""

    registry: CollectorRegistry

    def collect(self) -> Iterable[Metric]:
        """Yield every family as it is told."""
        for family in self.registry.collect():
            born = f"{family.name}_created"
            family.samples = [sample for sample in family.samples if sample.name != born]
            yield family
