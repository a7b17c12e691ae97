"""How a process introduces itself, what the model has of it then, and who is waited for."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from stateward.core.version import Version
from stateward.emulate.fdb import recovering
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.servers import Disk, Server
from stateward.emulate.fdb.talk.messages import Join
from stateward.fdb.model.addresses import parse_all
from stateward.fdb.model.classes import ProcessClass

#: Seconds within which processes must have come that were there before; and where one of them was
#: restarted since, for perhaps all were, and they take as long to start as this machine needs.
_BACK, _STARTED = 2.0, 30.0


@dataclass(slots=True)
class Awaited:
    """Those who were there before, and have not come to who controls the cluster now."""

    #: Whether somebody was restarted since the one before us.
    has_restarted: bool = False
    #: By disk: since when.
    _absent: dict[str, float] = field(default_factory=dict)

    def look(self, database: Database, members: AbstractSet[str], now: float) -> None:
        """Take those for gone that the model has, and nobody came with for a while."""
        back = _STARTED if database.gathers and self.has_restarted else _BACK
        every = database.servers.keys() | database.strangers.keys()
        self._absent = {it: self._absent.get(it, now) for it in every - members}
        for disk, since in self._absent.items():
            if now - since >= back:
                database.leave(disk)
        if database.gathers and not self._absent:
            recovering.gathered(database)


def join(database: Database, asked: Join, started: float) -> bool:
    """Have a process in the model that says that it is there; ``started`` is the model's time.

    One that was there before and was not restarted meanwhile is just there. Tell whether it was.
    """
    known = database.known(asked.process_id)
    disk = known.disk if known is not None else Disk(asked.process_id)
    server = Server(
        addresses=parse_all(asked.addresses),
        disk=disk,
        told_class=ProcessClass(asked.process_class),
        localities=asked.localities,
        version=Version.parse(asked.version),
        command_line=asked.command_line,
        started=started,
    )
    running = database.servers.get(asked.process_id)
    if running is not None and running.started == started:
        return False
    if running is not None:
        database.leave(asked.process_id)
    database.join(server)
    return running is not None
