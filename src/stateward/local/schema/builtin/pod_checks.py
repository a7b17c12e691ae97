"""What makes no sense in a pod, or in a template of pods."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

from stateward.core import naming
from stateward.core.quantity import Quantity
from stateward.kube.codec import Json
from stateward.kube.errors import Cause
from stateward.local.schema import causes
from stateward.local.schema.builtin.volume_checks import mount_path_problems, volume_problems

_VARIABLE: Final = re.compile(r"[ -<>-~]+")
_RESTART: Final = ("Always", "OnFailure", "Never")
_DNS: Final = ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
_PULL: Final = ("Always", "IfNotPresent", "Never")
_PROTOCOLS: Final = ("TCP", "UDP", "SCTP")
_EFFECTS: Final = ("", "NoSchedule", "PreferNoSchedule", "NoExecute")
_PROBES: Final = frozenset({"livenessProbe", "readinessProbe", "startupProbe"})
_ACTIONS: Final = {"httpGet", "tcpSocket", "exec", "grpc", "sleep"}
_LONGEST_PORT_NAME: Final = 15


def pod_problems(spec: Json, path: str, claimed: Iterable[str] = ()) -> Iterator[Cause]:
    """Yield what is wrong with the spec of a pod.

    ``claimed`` names volumes that somebody else will add.
    """
    yield from one_of(spec, "restartPolicy", _RESTART, path)
    yield from one_of(spec, "dnsPolicy", _DNS, path)
    if (grace := spec.get("terminationGracePeriodSeconds")) is not None and grace < 0:
        yield causes.invalid(
            f"{path}.terminationGracePeriodSeconds", grace, "must be greater than or equal to 0"
        )
    volumes = spec.get("volumes") or []
    yield from names_problems(volumes, f"{path}.volumes")
    yield from volume_problems(volumes, f"{path}.volumes")
    known = {*claimed, *(volume.get("name") for volume in volumes)}
    if not spec.get("containers"):
        yield causes.required(f"{path}.containers")
    both = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    for name in ("initContainers", "containers"):
        for place, container in enumerate(spec.get(name) or ()):
            where = f"{path}.{name}[{place}]"
            yield from _container_problems(container, known, where)
            first = next(i for i, it in enumerate(both) if it.get("name") == container.get("name"))
            if container.get("name") and both[first] is not container:
                yield causes.duplicate(f"{where}.name", container["name"])
    yield from _toleration_problems(spec.get("tolerations") or (), f"{path}.tolerations")


def names_problems(items: Iterable[Json], path: str) -> Iterator[Cause]:
    """Yield what is wrong with the names of a list of things that must be told apart."""
    seen = set()
    for place, item in enumerate(items):
        where, name = f"{path}[{place}].name", item.get("name")
        if not name:
            yield causes.required(where)
        elif problem := naming.dns_label_problem(name):
            yield causes.invalid(where, name, problem)
        elif name in seen:
            yield causes.duplicate(where, name)
        seen.add(name)


def one_of(part: Json, name: str, options: tuple[Any, ...], path: str) -> Iterator[Cause]:
    """Yield the refusal of a field that has few possible values."""
    if name in part and part[name] not in options:
        where = f"{path}.{name}" if path else name
        yield causes.unsupported(where, part[name], options)


def port_problem(port: Any, path: str) -> Iterator[Cause]:
    """Yield what is wrong with the number of a port."""
    if isinstance(port, int) and not 1 <= port <= 65_535:
        yield causes.invalid(path, port, "must be between 1 and 65535, inclusive")


def _container_problems(container: Json, volumes: set[Any], path: str) -> Iterator[Cause]:
    yield from _identity_problems(container, path)
    yield from one_of(container, "imagePullPolicy", _PULL, path)
    yield from _ports_problems(container.get("ports") or (), f"{path}.ports")
    for place, variable in enumerate(container.get("env") or ()):
        yield from _variable_problems(variable, f"{path}.env[{place}]")
    yield from _mount_problems(container.get("volumeMounts") or (), volumes, path)
    for probe in container.keys() & _PROBES:
        yield from _probe_problems(container[probe], f"{path}.{probe}")
    yield from _resource_problems(container.get("resources") or {}, f"{path}.resources")


def _variable_problems(variable: Json, path: str) -> Iterator[Cause]:
    name = variable.get("name")
    if not name:
        yield causes.required(f"{path}.name")
    elif not _VARIABLE.fullmatch(name):
        why = "must be of printable ASCII characters other than '='"
        yield causes.invalid(f"{path}.name", name, why)


def _identity_problems(container: Json, path: str) -> Iterator[Cause]:
    name, image = container.get("name"), container.get("image", "")
    if not name:
        yield causes.required(f"{path}.name")
    elif problem := naming.dns_label_problem(name):
        yield causes.invalid(f"{path}.name", name, problem)
    if not image:
        yield causes.required(f"{path}.image")
    elif image != image.strip():
        why = "must not have leading or trailing whitespace"
        yield causes.invalid(f"{path}.image", image, why)


def _ports_problems(ports: Iterable[Json], path: str) -> Iterator[Cause]:
    seen = set()
    for place, port in enumerate(ports):
        where = f"{path}[{place}]"
        if not port.get("containerPort"):
            yield causes.required(f"{where}.containerPort")
        yield from port_problem(port.get("containerPort"), f"{where}.containerPort")
        yield from one_of(port, "protocol", _PROTOCOLS, where)
        if name := port.get("name"):
            if len(name) > _LONGEST_PORT_NAME or naming.dns_label_problem(name):
                why = f"must be a DNS label of at most {_LONGEST_PORT_NAME} characters"
                yield causes.invalid(f"{where}.name", name, why)
            if name in seen:
                yield causes.duplicate(f"{where}.name", name)
            seen.add(name)


def _mount_problems(mounts: Iterable[Json], volumes: set[Any], path: str) -> Iterator[Cause]:
    places = set()
    for place, mount in enumerate(mounts):
        where = f"{path}.volumeMounts[{place}]"
        if not mount.get("name"):
            yield causes.required(f"{where}.name")
        elif mount["name"] not in volumes:
            yield causes.not_found(f"{where}.name", mount["name"])
        if not (at := mount.get("mountPath")):
            yield causes.required(f"{where}.mountPath")
        elif at in places:
            yield causes.invalid(f"{where}.mountPath", at, "must be unique")
        places.add(at)
        yield from mount_path_problems(mount, where)


def _probe_problems(probe: Json, path: str) -> Iterator[Cause]:
    actions = probe.keys() & _ACTIONS
    if not actions:
        yield causes.required(path, "must specify a handler type")
    elif len(actions) > 1:
        yield causes.forbidden(path, "may not specify more than 1 handler type")
    for name in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "failureThreshold"):
        if isinstance(value := probe.get(name), int) and value < 0:
            yield causes.invalid(f"{path}.{name}", value, "must be greater than or equal to 0")
    for name in actions & {"httpGet", "tcpSocket", "grpc"}:
        if (port := (probe[name] or {}).get("port")) is None:
            yield causes.required(f"{path}.{name}.port")
        yield from port_problem(port, f"{path}.{name}.port")


def _resource_problems(resources: Json, path: str) -> Iterator[Cause]:
    limits = resources.get("limits") or {}
    for name, amount in (resources.get("requests") or {}).items():
        asked = _parsed(str(amount))
        if asked.nano < 0:
            why = "must be greater than or equal to 0"
            yield causes.invalid(f"{path}.requests[{name}]", amount, why)
        if name in limits and asked > _parsed(str(limits[name])):
            why = f"must be less than or equal to {name} limit of {limits[name]}"
            yield causes.invalid(f"{path}.requests", amount, why)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Quantity:
    return Quantity.parse(text)


def _toleration_problems(tolerations: Iterable[Json], path: str) -> Iterator[Cause]:
    for place, toleration in enumerate(tolerations):
        where = f"{path}[{place}]"
        yield from one_of(toleration, "operator", ("", "Equal", "Exists"), where)
        yield from one_of(toleration, "effect", _EFFECTS, where)
        if toleration.get("operator") == "Exists" and toleration.get("value"):
            why = "value must be empty when `operator` is 'Exists'"
            yield causes.invalid(f"{where}.operator", toleration["value"], why)
