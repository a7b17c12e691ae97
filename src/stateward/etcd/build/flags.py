"""The command line of a member.

What is said once must not be said again: etcd does not start when a flag is also a variable of its
environment. Who a member joins is in variables (``config.py``), so it is never among the flags.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from stateward.core.version import Version
from stateward.etcd.api import options
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import Settings, etcd_container
from stateward.etcd.build.certificates import client_flags, peer_flags
from stateward.etcd.build.volumes import DATA_DIR
from stateward.etcd.model.names import CLIENT_PORT, METRICS_PORT, PEER_PORT

#: From here on 10000 is etcd's own, and later the flag is gone.
_OWN_SNAPSHOT_COUNT: Final = Version(3, 6, 0)
#: Which share of a volume the database may fill; its log and a snapshot need room too.
_SHARE: Final = 95
_VARIABLE: Final = "ETCD_"
_QUOTA: Final = "quota-backend-bytes"
_QUOTA_VARIABLE: Final = "ETCD_QUOTA_BACKEND_BYTES"


def flags(
    cluster: EtcdCluster, settings: Settings, self_host: str, listen_host: str
) -> tuple[str, ...]:
    """Return the arguments of etcd: who and where a member is, then the options by name."""
    said = _places(settings, self_host, listen_host) | peer_flags(settings) | client_flags(settings)
    chosen = _options(cluster, settings)
    return (*map(_written, said.items()), *map(_written, sorted(chosen.items())))


def quota(container: Mapping[str, Any]) -> int:
    """Return how many bytes the database of a container may grow to; 0 when it does not say."""
    arguments = dict(str(it).partition("=")[::2] for it in container.get("args") or ())
    variables = {it.get("name"): it.get("value") for it in container.get("env") or ()}
    said = str(arguments.get(f"--{_QUOTA}") or variables.get(_QUOTA_VARIABLE) or "")
    return int(said) if said.isdecimal() else 0


def _written(flag: tuple[str, str]) -> str:
    name, value = flag
    return f"--{name}={value}" if value else f"--{name}"


def _places(settings: Settings, self_host: str, listen_host: str) -> dict[str, str]:
    client = "https" if settings.clients_use_tls else "http"
    return {
        "name": "$(POD_NAME)",
        "data-dir": DATA_DIR,
        "listen-peer-urls": f"https://{listen_host}:{PEER_PORT}",
        "listen-client-urls": f"{client}://{listen_host}:{CLIENT_PORT}",
        "listen-metrics-urls": f"http://{listen_host}:{METRICS_PORT}",
        "initial-advertise-peer-urls": f"https://{self_host}:{PEER_PORT}",
        "advertise-client-urls": f"{client}://{self_host}:{CLIENT_PORT}",
    }


def _options(cluster: EtcdCluster, settings: Settings) -> dict[str, str]:
    given = {name: value for name, value in cluster.spec.options.items() if not options.owned(name)}
    elsewhere = given.keys() | set(_variables(etcd_container(cluster.spec)))
    ours = {name: it for name, it in _defaults(settings).items() if name not in elsewhere}
    if "auto-compaction-mode" in elsewhere:  # five minutes are no number of revisions
        ours.pop("auto-compaction-retention", None)
    return ours | given


def _defaults(settings: Settings) -> dict[str, str]:
    found = {"auto-compaction-mode": "periodic", "auto-compaction-retention": "5m"}
    if settings.version is not None and settings.version < _OWN_SNAPSHOT_COUNT:
        found["snapshot-count"] = "10000"
    if settings.storage_bytes:
        found[_QUOTA] = str(settings.storage_bytes * _SHARE // 100)
    return found


def _variables(container: Mapping[str, Any]) -> Iterator[str]:
    """Yield the flags that a user sets by variables of the container."""
    for variable in container.get("env") or ():
        name = str(variable.get("name", "")) if isinstance(variable, dict) else ""
        if name.startswith(_VARIABLE):
            yield name.removeprefix(_VARIABLE).lower().replace("_", "-")
