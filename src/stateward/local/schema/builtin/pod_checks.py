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
from stateward.kube.selector import LabelSelector
from stateward.local.schema import causes
from stateward.local.schema.builtin.volume_checks import mount_path_problems, volume_problems

_VARIABLE: Final = re.compile(r"[ -<>-~]+")
_RESTART: Final = ("Always", "OnFailure", "Never")
_DNS: Final = ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
_PULL: Final = ("Always", "IfNotPresent", "Never")
_PROTOCOLS: Final = ("TCP", "UDP", "SCTP")
_EFFECTS: Final = ("", "NoSchedule", "PreferNoSchedule", "NoExecute")
_PROBES: Final = frozenset({"livenessProbe", "readinessProbe", "startupProbe"})
_ACTIONS: Final = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_LONGEST_PORT_NAME: Final = 15
_PORT_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_MESSAGES: Final = ("File", "FallbackToLogsOnError")
_SCHEMES: Final = ("HTTP", "HTTPS")
#: What a container can be asked for without a domain in its name.
_AMOUNTS: Final = ("cpu", "memory", "ephemeral-storage")
#: What a variable can be told of its pod.
_TELLING: Final = re.compile(
    r"metadata\.(name|namespace|uid|(labels|annotations)\['.*'\])|spec\.(nodeName|serviceAccountName)"
    r"|status\.(hostIPs?|podIPs?)"
)
_SOURCES: Final = {"configMapKeyRef", "secretKeyRef", "fieldRef", "resourceFieldRef", "fileKeyRef"}


def pod_problems(spec: Json, path: str, claimed: Iterable[str] = ()) -> Iterator[Cause]:
    """Yield what is wrong with the spec of a pod.

    ``claimed`` names volumes that somebody else will add.
    """
    yield from one_of(spec, "restartPolicy", _RESTART, path)
    yield from one_of(spec, "dnsPolicy", _DNS, path)
    yield from _place_problems(spec, path)
    volumes = spec.get("volumes") or []
    yield from names_problems(volumes, f"{path}.volumes")
    yield from volume_problems(volumes, f"{path}.volumes")
    known = {*claimed, *(volume.get("name") for volume in volumes)}
    if not spec.get("containers"):
        yield causes.required(f"{path}.containers")
    both = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    for name in ("containers", "initContainers"):
        for place, container in enumerate(spec.get(name) or ()):
            where = f"{path}.{name}[{place}]"
            yield from _container_problems(container, known, where)
            if name == "initContainers" and container.get("restartPolicy") != "Always":
                yield from _brief_problems(container, where)
            first = next(i for i, it in enumerate(both) if it.get("name") == container.get("name"))
            if container.get("name") and both[first] is not container:
                yield causes.duplicate(f"{where}.name", container["name"])
    yield from _toleration_problems(spec.get("tolerations") or (), f"{path}.tolerations")


def _place_problems(spec: Json, path: str) -> Iterator[Cause]:
    """Look at how long a pod may run, where, and what it is called there."""
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline < 2**31:
        why = "must be between 1 and 2147483647, inclusive"
        yield causes.invalid(f"{path}.activeDeadlineSeconds", deadline, why)
    if (node := spec.get("nodeName")) and (problem := naming.dns_subdomain_problem(node)):
        yield causes.invalid(f"{path}.nodeName", node, problem)
    for name in ("hostname", "subdomain"):
        if (value := spec.get(name)) and (problem := naming.dns_label_problem(value)):
            yield causes.invalid(f"{path}.{name}", value, problem)
    for key, value in (spec.get("nodeSelector") or {}).items():
        if problem := naming.label_key_problem(key) or naming.label_value_problem(value):
            yield causes.invalid(f"{path}.nodeSelector", key, problem)
    yield from _gate_problems(spec, path)
    if spec.get("ephemeralContainers") and path == "spec":
        yield causes.forbidden(f"{path}.ephemeralContainers", "cannot be set on create")


def _gate_problems(spec: Json, path: str) -> Iterator[Cause]:
    for place, gate in enumerate(spec.get("schedulingGates") or ()):
        if problem := naming.label_key_problem(gate.get("name", "")):
            yield causes.invalid(f"{path}.schedulingGates[{place}]", gate.get("name"), problem)
    if spec.get("schedulingGates") and spec.get("nodeName"):
        why = "cannot be set until all schedulingGates have been cleared"
        yield causes.forbidden(f"{path}.nodeName", why)


def _brief_problems(container: Json, path: str) -> Iterator[Cause]:
    """Look at an init container: what ends by itself is not watched."""
    for name in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
        if container.get(name):
            why = "may not be set for init containers without restartPolicy=Always"
            yield causes.forbidden(f"{path}.{name}", why)


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
    elif isinstance(port, str) and (problem := port_name_problem(port)):
        yield causes.invalid(path, port, problem)


def port_name_problem(name: str) -> str | None:
    """Say what keeps a name from being one of a port."""
    if len(name) > _LONGEST_PORT_NAME:
        return f"must be no more than {_LONGEST_PORT_NAME} characters"
    if not _PORT_NAME.fullmatch(name) or "--" in name:
        return "must be of lower case letters, digits and single '-' between them"
    return None if any(it.isalpha() for it in name) else "must contain at least one letter"


def _container_problems(container: Json, volumes: set[Any], path: str) -> Iterator[Cause]:
    yield from _identity_problems(container, path)
    yield from one_of(container, "imagePullPolicy", _PULL, path)
    yield from _ports_problems(container.get("ports") or (), f"{path}.ports")
    for place, variable in enumerate(container.get("env") or ()):
        yield from _variable_problems(variable, f"{path}.env[{place}]")
    yield from _mount_problems(container.get("volumeMounts") or (), volumes, path)
    for probe in container.keys() & _PROBES:
        yield from _probe_problems(container[probe], f"{path}.{probe}")
        if probe != "readinessProbe" and container[probe].get("successThreshold", 1) != 1:
            found = container[probe]["successThreshold"]
            yield causes.invalid(f"{path}.{probe}.successThreshold", found, "must be 1")
    for moment, handler in (container.get("lifecycle") or {}).items():
        if isinstance(handler, dict):
            yield from _handler_problems(handler, f"{path}.lifecycle.{moment}")
    yield from one_of(container, "terminationMessagePolicy", _MESSAGES, path)
    yield from _resource_problems(container.get("resources") or {}, f"{path}.resources")


def _variable_problems(variable: Json, path: str) -> Iterator[Cause]:
    name = variable.get("name")
    if not name:
        yield causes.required(f"{path}.name")
    elif not _VARIABLE.fullmatch(name):
        why = "must be of printable ASCII characters other than '='"
        yield causes.invalid(f"{path}.name", name, why)
    if isinstance(source := variable.get("valueFrom"), dict):
        yield from _source_problems(source, variable.get("value"), f"{path}.valueFrom")


def _source_problems(source: Json, value: str | None, path: str) -> Iterator[Cause]:
    known = source.keys() & _SOURCES
    if len(known) != 1:
        why = "must specify exactly one source of the value"
        yield causes.invalid(path, "", why)
    elif value:
        yield causes.invalid(path, "", "may not be specified when `value` is not empty")
    for name in known & {"configMapKeyRef", "secretKeyRef"}:
        if not source[name].get("key"):
            yield causes.required(f"{path}.{name}.key")
    if "fieldRef" in known:
        yield from _field_problems(source["fieldRef"].get("fieldPath"), f"{path}.fieldRef")


def _field_problems(field: str | None, path: str) -> Iterator[Cause]:
    if not field:
        yield causes.required(f"{path}.fieldPath")
    elif not _TELLING.fullmatch(field):
        yield causes.invalid(f"{path}.fieldPath", field, "must be one that a variable can be told")


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
        else:
            yield from port_problem(port["containerPort"], f"{where}.containerPort")
        yield from port_problem(port.get("hostPort") or None, f"{where}.hostPort")
        yield from one_of(port, "protocol", _PROTOCOLS, where)
        if name := port.get("name"):
            if problem := port_name_problem(name):
                yield causes.invalid(f"{where}.name", name, problem)
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
    yield from _handler_problems(probe, path)
    for name in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "failureThreshold"):
        if isinstance(value := probe.get(name), int) and value < 0:
            yield causes.invalid(f"{path}.{name}", value, "must be greater than or equal to 0")


def _handler_problems(handler: Json, path: str) -> Iterator[Cause]:
    """Look at what is done to a container: to ask how it is, or at a turn of its life."""
    actions = [name for name in _ACTIONS if handler.get(name) is not None]
    if not actions:
        yield causes.required(path, "must specify a handler type")
    for name in actions[1:]:
        yield causes.forbidden(f"{path}.{name}", "may not specify more than 1 handler type")
    for name in actions[:1]:
        action, where = handler[name] or {}, f"{path}.{name}"
        if name == "exec" and not action.get("command"):
            yield causes.required(f"{where}.command")
        if name == "httpGet":
            yield from one_of(action, "scheme", _SCHEMES, where)
        if name in {"httpGet", "tcpSocket", "grpc"}:
            if (port := action.get("port")) is None:
                yield causes.required(f"{where}.port")
            yield from port_problem(port, f"{where}.port")


def _resource_problems(resources: Json, path: str) -> Iterator[Cause]:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for part, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            yield from _amount_problems(name, amount, f"{path}.{part}[{name}]")
    for name, amount in requests.items():
        if name in limits and _parsed(str(amount)) > _parsed(str(limits[name])):
            why = f"must be less than or equal to {name} limit of {limits[name]}"
            yield causes.invalid(f"{path}.requests", amount, why)
        elif name not in limits and "/" in name:
            why = "Limit must be set for non overcommitable resources"
            yield causes.required(f"{path}.limits", why)


def _amount_problems(name: str, amount: Any, path: str) -> Iterator[Cause]:
    if "/" not in name and name not in _AMOUNTS and not name.startswith("hugepages-"):
        yield causes.invalid(path, name, "must be a standard resource type or fully qualified")
        yield causes.invalid(path, name, "must be a standard resource for containers")
    if _parsed(str(amount)).nano < 0:
        yield causes.invalid(path, amount, "must be greater than or equal to 0")


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
        if not toleration.get("key") and toleration.get("operator") != "Exists":
            why = 'operator must be Exists when `key` is empty, which means "match all"'
            yield causes.invalid(f"{where}.operator", toleration.get("operator"), why)
        if "tolerationSeconds" in toleration and toleration.get("effect") != "NoExecute":
            why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield causes.invalid(f"{where}.effect", toleration.get("effect"), why)


def template_problems(template: Json, path: str) -> Iterator[Cause]:
    """Yield what is wrong with what the pods of a template are called."""
    metadata = template.get("metadata") or {}
    for key, value in (metadata.get("labels") or {}).items():
        for problem in (naming.label_key_problem(key), naming.label_value_problem(value)):
            if problem:
                yield causes.invalid(f"{path}.labels", key, problem)
    for key in metadata.get("annotations") or ():
        if problem := naming.label_key_problem(key.lower()):
            yield causes.invalid(f"{path}.annotations", key, problem)


def selector_problems(selector: Json, labels: Json) -> Iterator[Cause]:
    """Yield why pods with such labels are not those that are selected."""
    try:
        matches = LabelSelector.from_document(selector).matches(labels)
    except ValueError as error:
        yield causes.invalid("spec.selector", selector, str(error))
        return
    if not any(selector.values()):
        why = "empty selector is invalid: it must select the pods of the template"
        yield causes.invalid("spec.selector", selector, why)
    elif not matches:
        yield from label_mismatch(labels)


def label_mismatch(labels: Json) -> Iterator[Cause]:
    """Yield that a template makes pods that its owner does not select."""
    why = "`selector` does not match template `labels`"
    yield causes.invalid("spec.template.metadata.labels", labels, why)


def at_least_zero(part: Json, path: str, *names: str) -> Iterator[Cause]:
    """Yield which numbers of a part are negative and may not be."""
    for name in names:
        if (value := part.get(name)) is not None and value < 0:
            yield causes.invalid(f"{path}.{name}", value, "must be greater than or equal to 0")
