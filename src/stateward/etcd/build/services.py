"""The two services: one by which members find each other, one for clients."""

from __future__ import annotations

from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import headless_name
from stateward.etcd.build.metadata import owned
from stateward.etcd.build.overlay import overlaid
from stateward.etcd.model.names import CLIENT_PORT, METRICS_PORT, PEER_PORT, labels
from stateward.kube.codec import Json
from stateward.kube.resources import SERVICES


def service_name(cluster: EtcdCluster) -> str:
    """Return what the service for clients is called."""
    return str(cluster.spec.service_template.metadata.get("name") or cluster.metadata.name)


def headless_service(cluster: EtcdCluster) -> Json:
    """Return the service that gives every pod a name, whether it is ready or not.

    A member that joins is not ready before the others reach it, so they must find it earlier.
    """
    template = cluster.spec.headless_service_template
    return owned(SERVICES, cluster, headless_name(cluster), template.metadata) | {
        "spec": {
            "type": "ClusterIP",
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": labels(cluster.metadata.name),
            "ports": [_port("peer", PEER_PORT), _port("client", CLIENT_PORT)],
        }
    }


def client_service(cluster: EtcdCluster) -> Json:
    """Return the service for clients, which leads to members that are ready."""
    template = cluster.spec.service_template
    spec: Json = {
        "type": "ClusterIP",
        "selector": labels(cluster.metadata.name),
        "ports": [_port("client", CLIENT_PORT), _port("metrics", METRICS_PORT)],
    }
    return owned(SERVICES, cluster, service_name(cluster), template.metadata) | {
        "spec": overlaid(SERVICES, spec, template.spec)
    }


def _port(name: str, port: int) -> Json:
    return {"name": name, "port": port, "protocol": "TCP", "targetPort": port}
