"""What makes no sense in a service."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Final

from stateward.core import naming
from stateward.kube.codec import Json
from stateward.kube.errors import Cause
from stateward.local.schema import causes
from stateward.local.schema.builtin.pod_checks import names_problems, one_of, port_problem

_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_ON_NODES: Final = {"NodePort", "LoadBalancer"}


def service_problems(document: Json) -> Iterator[Cause]:
    """Yield what is wrong with a service."""
    spec = document["spec"]
    yield from one_of(spec, "type", _TYPES, "spec")
    yield from one_of(spec, "sessionAffinity", ("ClientIP", "None"), "spec")
    yield from _address_problems(spec)
    for key, value in (spec.get("selector") or {}).items():
        if problem := naming.label_key_problem(key) or naming.label_value_problem(value):
            yield causes.invalid("spec.selector", key, problem)
    is_external = spec["type"] == "ExternalName"
    if is_external and not spec.get("externalName"):
        yield causes.required("spec.externalName")
    if not spec.get("ports") and not is_external and spec.get("clusterIP") != "None":
        yield causes.required("spec.ports")
    yield from _ports_problems(spec)


def _address_problems(spec: Json) -> Iterator[Cause]:
    address = spec.get("clusterIP")
    if address == "None" and spec["type"] in _ON_NODES:
        yield causes.invalid("spec.clusterIPs[0]", "None", f"may not be set for {spec['type']}")
    try:
        if address not in {None, "", "None"}:
            ipaddress.ip_address(address)
    except ValueError:
        why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
        yield causes.invalid("spec.clusterIPs[0]", address, why)


def _ports_problems(spec: Json) -> Iterator[Cause]:
    ports, seen = spec.get("ports") or [], set()
    for place, port in enumerate(ports):
        where = f"spec.ports[{place}]"
        yield from _port_problems(port, where, many=len(ports) > 1)
        if port.get("nodePort") and spec["type"] not in _ON_NODES:
            why = f"may not be used when `type` is '{spec['type']}'"
            yield causes.forbidden(f"{where}.nodePort", why)
        if (which := (port.get("port"), port.get("protocol"))) in seen:
            yield causes.duplicate(where, port)
        seen.add(which)
    names = [port.get("name") for port in ports]
    for place, name in enumerate(names):
        if name and name in names[:place]:
            yield causes.duplicate(f"spec.ports[{place}].name", name)


def _port_problems(port: Json, path: str, *, many: bool) -> Iterator[Cause]:
    if many and not port.get("name"):
        yield causes.required(f"{path}.name")
    if port.get("name"):
        yield from names_problems([port], path[: path.rindex("[")])
    number = port.get("port")
    if number is None:
        yield causes.required(f"{path}.port")
    yield from port_problem(number, f"{path}.port")
    yield from port_problem(port.get("targetPort"), f"{path}.targetPort")
    yield from one_of(port, "protocol", ("TCP", "UDP", "SCTP"), path)
