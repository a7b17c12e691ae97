"""F-S9, F-S10, F-S16, F-S20 and F-S24: what an operator asks of a database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from stateward.core.moments import from_rfc3339
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.servers import Server
from stateward.fdb.api.kind import FoundationDBCluster, FoundationDBProcessGroup
from stateward.fdb.model import exclusions, locality
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.configuration import Redundancy
from stateward.fdb.model.exclusions import Exclusion
from stateward.fdb.model.names import FINALIZER
from stateward.kube.meta import ObjectKey
from stateward.sim.fdb.acts.people import FOREIGN
from stateward.sim.fdb.laws.scene import FRESH, Scene
from stateward.sim.laws.watchman import Actor

#: Of which copies are kept, in zones of their own.
_KEEPERS: Final = ("storage", "log")
_NEW: Final = "configure new "
#: Coordinators of a database in several places; of two places one has most of them.
_MANY, _PAIR = 9, 2
#: Seconds in which what one controller wrote is seen by the other.
_KNOWN: Final = 5.0


class Commands:
    """Every command that arrives at a database.

    F-S9: who is excluded is marked, and enough others stay. F-S10: only who is gone is included, or
    shall stay after all, and nobody whom people excluded. F-S16: coordinators are as many as there
    should be, far apart, there, and stay. F-S20: a database is made once. F-S24: nobody is killed
    that has just started, and nobody that shall go.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        #: When a database was made, or was first seen to be.
        self._made: dict[int, float] = {}
        scene.it.realm.typed.append(self._typed)

    def _typed(self, line: str, database: Database) -> None:
        actor = self._scene.watchman.actor
        if database.settings is not None or line.startswith(_NEW):
            self._made.setdefault(id(database), self._scene.now)
        if not actor.operates or actor.about is None:
            return
        for start, judge in self._laws().items():
            if line.startswith(start):
                judge(actor, actor.about, line.removeprefix(start).split(), database)

    def _laws(self) -> dict[str, Callable[[Actor, ObjectKey, list[str], Database], None]]:
        return {
            _NEW: self._judge_making,
            "exclude no_wait ": self._judge_exclusion,
            "include ": self._judge_inclusion,
            "coordinators ": self._judge_coordinators,
            "kill; kill ": self._judge_bounce,
        }

    # ------------------------------------------------------------------ making

    def _judge_making(
        self, actor: Actor, about: ObjectKey, __: list[str], database: Database
    ) -> None:
        made = self._made.get(id(database), self._scene.now)
        if self._scene.now - made > FRESH + self._scene.late:
            self._scene.report("F-S20", actor, "a database is made that is there")
        mine = [
            one.database
            for it in self._scene.truth.groups(about)
            for one in self._scene.truth.processes(it.metadata.key)
        ]
        others = [it for it in mine if it is not None and it is not database]
        if any(it.settings is not None for it in others):
            self._scene.report("F-S20", actor, "a second database is made beside the first")

    # ------------------------------------------------------------------ excluding

    def _judge_exclusion(
        self, actor: Actor, about: ObjectKey, words: list[str], database: Database
    ) -> None:
        targets = {exclusions.parse(it) for it in words}
        for it in self._meant(about, targets):
            if not it.spec.remove:
                self._scene.report("F-S9", actor, f"{it.metadata.name} is excluded, and stays")
        if self._scene.excused:
            return
        left = [
            it for it in database.servers.values() if not it.is_meant(database.barred | targets)
        ]
        going = {it.process_class for it in database.servers.values() if it.is_meant(targets)}
        for kind in sorted(going):
            self._judge_room(
                actor, about, str(kind), [it for it in left if it.process_class == kind]
            )

    def _judge_room(self, actor: Actor, about: ObjectKey, kind: str, staying: list[Server]) -> None:
        wishes = self._scene.recent(about)
        wanted = min((_count(it, kind) for it in wishes), default=0)
        if len(staying) < wanted:
            words = f"{len(staying)} of class {kind} stay of {wanted}, and others are excluded"
            self._scene.report("F-S9", actor, words)
        zones = len({it.zone for it in staying})
        needed = min((_redundancy(it).fault_domains for it in wishes), default=0)
        if kind in _KEEPERS and zones < needed:
            words = f"those of class {kind} that stay are in {zones} zones of {needed}"
            self._scene.report("F-S9", actor, words)

    def _meant(
        self, about: ObjectKey, targets: set[Exclusion]
    ) -> Iterator[FoundationDBProcessGroup]:
        for it in self._scene.truth.groups(about):
            named = exclusions.of_instance(it.spec.process_group_id) in targets
            here = [one.server for one in self._scene.truth.processes(it.metadata.key)]
            if named or any(one.is_meant(targets) for one in here):
                yield it

    def _judge_inclusion(
        self, actor: Actor, about: ObjectKey, words: list[str], _: Database
    ) -> None:
        targets = {exclusions.parse(it) for it in words}
        for it in self._meant(about, targets):
            if FINALIZER in it.metadata.finalizers and not self._stays(about, it, targets):
                self._scene.report("F-S10", actor, f"{it.metadata.name} is included, and is there")
        if exclusions.of_instance(FOREIGN) in targets:
            self._scene.report("F-S10", actor, "somebody is included whom a person excluded")

    def _stays(
        self, about: ObjectKey, group: FoundationDBProcessGroup, targets: set[Exclusion]
    ) -> bool:
        """Tell whether a group shall stay: by its name in the spec, or with another's address."""
        name = group.spec.process_group_id
        if group.spec.remove or exclusions.of_instance(name) not in targets:
            return not group.spec.remove
        options = [it.spec.automation_options for it in self._scene.recent(about)]
        kept = (it.cancel_replacements_for_process_groups for it in options)
        return any(name in it or "*" in it for it in kept)

    # ------------------------------------------------------------------ coordinating

    def _judge_coordinators(
        self, actor: Actor, about: ObjectKey, words: list[str], database: Database
    ) -> None:
        addresses = [Address.parse(it) for it in words if not it.startswith("description=")]
        chosen = [_at(database, it) for it in addresses]
        there = [it for it in chosen if it is not None]
        if len(there) < len(chosen) and not self._scene.excused:
            self._scene.report("F-S16", actor, "a coordinator is chosen that is not there")
        if len({it.zone for it in there}) < len(there):
            self._scene.report("F-S16", actor, "two coordinators are chosen in one zone")
        wanted = {_coordinators(it) for it in self._scene.recent(about)}
        if database.settings is not None and database.settings.usable_regions > 1:
            wanted.add(_MANY)
        if wanted and len(addresses) not in wanted:
            self._scene.report("F-S16", actor, f"{len(addresses)} coordinators are chosen")
        for sentence in _crowded(database, there):
            self._scene.report("F-S16", actor, sentence)
        for it in self._scene.truth.groups(about):
            mine = {
                one.server.disk.process_id for one in self._scene.truth.processes(it.metadata.key)
            }
            leaves = it.spec.remove and self._is_old(it)
            if leaves and any(one.disk.process_id in mine for one in there):
                self._scene.report("F-S16", actor, f"{it.metadata.name} is chosen, and shall go")

    def _is_old(self, group: FoundationDBProcessGroup) -> bool:
        """Tell whether a group has been marked for so long that everybody could know."""
        since = group.spec.removal_timestamp
        if since is None:
            return False
        now = self._scene.it.world.clock.now()
        return now - from_rfc3339(since) > _KNOWN + self._scene.late

    # ------------------------------------------------------------------ killing

    def _judge_bounce(
        self, actor: Actor, about: ObjectKey, words: list[str], database: Database
    ) -> None:
        addresses = {it.rstrip(";") for it in words}
        killed = [
            it
            for it in database.servers.values()
            if any(one.plain in addresses for one in it.addresses)
        ]
        names = {it.localities.get(locality.INSTANCE) for it in killed}
        twice = words.count("kill") > 0  # an upgrade: whoever is left out is cut off
        for it in self._scene.truth.groups(about):
            if twice or not it.spec.remove or not self._is_old(it):
                continue
            if it.spec.process_group_id in names:
                self._scene.report("F-S24", actor, f"{it.metadata.name} is killed, and shall go")
        least = min(
            (float(it.spec.minimum_uptime_seconds_for_bounce) for it in self._scene.recent(about)),
            default=0.0,
        )
        young = [it for it in database.usable() if database.now - it.started < least - FRESH]
        if young and not self._scene.excused:
            words_ = f"processes are killed, and {young[0].address} has not run for {least:g} s"
            self._scene.report("F-S24", actor, words_)


def _at(database: Database, address: Address) -> Server | None:
    return next((it for it in database.servers.values() if it.listens_at(address)), None)


def _count(cluster: FoundationDBCluster, kind: str) -> int:
    counts = cluster.spec.process_counts
    return max(0, int(getattr(counts, kind, 0) or 0))


def _coordinators(cluster: FoundationDBCluster) -> int:
    """Return how many coordinators a cluster asks for: more where it is in several places."""
    usable = cluster.spec.database_configuration.usable_regions
    return _MANY if usable > 1 else _redundancy(cluster).coordinators


def _crowded(database: Database, chosen: list[Server]) -> Iterator[str]:
    """Yield which data center or hall has a majority of coordinators, where it must not."""
    settings = database.settings
    if settings is None or len(chosen) < _MANY:
        return
    names = {it.center for it in settings.regions}
    names |= {it for region in settings.regions for it in region.satellites}
    kinds = ((locality.DATA_CENTER, len(names) > _PAIR), (locality.DATA_HALL, not names))
    for key, counts in kinds:
        many = Counter(it.localities[key] for it in chosen if key in it.localities)
        for place, number in sorted(many.items()):
            if counts and number > len(chosen) // 2:
                yield f"{number} of {len(chosen)} coordinators are chosen in {place}"


def _redundancy(cluster: FoundationDBCluster) -> Redundancy:
    return Redundancy(cluster.spec.database_configuration.redundancy_mode)
