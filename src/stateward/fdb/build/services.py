"""Services: the one that gives pods their names, and those that give pods a lasting address."""

from __future__ import annotations

from collections.abc import Iterator

from stateward.fdb.api.kind import FoundationDBProcessGroup
from stateward.fdb.build.basis import Basis
from stateward.fdb.build.metadata import (
    Said,
    cluster_owner,
    group_owner,
    head,
    id_selector,
    resource_labels,
    selector,
)
from stateward.fdb.build.servers.arguments import PLAIN_OFFSET, TLS_OFFSET, Number
from stateward.fdb.model import names
from stateward.kube.codec import Json
from stateward.kube.resources import SERVICES


def headless_service(wanted: Basis) -> Json:
    """Return the service that gives every pod a name, whether it is ready or not.

    Processes look for coordinators before any of them is ready.
    """
    name = names.headless_service_name(wanted.name)
    said, owner = Said(resource_labels(wanted)), cluster_owner(wanted)
    return head(SERVICES, wanted.namespace, name, said, [owner]) | {
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": selector(wanted),
            "ports": list(_ports(1)),
            **_families(wanted.spec.routing.pod_ip_family),
        }
    }


def group_service(group: FoundationDBProcessGroup) -> Json | None:
    """Return the service whose address the processes of a group tell; None: they tell the pod's."""
    asked, own = group.spec, group.metadata
    if asked.service.public_ip_source != "service":
        return None
    said, owner = Said(dict(own.labels)), group_owner(group)
    return head(SERVICES, own.namespace, own.name, said, [owner]) | {
        "spec": {
            "type": "ClusterIP",
            # Others must reach a process before it can be ready.
            "publishNotReadyAddresses": True,
            "selector": id_selector(group),
            "ports": list(_ports(asked.servers_per_pod)),
            **_families(asked.service.pod_ip_family),
        }
    }


def _ports(servers: int) -> Iterator[Json]:
    for process in range(1, servers + 1):
        suffix = f"-{process}" if process > 1 else ""
        for name, offset in (("tls", TLS_OFFSET), ("fdb", PLAIN_OFFSET)):
            port = Number(2, offset).of(process)
            yield {"name": f"{name}{suffix}", "port": port, "protocol": "TCP", "targetPort": port}


def _families(family: int | None) -> Json:
    return {} if family is None else {"ipFamilies": [f"IPv{family}"]}
