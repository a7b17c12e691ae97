"""K8 in calm: no pass of a controller fails, since nothing gives it a reason to."""

from __future__ import annotations

from typing import Final

from stateward.sim.etcd.world import EtcdWorld

_ERRORS: Final = b"controller_runtime_reconcile_errors_total{"


def failed_passes(it: EtcdWorld) -> int:
    """Return how many passes failed, as operators count it themselves."""
    told = (line for metrics in it.metrics for line in metrics.render()[0].splitlines())
    return sum(int(float(line.rpartition(b" ")[2])) for line in told if line.startswith(_ERRORS))
