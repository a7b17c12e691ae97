"""What a pod says where its writer says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

from stateward.core.quantity import Quantity
from stateward.kube.codec import Json

_PROBES: Final = frozenset({"livenessProbe", "readinessProbe", "startupProbe"})
_CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")
_MODE: Final = 0o644
_MODED: Final = frozenset({"secret", "configMap", "downwardAPI", "projected"})
_PROBE: Final = {
    "timeoutSeconds": 1,
    "periodSeconds": 10,
    "successThreshold": 1,
    "failureThreshold": 3,
}


def fill_spec(spec: Json) -> None:
    """Fill in what holds for pods and for templates of them."""
    for name, value in (
        ("restartPolicy", "Always"),
        ("terminationGracePeriodSeconds", 30),
        ("dnsPolicy", "ClusterFirst"),
        ("schedulerName", "default-scheduler"),
    ):
        spec.setdefault(name, value)
    spec.setdefault("securityContext", {})
    if account := spec.get("serviceAccountName") or spec.get("serviceAccount"):
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for container in containers(spec):
        _fill_container(container, host_network=bool(spec.get("hostNetwork")))
    for volume in spec.get("volumes") or ():
        _fill_volume(volume)


def fill_pod(pod: Json) -> None:
    """Fill in what only pods have, beside what their templates have too."""
    spec = pod.get("spec")
    if spec is None:
        return
    spec.setdefault("enableServiceLinks", True)
    fill_spec(spec)
    for container in containers(spec):
        resources = container.get("resources") or {}
        if resources.get("limits"):
            resources["requests"] = resources["limits"] | resources.get("requests", {})


def fill_template(template: Json) -> None:
    """Fill in a template of pods."""
    template.setdefault("metadata", {})
    if isinstance(spec := template.get("spec"), dict):
        fill_spec(spec)


def containers(spec: Json) -> Iterator[Json]:
    """Yield all containers of a pod."""
    for name in _CONTAINERS:
        if name in spec:
            yield from spec[name]


def pull_policy(image: str) -> str:
    """Return when an image is fetched: one that may be another one tomorrow, always."""
    if "@" in image:
        return "IfNotPresent"
    tag = image.rpartition("/")[2].partition(":")[2]
    return "Always" if tag in {"", "latest"} else "IfNotPresent"


@lru_cache(maxsize=4096)
def _canonical(text: str) -> str:
    return str(Quantity.parse(text))


def canonical(amounts: Json) -> None:
    """Write amounts as Kubernetes writes them: ``1000m`` is ``1``, and a number is a text."""
    for name, value in amounts.items():
        with suppress(ValueError):
            amounts[name] = _canonical(value if isinstance(value, str) else f"{value}")


def _fill_container(container: Json, *, host_network: bool) -> None:
    if "imagePullPolicy" not in container:
        container["imagePullPolicy"] = pull_policy(container.get("image", ""))
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    resources = container.setdefault("resources", {})
    for name in resources.keys() & {"limits", "requests"}:
        canonical(resources[name])
    for port in container.get("ports") or ():
        port.setdefault("protocol", "TCP")
        if host_network and "containerPort" in port:
            port.setdefault("hostPort", port["containerPort"])
    for name in container.keys() & _PROBES:
        _fill_probe(container[name])
    for handler in (container.get("lifecycle") or {}).values():
        _fill_http(handler)
    for variable in container.get("env") or ():
        _fill_source(variable.get("valueFrom") or {})


def _fill_probe(probe: Json) -> None:
    for name, value in _PROBE.items():
        probe.setdefault(name, value)
    _fill_http(probe)
    if "grpc" in probe:
        probe["grpc"].setdefault("service", "")


def _fill_http(handler: Any) -> None:
    if isinstance(handler, dict) and isinstance(http := handler.get("httpGet"), dict):
        http.setdefault("path", "/")
        http.setdefault("scheme", "HTTP")


def _fill_source(source: Json) -> None:
    if "fieldRef" in source:
        source["fieldRef"].setdefault("apiVersion", "v1")
    if "resourceFieldRef" in source:
        source["resourceFieldRef"].setdefault("divisor", "0")


def _fill_volume(volume: Json) -> None:
    if len(volume) < 2:
        volume["emptyDir"] = {}
        return
    for name in volume.keys() & _MODED:
        volume[name].setdefault("defaultMode", _MODE)
    if "hostPath" in volume:
        volume["hostPath"].setdefault("type", "")
    if "sizeLimit" in volume.get("emptyDir", ()):
        canonical_member(volume["emptyDir"], "sizeLimit")
    _fill_projected(volume)
    for source in (volume.get("projected") or {}).get("sources") or ():
        _fill_projected(source)
    if template := (volume.get("ephemeral") or {}).get("volumeClaimTemplate"):
        template.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")


def _fill_projected(source: Json) -> None:
    if "serviceAccountToken" in source:
        source["serviceAccountToken"].setdefault("expirationSeconds", 3600)
    for item in (source.get("downwardAPI") or {}).get("items") or ():
        _fill_source(item)


def canonical_member(part: Json, name: str) -> None:
    """Write one amount as Kubernetes writes it."""
    one: dict[str, Any] = {name: part[name]}
    canonical(one)
    part[name] = one[name]
