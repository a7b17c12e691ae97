"""Finds the sidecar of a pod: at its address, with TLS when the sidecar was started so."""

from __future__ import annotations

from collections.abc import Callable

from stateward.core.errors import PeerUnreachable
from stateward.fdb.admin.pod_agent.port import PodAgent, PodAgents
from stateward.fdb.model.names import SIDECAR_CONTAINER
from stateward.kube.objects.pods import Pod

#: The word by which a sidecar is told to ask for certificates.
_TLS = "--tls"


def by_pod(agents: PodAgents) -> Callable[[Pod], PodAgent]:
    """Return who reaches the sidecar of a pod; it raises PeerUnreachable without an address."""

    def reach(pod: Pod) -> PodAgent:
        if not pod.status.pod_ip:
            raise PeerUnreachable(f"pod {pod.metadata.name} must have an address")
        return agents.reach(pod.status.pod_ip, tls=asks_for_certificates(pod))

    return reach


def asks_for_certificates(pod: Pod) -> bool:
    """Tell whether the sidecar of a pod was started with TLS."""
    every = (it for it in pod.spec.containers if it.name == SIDECAR_CONTAINER)
    return any(_TLS in it.args for it in every)
