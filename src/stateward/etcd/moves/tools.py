"""What verbs do their work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stateward.etcd.moves.rescue import Rescue
from stateward.etcd.moves.writing import Applier
from stateward.kube.client import Client


@dataclass(frozen=True, slots=True)
class Tools:
    """A client of Kubernetes, who writes documents with it, and where rescued data goes."""

    client: Client
    applier: Applier
    rescue: Rescue
    #: Raises NotLeader unless we are sure to lead: etcd itself does not know who may ask it.
    fence: Callable[[], None]
