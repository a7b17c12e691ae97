"""What is wrong with images of one type under the name of the other, and with times of maintenance.

Images of both types have different programs in them. A pod with the wrong one never starts, and a
cluster that is converted so would first give half of itself away.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stateward.fdb.api.defaults import folded
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.model.names import INIT_CONTAINER, MAIN_CONTAINER, SIDECAR_CONTAINER
from stateward.kube.codec import Json
from stateward.kube.crd.findings import Problem

#: The names of images as they are published, by what is in them; a registry may stand before.
_MONITOR, _SIDECAR, _SERVER = (
    "fdb-kubernetes-monitor", "foundationdb-kubernetes-sidecar", "foundationdb/foundationdb",
)  # fmt: skip
#: By type and container: what must not be in it, and what should.
_WRONG: Final[dict[str, dict[str, tuple[tuple[str, ...], str]]]] = {
    "unified": {
        MAIN_CONTAINER: ((_SERVER, _SIDECAR), _MONITOR),
        SIDECAR_CONTAINER: ((_SERVER, _SIDECAR), _MONITOR),
    },
    "split": {
        MAIN_CONTAINER: ((_MONITOR, _SIDECAR), _SERVER),
        SIDECAR_CONTAINER: ((_MONITOR, _SERVER), _SIDECAR),
        INIT_CONTAINER: ((_MONITOR, _SERVER), _SIDECAR),
    },
}
#: Seconds: in less no pod comes back, and for more nobody wants data to have too few copies.
_SHORTEST, _LONGEST = 10, 86_400


def kind_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    """Yield images of the other type, and times that nobody can mean."""
    image_type = folded(spec).image_type or "unified"
    for where, container, image in _images(spec):
        wrong, right = _WRONG[image_type].get(container, ((), ""))
        if any(_is(image, it) for it in wrong):
            yield Problem(
                where,
                f"must be an image for container {container} of type {image_type}, got {image!r}",
                hint=f"as in {right}; or set spec.imageType, which replaces all process groups",
            )
    yield from _maintenance_problems(spec)


def _maintenance_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    seconds = spec.automation_options.maintenance_mode_options.maintenance_mode_time_seconds
    if not _SHORTEST <= seconds <= _LONGEST:
        yield Problem(
            "spec.automationOptions.maintenanceModeOptions.maintenanceModeTimeSeconds",
            f"must be from {_SHORTEST} to {_LONGEST} seconds, got {seconds}",
            hint="leave it out for 600, or set how long the pods of a zone take to come back",
        )


def _is(image: str, name: str) -> bool:
    """Tell whether an image is a published one, or a copy of it in another registry."""
    return image == name or image.endswith(f"/{name}")


def _images(spec: FoundationDBClusterSpec) -> Iterator[tuple[str, str, str]]:
    """Yield every image that is given: where, for which container, and its name."""
    for field, container, said in (
        ("mainContainer", MAIN_CONTAINER, spec.main_container),
        ("sidecarContainer", SIDECAR_CONTAINER, spec.sidecar_container),
    ):
        for number, it in enumerate(said.image_configs):
            yield f"spec.{field}.imageConfigs[{number}].baseImage", container, it.base_image
    for name, settings in spec.processes.items():
        if settings.pod_template is not None:
            where = f"spec.processes.{name}.podTemplate.spec"
            yield from _template_images(settings.pod_template.spec, where)


def _template_images(pod: Json, where: str) -> Iterator[tuple[str, str, str]]:
    for kind in ("containers", "initContainers"):
        some: Any = pod.get(kind)
        for number, it in enumerate(some if isinstance(some, list) else ()):
            if isinstance(it, dict) and isinstance(it.get("image"), str):
                yield f"{where}.{kind}[{number}].image", str(it.get("name")), it["image"]
