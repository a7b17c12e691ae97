"""Bugs that a machine thinks of: every small way to break the operator, and a fair choice of them.

Rare ways (an order of awaits, a precondition) are all taken. Of the others one in so many is, drawn
by its name, so that whoever changes a function changes nobody else's lot, and nobody chooses by who
dies. Left out are modules and functions that only tell, and what no simulated world has.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Final
from zlib import crc32

from stateward.core.errors import UsageError
from stateward.sim.mutants.breaking import Place, Way, places
from stateward.sim.mutants.code import running_broken, source_of

#: What decides and acts. Not here: what only tells or checks a spec, which the other tests hold
#: to tables, and the wire to a real etcd, which no simulated operator uses.
MODULES: Final = (
    *("etcd.caches", "etcd.chances", "etcd.controller", "etcd.observe", "etcd.reading"),
    *("etcd.survey", "etcd.volumes", "etcd.wanting"),
    *("etcd.build.budget", "etcd.build.claims", "etcd.build.config", "etcd.build.metadata"),
    *("etcd.decide.absent", "etcd.decide.chart", "etcd.decide.configs", "etcd.decide.doomed"),
    *("etcd.decide.guards", "etcd.decide.recovery", "etcd.decide.repair", "etcd.decide.rolling"),
    *("etcd.decide.sizes", "etcd.decide.space"),
    *("etcd.model.history", "etcd.model.members", "etcd.model.view"),
    *("etcd.moves.fence", "etcd.moves.intent", "etcd.moves.membership", "etcd.moves.objects"),
    *("etcd.moves.step", "etcd.moves.volumes", "etcd.moves.writing"),
    *("etcd.tell.latches", "etcd.tell.notes"),
    *("runtime.cache", "runtime.controller", "runtime.election", "runtime.fencing"),
    *("runtime.holder", "runtime.informer", "runtime.own_writes", "runtime.pipeline"),
    *("runtime.queue", "runtime.supervisor", "runtime.tracking", "runtime.triggers"),
)
PACKAGE: Final = "stateward."
#: Functions that only choose the words, or the count, that people are told.
_TELLING: Final = frozenset(
    (
        *("etcd.controller.EtcdReconciler._glimpse", "etcd.controller._words"),
        *(f"etcd.decide.absent.{it}" for it in ("wait_for_quorum", "_want_a_login", "_soon")),
        *("etcd.decide.absent._is_surely_silent", "etcd.model.history.may_be_electing"),
        *("etcd.decide.doomed.refuse", "etcd.decide.recovery._missing"),
        *("runtime.election._changes_of_hands",),
    )
)
#: What is for worlds that are not simulated: objects that cannot be read, an index by nodes that no
#: etcd operator has, an account that may not read, a watch that sends bookmarks.
_ELSEWHERE: Final = frozenset(
    (
        *("runtime.cache.by_node", "runtime.cache.Cache._may_be_filed"),
        "etcd.controller.EtcdReconciler._look:drop-guard.2",
        "runtime.holder.Holder.lets_go:drop-guard.1",
    )
)
_LEFT_OUT: Final = _TELLING | _ELSEWHERE
_RARE: Final = frozenset({Way.SWAP_AWAITS, Way.DROP_PRECONDITION})
#: One place in so many is broken.
_ONE_IN: Final = 6


@dataclass(frozen=True, slots=True)
class Generated:
    """One place of one module, broken in one way."""

    module: str
    place: Place

    @property
    def id(self) -> str:
        """What it is called."""
        return f"G-{self.module}.{self.place}"

    @property
    def lines(self) -> tuple[tuple[str, int], ...]:
        """Where it can show: in lives that come through here."""
        return (self.module, self.place.line), (self.module, self.place.statement)

    @property
    def sentence(self) -> str:
        """What is wrong."""
        return f"{self.place.way.value} in {self.module}, line {self.place.line}"

    def plant(self) -> AbstractContextManager[None]:
        """Run with it."""
        return running_broken(PACKAGE + self.module, self.place)


@cache
def every(module: str) -> tuple[Generated, ...]:
    """Return all that can be generated in a module."""
    found = (Generated(module, it) for it in places(source_of(PACKAGE + module)))
    return tuple(it for it in found if not _is_left_out(it))


def _is_left_out(it: Generated) -> bool:
    names = {f"{it.module}.{it.place.function}", f"{it.module}.{it.place}"}
    return not names.isdisjoint(_LEFT_OUT)


def chosen(one_in: int = _ONE_IN) -> list[Generated]:
    """Return those that are looked for; the same ones for the same functions."""
    found = [it for module in MODULES for it in every(module)]
    return [it for it in found if it.place.way in _RARE or crc32(it.id.encode()) % one_in == 0]


def named(identity: str) -> Generated:
    """Return one by what it is called."""
    modules = (it for it in MODULES if identity.startswith(f"G-{it}."))
    found = [it for module in modules for it in every(module) if it.id == identity]
    if not found:
        raise UsageError(f"there is no generated mutant {identity}")
    return found[0]
