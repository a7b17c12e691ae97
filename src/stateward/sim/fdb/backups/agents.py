"""Pods of backup agents: each takes a piece of work, is at it for a while, and tells of it.

Who ends in the middle has done nothing; what it had taken is another's after a while.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from stateward.core.chance import Chance
from stateward.emulate.fdb.backups import agency
from stateward.emulate.fdb.backups.agent import MemoryAgent, carry_out
from stateward.emulate.fdb.backups.pieces import Piece
from stateward.emulate.fdb.backups.state import AgentSeen
from stateward.emulate.fdb.console import BLOBS
from stateward.emulate.fdb.database import Database
from stateward.fdb.build.containers import CONFIG_VOLUME
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import CLUSTER_FILE_KEY, DEPLOYMENT_NAME, MAIN_CONTAINER
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.sim.fdb.backups.shelf import Shelf
from stateward.sim.fdb.programs import Ground
from stateward.sim.fdb.reading import StoreLookup, version_of
from stateward.sim.kube.lodgers import Launch

#: Seconds between two pieces, and until one who had nothing to do asks again.
_NEXT: Final = 0.1
_RESTING: Final = (0.8, 1.2)


@dataclass(slots=True, eq=False)
class AgentProgram:
    """One agent."""

    ground: Ground
    shelf: Shelf
    about: AgentSeen
    #: How it finds its database: it keeps its copy of the cluster file true.
    string: ConnectionString
    chance: Chance
    stopped: bool = False

    @property
    def ready(self) -> bool:
        """Whether it runs: nobody asks it."""
        return not self.stopped

    def begin(self) -> None:
        """Begin to work."""
        self._rest()

    def stop(self, *, gently: bool) -> None:
        """End it: its database sees that its connection is gone."""
        del gently
        self.stopped = True
        agency.leave(self._database(), self.about.name)

    def _database(self) -> Database:
        realm = self.ground.realm
        realm.advance()
        found = realm.database(self.string)
        self.string = found.string
        return found

    def _work(self) -> None:
        database = self._database()
        piece = None
        if database.settings is not None:
            piece = MemoryAgent(self.about, self.shelf.files, BLOBS).take(database)
        if piece is None:
            self._rest()
            return
        taken = piece
        self._later(self.shelf.pace, lambda: self._finish(taken))

    def _finish(self, piece: Piece) -> None:
        outcome = carry_out(piece, self.shelf.files, BLOBS)
        agency.report(self._database(), outcome)
        self._later(_NEXT, self._work)

    def _rest(self) -> None:
        self._later(self.chance.between(*_RESTING), self._work)

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        def do() -> None:
            if not self.stopped:
                act()

        self.ground.loop.call_outside(seconds, do)


@dataclass(slots=True)
class AgentPods:
    """Starts what runs in pods of agents."""

    ground: Ground
    shelf: Shelf
    lookup: StoreLookup
    chance: Chance

    def run(self, launch: Launch) -> AgentProgram | str:
        """Start an agent, or say why it must wait."""
        pod = launch.pod
        version = version_of(pod, MAIN_CONTAINER)
        if not version:
            return "ErrImagePull"
        string = self._string(pod)
        if string is None:
            return "Init:CrashLoopBackOff"
        name = pod["metadata"]["name"]
        chance = self.chance.stream(f"{name} {launch.address}")
        about = AgentSeen(chance.uuid(), version, f"{launch.address}:1")
        program = AgentProgram(self.ground, self.shelf, about, string, chance)
        program.begin()
        return program

    def _string(self, pod: Json) -> ConnectionString | None:
        """Return how the database is found, by the config map that is copied from first."""
        volumes = {it["name"]: it for it in pod["spec"].get("volumes") or ()}
        name = volumes[CONFIG_VOLUME]["configMap"]["name"]
        held = self.lookup.config_map(ObjectKey(pod["metadata"]["namespace"], name)) or {}
        try:
            return ConnectionString.parse(held.get(CLUSTER_FILE_KEY, b"").decode())
        except ValueError:
            return None


def is_agent(pod: Json) -> bool:
    """Tell whether an agent runs in a pod."""
    return DEPLOYMENT_NAME in (pod["metadata"].get("labels") or {})
