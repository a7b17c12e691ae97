"""What verbs do their work with."""

from __future__ import annotations

from dataclasses import dataclass

from stateward.etcd.moves.fence import Fence
from stateward.etcd.moves.rescue import Rescue
from stateward.etcd.moves.writing import Applier
from stateward.kube.client import Client


@dataclass(frozen=True, slots=True)
class Tools:
    """A client of Kubernetes, who writes documents with it, where rescued data goes, the fence."""

    client: Client
    applier: Applier
    rescue: Rescue
    fence: Fence
