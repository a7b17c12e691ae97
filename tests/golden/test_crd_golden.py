"""One kind that uses everything the generator can say, and the document that comes out of it.

To renew it after a change that is meant, run pytest on this file with STATEWARD_GOLDEN=write.
Then read the difference: it is what every user's API server will see.
"""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NewType

import yaml
from msgspec import UNSET, Meta, UnsetType

from stateward.kube.codec import Part
from stateward.kube.crd import fields
from stateward.kube.crd.fields import Field, Rule
from stateward.kube.crd.kind import Column, CustomKind, Scale, Version, crd
from stateward.kube.crd.text import to_yaml
from stateward.kube.meta import Condition, Object
from stateward.kube.resources import Resource

GOLDEN = Path(__file__).parent / "everything.yaml"

Zone = NewType("Zone", str)


class Engine(Enum):
    MEMORY = "memory"
    SSD = "ssd"


class Port(Part):
    """One port.

    This second paragraph is for readers of the code.
    """

    port: Annotated[int, Meta(ge=1, le=65535), Field(format="int32")]
    protocol: Annotated[Literal["TCP", "UDP"], Field(default="TCP")] = "TCP"
    target: int | str | None = None


class Member(Part):
    """One member of the group."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule("has(self.weight) || self.voter", "a member without a weight must be a voter"),
    )

    name: Annotated[str, Meta(min_length=1, max_length=63, pattern="^[a-z][a-z0-9-]*$")]
    voter: bool
    weight: Annotated[float, Meta(gt=0, lt=100)] | None = None


class Claim(Object):
    """A whole object inside another."""

    spec: fields.VolumeClaimSpec = {}


class EverythingSpec(Part):
    """What is wanted."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "self.replicas >= size(self.members)",
            message_expression="'replicas must be at least %d'.format([size(self.members)])",
            reason="FieldValueInvalid",
            field_path=".replicas",
        ),
        Rule(
            "!has(oldSelf.engine) || (has(self.engine) && self.engine == oldSelf.engine)",
            "engine cannot be changed",
        ),
    )

    # what must be said comes first
    version: Annotated[
        str,
        Meta(max_length=20),
        Field(
            rules=(
                Rule(
                    "!oldSelf.hasValue() || self >= oldSelf.value()",
                    "version cannot go back",
                    optional_old_self=True,
                ),
            )
        ),
    ]
    members: Annotated[
        tuple[Member, ...],
        Field(
            description="Who takes part.",
            list_type="map",
            keys=("name",),
            max_items=9,
            rules=(Rule("self.exists(m, m.voter)", "one member must be a voter"),),
        ),
    ]
    # numbers, texts, booleans
    replicas: Annotated[
        int, Meta(ge=0, le=9), Field(description="How many there are.", default=3, format="int32")
    ] = 3
    step: Annotated[int, Meta(multiple_of=5)] = 5
    ratio: Annotated[float, Meta(gt=0, lt=1)] | None = None
    paused: Annotated[bool, Field(default=False)] = False
    since: Annotated[str, Field(format="date-time")] = ""
    zone: Zone = Zone("")
    # choices
    engine: Engine = Engine.SSD
    mode: Annotated[Literal["fast", "safe"], Field(default="safe")] = "safe"
    level: Literal[1, 2, 3] = 1
    # either, or nothing
    max_unavailable: int | str | None = None
    size: Annotated[fields.Quantity, Field(description="Of each volume.", default="1Gi")] = "1Gi"
    note: str | UnsetType = UNSET
    # lists
    args: Annotated[list[str], Field(list_type="atomic", min_items=1, max_items=16)] = []
    zones: Annotated[tuple[Zone, ...], Field(list_type="set"), Meta(max_length=5)] = ()
    ports: Annotated[tuple[Port, ...], Field(list_type="map", keys=("port", "protocol"))] = ()
    matrix: list[list[float]] = []
    # maps
    labels: Annotated[dict[str, str], Field(map_type="atomic", max_properties=8)] = {}
    limits: Annotated[dict[str, fields.Quantity], Meta(min_length=1)] | None = None
    weights: Annotated[
        dict[str, Annotated[int, Field(rules=(Rule("self != 13", "13 is unlucky"),))]],
        Field(max_properties=4, min_properties=0),
    ] = {}
    # open and borrowed
    knobs: Annotated[dict[str, Any], Field(preserve_unknown=True)] = {}
    value: Annotated[Any, Field(preserve_unknown=True)] = None
    template: Annotated[dict[str, Any], Field(embedded_resource=True)] | None = None
    claim: Annotated[Claim | None, Field(description="The volume to take.")] = None
    resources: Annotated[
        dict[str, Any], fields.definition("io.k8s.api.core.v1.VolumeResourceRequirements")
    ] = {}
    metadata: fields.TemplateMetadata = {}


class EverythingStatus(Part):
    """What is."""

    replicas: Annotated[int, Field(format="int32")] = 0
    selector: str = ""
    conditions: Annotated[tuple[Condition, ...], Field(list_type="map", keys=("type",))] = ()


class Everything(Object, kw_only=True):
    """Shows everything that the generator can say."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule("self.metadata.name != 'nothing'", "everything cannot be called nothing"),
    )

    spec: EverythingSpec
    status: EverythingStatus = EverythingStatus()


class OldSpec(Part):
    """What was wanted."""

    replicas: int = 0


class OldEverything(Object):
    """The same, as it was."""

    spec: OldSpec = OldSpec()


GROUP = "test.stateward.example"
KIND = CustomKind(
    versions=(
        Version(
            resource=Resource(
                GROUP, "v1", "Everything", "everythings", Everything, has_status=True
            ),
            columns=(
                Column(name="Replicas", path=".spec.replicas", type="integer", format="int32"),
                Column(
                    name="Ready",
                    path='.status.conditions[?(@.type=="Ready")].status',
                    description="Whether it can be used.",
                ),
                Column(name="Engine", path=".spec.engine", priority=1),
                Column(name="Age", path=".metadata.creationTimestamp", type="date"),
            ),
            scale=Scale(
                spec_path=".spec.replicas",
                status_path=".status.replicas",
                selector_path=".status.selector",
            ),
            selectable=(".spec.engine", ".spec.paused"),
            name_pattern="^[a-z]",
            name_max_length=40,
        ),
        Version(
            resource=Resource(GROUP, "v1beta1", "Everything", "everythings", OldEverything),
            storage=False,
            deprecation="test.stateward.example/v1beta1 Everything goes away; use v1",
        ),
        Version(
            resource=Resource(GROUP, "v1alpha1", "Everything", "everythings", OldEverything),
            storage=False,
            served=False,
        ),
    ),
    singular="everything",
    list_kind="EverythingList",
    short_names=("evt", "all-of-it"),
    categories=("stateward",),
)


def test_everything_is_said_as_it_was() -> None:
    text = to_yaml(crd(KIND))
    if os.environ.get("STATEWARD_GOLDEN") == "write":
        GOLDEN.write_text(text, encoding="utf-8")

    assert text == GOLDEN.read_text(encoding="utf-8")


def test_the_text_says_what_the_document_says() -> None:
    assert yaml.safe_load(to_yaml(crd(KIND))) == crd(KIND)
