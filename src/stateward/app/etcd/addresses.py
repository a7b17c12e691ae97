"""Where members of etcd find each other on a local cluster, where no name resolves.

Every pod has a loopback address that follows from the cluster's name and its own, so it is known
before the pod exists. A pod learns its own from the variable POD_IP.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from stateward.core.errors import UsageError
from stateward.etcd.addresses import AddressBook
from stateward.kube.meta import ObjectKey
from stateward.local.agent.addresses import choose, remembered
from stateward.local.agent.agent import ADDRESSES
from stateward.local.agent.orphans import name_of
from stateward.local.disk.folder import Layout

#: What Kubernetes replaces in a container's words by the address of its pod.
OWN_ADDRESS = "$(POD_IP)"


class GivesAddresses(Protocol):
    """Who gives pods their addresses: the agent of a local cluster."""

    def address_of(self, pod: ObjectKey) -> str:
        """Return the address that a pod has, or will have once it exists."""


@dataclass(frozen=True, slots=True)
class Loopback(AddressBook):
    """Hosts by the addresses of the agent, for an operator in the same process."""

    agent: GivesAddresses

    def host(self, pod: ObjectKey, service: str) -> str:  # noqa: ARG002 - no service has a name here
        """Return the address of a pod."""
        return self.agent.address_of(pod)

    def self_host(self, namespace: str, service: str) -> str:  # noqa: ARG002
        """Return what a container writes for the host of its own pod."""
        return OWN_ADDRESS

    def listen_host(self) -> str:
        """Return the pod's own address: another one would be taken from all pods at once."""
        return OWN_ADDRESS


@dataclass(frozen=True, slots=True)
class LoopbackFile(AddressBook):
    """Hosts by the agent's own book, for an operator in another process than the agent.

    ``root`` is the folder of the local cluster, the one with its kubeconfig. In ``nodes/cluster``
    is the name from which addresses follow, in ``nodes/addresses.json`` who has which. For a pod
    that is not in there the agent's own rule is followed, so it will get just that address: unless
    another new pod comes first and wants the same one of sixteen million. The book is read at every
    question, so the next answer is right then.
    """

    root: Path

    def host(self, pod: ObjectKey, service: str) -> str:  # noqa: ARG002 - no service has a name here
        """Return the address of a pod; raise UsageError where no local cluster has been."""
        nodes = Layout(self.root).nodes
        if not (salt := name_of(nodes)):
            raise UsageError(
                f"{self.root} must be the folder of a local cluster that has run",
                hint="it is where its kubeconfig is",
            )
        return choose(salt, str(pod), remembered(nodes / ADDRESSES))

    def self_host(self, namespace: str, service: str) -> str:  # noqa: ARG002
        """Return what a container writes for the host of its own pod."""
        return OWN_ADDRESS

    def listen_host(self) -> str:
        """Return the pod's own address: another one would be taken from all pods at once."""
        return OWN_ADDRESS
