"""Where members keep their data, as users write it: one of two kinds, for good."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from stateward.kube.codec import Part
from stateward.kube.crd.fields import (
    Definition,
    Field,
    Quantity,
    Rule,
    TemplateMetadata,
    definition,
    shaped,
)

#: What a claim asks for where its template does not say.
DEFAULT_SIZE = "4Gi"
DEFAULT_ACCESS_MODES = ("ReadWriteOnce",)

# Defaults are judged as they are written, before they are filled in: a field may be missing.
_SAID = "'storage' in self.requests && isQuantity(string(self.requests['storage']))"
_SIZE = "quantity(string(self.requests['storage']))"


def _core(name: str) -> Definition:
    return definition(f"io.k8s.api.core.v1.{name}")


def _name(of: str) -> str:
    return f"(has({of}.metadata) && has({of}.metadata.name) ? {of}.metadata.name : 'data')"


class ClaimResources(Part):
    """How large a volume is."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "'storage' in self.requests",
            "resources.requests must say how much storage, as in storage: 4Gi",
        ),
        Rule(
            f"!({_SAID}) || {_SIZE}.isGreaterThan(quantity('0'))",
            "storage must be more than nothing, as in 4Gi",
        ),
        Rule(
            f"!({_SAID}) || !({_SAID.replace('self', 'oldSelf')})"
            f" || {_SIZE}.compareTo({_SIZE.replace('self', 'oldSelf')}) >= 0",
            "the storage of a claim cannot shrink: a volume only grows",
        ),
    )

    requests: Annotated[
        dict[str, Quantity],
        Field(
            description="How much a volume must have; it may grow, never shrink.",
            default={"storage": DEFAULT_SIZE},
            max_properties=8,
        ),
    ] = msgspec.field(default_factory=lambda: {"storage": DEFAULT_SIZE})
    limits: Annotated[
        dict[str, Quantity],
        Field(description="How much a volume may have.", max_properties=8),
    ] = {}


class ClaimSpec(Part):
    """A claim's spec. Only the shape: what is read is the JSON, which goes into every claim."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "!has(self.volumeName) || self.volumeName == ''",
            "volumeName must not be given: every member has a volume of its own",
        ),
        Rule(
            "has(self.storageClassName) == has(oldSelf.storageClassName) &&"
            " (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)",
            "storageClassName cannot be changed: volumes stay in their class",
        ),
        Rule(
            "!has(self.accessModes) || !has(oldSelf.accessModes)"
            " || self.accessModes == oldSelf.accessModes",
            "accessModes cannot be changed: claims keep theirs",
        ),
    )

    access_modes: Annotated[
        tuple[Annotated[str, Meta(max_length=32)], ...],
        Field(
            description="How a volume can be mounted.",
            default=DEFAULT_ACCESS_MODES,
            list_type="atomic",
            max_items=4,
        ),
    ] = DEFAULT_ACCESS_MODES
    resources: Annotated[
        ClaimResources,
        Field(
            description="How large the volume is.", default={"requests": {"storage": DEFAULT_SIZE}}
        ),
    ] = ClaimResources()
    storage_class_name: Annotated[
        str | None, Meta(max_length=253), Field(description="Which class makes the volume.")
    ] = None
    volume_mode: Annotated[
        Literal["Filesystem"], Field(description="Filesystem: etcd writes files.")
    ] = "Filesystem"
    volume_name: Annotated[
        str, Meta(max_length=253), Field(description="Not to be given here.")
    ] = ""
    volume_attributes_class_name: Annotated[
        str | None, Meta(max_length=253), Field(description="Which class tunes the volume.")
    ] = None
    selector: Annotated[
        dict[str, Any],
        definition("io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"),
        Field(description="Which volumes will do."),
    ] = {}
    data_source: Annotated[
        dict[str, Any], _core("TypedLocalObjectReference"), Field(description="What it begins as.")
    ] = {}
    data_source_ref: Annotated[
        dict[str, Any], _core("TypedObjectReference"), Field(description="What it begins as.")
    ] = {}


class ClaimTemplate(Part):
    """The claim that every member gets."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            f"{_name('self')} == {_name('oldSelf')}",
            "the name of a claim cannot be changed: members would lose their volumes",
            field_path=".metadata.name",
        ),
    )

    metadata: Annotated[TemplateMetadata, Field(description="Name, labels, annotations.")] = {}
    spec: Annotated[
        dict[str, Any],
        shaped(ClaimSpec),
        Field(description="A claim's spec, or part.", default={}),
    ] = {}


class EmptyDir(Part):
    """A folder that goes with its pod. Only the shape, like a claim's."""

    medium: Annotated[
        Literal["", "Memory"], Field(description="Memory: files that lie in memory.")
    ] = ""
    size_limit: Annotated[Quantity | None, Field(description="How much it may hold.")] = None


def _as_by_default(of: str, size: str) -> str:
    """Return what is asked of a template that others than its own rules must compare.

    Where no template is or was, the rules about its past are not asked: these are, instead.
    """
    template, claim = f"{of}.volumeClaimTemplate", f"{of}.volumeClaimTemplate.spec"
    requests = f"{claim}.resources.requests"
    sized = (
        f"has({claim}.resources) && has({requests}) && 'storage' in {requests}"
        f" && isQuantity(string({requests}['storage']))"
    )
    compared = f"quantity(string({requests}['storage'])).compareTo(quantity('{DEFAULT_SIZE}'))"
    return (
        f"{_name(template)} == 'data' && (!has({claim}) || !has({claim}.storageClassName)"
        f" && (!has({claim}.accessModes) || {claim}.accessModes == ['{DEFAULT_ACCESS_MODES[0]}'])"
        f" && (!({sized}) || {compared} {size} 0))"
    )


class Storage(Part):
    """Where members keep their data: one of two kinds, for good."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "!(has(self.emptyDir) && has(self.volumeClaimTemplate))",
            "storage must be either an emptyDir or a volumeClaimTemplate",
        ),
        Rule(
            "has(self.emptyDir) == has(oldSelf.emptyDir)",
            "the kind of storage cannot be changed: members would lose their data",
        ),
        Rule(
            "has(self.emptyDir) || has(self.volumeClaimTemplate)"
            f" || !has(oldSelf.volumeClaimTemplate) || {_as_by_default('oldSelf', '<=')}",
            "volumeClaimTemplate cannot be taken back: claims keep their name, class and size",
        ),
        Rule(
            "has(oldSelf.emptyDir) || has(oldSelf.volumeClaimTemplate)"
            f" || !has(self.volumeClaimTemplate) || {_as_by_default('self', '>=')}",
            "volumeClaimTemplate must keep what members got without it: the name data, no class,"
            f" {DEFAULT_ACCESS_MODES[0]}, at least {DEFAULT_SIZE}",
        ),
    )

    empty_dir: Annotated[
        dict[str, Any] | None,
        shaped(EmptyDir),
        Field(description="A folder that goes with its pod, data and all."),
    ] = None
    volume_claim_template: Annotated[
        ClaimTemplate | None, Field(description="A volume of its own for every member.")
    ] = None
