"""One database: what befalls it, and what it does about that; under any clock.

Everything happens in ``advance``: what is due by then is done in its order. Who asks advances
first, so nothing here waits, and a minute of an idle database costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from stateward.core.chance import Chance
from stateward.emulate.fdb import data, recovering, regional, upgrading
from stateward.emulate.fdb.asking.clients import Client
from stateward.emulate.fdb.configuration import engines
from stateward.emulate.fdb.configuration.settings import Settings
from stateward.emulate.fdb.configuration.tokens import Asked
from stateward.emulate.fdb.data import COPIED, HEALED
from stateward.emulate.fdb.recovering import TRANSACTING, has_part, recover
from stateward.emulate.fdb.servers import Server
from stateward.emulate.fdb.state import LOOKED, State
from stateward.fdb.model import exclusions
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.exclusions import Exclusion
from stateward.fdb.status.maintenance import Maintenance

#: Seconds until others notice that a process is gone; until a recovery is over; and until the first
#: is, before which there is nothing to take over.
NOTICED, OVER, FIRST_OVER = 3.0, 8.0, 2.0
#: Between two looks of the data distributor while data moves.
STEP: Final = 0.5
_DIGITS: Final = "0123456789abcdef"
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


class Database(State):
    """One database under a clock that whoever asks it reads."""

    def __init__(self, string: ConnectionString, chance: Chance, now: float = 0.0) -> None:
        super().__init__(string, chance, now, now, looks=now)

    # ------------------------------------------------------------------ time

    def advance(self, now: float) -> None:
        """Let all happen that is due by a moment."""
        while self.now < now:
            before, self.now = self.now, min(now, self._next(now))
            self._pass(self.now - before)

    def _next(self, latest: float) -> float:
        """Return when something is due next."""
        due = [since + NOTICED for _, since in self.fallen.values()]
        due += [since + it for _, since in self.missing.values() for it in (HEALED, COPIED)]
        if self.recovery.served is not None:
            due += [self.recovery.served + self._lasts, self.looks, self.looks + LOOKED]
        if (self.shards.is_moving() or engines.is_at_work(self)) and not self.stays:
            due.append(self.now + STEP)
        if self.maintenance is not None:
            due.append(self.maintenance[1])
        return min((it for it in due if it > self.now), default=latest)

    def _pass(self, seconds: float) -> None:
        if self.has_looked and not self.stays:
            self.shards.advance(seconds, self.servers)
            engines.advance(self, seconds)
        for disk, (server, since) in list(self.fallen.items()):
            if self.now >= since + NOTICED:
                self._notice(disk, server, since)
        if self.maintenance is not None and self.now >= self.maintenance[1]:
            self.maintenance = None
        served = self.recovery.served
        is_whole = self.recovery.name != "accepting_commits"
        if served is not None and is_whole and self.now >= served + self._lasts:
            self.recovery.name = "fully_recovered"
            del self.logs[:-1]
            self._improve()
        engines.settle(self)
        data.distribute(self)

    def _improve(self) -> None:
        """Recruit anew where that is better; nothing is, unless somebody came."""
        came, self.came = self.came, False
        if regional.is_better_elsewhere(self):
            recover(self, "a region that is wanted more is well again")
        elif came and recovering.is_better_possible(self):
            recover(self, "somebody who is made for it came")

    @property
    def _lasts(self) -> float:
        return OVER if len(self.logs) > 1 else FIRST_OVER

    def _notice(self, disk: str, server: Server, since: float) -> None:
        del self.fallen[disk]
        self.missing[disk] = (server, since)
        zone = self.maintenance[0] if self.maintenance is not None else server.zone
        if server.zone != zone and disk in self.shards.holders():
            self.maintenance = None  # it ends early where data of another zone is lost
        if has_part(self, disk):
            recover(self, f"{server.address} was lost")

    # ------------------------------------------------------------------ processes

    def join(self, server: Server) -> None:
        """Let a process start: what its disk had is there again.

        One that speaks another protocol does not belong to it, unless most coordinators do too.
        """
        disk = server.disk.process_id
        self.strangers.pop(disk, None)
        if server.line != self.line:
            if disk in self.servers:
                self.leave(disk)  # it was restarted as another release
            self.strangers[disk] = server
            upgrading.turn(self, self.join)
            return
        if (before := self.known(disk)) is not None:
            server.disk.remember(*before.disk.coordinates)
        came_back = self.fallen.pop(disk, None) is not None
        self.missing.pop(disk, None)
        self.servers[disk] = server
        self.came = True
        if self.remembering(self.string) >= self.string.quorum:
            self.remember()  # one whose disk was wiped is told again
        mine = self.roles.setdefault(disk, [])
        if came_back and TRANSACTING & set(mine):
            mine.clear()
            recover(self, f"{server.address} was restarted")
        elif not self.recovery.serves:
            recover(self, f"{server.address} came")
        recovering.complete(self)
        data.distribute(self)

    def leave(self, disk: str) -> None:
        """Let a process end; others notice after a while."""
        self.strangers.pop(disk, None)
        if disk in self.servers:
            self.fallen[disk] = (self.servers.pop(disk), self.now)

    # ------------------------------------------------------------------ who uses it

    def client_comes(self, client: Client) -> None:
        """Let somebody use it."""
        self.clients.comes(client)

    def client_goes(self, address: str) -> None:
        """Let somebody leave, who is counted for a while."""
        self.clients.goes(address, self.now)

    # ------------------------------------------------------------------ what it is asked for

    def configure(self, asked: Asked) -> None:
        """Have it be so from now on; whether that is wise was asked before."""
        before = self.settings
        self.excluded.update(map(exclusions.parse, asked.values.get("exclude", ())))
        if asked.values.get("locked"):
            self.store.locked_by = "".join(self.chance.choice(_DIGITS) for _ in range(32))
        engines.remember(self)
        self.settings = after = (before or Settings()).changed(asked)
        if before is None:
            recover(self, "the database was created")
            self.shards.place(data.places(self), data.spread(self, after))
        elif before.differs(after) or not self.recovery.serves:
            recover(self, "the configuration was changed")
        else:
            self.look_again()  # no recovery, but the data distributor begins anew
        data.distribute(self)

    def move_coordinators(self, addresses: Sequence[Address], description: str = "") -> None:
        """Have others coordinate, under a new name that nobody can guess."""
        name = "".join(self.chance.choice(_LETTERS) for _ in range(32))
        called = description or self.string.description
        self.string = ConnectionString(called, name, tuple(addresses))
        self.remember()
        recover(self, "coordinators were changed")

    def recover(self, cause: str) -> None:
        """Let something end the transaction system."""
        recovering.recover(self, cause)

    def exclude(self, targets: Iterable[Exclusion], *, failed: bool = False) -> None:
        """Have data leave; of those that failed it is given up."""
        new = set(targets)
        (self.failed if failed else self.excluded).update(new)
        meant = [it.disk.process_id for it in self.servers.values() if it.is_meant(new)]
        if failed:
            self.shards.forget(meant)
            self.looks = self.now  # the data distributor does not survive that
        if any(has_part(self, it) for it in meant):
            recover(self, "a process with a role was excluded")
        data.distribute(self)

    def include(self, targets: Iterable[Exclusion], *, failed: bool = False) -> None:
        """Let them have data again."""
        (self.failed if failed else self.excluded).difference_update(targets)
        data.distribute(self)

    def begin_maintenance(self, zone: str, seconds: float) -> None:
        """Let processes of a zone be away."""
        self.maintenance = (zone, self.now + seconds)

    def maintained(self) -> Maintenance | None:
        """Return the zone that may be away."""
        if self.maintenance is None:
            return None
        zone, until = self.maintenance
        return Maintenance(zone, max(0.0, until - self.now))
