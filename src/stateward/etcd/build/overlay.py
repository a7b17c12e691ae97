"""What users write over what we generate, by the rules of a strategic merge."""

from __future__ import annotations

from typing import Any

from stateward.core.errors import HouseError
from stateward.kube.codec import Json
from stateward.kube.resources import Resource
from stateward.kube.strategic import strategic_patch
from stateward.kube.structure import structure_of_kind


def overlaid(resource: Resource[Any], spec: Json, template: Json) -> Json:
    """Return the spec of a built-in kind with a template laid over it.

    Raise PatchError when the template is not one, such as a container without a name.
    """
    if not template:
        return spec
    whole = structure_of_kind(resource.group, resource.version, resource.kind)
    structure = whole.child("spec") if whole is not None else None
    if structure is None:
        raise HouseError(f"we must ship the schema of {resource.kind}, and do not")
    return strategic_patch(spec, template, structure)
