"""F-S25 and F-S26: how a database changes to another line of releases, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stateward.core.version import Version
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.servers import Server
from stateward.fdb.api.kind import CLUSTERS, FoundationDBProcessGroup
from stateward.fdb.model import locality, names
from stateward.kube.client import Change
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS
from stateward.local.store import StoreEvent
from stateward.sim.fdb.laws.scene import FRESH, Scene
from stateward.sim.fdb.oracles.costs import recoveries
from stateward.sim.fdb.reading import version_of
from stateward.sim.laws.watchman import Actor

_Line = tuple[int, int]
_KILL: Final = "kill; kill "
#: How only an upgrade restarts processes.
_TWICE: Final = "; sleep 1; kill "
#: Seconds in which a client that came is told of by a status.
_TOLD: Final = 5.0
#: Seconds after which all that a restart causes has happened.
_SETTLED: Final = 30.0


@dataclass(frozen=True, slots=True)
class _Restart:
    at: float
    #: How many recoveries there were before.
    recoveries: int


class Upgrades:
    """Every restart by which processes become another line of releases.

    F-S25: all that report change, to one line that is not an older one, and have its programs;
    nobody who uses the database is cut off; no pod has fdbserver of another line before that, and
    none has one when all is called done. F-S26: it costs one recovery.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        #: When clients were first there when somebody asked, by their address.
        self._clients: dict[str, float] = {}
        self._restarts: dict[int, _Restart] = {}
        #: Which line a database speaks, and since when.
        self._lines: dict[int, tuple[_Line, float]] = {}
        scene.it.realm.typed.append(self._typed)
        scene.watchman.on_change(PODS.name, self._pod_changed)
        scene.watchman.on_change(CLUSTERS.name, self._cluster_changed)

    # ------------------------------------------------------------------ restarting

    def _typed(self, line: str, database: Database) -> None:
        scene, actor = self._scene, self._scene.watchman.actor
        self._note(database)
        self._judge_cost(actor, database)
        if not actor.operates or actor.about is None or not line.startswith(_KILL):
            return
        addresses = {it.rstrip(";") for it in line.removeprefix(_KILL).split()}
        coming = {
            disk: self._next(actor.about, it)
            for disk, it in database.servers.items()
            if any(one.plain in addresses for one in it.addresses)
        }
        lines = {it for it in coming.values() if it is not None}
        if lines <= {database.line}:
            if _TWICE in line and not scene.is_struck:
                words = "all are restarted for an upgrade, and nobody has its programs"
                scene.report("F-S25", actor, words)
            return
        for sentence in self._wrong(actor.about, database, coming):
            scene.report("F-S25", actor, sentence)
        self._restarts[id(database)] = _Restart(scene.now, len(recoveries(database)))

    def _wrong(
        self, about: ObjectKey, database: Database, coming: dict[str, _Line | None]
    ) -> Iterator[str]:
        lines = sorted({it for it in coming.values() if it is not None})
        if len(lines) > 1 and not self._scene.excused:
            yield f"processes are killed that come back as {len(lines)} lines of releases"
        if lines[0] < database.line:
            yield "processes are killed that come back as an older line of releases"
        left = [it for disk, it in database.servers.items() if disk not in coming]
        if left and not self._scene.excused:
            yield f"{left[0].address} is left behind by an upgrade"
        late = [it for it in self._scene.recent(about) if it.spec.ignore_upgradability_checks]
        if not late:
            yield from self._cut_off(about, database, lines[-1])

    def _cut_off(self, about: ObjectKey, database: Database, line: _Line) -> Iterator[str]:
        ignored = {names.LOG_GROUP}
        for it in self._scene.recent(about):
            ignored |= set(it.spec.automation_options.ignore_log_groups_for_upgrade or ())
        for client in database.clients.here.values():
            newest = max(map(_line, client.libraries))
            known = self._scene.now - self._clients.get(client.address, self._scene.now)
            if newest < line and client.log_group not in ignored and known > _TOLD:
                yield f"client {client.address} is cut off by an upgrade"

    def _next(self, about: ObjectKey, server: Server) -> _Line | None:
        """Return what a process comes back as; None: nobody knows whose it is, or it shall go."""
        group = self._group(about, server)
        if group is None or (group.spec.remove and group.spec.excluded):
            return None
        program = self._scene.it.pods.program(group.metadata.key)
        orders = [] if program is None else [*program.keeper.orders().values()]
        return _line(orders[0].version) if orders else None

    def _group(self, about: ObjectKey, server: Server) -> FoundationDBProcessGroup | None:
        name = server.localities.get(locality.INSTANCE)
        mine = self._scene.truth.groups(about)
        return next((it for it in mine if it.spec.process_group_id == name), None)

    def _note(self, database: Database) -> None:
        now, key = self._scene.now, id(database)
        for address in database.clients.here:
            self._clients.setdefault(address, now)
        if self._lines.get(key, (None, 0.0))[0] != database.line:
            self._lines[key] = (database.line, now)

    def _judge_cost(self, actor: Actor, database: Database) -> None:
        last = self._restarts.get(id(database))
        if last is None or self._scene.now - last.at < _SETTLED:
            return
        del self._restarts[id(database)]
        if self._scene.watchman.last_fault > last.at - FRESH:
            return
        many = len(recoveries(database)) - last.recoveries
        if many > 1:
            self._scene.report("F-S26", actor, f"a restart of all cost {many} recoveries")

    # ------------------------------------------------------------------ pods

    def _pod_changed(self, actor: Actor, event: StoreEvent) -> None:
        """Judge the image that a pod is given; it comes after all processes have changed."""
        if not actor.operates or event.change is Change.DELETED:
            return
        text = version_of(event.now.document(), names.MAIN_CONTAINER)
        before = event.before
        if not text or (
            before is not None and version_of(before.document(), names.MAIN_CONTAINER) == text
        ):
            return
        group = self._scene.truth.group(event.now.key)
        if group is None:
            return
        about = ObjectKey(group.metadata.namespace, group.spec.cluster_name)
        for line, since in self._spoken(about):
            if self._scene.now - since > FRESH + self._scene.late and line != _line(
                Version.parse(text)
            ):
                words = f"{event.now.key.name} has fdbserver {text}, which the database is not"
                self._scene.report("F-S25", actor, words)

    def _spoken(self, about: ObjectKey) -> Iterator[tuple[_Line, float]]:
        mine = [
            one.database
            for it in self._scene.truth.groups(about)
            for one in self._scene.truth.processes(it.metadata.key)
            if one.database is not None and one.database.settings is not None
        ]
        for database in {id(it): it for it in mine}.values():
            self._note(database)
            yield self._lines[id(database)]

    def _cluster_changed(self, actor: Actor, event: StoreEvent) -> None:
        now = self._scene.called_done(actor, event)
        if now is None:
            return
        for it in self._scene.truth.groups(now.metadata.key):
            stored = self._scene.it.world.api.store.get(PODS.name, it.metadata.key)
            if stored is None or it.spec.remove:
                continue
            text = version_of(stored.document(), names.MAIN_CONTAINER)
            if text != now.spec.version:
                words = f"all is called done, and {stored.key.name} has fdbserver {text}"
                self._scene.report("F-S25", actor, words)


def _line(version: Version) -> _Line:
    return version.major, version.minor
