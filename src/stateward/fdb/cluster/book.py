"""What is noted during one pass, to be told at its end; nothing else changes during a pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from stateward.core.version import Version
from stateward.fdb.api.status import MaintenanceModeInfo, Progress
from stateward.fdb.decide.coordinating import CoordinatorPlan
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.intents import Intents
from stateward.fdb.model.locks import Found


@dataclass(frozen=True, slots=True)
class Refused:
    """A step that a guard did not let act."""

    step: str
    refusal: Refusal


@dataclass(slots=True)
class Book:
    """Every refusal, what is known since a moment ago, and how far long work is."""

    refused: list[Refused] = field(default_factory=list)
    #: How the database is found from now on, where a step changed it.
    connection: ConnectionString | None = None
    #: The database was made in this pass.
    configured: bool = False
    #: The version that ran when the volumes were left that are taken over, and whose they were.
    running: Version | None = None
    adopted_from: str = ""
    progress: Progress | None = None
    #: What is on record of maintenance from now on, if that is new; without a zone: nothing.
    maintenance: MaintenanceModeInfo | None = None
    #: What is thought of the coordinators, where a step has thought of them.
    coordinators: CoordinatorPlan | None = None
    #: The lock of the database, where somebody asked for it.
    locks: Found | None = None
    #: What of the deny list of the spec is in the database, where somebody saw to it.
    deny_list: tuple[str, ...] | None = None
    #: The lockKeyPrefix below which we write from now on, and below no other; None: as before.
    key_prefix: str | None = None
    #: What operators of the database tell each other, where somebody asked for it.
    intents: Intents | None = None
    #: Nothing is said there under our name any more.
    silenced: bool = False
    #: Whether the job that looks for missing processes is not as asked, where somebody looked.
    job_differs: bool | None = None

    def refuse(self, step: str, refusals: Iterable[Refusal]) -> None:
        """Note what held a step back."""
        self.refused.extend(Refused(step, it) for it in refusals)
