"""The steps of a pass over a backup, in their order; and why each stands where it does."""

from __future__ import annotations

from stateward.core.clock import Clock
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.cleaning.chores import Chores
from stateward.fdb.backups.seen import BackupSeen
from stateward.fdb.backups.steps.drill_backup import DrillBackup
from stateward.fdb.backups.steps.hold_backup import HoldBackup
from stateward.fdb.backups.steps.leave_backup import LeaveBackup
from stateward.fdb.backups.steps.modify_backup import ModifyBackup
from stateward.fdb.backups.steps.retain_backup import RetainBackup
from stateward.fdb.backups.steps.schedule_backup import ScheduleBackup
from stateward.fdb.backups.steps.start_backup import StartBackup
from stateward.fdb.backups.steps.stop_backup import StopBackup
from stateward.fdb.backups.steps.strange import Strange
from stateward.fdb.backups.steps.toggle_backup_paused import ToggleBackupPaused
from stateward.fdb.backups.steps.update_backup_agents import UpdateBackupAgents
from stateward.fdb.backups.steps.update_backup_status import UpdateBackupStatus
from stateward.runtime.pipeline import Step


def going_steps(
    acting: Acting,
    clock: Clock,
    agents: UpdateBackupAgents,
    retain: RetainBackup,
    drill: DrillBackup,
    *,
    strange: Strange,
) -> tuple[Step[BackupSeen], ...]:
    """Return the steps of one that nobody deleted. The status is written when they are through."""
    return (
        HoldBackup(acting),  # before anything is begun that shall end with the object
        UpdateBackupStatus(acting),  # what was learned is on record before anybody acts by it
        ScheduleBackup(acting, clock),  # what is due is on record before it is begun
        agents,  # who does the work is there when it is begun
        StartBackup(acting, strange),
        StopBackup(acting),
        ToggleBackupPaused(acting),  # what shall be paused is there first
        ModifyBackup(acting, strange),
        retain,  # what may be deleted is never more urgent than what is to be kept
        drill,  # what is to be kept comes before its proof
    )


def leaving_steps(
    acting: Acting, chores: Chores, drill: DrillBackup
) -> tuple[Step[BackupSeen], ...]:
    """Return the steps of one that is deleted: what its drill made goes first."""
    return drill, LeaveBackup(acting, chores)
