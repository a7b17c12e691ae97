"""Marks that stand beside a field and reach its schema.

Python's types say most of it: names, types, bounds (``msgspec.Meta``), what may be left out. A mark
says what the API server must know and Python need not. Every mark is written where the field is:

    replicas: Annotated[int, Meta(ge=0, le=9), Field(description="How many.", default=3)] = 3

Rules about several fields at once stand in the class, as ``RULES: ClassVar[tuple[Rule, ...]]``.
Where one field has several marks, as when an alias has one of its own, the outermost wins and
rules add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

ListType: TypeAlias = Literal["atomic", "set", "map"]
MapType: TypeAlias = Literal["atomic", "granular"]
RuleReason: TypeAlias = Literal[
    "FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"
]


@dataclass(frozen=True, slots=True)
class Rule:
    """A CEL rule: what must be true of ``self``, and the words that a user reads when it is not."""

    rule: str
    message: str = ""
    #: A CEL expression that makes the message; it wins over ``message``.
    message_expression: str = ""
    reason: RuleReason | None = None
    #: The field that is to blame, seen from here: ``.replicas``.
    field_path: str = ""
    #: Also run the rule on creation, with ``oldSelf`` an optional that is empty.
    optional_old_self: bool = False


# A default may be a dict; compared by identity, marks stay hashable, which unions of types need.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Field:
    """What the API server must know about a field beyond its type."""

    description: str = ""
    #: A promise: the server writes this value into every object that lacks the field. Changing it
    #: later changes what manifests mean, so a Python default alone never becomes one of the schema.
    default: Any = msgspec.UNSET
    rules: tuple[Rule, ...] = ()
    format: str | None = None
    min_items: int | None = None
    max_items: int | None = None
    min_properties: int | None = None
    max_properties: int | None = None
    list_type: ListType | None = None
    #: With ``list_type="map"``: the fields, in their JSON spelling, that tell items apart.
    keys: tuple[str, ...] | None = None
    map_type: MapType | None = None
    #: Keep what the schema does not name. Typing errors of users are then kept too.
    preserve_unknown: bool = False
    #: The value is a whole Kubernetes object with apiVersion, kind and metadata.
    embedded_resource: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """Stands for one of Kubernetes' own types; its schema comes from the ones that we ship."""

    name: str


def definition(name: str) -> Definition:
    """Return the mark that gives a field the schema of one of Kubernetes' own types.

    The value stays what it was in JSON: what we do not know must pass through untouched.
    """
    return Definition(name)


@dataclass(frozen=True, slots=True)
class Shaped:
    """Stands for the fields of a type of our own; its schema is that type's."""

    kind: type[msgspec.Struct]


def shaped(kind: type[msgspec.Struct]) -> Shaped:
    """Return the mark that gives a field the schema of a type, while its value stays JSON.

    For what is handed on whole: reading it into the type would lose what the type does not name.
    """
    return Shaped(kind)


PodTemplate: TypeAlias = Annotated[dict[str, Any], definition("io.k8s.api.core.v1.PodTemplateSpec")]
ServiceSpec: TypeAlias = Annotated[dict[str, Any], definition("io.k8s.api.core.v1.ServiceSpec")]
VolumeClaimSpec: TypeAlias = Annotated[
    dict[str, Any], definition("io.k8s.api.core.v1.PersistentVolumeClaimSpec")
]
VolumeClaimTemplate: TypeAlias = Annotated[
    dict[str, Any], definition("io.k8s.api.core.v1.PersistentVolumeClaimTemplate")
]
#: Labels, annotations and the like, for a template of one's own: metadata beside a spec.
TemplateMetadata: TypeAlias = Annotated[
    dict[str, Any], definition("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
]
Quantity: TypeAlias = Annotated[
    int | str, definition("io.k8s.apimachinery.pkg.api.resource.Quantity")
]
