"""How a member is asked whether it lives and whether it serves, by what its version can answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stateward.core.version import Version
from stateward.etcd.model.names import METRICS_PORT
from stateward.kube.codec import Json

#: The first with /livez and /readyz.
_WITH_CHECKS: Final = Version(3, 5, 11)

#: Seconds that a member may take to read its log: it is large after long absence.
_STARTING: Final = 1800


@dataclass(frozen=True, slots=True)
class _Paths:
    alive: str
    ready: str


_CHECKS: Final = _Paths(alive="/livez", ready="/readyz")
#: Older ones say even of a serializable /health that there is no leader (seen with 3.5.1), and all
#: of them are unwell when one raises an alarm. Their metrics ask nobody. A full database must not
#: take every member from the clients at once: reading and deleting still work. But they leave out
#: one such alarm alone, and are not ready when two members are full (seen with 3.5.1).
_OLDER: Final = _Paths(alive="/metrics", ready="/health?exclude=NOSPACE")


def probes(version: Version | None) -> Json:
    """Return the three probes of a member; without a known version those that all can answer.

    Only readiness asks for a quorum, and so it has time: a read of the others may take a while.
    Starting and living must not: restarts bring no quorum back.
    """
    paths = _CHECKS if version is not None and version >= _WITH_CHECKS else _OLDER
    return {
        "startupProbe": _asked(paths.alive, period=1, timeout=5, failures=_STARTING),
        "livenessProbe": _asked(paths.alive, period=5, timeout=15, failures=6),
        "readinessProbe": _asked(paths.ready, period=2, timeout=6, failures=2),
    }


def _asked(path: str, *, period: int, timeout: int, failures: int) -> Json:
    return {
        "httpGet": {"path": path, "port": METRICS_PORT, "scheme": "HTTP"},
        "periodSeconds": period,
        "timeoutSeconds": timeout,
        "failureThreshold": failures,
        "successThreshold": 1,
    }
