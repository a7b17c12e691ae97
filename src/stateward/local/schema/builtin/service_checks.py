"""What makes no sense in a service, or in a slice of its endpoints."""

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
_FAMILIES: Final = ("IPv4", "IPv6")
_POLICIES: Final = ("PreferDualStack", "RequireDualStack", "SingleStack")
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_ADDRESS: Final = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"


def service_problems(document: Json) -> Iterator[Cause]:
    """Yield what is wrong with a service."""
    spec = document["spec"]
    yield from one_of(spec, "type", _TYPES, "spec")
    yield from one_of(spec, "sessionAffinity", ("ClientIP", "None"), "spec")
    yield from _address_problems(spec)
    yield from _family_problems(spec)
    yield from _traffic_problems(spec)
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
        yield causes.invalid("spec.clusterIPs[0]", address, _ADDRESS)


def _family_problems(spec: Json) -> Iterator[Cause]:
    yield from one_of(spec, "ipFamilyPolicy", _POLICIES, "spec")
    families = spec.get("ipFamilies") or []
    for place, family in enumerate(families):
        where = f"spec.ipFamilies[{place}]"
        if family not in _FAMILIES:
            yield causes.unsupported(where, family, _FAMILIES)
        if family in families[:place]:
            yield causes.duplicate(where, family)


def _traffic_problems(spec: Json) -> Iterator[Cause]:
    yield from one_of(spec, "internalTrafficPolicy", ("Cluster", "Local"), "spec")
    if spec["type"] in _ON_NODES:
        yield from one_of(spec, "externalTrafficPolicy", ("Cluster", "Local"), "spec")
    elif policy := spec.get("externalTrafficPolicy"):
        why = "may only be set for externally-accessible services"
        yield causes.invalid("spec.externalTrafficPolicy", policy, why)
    for place, address in enumerate(spec.get("externalIPs") or ()):
        if _read(address) is None:
            yield causes.invalid(f"spec.externalIPs[{place}]", address, _ADDRESS)
    name = spec.get("externalName") if spec["type"] == "ExternalName" else None
    if name and (problem := naming.dns_subdomain_problem(name.rstrip("."))):
        yield causes.invalid("spec.externalName", name, problem)


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


# ------------------------------------------------------------------ endpoints
def endpoint_problems(document: Json) -> Iterator[Cause]:
    """Yield what is wrong with a slice of endpoints."""
    kind = document.get("addressType")
    if not kind:
        yield causes.required("addressType")
    else:
        yield from one_of(document, "addressType", (*_FAMILIES, "FQDN"), "")
    for place, endpoint in enumerate(document.get("endpoints") or ()):
        where = f"endpoints[{place}]"
        if not endpoint.get("addresses"):
            yield causes.required(f"{where}.addresses", "must contain at least 1 address")
        for number, address in enumerate(endpoint.get("addresses") or ()):
            yield from _place_problems(address, str(kind), f"{where}.addresses[{number}]")
        if (name := endpoint.get("hostname")) and (problem := naming.dns_label_problem(name)):
            yield causes.invalid(f"{where}.hostname", name, problem)
    yield from _door_problems(document.get("ports") or [])


def _place_problems(address: str, kind: str, path: str) -> Iterator[Cause]:
    """Look at an address; here, pods may have one of this machine alone."""
    if kind == "FQDN":
        if problem := naming.dns_subdomain_problem(address):
            yield causes.invalid(path, address, problem)
        elif "." not in address:
            yield causes.invalid(path, address, "should be a domain with at least two segments")
    elif kind in _FAMILIES:
        found = _read(address)
        if found is None:
            yield causes.invalid(path, address, _ADDRESS)
        elif f"IPv{found.version}" != kind:
            yield causes.invalid(path.rpartition("[")[0], address, f"must be an {kind} address")
        elif found.is_unspecified or found.is_link_local:
            yield causes.invalid(path, address, "may not be unspecified or link-local")


def _door_problems(ports: list[Json]) -> Iterator[Cause]:
    names = [port.get("name") or "" for port in ports]
    for place, port in enumerate(ports):
        where, name = f"ports[{place}]", names[place]
        if name in names[:place]:
            yield causes.duplicate(f"{where}.name", name)
        if name and (problem := naming.dns_label_problem(name)):
            yield causes.invalid(f"{where}.name", name, problem)
        yield from one_of(port, "protocol", _PROTOCOLS, where)


def _read(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return an address, or None when it is none; leading zeros are let pass."""
    plain = ".".join(str(int(it)) if it.isdecimal() else it for it in address.split("."))
    try:
        return ipaddress.ip_address(plain)
    except ValueError:
        return None
