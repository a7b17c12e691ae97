"""A cluster with a real control plane: its programs as processes, and our agent as its nodes.

What is ours here: the nodes, the volumes, and that a part which ends is started again.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from stateward.core.errors import StatewardError, UsageError
from stateward.core.ports import Ports
from stateward.kube.client import Client
from stateward.kube.http.client import HttpClient
from stateward.kube.meta import ObjectKey
from stateward.local.agent.agent import Means
from stateward.local.catalog import SERVICE_ACCOUNTS
from stateward.local.cluster import (
    Cluster,
    Plan,
    Tell,
    agent_of,
    at_their_posts,
    at_work,
    open_many_files,
)
from stateward.local.controllers.cluster import volumes
from stateward.local.controllers.desk import Desk
from stateward.local.disk.errors import FolderUnusable
from stateward.local.disk.folder import Folder, Layout
from stateward.local.real import keeping, provisioner
from stateward.local.real.kubelet import Kubelet
from stateward.local.real.plane import API, ETCD, MANAGER, Plane, PlaneTerms
from stateward.local.real.tokens import ServerTokens
from stateward.local.server.identity import write_secret
from stateward.runtime.telling.metrics import Metrics

#: Without it no pod is accepted.
_ACCOUNT: Final = ObjectKey("default", "default")
#: Seconds for the controllers to begin, and between looks.
_START: Final = 60.0
_STEP: Final = 0.1


@asynccontextmanager
async def running(
    plan: Plan, ports: Ports, *, tick: Tell, say: Tell
) -> AsyncGenerator[Cluster, None]:
    """Run a cluster for the length of a block; then everything that it started is ended."""
    open_many_files()
    async with AsyncExitStack() as stack:
        layout = stack.enter_context(Folder(plan.root)).layout
        _check_kind(layout)
        plane = Plane(layout.plane, ports.stream("plane"), plane_terms(plan))
        say("local: starting etcd and kube-apiserver")
        await stack.enter_async_context(plane.running())
        write_secret(layout.kubeconfig, plane.kubeconfig.read_bytes())
        tick(f"API server at {plane.url}")
        client, nodes_client = [
            await stack.enter_async_context(
                HttpClient(plane.access, ports.clock, ports.chance.stream(it), field_manager=it)
            )
            for it in ("stateward-local", "kubelet")
        ]
        await volumes.ensure_defaults(client)
        metrics = Metrics(ports.clock)
        desk = Desk(client, ports.stream("volumes"), metrics, provisioner.WATCHED)
        provisioner.employ(desk)
        work = {
            "the control plane": keeping.keep(plane, ports.stream("keeping"), say),
            "the volumes": desk.run(),
        }
        tasks = await stack.enter_async_context(at_work(work))
        await _until_pods_are_accepted(client, ports)
        tick("controllers and scheduler")
        means = Means(env=_environment(plane), metrics=metrics, issuer=ServerTokens(nodes_client))
        agent = agent_of(plan, nodes_client, layout, ports, means)
        kubelet = Kubelet(agent.log, ports.clock, plane.papers)
        await stack.enter_async_context(kubelet.listening(agent.nodes))
        nodes = await stack.enter_async_context(at_their_posts(agent))
        tick(plan.summary)
        yield Cluster(plane.url, layout.kubeconfig, agent, (*tasks, nodes))


def plane_terms(plan: Plan) -> PlaneTerms:
    """Return what the control plane of a cluster is asked to be: as patient as the embedded one."""
    api: tuple[str, ...] = ()
    if (seconds := plan.terms.evict_after) is not None:
        api = tuple(
            f"--default-{it}-toleration-seconds={seconds:.0f}"
            for it in ("not-ready", "unreachable")
        )
    return PlaneTerms(
        port=plan.port,
        extra={
            API: api,
            MANAGER: (f"--node-monitor-grace-period={plan.terms.lost_after:g}s",),
            # What is not to outlive the cluster need not survive a power cut.
            ETCD: () if plan.durable else ("--unsafe-no-fsync",),
        },
    )


def _check_kind(layout: Layout) -> None:
    if layout.journal.exists():
        raise FolderUnusable(
            f"{layout.root} must be used with --control-plane embedded, by which it was made",
            hint="or name another folder with --data",
        )


def _environment(plane: Plane) -> dict[str, str]:
    """Return by what programs in pods find the API server."""
    host, _, port = plane.url.removeprefix("https://").partition(":")
    return {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}


async def _until_pods_are_accepted(client: Client, ports: Ports) -> None:
    """Wait for the controllers to have made the account that pods of the first namespace get."""
    until = ports.clock.monotonic() + _START
    while True:
        try:
            await client.get(SERVICE_ACCOUNTS, _ACCOUNT)
        except StatewardError as error:
            if ports.clock.monotonic() > until:
                raise UsageError(
                    f"{MANAGER} must begin its work within {_START:g} s: {error.message}",
                    hint="with --data DIR all that it said is kept, in DIR/plane/log",
                ) from error
            await ports.clock.sleep(_STEP)
        else:
            return
