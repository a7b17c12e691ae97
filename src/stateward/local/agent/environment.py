"""The environment of a container: what its spec says, with references looked up. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from stateward.core.errors import UsageError
from stateward.core.quantity import Quantity
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.local.agent.references import Contents, Lookup

_VARIABLE = re.compile(r"\$(?:(\$)|\(([^)]*)\))")
_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
_SUBSCRIPT = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")

#: What a program gets of this machine's own environment.
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER")


class ConfigMissing(UsageError):
    """A container refers to something that is not there (yet)."""


@dataclass(frozen=True, slots=True)
class PodView:
    """A pod as its own programs may see it."""

    metadata: ObjectMeta
    spec: Json
    address: str = ""
    host_address: str = ""
    #: What a container without limits may use: the node's.
    allocatable: Mapping[str, str] = field(default_factory=dict)
    #: Its addresses of another family, where it has any.
    more_addresses: tuple[str, ...] = ()


def expanded(text: str, variables: Mapping[str, str]) -> str:
    """Replace ``$(NAME)`` by its value, as Kubernetes does; ``$$`` is a plain dollar.

    >>> expanded("$(A) $(B) $$(A) $A", {"A": "1"})
    '1 $(B) $(A) $A'
    """
    return _VARIABLE.sub(lambda it: "$" if it[1] else variables.get(it[2], it[0]), text)


def environment(container: Json, pod: PodView, lookup: Lookup) -> dict[str, str]:
    """Return the variables that a container asks for; raise ConfigMissing when one has no value."""
    found: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        found |= _all_of(source, pod.metadata.namespace, lookup)
    own: dict[str, str] = {}
    for variable in container.get("env") or ():
        value = _value(variable, container, pod, lookup)
        if value is not None:
            found[variable["name"]] = own[variable["name"]] = expanded(value, own)
    return found


def inherited(host: Mapping[str, str]) -> dict[str, str]:
    """Return what a program gets of this machine's own environment."""
    return {name: host[name] for name in INHERITED if name in host}


def field_of(path: str, pod: PodView) -> str:
    """Return a field of a pod as the downward API gives it; raise ConfigMissing for another."""
    metadata = pod.metadata
    if found := _SUBSCRIPT.fullmatch(path):
        group = metadata.labels if found[1] == "labels" else metadata.annotations
        return group.get(found[2], "")
    known = {
        "metadata.name": metadata.name,
        "metadata.namespace": metadata.namespace,
        "metadata.uid": metadata.uid,
        "metadata.labels": _listed(metadata.labels),
        "metadata.annotations": _listed(metadata.annotations),
        "spec.nodeName": pod.spec.get("nodeName", ""),
        "spec.serviceAccountName": pod.spec.get("serviceAccountName", "default"),
        "status.podIP": pod.address,
        "status.podIPs": ",".join((pod.address, *pod.more_addresses)),
        "status.hostIP": pod.host_address,
        "status.hostIPs": pod.host_address,
    }
    if path not in known:
        raise ConfigMissing(
            f"fieldPath must be one of {', '.join(sorted(known))}, or metadata.labels['NAME'] or"
            f" metadata.annotations['NAME']; got {path!r}"
        )
    return str(known[path])


def resource_of(reference: Json, container: Json, pod: PodView) -> str:
    """Return a container's limit or request in whole units of the divisor, rounded up."""
    wanted = str(reference.get("resource", ""))
    kind, _, name = wanted.partition(".")
    if kind not in {"limits", "requests"} or not name:
        raise ConfigMissing(
            f"resource must be limits.NAME or requests.NAME as in limits.cpu, got {wanted!r}"
        )
    resources = container.get("resources") or {}
    amount = (resources.get(kind) or {}).get(name)
    if amount is None and kind == "requests":
        amount = (resources.get("limits") or {}).get(name, "0")
    if amount is None:
        amount = pod.allocatable.get(name, "0")
    divisor = _amount(reference.get("divisor") or "1") or Fraction(1)
    return str(-(-_amount(amount) // divisor))


def _amount(text: Any) -> Fraction:
    try:
        return Quantity.parse(str(text)).amount
    except ValueError as error:
        raise ConfigMissing(str(error)) from error


def picked(contents: Contents, items: Iterable[Json], what: str) -> dict[str, bytes]:
    """Return the wanted items by path; raise ConfigMissing when one is not there."""
    chosen: dict[str, bytes] = {}
    for item in items:
        if item["key"] not in contents:
            raise ConfigMissing(f'key "{item["key"]}" must be in {what}, and is not')
        chosen[item["path"]] = contents[item["key"]]
    return chosen


def _all_of(source: Json, namespace: str, lookup: Lookup) -> dict[str, str]:
    prefix = source.get("prefix", "")
    for kind, look in (("configMapRef", lookup.config_map), ("secretRef", lookup.secret)):
        reference = source.get(kind)
        if reference is None:
            continue
        contents = look(ObjectKey(namespace, reference.get("name", "")))
        if contents is None and not reference.get("optional"):
            raise ConfigMissing(f'{_noun(kind)} "{reference.get("name", "")}" not found')
        named = ((f"{prefix}{key}", text) for key, text in (contents or {}).items())
        return {name: _text(value) for name, value in named if _NAME.fullmatch(name)}
    return {}


def _value(variable: Json, container: Json, pod: PodView, lookup: Lookup) -> str | None:
    source = variable.get("valueFrom")
    if not source:
        return variable.get("value") or ""
    if "fieldRef" in source:
        return field_of(source["fieldRef"].get("fieldPath", ""), pod)
    if "resourceFieldRef" in source:
        return resource_of(source["resourceFieldRef"], _named(source, container, pod), pod)
    namespace = pod.metadata.namespace
    if "configMapKeyRef" in source:
        return _one_of(source["configMapKeyRef"], "configMapKeyRef", namespace, lookup.config_map)
    if "secretKeyRef" in source:
        return _one_of(source["secretKeyRef"], "secretKeyRef", namespace, lookup.secret)
    raise ConfigMissing(
        f"env {variable['name']}: valueFrom must be fieldRef, resourceFieldRef, configMapKeyRef"
        f" or secretKeyRef, got {', '.join(sorted(source))}"
    )


def _one_of(reference: Json, kind: str, namespace: str, look: Any) -> str | None:
    name, key = reference.get("name", ""), reference.get("key", "")
    contents: Contents | None = look(ObjectKey(namespace, name))
    if contents is not None and key in contents:
        return _text(contents[key])
    if reference.get("optional"):
        return None
    if contents is None:
        raise ConfigMissing(f'{_noun(kind)} "{name}" not found')
    raise ConfigMissing(f"couldn't find key {key} in {_noun(kind)} {namespace}/{name}")


def _named(source: Json, container: Json, pod: PodView) -> Json:
    """Return the container that a reference to resources means: its own, or one it names."""
    name = source["resourceFieldRef"].get("containerName")
    all_of_them = pod.spec.get("containers") or ()
    return next((it for it in all_of_them if name and it.get("name") == name), container)


def _noun(kind: str) -> str:
    return "configmap" if kind.startswith("configMap") else "secret"


def _text(value: bytes) -> str:
    # A variable ends at a zero byte, and the kernel takes no other.
    return value.decode("utf-8", "surrogateescape").replace("\0", "")


def _listed(group: Mapping[str, str]) -> str:
    """Write labels as the downward API does, one a line."""
    return "\n".join(f'{name}="{_escaped(value)}"' for name, value in sorted(group.items()))


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
