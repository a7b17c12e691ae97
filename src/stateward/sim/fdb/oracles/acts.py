"""What operators did to a world: what they made, took away, and had databases do."""

from __future__ import annotations

from collections import Counter
from typing import Final

from stateward.emulate.fdb.database import Database
from stateward.fdb.model.names import CLASS_LABEL
from stateward.kube.client import Change
from stateward.kube.resources import EVENTS, LEASES
from stateward.local.store import StoreEvent
from stateward.sim.fdb.backups.shelf import Typed
from stateward.sim.fdb.databases import QUESTIONS
from stateward.sim.fdb.keys import KeysCall, acts_of
from stateward.sim.fdb.world import FdbWorld
from stateward.sim.laws.watchman import Watchman, begins_to_go

#: What operators do and say all the time.
_SMALL: Final = frozenset({EVENTS.name, LEASES.name})


class Acts:
    """Counts acts as they are carried out, by the class of who is concerned: names are chance."""

    def __init__(
        self, it: FdbWorld, watchman: Watchman, counts: Counter[str] | None = None
    ) -> None:
        self.counts: Counter[str] = Counter() if counts is None else counts
        self._watchman = watchman
        #: Lines by which operators asked for restarts.
        self._restarts: set[str] = set()
        it.world.api.store.listen(self._changed)
        it.realm.typed.append(self._typed)
        it.realm.keyed.append(self._keyed)
        it.realm.killing.append(self._killing)
        if it.shelf is not None:
            it.shelf.done.append(self._backed_up)

    def _changed(self, event: StoreEvent) -> None:
        if event.resource in _SMALL or self._watchman.world.weather.acting is None:
            return
        kind = event.now.labels.get(CLASS_LABEL, "")
        if event.change is Change.ADDED:
            self.counts[f"create {event.resource} {kind}".rstrip()] += 1
        elif begins_to_go(event):
            self.counts[f"delete {event.resource} {kind}".rstrip()] += 1

    def _typed(self, line: str, database: Database) -> None:
        actor = self._watchman.actor
        if line in QUESTIONS or not actor.operates or isinstance(actor.call, KeysCall):
            return
        verb = line.split(maxsplit=1)[0].rstrip(";")
        if verb == "kill":
            self._restarts.add(line)
            return
        if line.startswith("configure new "):
            verb = "make" if database.settings is None else "make again"
        self.counts[f"fdb {verb}"] += 1

    def _keyed(self, call: KeysCall, _: Database) -> None:
        """Count what was committed: what another one came first with was not done."""
        for line in acts_of(call.order) if self._watchman.actor.operates else ():
            self.counts[f"fdb {line.split(maxsplit=1)[0]}"] += 1

    def _backed_up(self, typed: Typed, code: int) -> None:
        """Count what programs of backups did; what was refused was not done."""
        if typed.who and typed.call.writes and code == 0:
            self.counts[f"fdb {typed.call.program.removeprefix('fdb')} {typed.call.verb}"] += 1

    def _killing(self, line: str) -> None:
        """Count a restart; one that fdbcli refused, since it did not find somebody, was none."""
        if line in self._restarts:
            self.counts["fdb kill"] += 1
