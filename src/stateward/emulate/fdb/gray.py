"""What goes wrong by halves: who runs and is not heard, who is slow, and who has no room left."""

from __future__ import annotations

from stateward.emulate.fdb.database import Database


def cut_off(database: Database, disk: str) -> None:
    """Let nobody hear a process that runs on; others take it for gone after a while."""
    database.cut[disk] = database.servers[disk]
    database.leave(disk)


def reconnect(database: Database, disk: str) -> None:
    """Let a process be heard again that has run all the while."""
    database.join(database.cut.pop(disk))


def slow_down(database: Database, disk: str, *, busy: float = 0.98, lag: float = 0.0) -> None:
    """Let a process have more to do than it can, and be behind by seconds."""
    server = database.servers[disk]
    server.degraded, server.busy, server.lag = True, busy, lag


def speed_up(database: Database, disk: str) -> None:
    """Let a process be as it should be again."""
    server = database.servers[disk]
    server.degraded, server.busy, server.lag = False, 0.07, 0.0
    server.complaints.clear()


def complain(database: Database, disk: str, name: str, description: str) -> None:
    """Let a process tell of something, as ``io_error``."""
    database.servers[disk].complaints[name] = description


def fill_up(database: Database, disk: str, free: int = 1_000_000_000) -> None:
    """Let a disk have hardly any room left."""
    database.servers[disk].disk.free = free
