"""What Prometheus is told about a launcher, under the names that the real one has."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Gauge, generate_latest

_PREFIX: Final = "fdbkubernetesmonitor"


class Metrics:
    """The numbers of one launcher.

    Counters are gauges to the library, which would end their names otherwise than the real ones.
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._restarts = self._gauge("restart_count", "starts of fdbserver", "process")
        self._changes = self._gauge("configuration_change_count", "configurations accepted")
        self._applied = self._gauge(
            "last_applied_configuration_timestamp", "when a configuration was last accepted"
        )
        self._started = self._gauge("start_timestamp", "when fdbserver was started", "process")
        self._running = self._gauge("running_version", "1 for the version that runs", "version")
        self._desired = self._gauge("desired_version", "1 for the version wanted", "version")
        self._versions: dict[Gauge, str] = {}

    def accepted(self, version: str, now: float) -> None:
        """Note that a configuration was accepted."""
        self._changes.inc()
        self._applied.set(now)
        self._show(self._desired, version)

    def started(self, number: int, version: str, now: float) -> None:
        """Note that a process was started."""
        self._restarts.labels(str(number)).inc()
        self._started.labels(str(number)).set(now)
        self._show(self._running, version)

    def render(self) -> bytes:
        """Return all of it as Prometheus reads it."""
        return generate_latest(self._registry)

    def _show(self, gauge: Gauge, version: str) -> None:
        before = self._versions.get(gauge)
        if before not in {None, version}:
            gauge.labels(before).set(0)
        gauge.labels(version).set(1)
        self._versions[gauge] = version

    def _gauge(self, name: str, meaning: str, *labels: str) -> Gauge:
        return Gauge(f"{_PREFIX}_{name}", meaning, labels, registry=self._registry)
