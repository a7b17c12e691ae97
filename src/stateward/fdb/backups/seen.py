"""What a pass over one backup looks at: all of it is seen once, before anything is done."""

from __future__ import annotations

from dataclasses import dataclass

from stateward.core.version import Version
from stateward.fdb.admin.backups.ports import BackupAdmin
from stateward.fdb.api.backups.kinds import FoundationDBBackup
from stateward.fdb.backups.drills.seen import Drilled
from stateward.fdb.build.backup_agents import Around, WholeDeployment
from stateward.fdb.decide.backups.views import BackupView


@dataclass(frozen=True, slots=True)
class BackupSeen:
    """One backup, its agents, its database, and what is thought of them."""

    backup: FoundationDBBackup
    view: BackupView
    #: Whoever can act on it; None: there is no database, or it cannot be found.
    admin: BackupAdmin | None
    #: The cluster that agents work for; None: there is none yet.
    around: Around | None
    deployment: WholeDeployment | None
    #: Why nobody knows whether there is one; empty: it can be seen.
    deployments_unseen: str = ""
    #: Which programs fit the database; None: nobody knows.
    version: Version | None = None
    #: Its drills; None: nobody looked.
    drilled: Drilled | None = None
