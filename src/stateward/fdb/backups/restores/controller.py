"""See, judge, do, tell: the reconciler of restores."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from stateward.core.errors import NotLeader, PeerError
from stateward.core.outcome import DONE, Blocked, Outcome
from stateward.fdb.api.backups.checks import restore_problems
from stateward.fdb.api.backups.kinds import RESTORES, FoundationDBRestore
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.caches import destination_of
from stateward.fdb.backups.restores.seen import RestoreEyes, RestoreSeen, look
from stateward.fdb.backups.restores.steps import HoldRestore, LeaveRestore, StartRestore
from stateward.fdb.backups.telling import StatusWriter, Voice, looked_at_again
from stateward.fdb.tell.backups.restore import RestoreTold, can_wait, restore_status
from stateward.fdb.tell.backups.unseen import restore_status_unseen
from stateward.kube.errors import ApiError, Conflict
from stateward.kube.meta import ObjectKey
from stateward.runtime.pipeline import Failure, Report, Said, run_steps
from stateward.runtime.telling.journal import Subject
from stateward.runtime.telling.recorder import ObjectReference

CONTROLLER: Final = "fdb-restore"
#: Seconds between two writes of a status that say only how far a restore is.
TOLD_EVERY: Final = 10.0


class RestoreReconciler:
    """Brings one restore a little closer to its end."""

    def __init__(self, eyes: RestoreEyes, acting: Acting, voice: Voice) -> None:
        self._eyes = eyes
        self._teller = voice.teller
        self._clock = voice.clock
        self._writer = StatusWriter(acting.client, voice.clock, RESTORES, TOLD_EVERY)
        self._going = (HoldRestore(acting), StartRestore(acting, voice.clock))
        self._leaving = (LeaveRestore(acting),)

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Look, do what is allowed now, and tell about it."""
        restore = self._eyes.caches.restores.get(key)
        if restore is None:
            self._writer.forget(key)
            return DONE
        began = self._clock.monotonic()
        deleting, status = restore.metadata.deleting, restore.status
        found = () if deleting or status.begun is not None else restore_problems(restore)
        if found:
            words = "; ".join(map(str, found))
            hint = found[0].hint or "mend the spec"
            return await self._unseen(restore, Blocked("SpecInvalid", words, hint), began)
        seen = await self._look(restore, began)
        if seen is None:
            return DONE  # another operator looks after it
        steps = self._leaving if deleting else self._going
        report = await run_steps(steps, seen, self._clock)
        heard = await self._told(restore, report, began)
        return await self._tell(seen, report, heard)

    async def hindered(self, key: ObjectKey, why: ApiError) -> Outcome:
        """Say that we may not look at what belongs to a restore, so nothing is done for it."""
        restore = self._eyes.caches.restores.get(key)
        if restore is None:
            return DONE
        words = f"what belongs to restores must be readable: {why.message}"
        hint = why.hint or "apply the operator's roles of this version"
        blocked = Blocked("ObjectRefused", words, hint)
        return await self._unseen(restore, blocked, self._clock.monotonic())

    async def _look(self, restore: FoundationDBRestore, began: float) -> RestoreSeen | None:
        """Return what is known; a bug must reach the status, and is raised then."""
        try:
            return await look(self._eyes, restore)
        except (PeerError, NotLeader):
            raise
        except Exception as error:
            failure = Failure("Look", error)
            if isinstance(failure.outcome, Blocked):
                with suppress(PeerError, NotLeader):
                    await self._unseen(restore, failure.outcome, began)
            raise

    # ------------------------------------------------------------------ telling
    async def _told(self, restore: FoundationDBRestore, report: Report, began: float) -> Report:
        metadata = restore.metadata
        subject = Subject(CONTROLLER, metadata.key, metadata.uid, metadata.generation)
        about = ObjectReference.of(RESTORES, metadata)
        return await self._teller.tell(subject, about, report, began=began)

    async def _tell(self, seen: RestoreSeen, report: Report, heard: Report) -> Outcome:
        restore = seen.restore
        told = RestoreTold(heard.words, self._clock.now())
        new = restore_status(seen.view, restore.status, told)
        if (failure := report.failure) is not None:
            if not isinstance(failure.error, NotLeader | Conflict):
                with suppress(PeerError, NotLeader):
                    await self._writer.write(restore, restore.status, new)
            raise failure.error
        if not (can_wait(restore.status, new) and self._writer.left(restore.metadata.key)):
            await self._writer.write(restore, restore.status, new)
        return looked_at_again(report.outcome)

    async def _unseen(self, restore: FoundationDBRestore, why: Blocked, began: float) -> Outcome:
        """Tell why nothing is done for a restore that was not looked at."""
        if (await self._eyes.places.find(destination_of(restore))).is_others:
            return DONE  # another operator looks after it, and says so itself
        report = Report([Said("CheckSpec", why, self._clock.monotonic() - began)])
        heard = await self._told(restore, report, began)
        new = restore_status_unseen(restore, heard.words, self._clock.now())
        await self._writer.write(restore, restore.status, new)
        return looked_at_again(report.outcome)
