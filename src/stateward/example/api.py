"""The Team: so many members, each a config map that carries the team's motto."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from stateward.kube.codec import Part
from stateward.kube.crd.fields import Field, Rule
from stateward.kube.crd.kind import Column, CustomKind, Scale, Version
from stateward.kube.meta import Condition, Object
from stateward.kube.resources import Resource

GROUP = "example.stateward.dev"
FINALIZER = f"{GROUP}/members"
TEAM_LABEL = f"{GROUP}/team"


class TeamSpec(Part):
    """What a team is asked to be."""

    RULES: ClassVar[tuple[Rule, ...]] = (
        Rule("self.size == 0 || self.motto != ''", "a team with members must have a motto"),
    )

    size: Annotated[
        int, msgspec.Meta(ge=0, le=9), Field(description="How many members.", default=3)
    ] = 3
    motto: Annotated[
        str, msgspec.Meta(max_length=200), Field(description="What every member says.", default="")
    ] = ""


class TeamStatus(Part):
    """What a team is."""

    observed_generation: Annotated[
        int, Field(description="The generation of the spec that this status speaks of.")
    ] = 0
    members: Annotated[int, Field(description="How many members there are.")] = 0
    up_to_date: Annotated[int, Field(description="How many of them say the motto.")] = 0
    doing: Annotated[str, Field(description="What is going on, in plain words.")] = ""
    conditions: Annotated[
        tuple[Condition, ...],
        Field(description="Ready and Progressing.", list_type="map", keys=("type",)),
    ] = ()


class Team(Object):
    """A team of config maps that all carry one motto, changed one at a time."""

    spec: TeamSpec = TeamSpec()
    status: TeamStatus = TeamStatus()


TEAMS = Resource(GROUP, "v1alpha1", "Team", "teams", Team, has_status=True)

TEAM_KIND = CustomKind(
    versions=(
        Version(
            resource=TEAMS,
            columns=(
                Column(name="Ready", path='.status.conditions[?(@.type=="Ready")].status'),
                Column(name="Members", path=".status.members", type="integer"),
                Column(name="Doing", path=".status.doing"),
                Column(name="Age", path=".metadata.creationTimestamp", type="date"),
            ),
            scale=Scale(spec_path=".spec.size", status_path=".status.members"),
        ),
    ),
    categories=("stateward",),
)
