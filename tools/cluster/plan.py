"""Where everything is: folders, names and addresses. Pure.

The addresses exist in network namespaces of our own only; asked for from outside of them they would
lead off the machine, so nothing may be.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

#: The network namespace of the control plane, and the beginning of those of nodes.
NAMESPACE: Final = "stateward"
#: The switch that all nodes are plugged into, and the control plane.
SWITCH: Final = "sw0"
#: The bridge of a node that its pods are plugged into.
POD_BRIDGE: Final = "swpods"
CONTROL: Final = "10.252.0.1"
API_PORT: Final = 26443
NETWORK: Final = "10.252.0.0/16"
SERVICES: Final = "10.253.0.0/16"
#: The same once more, of IPv6: everything has addresses of both families, those of IPv4 first.
CONTROL6: Final = "fd52::1"
NETWORK6: Final = "fd52::/32"
SERVICES6: Final = "fd53::/112"
KUBERNETES_SERVICE: Final = "10.253.0.1"
DNS_SERVICE: Final = "10.253.0.10"
MOST_NODES: Final = 9


@dataclass(frozen=True, slots=True)
class Node:
    """One node: its names and addresses."""

    number: int
    folder: Path

    @property
    def name(self) -> str:
        """As kubectl calls it."""
        return f"node-{self.number}"

    @property
    def zone(self) -> str:
        """Each node is alone in its zone."""
        return f"zone-{self.number}"

    @property
    def address(self) -> str:
        """Where the others find it."""
        return f"10.252.0.1{self.number}"

    @property
    def pods(self) -> str:
        """The addresses of its pods."""
        return f"10.252.{self.number}.0/24"

    @property
    def address6(self) -> str:
        """Where the others find it, of IPv6."""
        return f"fd52::1{self.number}"

    @property
    def pods6(self) -> str:
        """The addresses of its pods, of IPv6."""
        return f"fd52:0:{self.number}::/64"

    @property
    def namespace(self) -> str:
        """Its network namespace."""
        return f"{NAMESPACE}-{self.number}"

    @property
    def cable(self) -> str:
        """Its link, at the end of the switch."""
        return f"swn{self.number}"

    @property
    def cgroup(self) -> str:
        """Under which all its pods are counted."""
        return f"{NAMESPACE}-{self.number}"

    @property
    def socket(self) -> Path:
        """Where its containerd listens."""
        return self.folder / "containerd.sock"


@dataclass(frozen=True, slots=True)
class Plan:
    """One cluster: where it is and how patient it is."""

    folder: Path
    size: int = 3
    #: Seconds without a heartbeat until a node is not ready.
    grace: int = 20
    #: Seconds until pods are then evicted, unless they say otherwise.
    evict: int = 15

    @property
    def nodes(self) -> list[Node]:
        """All its nodes."""
        numbers = range(1, self.size + 1)
        return [Node(it, self.folder / f"node-{it}") for it in numbers]

    def node(self, number: int) -> Node:
        """Return one of its nodes."""
        return self.nodes[number - 1]

    @property
    def papers(self) -> Path:
        """Certificates, keys and tokens."""
        return self.folder / "papers"

    @property
    def kubeconfig(self) -> Path:
        """Of one who may do everything."""
        return self.folder / "kubeconfig"

    @property
    def logs(self) -> Path:
        """What all programs said."""
        return self.folder / "log"

    @property
    def images(self) -> Path:
        """Archives that every node gets."""
        return self.folder / "images"

    @property
    def volumes(self) -> Path:
        """The volumes of all nodes: they share the machine's disk."""
        return self.folder / "volumes"

    @property
    def records(self) -> Path:
        """The pids of what runs, and what the machine was like before."""
        return self.folder / "run"

    @property
    def is_ready(self) -> Path:
        """There once the API server has answered: kubelets that ask before back off for seconds."""
        return self.records / "api-is-ready"
