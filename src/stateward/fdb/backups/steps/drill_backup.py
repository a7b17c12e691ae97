"""DrillBackup: now and then it is proved that the backup can be restored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stateward.core.errors import PeerError
from stateward.core.outcome import Blocked, Done, Outcome, Retry, Stop, Wait
from stateward.fdb.api.backups.drill import BackupDrills
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.drills.hands import DrillHands
from stateward.fdb.backups.drills.seen import Drilled
from stateward.fdb.backups.ports import BackupDatabases
from stateward.fdb.backups.seen import BackupSeen
from stateward.fdb.cluster.hands.intent import CHANGED
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.decide.backups import drilling
from stateward.fdb.decide.backups.drills import (
    Act,
    Close,
    Drop,
    Forget,
    Keep,
    Make,
    Move,
    Open,
    Verdict,
    Verify,
)
from stateward.fdb.decide.backups.views import Arm, Skip
from stateward.fdb.tell.backups.drills import STEP, recorded
from stateward.kube.errors import Conflict
from stateward.kube.meta import ObjectKey

#: Seconds until an object that is deleted is looked at again whose drill holds it.
_AGAIN = 10.0


class DrillBackup:
    """Goes one step further with a drill, or begins one, or takes away what one made."""

    name = STEP

    def __init__(self, acting: Acting, databases: BackupDatabases) -> None:
        self._hands = DrillHands(acting.client, databases)

    async def run(self, seen: BackupSeen) -> Outcome:
        """Do the next thing."""
        drilled = seen.drilled
        if drilled is None:
            return Done()
        found = await self._do(seen, drilled)
        if not drilled.view.is_deleting or isinstance(found, Done | Stop):
            return found
        # What the drill made goes first, so that nothing of it is left without its backup.
        hint = found.hint if isinstance(found, Blocked) else ""
        return Stop(_AGAIN, found.reason, found.message, hint)

    async def _do(self, seen: BackupSeen, drilled: Drilled) -> Outcome:
        found = drilling.drilling(drilled.view)
        if isinstance(found, Verify):
            found = drilling.proving(drilled.view, await self._hands.count(seen.backup, drilled))
        if isinstance(found, Done | Wait | Retry | Stop | Blocked):
            return found
        try:
            return await self._act(seen, drilled, found)
        except Conflict:
            raise
        except PeerError as error:
            return trouble(f"drill {drilled.view.name}", error)

    async def _act(self, seen: BackupSeen, drilled: Drilled, act: Act) -> Outcome:
        backup, view = seen.backup, drilled.view
        match act:
            case Make(piece):
                if not await self._hands.is_current(backup):
                    return CHANGED
                await self._hands.make(backup, drilled, piece)
                return done("DrillMakes", f"{piece} {view.name} is made")
            case Drop(pieces):
                await self._hands.drop(backup, pieces)
                what = " and ".join(f"{it} {view.name}" for it in pieces)
                return done("DrillEnds", f"a drill is over: {what} is deleted", _AGAIN)
        told = recorded(act, backup.status.drill or BackupDrills(), view)
        await self._hands.record(backup, told)
        if isinstance(act, Close):
            key = ObjectKey(backup.metadata.namespace, view.name)
            self._hands.databases.forget(key)
        return _said(act)


def _said(act: Act) -> Outcome:
    """Say what was put on record."""
    match act:
        case Verdict(reason) if act.is_proof:
            return done(reason, "a drill has restored the backup: it can be")
        case Verdict(reason, why):
            hint = "see status.drill.last, and whether the backup can be restored by hand"
            return Stop(0.0, reason, f"a drill did not restore the backup: {why}", hint)
        case Keep(piece, _, then):
            return done("DrillGoesOn", f"{piece} of a drill is there; next is {then}")
        case Move(then):
            return done("DrillGoesOn", f"a drill goes on with {then}")
        case _:
            return _ON_RECORD[type(act)]


#: What is said of all others.
_ON_RECORD: Final[Mapping[type, Outcome]] = {
    Arm: Stop(0.0, "DrillsScheduled", "moments of its drills count from now on"),
    Open: Stop(0.0, "DrillBegun", "a drill is to be begun"),
    Skip: Stop(0.0, "DrillSkipped", "a drill is left out: the one before still goes on"),
    Close: Stop(0.0, "DrillOver", "a drill is over, and nothing of it is left"),
    Forget: Stop(0.0, "DrillsForgotten", "nothing is told of drills any more"),
}
