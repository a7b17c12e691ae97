"""F-S21 and F-S22: how the configuration of a database changes, judged by where its data is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stateward.emulate.fdb import data
from stateward.emulate.fdb.cli import words
from stateward.emulate.fdb.configuration import refusals, tokens
from stateward.emulate.fdb.configuration.settings import Settings
from stateward.emulate.fdb.configuration.spreads import Spread
from stateward.emulate.fdb.database import Database
from stateward.fdb.model import locality
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.laws.watchman import Actor

_CONFIGURE: Final = "configure "
#: What no step may be, whoever else was quicker: the database says no, and it should not have to.
_ILLEGAL: Final = (refusals.BOTH, refusals.TWO_WANTED, refusals.NOT_REPLICATED, refusals.INVALID)


class Reconfigurations:
    """Every ``configure`` that arrives at a database.

    F-S21: regions change one legal step at a time; who may write has all data, and so has who is
    left when another is given up. F-S22: no copies are asked for where there is nobody to have
    them, be it in zones, data halls or data centers. F-S20: who joins a database does not make it.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        scene.it.realm.typed.append(self._typed)

    def _typed(self, line: str, database: Database) -> None:
        actor = self._scene.watchman.actor
        if not line.startswith(_CONFIGURE) or not actor.operates or actor.about is None:
            return
        asked = tokens.read(words.split(line)[0].words[1:])
        before, after = database.settings, (database.settings or Settings()).changed(asked)
        if asked.new:
            self._judge_maker(actor)
        if self._scene.excused and before is not None and self._scene.is_struck:
            return
        for law, sentence in (
            *_moves(database, before, after),
            *_crowds(database, before, after),
        ):
            self._scene.report(law, actor, sentence)
        if before is not None and not asked.new:
            wrong = refusals.objection(before, asked, data.seen(database))
            if wrong in _ILLEGAL:
                self._scene.report("F-S21", actor, f"an illegal step is asked for: {wrong}")

    def _judge_maker(self, actor: Actor) -> None:
        wishes = self._scene.recent(actor.about) if actor.about is not None else ()
        if wishes and all(it.spec.seed_connection_string for it in wishes):
            self._scene.report("F-S20", actor, "a cluster makes a database that it only joins")


# -------------------------------------------------------------------------- regions
def _moves(
    database: Database, before: Settings | None, after: Settings
) -> Iterator[tuple[str, str]]:
    if before is None or not before.regions or not after.regions:
        return
    moved = before.regions != after.regions
    resized = before.usable_regions != after.usable_regions
    if not moved and not resized:
        return
    had = set(data.centers(database, before))
    for it in after.regions:
        if it.is_wanted and it.center not in had:
            yield "F-S21", f"{it.center} may write, and shall have no data before"
        elif it.is_wanted and data.fewest_copies(database, it.center) < before.copies:
            yield "F-S21", f"{it.center} may write before all data is copied there"
    if not any(it.is_wanted for it in after.regions):
        yield "F-S21", "no region may write"


# -------------------------------------------------------------------------- places
def _crowds(
    database: Database, before: Settings | None, after: Settings
) -> Iterator[tuple[str, str]]:
    """Yield that there are more copies, or more places for them, than processes are in."""
    if before is not None and _shape(before) == _shape(after):
        return
    if before is None and not database.servers:
        return  # they ended at this very moment, and nobody makes a database
    spread = after.spread
    centers = [it.center for it in after.regions if it.is_wanted or after.usable_regions > 1]
    for center in centers or [""]:
        if not _is_met(database, spread, center):
            where = f" in {center}" if center else ""
            yield "F-S22", f"{after.redundancy} is asked for, and there are no places for it{where}"


def _shape(it: Settings) -> tuple[object, ...]:
    return it.redundancy, it.usable_regions, frozenset(one.center for one in it.regions)


def _is_met(database: Database, spread: Spread, center: str) -> bool:
    able = [
        it
        for it in database.servers.values()
        if it.process_class.may_store
        and (not center or it.localities.get(locality.DATA_CENTER) == center)
    ]
    return spread.is_met_by(spread.places(able).values())
