"""Process groups and clusters as judgement sees them, in a few words each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from fakes.fdb_statuses import recorded
from stateward.core.version import Version
from stateward.fdb.api.defaults import normalized
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.api.status import FoundationDBClusterStatus
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.names import ProcessGroupID, pod_name
from stateward.fdb.status.document import Message, Process
from stateward.fdb.status.processes import Reporting
from stateward.fdb.status.reading import Status
from stateward.fdb.views import ClusterView, GroupView, PodSeen
from stateward.kube.meta import ObjectKey

NOW = 1_700_000_000.0
CLUSTER = "shop"
VERSION = Version(7, 3, 63)
#: A database that is well, and one that nobody could ask.
WELL = recorded("healthy")
SILENT = Status(NOW, flaws={"": "nobody answered"})
AWAY = recorded("majority_lost_60s")


def spec(**said: Any) -> FoundationDBClusterSpec:
    """Return a normalized spec; what is said is in the words of manifests."""
    whole = {"version": str(VERSION), **said}
    return normalized(msgspec.convert(whole, FoundationDBClusterSpec))


def process(group: str = "storage-1", number: int = 1, **said: Any) -> Reporting:
    """Return a process of a group that reports, of the right version."""
    entry = {
        "address": f"10.0.0.1:{4499 + 2 * number}",
        "command_line": f"fdbserver --locality_process_id={group}-{number}",
        "excluded": False,
        "locality": {"instance_id": group, "process_id": f"{group}-{number}"},
        "messages": [],
        "uptime_seconds": 1000.0,
        "version": str(VERSION),
        **said,
    }
    found = Process(**{key: it for key, it in entry.items() if it is not UNSET})
    return Reporting(f"key-{group}-{number}", (), {"instance_id": group}, found)


def message(name: str) -> Message:
    return Message(name=name)


def pod(name: str, **said: Any) -> PodSeen:
    """Return a pod that runs for long, on a node of its own."""
    usual = {
        "uid": f"uid-{name}",
        "created": NOW - 10_000,
        "node": f"node-{name}",
        "ips": ("10.0.0.1",),
    }
    return PodSeen(**{**usual, **said})


def group(text: str, *kinds: Kind, since: float = NOW - 10_000, **said: Any) -> GroupView:
    """Return a group; nothing is wrong with it but what is said."""
    found = ProcessGroupID.parse(text)
    name = pod_name(CLUSTER, found)
    is_well = not kinds
    usual: dict[str, Any] = {
        "name": name,
        "uid": f"group-{name}",
        "id": found,
        "conditions": dict.fromkeys([Kind.READY] if is_well else kinds, since),
        "pod": pod(name),
        "has_claim": True,
        "addresses": ("10.0.0.1",),
        "zone": f"zone-{found.number}",
        "processes": (process(text),),
    }
    return GroupView(**{**usual, **said})


def counts_of(groups: Iterable[GroupView]) -> dict[ProcessClass, int]:
    """Return as many of each class as there are."""
    found: dict[ProcessClass, int] = {}
    for it in groups:
        found[it.process_class] = found.get(it.process_class, 0) + (not it.marked)
    return {key: it for key, it in found.items() if it}


def cluster(*groups: GroupView, **said: Any) -> ClusterView:
    """Return a cluster that has all that it shall have; ``spec`` are words of a manifest."""
    words: Mapping[str, Any] = said.pop("spec", {})
    usual: dict[str, Any] = {
        "key": ObjectKey("prod", CLUSTER),
        "generation": 7,
        "spec": spec(**words),
        "status": FoundationDBClusterStatus(),
        "now": NOW,
        "database": WELL,
        "groups": groups,
        "counts": counts_of(groups),
        "running_version": VERSION,
        "configured": True,
    }
    return ClusterView(**{**usual, **said})
