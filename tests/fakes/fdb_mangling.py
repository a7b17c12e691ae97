"""A world whose operators read what a database says of itself through somebody who mangles it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from stateward.core.ports import Ports
from stateward.core.version import Version
from stateward.fdb.admin import commands
from stateward.fdb.admin.answers import Answer
from stateward.fdb.admin.ports import Admin
from stateward.fdb.model.connection import ConnectionString
from stateward.kube.meta import ObjectKey
from stateward.sim.fdb.databases import SimConsole, SimDatabases
from stateward.sim.fdb.world import FdbWorld, Surroundings
from stateward.sim.world import Line

#: Makes another text of what ``status json`` printed.
Mangle = Callable[[str], str]


class MangledWorld(FdbWorld):
    """``mangle`` says how; nothing is mangled unless somebody says so."""

    mangle: Mangle | None = None
    #: How lines of fdbcli begin that are refused; empty: none are.
    refused: str = ""

    def surroundings(self, line: Line, ports: Ports, identity: str) -> Surroundings:
        """Return what an operator process has."""
        found = super().surroundings(line, ports, identity)
        mangled = _Databases(self.realm, line.network, ports.clock, self._is_cut)
        mangled.world = self
        return replace(found, databases=mangled)


class _Databases(SimDatabases):
    world: MangledWorld

    def reach(self, cluster: ObjectKey, connection: ConnectionString, version: Version) -> Admin:
        """Return the database of a cluster."""
        if cluster not in self._consoles:
            made = _Console(self._realm, self._network, self._clock, self._is_cut)
            made.world = self.world
            self._consoles[cluster] = made
        return super().reach(cluster, connection, version)


class _Console(SimConsole):
    world: MangledWorld

    async def run(
        self, program: str, words: Sequence[str], seconds: float, typed: str = ""
    ) -> Answer:
        """Run a line of fdbcli."""
        refused = self.world.refused
        if refused and any(it.startswith(refused) for it in words):
            return Answer(1, "", "ERROR: Database is locked (1038)\n")
        found = await super().run(program, words, seconds, typed)
        mangle = self.world.mangle
        if mangle is None or commands.STATUS not in words:
            return found
        return replace(found, out=mangle(found.out))
