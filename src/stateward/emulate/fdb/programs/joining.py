"""How a process introduces itself, and what the model has of it then."""

from __future__ import annotations

from stateward.core.version import Version
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.servers import Disk, Server
from stateward.emulate.fdb.talk.messages import Join
from stateward.fdb.model.addresses import parse_all
from stateward.fdb.model.classes import ProcessClass


def join(database: Database, asked: Join, started: float) -> None:
    """Have a process in the model that says that it is there; ``started`` is the model's time.

    One that was there before and was not restarted meanwhile is just there.
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
        return
    if running is not None:
        database.leave(asked.process_id)
    database.join(server)
