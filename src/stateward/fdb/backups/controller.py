"""See, judge, do, tell: the reconciler of backups."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from stateward.core.errors import NotLeader, PeerError
from stateward.core.outcome import DONE, Blocked, Outcome
from stateward.fdb.api.backups.backup import FoundationDBBackupStatus
from stateward.fdb.api.backups.checks import backup_problems
from stateward.fdb.api.backups.kinds import BACKUPS, FoundationDBBackup
from stateward.fdb.backups import times
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.caches import cluster_of
from stateward.fdb.backups.cleaning.chores import Chores
from stateward.fdb.backups.observe import BackupEyes, look
from stateward.fdb.backups.pipeline import going_steps, leaving_steps
from stateward.fdb.backups.seen import BackupSeen
from stateward.fdb.backups.steps.drill_backup import DrillBackup
from stateward.fdb.backups.steps.retain_backup import RetainBackup
from stateward.fdb.backups.steps.strange import Strange
from stateward.fdb.backups.steps.update_backup_agents import UpdateBackupAgents
from stateward.fdb.backups.telling import StatusWriter, Voice, looked_at_again
from stateward.fdb.build.backup_agents import wanted_agents
from stateward.fdb.tell.backups.agents import agents_of, unfit
from stateward.fdb.tell.backups.backup import BackupTold, backup_status, can_wait
from stateward.fdb.tell.backups.metrics import readings
from stateward.fdb.tell.backups.unseen import backup_status_unseen
from stateward.fdb.tell.metrics import Series
from stateward.kube.errors import ApiError, Conflict
from stateward.kube.meta import ObjectKey
from stateward.runtime.pipeline import Failure, Report, Said, run_steps
from stateward.runtime.telling.journal import Subject
from stateward.runtime.telling.recorder import ObjectReference

CONTROLLER: Final = "fdb-backup"
#: Seconds between two writes of a status that say only how far a backup is.
TOLD_EVERY: Final = 60.0


class BackupReconciler:
    """Brings one backup a little closer to what it asks for."""

    def __init__(
        self, eyes: BackupEyes, acting: Acting, chores: Chores, voice: Voice, *, series: Series
    ) -> None:
        self._eyes = eyes
        self._series = series
        self._chores = chores
        self._teller = voice.teller
        self._clock = voice.clock
        self._writer = StatusWriter(acting.client, voice.clock, BACKUPS, TOLD_EVERY)
        self._agents = UpdateBackupAgents(acting)
        clock = voice.clock
        retain = RetainBackup(chores, clock)
        drill = DrillBackup(acting, eyes.databases)
        strange = Strange(clock, chores)
        self._going = going_steps(acting, clock, self._agents, retain, drill, strange=strange)
        self._leaving = leaving_steps(acting, chores, drill)

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Look, do what is allowed now, and tell about it."""
        backup = self._eyes.caches.backups.get(key)
        if backup is None:
            self._writer.forget(key)
            self._series.forget(key)
            return DONE
        began = self._clock.monotonic()
        wrong = (*backup_problems(backup), *times.problems(backup))
        found = () if backup.metadata.deleting else wrong
        if found:
            words = "; ".join(map(str, found))
            hint = found[0].hint or "mend the spec"
            return await self._unseen(backup, Blocked("SpecInvalid", words, hint), began)
        seen = await self._look(backup, began)
        if seen is None:
            return DONE  # another operator looks after it
        steps = self._leaving if backup.metadata.deleting else self._going
        report = await run_steps(steps, seen, self._clock)
        heard = await self._told(backup, report, began)
        return await self._tell(seen, report, heard)

    async def hindered(self, key: ObjectKey, why: ApiError) -> Outcome:
        """Say that we may not look at what belongs to a backup, so nothing is done for it."""
        backup = self._eyes.caches.backups.get(key)
        if backup is None:
            return DONE
        words = f"what belongs to backups must be readable: {why.message}"
        hint = why.hint or "apply the operator's roles of this version"
        blocked = Blocked("ObjectRefused", words, hint)
        return await self._unseen(backup, blocked, self._clock.monotonic())

    async def _look(self, backup: FoundationDBBackup, began: float) -> BackupSeen | None:
        """Return what is known; a bug must reach the status, and is raised then."""
        try:
            return await look(self._eyes, backup)
        except (PeerError, NotLeader):
            raise
        except Exception as error:
            failure = Failure("Look", error)
            if isinstance(failure.outcome, Blocked):
                with suppress(PeerError, NotLeader):
                    await self._unseen(backup, failure.outcome, began)
            raise

    # ------------------------------------------------------------------ telling
    async def _told(self, backup: FoundationDBBackup, report: Report, began: float) -> Report:
        metadata = backup.metadata
        subject = Subject(CONTROLLER, metadata.key, metadata.uid, metadata.generation)
        about = ObjectReference.of(BACKUPS, metadata)
        return await self._teller.tell(subject, about, report, began=began)

    async def _tell(self, seen: BackupSeen, report: Report, heard: Report) -> Outcome:
        backup, unseen = seen.backup, bool(seen.deployments_unseen)
        agents = agents_of(
            seen.deployment,
            wanted_agents(backup),
            settled=self._agents.is_settled(seen),
            unseen=unseen,
            unfit=unfit(backup.spec.version, seen.version),
        )
        drill = seen.drilled.view if seen.drilled is not None else None
        told = BackupTold(heard.words, agents, self._clock.now(), drill)
        new = backup_status(seen.view, backup.status, told)
        self._series.show(backup.metadata.key, readings(seen.view, new, told.now))
        left = self._writer.left(backup.metadata.key) if can_wait(backup.status, new) else 0.0
        if report.failure is not None:
            await self._tell_failure(backup, new, report.failure)
        if not left:
            await self._writer.write(backup, backup.status, new)
        return looked_at_again(report.outcome)

    async def _tell_failure(
        self, backup: FoundationDBBackup, new: FoundationDBBackupStatus, failure: Failure
    ) -> None:
        """Write the status, and raise what went wrong: that matters more than the write."""
        if not isinstance(failure.error, NotLeader | Conflict):
            with suppress(PeerError, NotLeader):
                await self._writer.write(backup, backup.status, new)
        raise failure.error

    async def _unseen(self, backup: FoundationDBBackup, why: Blocked, began: float) -> Outcome:
        """Tell why nothing is done for a backup that was not looked at."""
        if (await self._eyes.places.find(cluster_of(backup))).is_others:
            return DONE  # another operator looks after it, and says so itself
        report = Report([Said("CheckSpec", why, self._clock.monotonic() - began)])
        heard = await self._told(backup, report, began)
        new = backup_status_unseen(backup, heard.words, self._clock.now())
        await self._writer.write(backup, backup.status, new)
        return looked_at_again(report.outcome)
