"""K8: in calm no pass of a controller fails, and no pass ever fails by a bug."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from stateward.runtime.telling.metrics import Metrics

_ERRORS: Final = "controller_runtime_reconcile_errors_total"
_BUGS: Final = "stateward_bugs_total"


class Counted(Protocol):
    """A world whose operators count what they do."""

    @property
    def metrics(self) -> Sequence[Metrics]:
        """What every operator that ever ran counted of itself."""


def failed_passes(it: Counted) -> int:
    """Return how many passes failed, as operators count it themselves."""
    return sum(metrics.total(_ERRORS) for metrics in it.metrics)


def bugs(it: Counted) -> str:
    """Say how many passes failed by a bug, and by which last, whatever else went wrong."""
    many = sum(metrics.total(_BUGS) for metrics in it.metrics)
    last = [told for metrics in it.metrics for told in metrics.last_bugs]
    return f"{many} passes failed by a bug, the last by {last[-1]}" if many else ""
