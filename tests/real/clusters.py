"""Whole clusters for operators, as a user starts them: control plane, nodes, pods that run.

A test that asks for ``cluster`` gets one that its worker shares: our own in every run, and with
``--real`` also one with a real control plane. It makes namespaces of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from local.clusters import Kubectl, kubectl_for, up
from stateward.core.ports import Ports
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.client import HttpClient
from stateward.kube.http.kubeconfig import from_kubeconfig

#: How each kind of control plane is asked for.
OPTIONS: Final = {"embedded": (), "real": ("--control-plane", "real")}


@dataclass(frozen=True, slots=True)
class RunningCluster:
    """A cluster, and the ways to it."""

    kind: str
    kubeconfig: Path
    home: Path

    @property
    def access(self) -> ClusterAccess:
        return from_kubeconfig([self.kubeconfig], {})

    @property
    def kubectl(self) -> Kubectl:
        return kubectl_for(self.kubeconfig, self.home)

    def client(self, name: str, ports: Ports) -> HttpClient:
        """Return a client of one who writes under a name of their own."""
        stream = ports.chance.stream(name)
        return HttpClient(self.access, ports.clock, stream, field_manager=name)


@contextmanager
def running(kind: str, folder: Path) -> Iterator[RunningCluster]:
    """Run a cluster of three nodes for the length of a block."""
    temporary, home = folder / "tmp", folder / "home"
    temporary.mkdir()
    home.mkdir()
    with up(temporary, *OPTIONS[kind]) as command:
        command.read_until("export KUBECONFIG=")
        yield RunningCluster(kind, command.kubeconfig, home)
