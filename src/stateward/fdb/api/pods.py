"""Templates of pods and claims, filled up with what every pod and claim must have.

Only what a user may say otherwise is filled in here: which containers there are, how much they may
take, how large a volume is. Everything else of a pod is made when it is built.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stateward.core.quantity import Quantity
from stateward.fdb.api.processes import ClaimTemplate, ImageType, PodTemplate, ProcessSettings
from stateward.fdb.model.names import INIT_CONTAINER, MAIN_CONTAINER, SIDECAR_CONTAINER
from stateward.kube.codec import Json

DEFAULT_SIZE: Final = "128G"
_MAIN: Final = {"cpu": "1", "memory": "8Gi"}
_BESIDE: Final = {"cpu": "100m", "memory": "256Mi"}


def completed(settings: ProcessSettings, image_type: ImageType) -> ProcessSettings:
    """Return settings whose templates, where given, have all containers, limits and sizes."""
    pod, claim = settings.pod_template, settings.volume_claim_template
    return msgspec.structs.replace(
        settings,
        pod_template=None if pod is None else completed_pod(pod, image_type),
        volume_claim_template=None if claim is None else completed_claim(claim),
    )


def completed_pod(template: PodTemplate, image_type: ImageType) -> PodTemplate:
    """Return a template with the containers of an image type, each with requests and limits."""
    containers = _with_container(_objects(template.spec.get("containers")), MAIN_CONTAINER, _MAIN)
    containers = _with_container(containers, SIDECAR_CONTAINER, _BESIDE)
    first = _objects(template.spec.get("initContainers"))
    if image_type == "split":
        first = _with_container(first, INIT_CONTAINER, _BESIDE)
    else:
        first = [it for it in first if it.get("name") != INIT_CONTAINER]
    spec: Json = {**template.spec, "containers": containers, "initContainers": first}
    if not first:
        del spec["initContainers"]
    return msgspec.structs.replace(template, spec=spec)


def completed_claim(template: ClaimTemplate) -> ClaimTemplate:
    """Return a template with a size and a way to be mounted."""
    resources = _object(template.spec.get("resources"))
    requests = {"storage": DEFAULT_SIZE} | _object(resources.get("requests"))
    spec: Json = {
        **template.spec,
        "accessModes": template.spec.get("accessModes") or ["ReadWriteOnce"],
        "resources": {**resources, "requests": requests},
    }
    return msgspec.structs.replace(template, spec=spec)


def asks_for_nothing(template: ClaimTemplate) -> bool:
    """Tell whether a size of 0 is asked for, which is how data is kept in its pod only."""
    size = _object(_object(template.spec.get("resources")).get("requests")).get("storage")
    try:
        return size is not None and Quantity.parse(str(size)).nano == 0
    except ValueError:
        return False


def container_of(template: PodTemplate | None, name: str) -> Json:
    """Return what a template says of a container; empty when nothing."""
    spec = template.spec if template else {}
    every = (*_objects(spec.get("containers")), *_objects(spec.get("initContainers")))
    return next((it for it in every if it.get("name") == name), {})


def _with_container(containers: list[Json], name: str, amounts: Json) -> list[Json]:
    """Return the list with a container of this name that has requests and limits.

    What is not said of one follows the other: limits below requests would be no pod at all.
    """
    if all(it.get("name") != name for it in containers):
        containers = [*containers, {"name": name}]
    return [_with_amounts(it, amounts) if it.get("name") == name else it for it in containers]


def _with_amounts(container: Json, amounts: Json) -> Json:
    resources = _object(container.get("resources"))
    requests, limits = resources.get("requests"), resources.get("limits")
    if requests is None:
        requests = amounts if limits is None else limits
    limits = requests if limits is None else limits
    return {**container, "resources": {**resources, "requests": requests, "limits": limits}}


def _objects(some: Any) -> list[Json]:
    return [it for it in some if isinstance(it, dict)] if isinstance(some, list) else []


def _object(some: Any) -> Json:
    return some if isinstance(some, dict) else {}
