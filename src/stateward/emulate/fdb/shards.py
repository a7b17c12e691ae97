"""Where data is, and where it goes: pieces with a team of disks each, moved one after another.

A piece is copied from whoever of its team is there. While it moves, the old team keeps it, so a
planned move never has fewer copies than before. Nothing is copied from or to a disk that is not
there, and nobody gives a piece up while no other disk that is there has it. A piece with no copy
left is lost, until a disk of its team comes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from stateward.emulate.fdb.configuration.spreads import Place, Spread

#: Into how many pieces all data is cut.
_PIECES: Final = 16
#: Bytes a second that are copied, all moves together; and seconds that each takes at least.
RATE: Final = 12_000_000
_AT_LEAST: Final = 1.2


@dataclass(slots=True)
class Piece:
    """A part of all keys: how large it is, who has it, and who shall have it."""

    size: int = 0
    team: tuple[str, ...] = ()
    coming: tuple[str, ...] = ()
    #: Seconds of copying that are left.
    left: float = 0.0

    @property
    def moves(self) -> bool:
        """Whether it is on its way."""
        return bool(self.coming)

    def can_go(self, there: Collection[str]) -> bool:
        """Tell whether it can be copied now, and would be somewhere that is there afterwards."""
        return (
            all(disk in there for disk in self.coming if disk not in self.team)
            and any(disk in there for disk in self.team)
            and any(disk in there for disk in self.coming)
        )


@dataclass(slots=True)
class Shards:
    """All data of a database."""

    pieces: list[Piece] = field(default_factory=lambda: [Piece() for _ in range(_PIECES)])
    #: What was asked when it was planned last: the same again has the same answer.
    _asked: object = None

    def fill(self, size: int) -> None:
        """Have so many bytes of data."""
        for it in self.pieces:
            it.size = size // len(self.pieces)

    @property
    def size(self) -> int:
        """How much data there is, each byte counted once."""
        return sum(it.size for it in self.pieces)

    @property
    def moving(self) -> int:
        """How many bytes are on their way."""
        return sum(it.size for it in self.pieces if it.moves)

    def is_moving(self) -> bool:
        """Tell whether anything is on its way, if it is nothing but a name."""
        return any(it.moves for it in self.pieces)

    def holders(self) -> set[str]:
        """Return every disk that has something, or gets it."""
        return {disk for it in self.pieces for disk in (*it.team, *it.coming)}

    def stored_on(self, disk: str) -> int:
        """Return how many bytes a disk has."""
        return sum(it.size for it in self.pieces if disk in it.team)

    def fewest_copies(self, there: Collection[str]) -> int:
        """Return how many copies the piece has that has fewest, on disks that are there."""
        return min(sum(disk in there for disk in it.team) for it in self.pieces)

    def forget(self, disks: Iterable[str]) -> None:
        """Take disks out of all teams, with what they had: it was given up."""
        gone = set(disks)
        for it in self.pieces:
            it.team = tuple(disk for disk in it.team if disk not in gone)
            it.coming = tuple(disk for disk in it.coming if disk not in gone)

    def place(self, places: Mapping[str, Place], spread: Spread) -> None:
        """Give every piece its first team."""
        for it in self.pieces:
            it.team = self._wanted(it, places, places, spread)

    def plan(self, places: Mapping[str, Place], there: Collection[str], spread: Spread) -> None:
        """Choose where pieces go: ``places`` are those of disks that may have data.

        Those of them that are not ``there`` may keep what they have, and get nothing. A piece whose
        team is as it should be stays, and so does one that cannot be made so.
        """
        asked = (dict(places), frozenset(there), spread, [it.team for it in self.pieces])
        if asked == self._asked:
            return
        self._asked = asked
        for it in self.pieces:
            wanted = self._wanted(it, places, there, spread)
            is_stuck = len(wanted) < spread.copies or not any(disk in there for disk in it.team)
            if is_stuck or set(wanted) == set(it.team):
                it.coming, it.left = (), 0.0
            elif set(wanted) != set(it.coming):
                new = sum(disk not in it.team for disk in wanted)
                it.coming, it.left = wanted, max(_AT_LEAST, new * it.size / RATE)

    def advance(self, seconds: float, there: Collection[str]) -> None:
        """Copy for a while, one piece after another, among disks that are there."""
        for it in self.pieces:
            if it.moves and seconds > 0 and it.can_go(there):
                spent = min(seconds, it.left)
                it.left -= spent
                seconds -= spent
                if it.left <= 1e-9:
                    it.team, it.coming, it.left = it.coming, (), 0.0

    def seconds_left(self) -> float:
        """Return how long it takes until nothing is on its way."""
        return sum(it.left for it in self.pieces if it.moves)

    def _wanted(
        self, piece: Piece, places: Mapping[str, Place], there: Collection[str], spread: Spread
    ) -> tuple[str, ...]:
        """Return who shall have a piece: whoever has it and may, and those who have least."""
        load = Counter(disk for it in self.pieces for disk in (it.coming or it.team))
        kept = [it for it in (*piece.coming, *piece.team) if it in places]
        rest = sorted(places, key=lambda it: (load[it], it))
        here = [it for it in kept if it in there]
        # Who has it and is away may keep it, unless there are enough who are not.
        away = [it for it in kept if it not in there and it in piece.team]
        team: list[str] = []
        for disk in (*here, *away, *(it for it in rest if it in there)):
            taken = [places[it] for it in team]
            if len(team) < spread.copies and spread.admits(places[disk], taken):
                team.append(disk)
        return tuple(team)
