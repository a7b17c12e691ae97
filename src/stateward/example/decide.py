"""The judgement: one move at a time, and the order of the questions is the safety argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from stateward.example.view import Member, View


@dataclass(frozen=True, slots=True)
class Hold:
    """Put our finalizer on the team, so that it cannot vanish before its members."""


@dataclass(frozen=True, slots=True)
class Add:
    """Make the member with this ordinal."""

    ordinal: int


@dataclass(frozen=True, slots=True)
class Teach:
    """Make a member say the motto."""

    member: Member


@dataclass(frozen=True, slots=True)
class Remove:
    """End a member."""

    member: Member


@dataclass(frozen=True, slots=True)
class AwaitGone:
    """Wait until a member that was asked to leave has left."""

    member: Member


@dataclass(frozen=True, slots=True)
class LetGo:
    """Take our finalizer off: nothing of the team is left."""


@dataclass(frozen=True, slots=True)
class Rest:
    """Nothing to do."""


Move: TypeAlias = Hold | Add | Teach | Remove | AwaitGone | LetGo | Rest


def next_move(view: View) -> Move:
    """Return the one move that is safe and useful now.

    Nothing is made before the team is held; nothing is changed while a member leaves; members go
    from the top and come from the bottom, so the ordinals below the size are always the oldest.
    """
    leaving = next((member for member in view.members if member.leaving), None)
    if leaving is not None:
        return AwaitGone(leaving)
    if view.leaving:
        return _towards_the_end(view)
    if not view.held:
        return Hold()
    if view.members and view.members[-1].ordinal >= view.team.spec.size:
        return Remove(view.members[-1])
    if view.outdated:
        return Teach(view.outdated[0])
    if view.missing:
        return Add(view.missing[0])
    return Rest()


def _towards_the_end(view: View) -> Move:
    if not view.held:
        return Rest()
    if view.members:
        return Remove(view.members[-1])
    return LetGo()


def still_justified(remove: Remove, fresh: View) -> bool:
    """Tell whether a removal that was decided on a cached view is still right on a fresh one."""
    return fresh.leaving or remove.member.ordinal >= fresh.team.spec.size
