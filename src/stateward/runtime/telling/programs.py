"""What the programs cost that an operator runs to talk to a product, and how they ended.

Their seconds are the product's more than ours: a call to a database that does not answer takes its
whole deadline, and who waits for a turn meanwhile is seen here as well.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram

from stateward.runtime.telling.bounds import Cap

#: From an answer at once to the longest deadline.
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60)
_LABELS = ("program", "command")


class ProgramMetrics:
    """Programs of one product: families ``stateward_PRODUCT_program_...``."""

    def __init__(self, registry: CollectorRegistry, product: str, cap: Cap) -> None:
        name = f"stateward_{product}_program"
        self._scope = f"programs/{product}"
        self._cap = cap
        self._seconds = Histogram(
            f"{name}_seconds", "How long calls took.", _LABELS, registry=registry, buckets=_SECONDS
        )
        self._cpu = Counter(
            f"{name}_cpu_seconds_total", "Processor time of calls.", _LABELS, registry=registry
        )
        self._ends = Counter(
            f"{name}_ends_total", "Calls, by how they ended.", (*_LABELS, "end"), registry=registry
        )
        self._waits = Histogram(
            f"{name}_wait_seconds",
            "How long calls waited for their turn.",
            registry=registry,
            buckets=_SECONDS,
        )

    def ended(self, program: str, command: str, end: str, wall: float, cpu: float) -> None:
        """A call ended; this is what it took."""
        labels = (self._admit("program", program), self._admit("command", command))
        self._seconds.labels(*labels).observe(wall)
        self._cpu.labels(*labels).inc(cpu)
        self._ends.labels(*labels, self._admit("end", end)).inc()

    def waited(self, seconds: float) -> None:
        """A call had its turn after this long."""
        self._waits.observe(seconds)

    def _admit(self, label: str, value: str) -> str:
        return self._cap.admit(f"{self._scope}/{label}", value)
