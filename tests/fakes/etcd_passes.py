"""Passes of the operator over a modelled cluster: it looks, judges, moves and tells, or dies."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from enum import Enum
from functools import cache

from fakes.etcd_model import EtcdWorld
from fakes.etcd_seeing import view_of
from stateward.core.outcome import DONE, Blocked, Outcome, Retry
from stateward.etcd.decide import chart, moves
from stateward.etcd.model.view import View
from stateward.etcd.tell.notes import noting
from stateward.etcd.tell.status import status_of


class Fate(Enum):
    """How a pass of the operator ends."""

    WHOLE = "whole"
    #: It dies after it judged and before it does anything.
    IDLE = "idle"
    #: The move is made, and then it dies: the status is not written.
    MUTE = "mute"


@dataclass(slots=True)
class Pass:
    """One pass of the operator: what it saw, what it chose, how it stood, and what came of it."""

    view: View
    judgement: chart.Judgement
    #: The history that went on before, its voters, and whether it stood.
    history: int | None
    voters: int
    stood: bool
    world: EtcdWorld


def operate(world: EtcdWorld, fate: Fate = Fate.WHOLE) -> Pass:
    """Look, judge, make the move, and tell; or die on the way."""
    view, n = view_of(world), world.current
    voters = len(world.histories[n].voters) if n is not None else 0
    stood = n is not None and world.stands(n)
    judgement = chart.judge(view)
    made = fate is not Fate.IDLE and world.make(judgement.move)
    if fate is Fate.WHOLE:
        outcome = _outcome(judgement.move, made=made)
        status = status_of(view, [("MakeNextMove", outcome)], judgement.refusals)
        world.status = noting(status, view, judgement.move, outcome)
    return Pass(view, judgement, n, voters, stood, world)


def formed(size: int) -> EtcdWorld:
    """Return a world in which a cluster of a size is whole and at rest."""
    return copy.deepcopy(_formed(size))


@cache
def _formed(size: int) -> EtcdWorld:
    world = EtcdWorld(size)
    for _ in range(40):
        if isinstance(operate(world).judgement.move, moves.Rest):
            return world
        world.tick()
    raise AssertionError(f"{size} members do not form: {world}")


def _outcome(move: moves.Move, *, made: bool) -> Outcome:
    match move:
        case moves.Rest():
            return DONE
        case moves.Await(reason=reason, message=message, after=after):
            return Retry(after or 1.0, reason, message)
        case moves.Refuse(reason=reason, message=message, hint=hint):
            return Blocked(reason, message, hint)
        case _:
            return Retry(0.0, move.name if made else "EtcdRefused", move.message)
