"""The variables that the arguments of a pod's processes are made of, as far as its object tells."""

from __future__ import annotations

import re
from typing import Final

from stateward.core.errors import PeerConfused
from stateward.fdb.api.kind import FoundationDBProcessGroup
from stateward.fdb.build.pod import pod_spec
from stateward.fdb.build.servers.arguments import POD_IP, PUBLIC_IP, host_in
from stateward.fdb.model.names import LAUNCHER_ENVIRONMENT, MAIN_CONTAINER, SIDECAR_CONTAINER
from stateward.kube.codec import Json, decode
from stateward.kube.objects.pods import Pod

_REFERENCE: Final = re.compile(r"\$\(([^)]*)\)")
_SUBSCRIPT: Final = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")


def environment(group: FoundationDBProcessGroup, pod: Pod) -> dict[str, str]:
    """Return the variables, those that have a value; what a monitor itself told lies over them.

    In split images the sidecar fills them in, so it is its variables that count, and of addresses
    it writes the one of the family that is asked for.
    """
    unified = group.spec.image_type == "unified"
    name = MAIN_CONTAINER if unified else SIDECAR_CONTAINER
    containers = pod_spec(group).get("containers") or ()
    found = _values(next((it for it in containers if it.get("name") == name), {}), pod)
    if unified:
        return found | _told(pod)
    family = group.spec.service.pod_ip_family
    return found if family is None else _of_family(found, family)


def _values(container: Json, pod: Pod) -> dict[str, str]:
    found: dict[str, str] = {}
    for variable in container.get("env") or ():
        value = _value(variable, pod)
        if value:
            found[variable["name"]] = _expanded(value, found)
    return found


def _value(variable: Json, pod: Pod) -> str:
    source = variable.get("valueFrom") or {}
    if "fieldRef" in source:
        return _field(str(source["fieldRef"].get("fieldPath")), pod)
    return str(variable.get("value") or "")


def _field(path: str, pod: Pod) -> str:
    metadata, status = pod.metadata, pod.status
    if found := _SUBSCRIPT.fullmatch(path):
        group = metadata.labels if found[1] == "labels" else metadata.annotations
        return group.get(found[2], "")
    known = {
        "metadata.name": metadata.name,
        "metadata.namespace": metadata.namespace,
        "metadata.uid": metadata.uid,
        "spec.nodeName": pod.spec.node_name,
        "status.podIP": status.pod_ip,
        "status.podIPs": ",".join(it.ip for it in status.pod_ips) or status.pod_ip,
    }
    return known.get(path, "")


def _expanded(text: str, known: dict[str, str]) -> str:
    """Fill in ``$(NAME)`` as Kubernetes does."""
    return _REFERENCE.sub(lambda it: known.get(it[1], it[0]), text)


def _told(pod: Pod) -> dict[str, str]:
    text = pod.metadata.annotations.get(LAUNCHER_ENVIRONMENT)
    if not text:
        return {}
    try:
        return decode(text, dict[str, str])
    except PeerConfused:  # anybody may write on a pod: what is no answer is none
        return {}


def _of_family(found: dict[str, str], family: int) -> dict[str, str]:
    for name in (PUBLIC_IP, POD_IP):
        host = host_in(found.pop(name, ""), family)
        if host is not None:
            found[name] = f"[{host}]" if family == 6 else host
    return found
