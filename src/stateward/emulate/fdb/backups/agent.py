"""One who does the work of backups: takes a piece, does it on files, and tells how that went."""

from __future__ import annotations

from stateward.emulate.fdb.backups import agency, containers, urls
from stateward.emulate.fdb.backups.files import Files, Unusable
from stateward.emulate.fdb.backups.pieces import (
    Failed,
    Fetch,
    Fetched,
    Keep,
    Kept,
    Outcome,
    Piece,
    Survey,
    Surveyed,
)
from stateward.emulate.fdb.backups.state import AgentSeen
from stateward.emulate.fdb.state import State


def carry_out(piece: Piece, files: Files, blobs: str = "") -> Outcome:
    """Do a piece; what cannot be done is told, not raised."""
    ticket = piece.ticket
    try:
        folder = urls.folder(ticket.url, blobs)
        match piece:
            case Keep(_, written):
                for path, raw in written:
                    files.write(f"{folder}/{path}", raw)
                return Kept(ticket)
            case Survey(_, version):
                blocks, taken = containers.plan(files, folder, version)
                return Surveyed(ticket, blocks, taken.begin, taken.end)
            case Fetch(_, path):
                return Fetched(ticket, files.read(f"{folder}/{path}"))
    except (Unusable, urls.Invalid) as error:
        return Failed(ticket, str(error))


class MemoryAgent:
    """An agent in memory: whoever has it says when it does something, and whether it is there."""

    def __init__(self, about: AgentSeen, files: Files, blobs: str = "") -> None:
        self._about = about
        self._files = files
        self._blobs = blobs

    @property
    def name(self) -> str:
        """By which the database knows it."""
        return self._about.name

    def take(self, state: State) -> Piece | None:
        """Take what comes next, which is its own for a while."""
        return agency.take(state, self._about)

    def step(self, state: State) -> bool:
        """Do the next piece; tell whether there was any. Else it asks again in a second."""
        piece = self.take(state)
        if piece is None:
            return False
        agency.report(state, carry_out(piece, self._files, self._blobs))
        return True

    def leave(self, state: State) -> None:
        """Be gone."""
        agency.leave(state, self.name)
