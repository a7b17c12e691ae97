"""Looking at a local cluster that runs, from another process."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from stateward.core.errors import PeerUnreachable, StatewardError
from stateward.core.ports import Ports
from stateward.kube import conditions
from stateward.kube.client import LogOptions
from stateward.kube.http.client import HttpClient
from stateward.kube.http.kubeconfig import from_kubeconfig
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import NODES, PODS, Resource
from stateward.local import cluster
from stateward.local.agent import orphans
from stateward.local.api import Api
from stateward.local.cluster import Cluster, Plan, Tell
from stateward.local.disk.folder import Layout, owner_of
from stateward.local.real import cluster as real
from stateward.local.server.tables.custom import layout_of

#: Seconds that a cluster on this machine may take to answer.
_PATIENCE = 5.0


class ControlPlane(Enum):
    """What a cluster is controlled by."""

    #: Ours, in this process.
    EMBEDDED = "embedded"
    #: The programs of a real Kubernetes.
    REAL = "real"


def running(
    kind: ControlPlane, plan: Plan, ports: Ports, *, tick: Tell, say: Tell
) -> AbstractAsyncContextManager[Cluster]:
    """Run a cluster for the length of a block, whichever its control plane is."""
    run = real.running if kind is ControlPlane.REAL else cluster.running
    return run(plan, ports, tick=tick, say=say)


@dataclass(frozen=True, slots=True)
class Report:
    """How a cluster is."""

    folder: Path
    process: int | None
    server: str
    version: str
    #: From the name of each node to whether it is ready.
    nodes: dict[str, bool]
    #: How many pods are in which phase.
    pods: Counter[str]


@asynccontextmanager
async def client_of(root: Path, ports: Ports) -> AsyncGenerator[HttpClient, None]:
    """Provide a client of the cluster that has a folder."""
    access = from_kubeconfig([Layout(root).kubeconfig], os.environ)
    async with HttpClient(access, ports.clock, ports.chance) as client:
        yield client


async def reports(roots: Sequence[Path], ports: Ports) -> list[Report | StatewardError]:
    """Ask clusters how they are, all at once; one that does not answer holds up no other."""
    return await asyncio.gather(*(_report_or_refusal(root, ports) for root in roots))


async def _report_or_refusal(root: Path, ports: Ports) -> Report | StatewardError:
    try:
        async with asyncio.timeout(_PATIENCE):
            return await _report(root, ports)
    except TimeoutError:
        return PeerUnreachable(
            f"the cluster in {root} (process {owner_of(root)}) must answer within {_PATIENCE:g} s",
            hint="it hangs or is stopped",
        )
    except StatewardError as error:
        return error


async def _report(root: Path, ports: Ports) -> Report:
    access = from_kubeconfig([Layout(root).kubeconfig], os.environ)
    async with client_of(root, ports) as client:
        version = await client.server_version()
        nodes = await client.list(NODES)
        pods = await client.list(PODS)
    return Report(
        folder=root,
        process=owner_of(root),
        server=str(access.server),
        version=version.git_version,
        nodes={
            node.metadata.name: conditions.is_true(node.status.conditions, "Ready")
            for node in nodes.items
        },
        pods=Counter(pod.status.phase or "Unknown" for pod in pods.items),
    )


async def log(
    root: Path, ports: Ports, key: ObjectKey, options: LogOptions
) -> AsyncGenerator[bytes, None]:
    """Yield the log of a pod of a cluster."""
    async with client_of(root, ports) as client:
        async for piece in client.log(key, options):
            yield piece


async def clear_away(left: Path, ports: Ports) -> int:
    """End what still runs of a cluster that was killed, and remove its temporary folder.

    Return how many processes were ended.
    """
    count = await end_what_is_left(left, ports)
    shutil.rmtree(left, ignore_errors=True)
    return count


async def end_what_is_left(root: Path, ports: Ports) -> int:
    """End pods and control plane of a cluster that was killed; return how many processes."""
    layout = Layout(root)
    ended = [await orphans.end_all(it, ports.clock) for it in (layout.nodes, layout.plane)]
    return sum(map(len, ended))


def table(api: Api, now: float, *resources: Resource[Any]) -> str:
    """Return objects as `kubectl get -A` shows them, for when there is no kubectl."""
    return "\n\n".join(_table(api, now, resource) for resource in resources)


def _table(api: Api, now: float, resource: Resource[Any]) -> str:
    layout = layout_of(api.kinds.of(resource))
    shown = [number for number, it in enumerate(layout.columns) if not it.priority]
    place = ["NAMESPACE"] if resource.namespaced else []
    rows = [[*place, *(layout.columns[number].name.upper() for number in shown)]]
    for stored in api.list(resource).items:
        cells = layout.line(stored.document(), now)
        where = [stored.key.namespace] if resource.namespaced else []
        rows.append([*where, *(_shown(cells[number]) for number in shown)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _shown(cell: object) -> str:
    """Return a cell as kubectl prints it."""
    match cell:
        case None:
            return ""
        case bool():
            return "true" if cell else "false"
        case _:
            return str(cell)
