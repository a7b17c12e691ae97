"""Clusters that documents are made for, their groups, and pods as nodes run them."""

from __future__ import annotations

from typing import Any

import msgspec

from operators.fdb_manifests import spec
from stateward.core.version import Version
from stateward.fdb.api.defaults import normalized
from stateward.fdb.api.kind import FoundationDBProcessGroup
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.build.pod import pod
from stateward.fdb.build.wanted import Wanted
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import LAUNCHER_ENVIRONMENT, MAIN_CONTAINER, ProcessGroupID, pod_name
from stateward.kube.codec import Json, encode
from stateward.kube.meta import ObjectMeta, OwnerReference
from stateward.kube.objects.pods import Pod

CONNECTION = ConnectionString.parse("shop:k3s8@10.0.0.1:4501,10.0.0.2:4501")


def normal(said: Json) -> FoundationDBClusterSpec:
    return normalized(msgspec.convert(said, FoundationDBClusterSpec))


def wanted(
    said: Json,
    *,
    tls: bool = False,
    plain: bool = True,
    running: str = "",
    connection: ConnectionString | None = CONNECTION,
) -> Wanted:
    found = normal(said)
    version = Version.parse(running or found.version)
    return Wanted("shop", "prod", "cluster-uid", found, version, tls, plain, connection)


def cluster(**said: Any) -> Wanted:
    return wanted(spec(**said))


def group(of: Wanted, name: str = "storage-1") -> FoundationDBProcessGroup:
    prefix = of.spec.process_group_id_prefix
    identity = ProcessGroupID.parse(f"{prefix}-{name}" if prefix else name)
    owner = OwnerReference(kind="FoundationDBCluster", name="shop", uid=of.uid, controller=True)
    return FoundationDBProcessGroup(
        metadata=ObjectMeta(
            name=pod_name(of.name, identity),
            namespace=of.namespace,
            uid="group-uid",
            labels=of.group_labels(identity),
            owner_references=(owner,),
        ),
        spec=of.group(identity),
    )


def running(
    of: FoundationDBProcessGroup,
    ips: tuple[str, ...] = ("10.1.0.7",),
    public_ip: str = "",
    told: str = "",
) -> Pod:
    """Return the pod of a group, as a node runs it."""
    document = pod(of, public_ip)
    if told:
        document["metadata"]["annotations"][LAUNCHER_ENVIRONMENT] = told
    found = msgspec.json.decode(encode(document), type=Pod)
    status = msgspec.convert(
        {"podIP": ips[0], "podIPs": [{"ip": it} for it in ips]}, type(found.status)
    )
    node = msgspec.structs.replace(found.spec, node_name="node-a")
    return msgspec.structs.replace(found, status=status, spec=node)


def container(document: Json, name: str = MAIN_CONTAINER) -> Json:
    every = [*document["spec"]["containers"], *document["spec"].get("initContainers", ())]
    (found,) = (it for it in every if it["name"] == name)
    return dict(found)


def env(document: Json, name: str = MAIN_CONTAINER) -> dict[str, Any]:
    """Return variables by name: their value, or the field that they are read from."""
    return {
        it["name"]: it["value"] if "value" in it else it["valueFrom"]["fieldRef"]["fieldPath"]
        for it in container(document, name).get("env", ())
    }
