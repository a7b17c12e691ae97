"""The variables of our containers: who a pod is, where it is, and what clients in it need.

A variable that differs between pods of a class is read from the pod's own object, so that the
template is the same for all of them.
"""

from __future__ import annotations

from typing import Final

from stateward.fdb.api import questions
from stateward.fdb.api.questions import FieldPath, Fixed, Source, Variable
from stateward.fdb.build.basis import Basis
from stateward.fdb.build.servers import arguments as args
from stateward.fdb.build.servers.arguments import CONF, LOGS
from stateward.fdb.model import names
from stateward.fdb.model.classes import ProcessClass
from stateward.kube.codec import Json

#: Where the sidecar of a split image finds files.
INPUT: Final = "/var/input-files"
_POD_NAME: Final = "FDB_POD_NAME"
#: What the sidecar of a split image fills in without being asked to.
_FILLED_IN: Final = frozenset(
    {args.PUBLIC_IP, args.POD_IP, args.INSTANCE_ID, args.MACHINE_ID, args.ZONE_ID, "BINARY_DIR"}
)


def of_server(basis: Basis, process_class: ProcessClass) -> list[Json]:
    """Return the variables of fdbserver's container."""
    return [
        literal("FDB_CLUSTER_FILE", f"{CONF}/fdb.cluster"),
        *_authorities(basis, CONF),
        literal("FDB_NETWORK_OPTION_TRACE_LOG_GROUP", basis.log_group),
        literal("FDB_NETWORK_OPTION_TRACE_ENABLE", LOGS),
        *_identity(basis, process_class),
    ]


def of_sidecar(basis: Basis, process_class: ProcessClass) -> list[Json]:
    """Return the variables of the container that fills in arguments in split images."""
    rules = basis.spec.sidecar_container.peer_verification_rules
    return [
        *_authorities(basis, INPUT),
        *([literal("FDB_TLS_VERIFY_PEERS", rules)] if rules else []),
        *_identity(basis, process_class),
    ]


def to_substitute(basis: Basis, process_class: ProcessClass, servers: int) -> tuple[str, ...]:
    """Return the variables that the sidecar of a split image must be told to fill in."""
    used = args.variables(args.arguments(basis, process_class, servers, "split"))
    every = dict.fromkeys((*basis.spec.sidecar_variables, *used))
    return tuple(it for it in every if it not in _FILLED_IN)


def literal(name: str, value: str) -> Json:
    """Return a variable with a value."""
    return {"name": name, "value": value}


def _field(name: str, path: str) -> Json:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def _authorities(basis: Basis, folder: str) -> list[Json]:
    return [literal("FDB_TLS_CA_FILE", f"{folder}/ca.pem")] if basis.spec.trusted_cas else []


def _identity(basis: Basis, process_class: ProcessClass) -> list[Json]:
    routing = basis.spec.routing
    own = "status.podIP" if routing.pod_ip_family is None else "status.podIPs"
    by_service = routing.public_ip_source == "service"
    public = f"metadata.annotations['{names.PUBLIC_IP}']" if by_service else own
    return [
        _field(_POD_NAME, "metadata.name"),
        _field("FDB_POD_NAMESPACE", "metadata.namespace"),
        _field("FDB_NODE_NAME", "spec.nodeName"),
        _field(args.PUBLIC_IP, public),
        _field(args.POD_IP, own),
        *_sourced(args.MACHINE_ID, questions.machine_of(basis.spec)),
        *_sourced(args.ZONE_ID, questions.zone_of(basis.spec)),
        *_name(basis),
        *_servers(basis, process_class),
    ]


def _sourced(name: str, source: Source) -> list[Json]:
    match source:
        case FieldPath(path):
            return [_field(name, path)]
        case Fixed(value):
            return [literal(name, value)]
        case Variable():  # arguments name that one: its value may come from a node
            return []


def _name(basis: Basis) -> list[Json]:
    routing = basis.spec.routing
    if not routing.define_dns_locality_fields:
        return []
    own = f"$({_POD_NAME})"  # filled in by Kubernetes
    found = names.dns_name(own, basis.name, basis.namespace, routing.dns_domain)
    return [literal(args.DNS_NAME, found)]


def _servers(basis: Basis, process_class: ProcessClass) -> list[Json]:
    count = questions.servers_per_pod(basis.spec, process_class)
    name = f"{process_class.upper()}_SERVERS_PER_POD"
    return [literal(name, str(count))] if count > 1 else []
