"""What steps do their work with."""

from __future__ import annotations

from dataclasses import dataclass, field

from stateward.core.chance import Chance
from stateward.fdb.build.detection import NOBODY, Detector
from stateward.fdb.cluster.hands.fence import Fence
from stateward.fdb.cluster.hands.locked import Turn
from stateward.fdb.cluster.hands.turns import Neighbours
from stateward.fdb.decide.operators.agreeing import WINDOW
from stateward.fdb.groups.board import Board
from stateward.kube.client import Client


@dataclass(frozen=True, slots=True)
class Tools:
    """A client of Kubernetes, whose turn it is, the fence before the database, and chance.

    And the board, on which the controller of groups reads what was proved, and the clusters of the
    same database that take turns; and what jobs of the operator itself run with.
    """

    client: Client
    turn: Turn
    fence: Fence
    chance: Chance
    board: Board = field(default_factory=Board)
    neighbours: Neighbours = field(default_factory=Neighbours)
    #: Seconds for which nothing new must have been said before operators act together.
    window: float = WINDOW
    detector: Detector = NOBODY
