"""What changes of a process group while pods are given the programs of another version."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from stateward.fdb.api.group import FoundationDBProcessGroupSpec as GroupSpec
from stateward.fdb.api.pods import container_of
from stateward.fdb.api.processes import PodTemplate
from stateward.fdb.model.names import MAIN_CONTAINER, SIDECAR_CONTAINER


def with_programs_of(now: GroupSpec, wanted: GroupSpec) -> GroupSpec:
    """Return a group as it is, with the image beside fdbserver that it shall have.

    That image alone can be changed in place. Whatever else is to change has its turn when all
    processes have changed; and nothing does where fdbserver has another image, which comes first.
    """
    if not has_server_of(now, wanted):
        return now
    mine, other = _template(now), _template(wanted)
    image = _image(other, SIDECAR_CONTAINER)
    if image == _image(mine, SIDECAR_CONTAINER):
        return now
    containers = [
        {**it, "image": image} if it.get("name") == SIDECAR_CONTAINER else it
        for it in mine.spec.get("containers") or ()
    ]
    template = replace(mine, spec={**mine.spec, "containers": containers})
    return replace(now, process_settings=replace(now.process_settings, pod_template=template))


def has_server_of(now: GroupSpec, wanted: GroupSpec) -> bool:
    """Tell whether fdbserver has the same image in both."""
    same_type = now.image_type == wanted.image_type
    images = {_image(_template(it), MAIN_CONTAINER) for it in (now, wanted)}
    return same_type and len(images) == 1


def _template(spec: GroupSpec) -> PodTemplate:
    return spec.process_settings.pod_template or PodTemplate()


def _image(template: PodTemplate, container: str) -> Any:
    return container_of(template, container).get("image")
