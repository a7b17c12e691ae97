"""What one pass sees: the team and its members, frozen."""

from __future__ import annotations

from dataclasses import dataclass

from stateward.example.api import FINALIZER, Team
from stateward.kube.objects.configs import ConfigMap


@dataclass(frozen=True, slots=True)
class Member:
    """One member, told apart from others by its UID and not by its place."""

    ordinal: int
    uid: str
    motto: str
    leaving: bool


@dataclass(frozen=True, slots=True)
class View:
    """A team and all its members, as of one look."""

    team: Team
    members: tuple[Member, ...]

    @property
    def held(self) -> bool:
        """True when the team cannot vanish before its members."""
        return FINALIZER in self.team.metadata.finalizers

    @property
    def leaving(self) -> bool:
        """True when somebody asked for the end of the team."""
        return self.team.metadata.deleting

    @property
    def missing(self) -> tuple[int, ...]:
        """The ordinals that are asked for and not there."""
        there = {member.ordinal for member in self.members}
        return tuple(n for n in range(self.team.spec.size) if n not in there)

    @property
    def outdated(self) -> tuple[Member, ...]:
        """The members that are to stay and say something else than the motto."""
        return tuple(
            member
            for member in self.members
            if member.motto != self.team.spec.motto and member.ordinal < self.team.spec.size
        )


def view_of(team: Team, children: list[ConfigMap]) -> View:
    """Return the view from what the caches hold.

    A child of another incarnation of the team is none of ours.
    """
    members = sorted(
        (
            Member(
                ordinal=int(child.metadata.name.rpartition("-")[2]),
                uid=child.metadata.uid,
                motto=child.data.get("motto", ""),
                leaving=child.metadata.deleting,
            )
            for child in children
            if child.metadata.controller is not None
            and child.metadata.controller.uid == team.metadata.uid
            and child.metadata.name.rpartition("-")[2].isdecimal()
        ),
        key=lambda member: member.ordinal,
    )
    return View(team, tuple(members))
