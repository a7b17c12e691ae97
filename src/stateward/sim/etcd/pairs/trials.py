"""Whether a property matters: whether anything at all differs when it says something else.

Most are seen at rest. Some only when a cluster is made, when a member is away, or when a cluster is
deleted: for those the base and the case are put through the same trial, and their ends compared.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.kube.codec import Json
from stateward.local.rules.deletion import DeleteOptions
from stateward.sim.etcd import errands
from stateward.sim.etcd.pairs.bases import BASES, Base
from stateward.sim.etcd.pairs.cases import SAME, Case, Class
from stateward.sim.etcd.pairs.ends import differences, end_of
from stateward.sim.etcd.pairs.pairs import Book
from stateward.sim.etcd.pairs.schema import properties, spec_schema
from stateward.sim.etcd.pairs.stage import Stage, lived, staged
from stateward.sim.etcd.pairs.steps import settle, take
from stateward.sim.etcd.pairs.tables import AT_BIRTH, EMBEDDED, INERT
from stateward.sim.etcd.scenarios import KEY, befall

#: What is asked of a cluster, and how a spec says it: not what became of it.
_WORDS: Final = f"{ETCD_CLUSTERS.plural}/{KEY.name} spec"
#: Seconds for which a member is away: longer than a usual grace period, shorter than a day.
_AWAY: Final = 150.0


def _member_away(stage: Stage) -> None:
    """Freeze the etcd of a member for a while."""
    server = max(stage.it.universe.servers, key=lambda it: it.start.name)
    stage.it.universe.hang(server)
    stage.do(asyncio.sleep(_AWAY))


def _deleted(stage: Stage) -> None:
    stage.it.world.api.delete(ETCD_CLUSTERS, KEY, DeleteOptions())
    stage.do(asyncio.sleep(60))


def _quorum_lost(stage: Stage) -> None:
    """Have two of three lose all that they have."""
    step = befall("wipe:1", "wipe:2", until=errands.says_lost)

    async def happen() -> None:
        await step.do(stage.it)
        await stage.it.world.until(step.text, lambda: step.until(stage.it), within=_AWAY)

    stage.do(happen())


@dataclass(frozen=True, slots=True)
class Trial:
    """What happens to a cluster, before or after it is asked to be what a case says."""

    happens: Callable[[Stage], None]
    #: The case that the others are compared to.
    against: str = SAME.name
    before: bool = False


#: What a property is tried by that shows nothing at rest.
TRIALS: Final = {
    "unhealthyMemberGracePeriod": Trial(_member_away),
    "retainVolumesOnDelete": Trial(_deleted),
    "quorumRecovery.survivor": Trial(_quorum_lost, "recovery.approved", before=True),
}


def every_property() -> tuple[str, ...]:
    """Return every property of the spec, dotted."""
    return tuple(str(it) for it in properties(spec_schema(), EMBEDDED))


def seen_at_rest(book: Book) -> Iterator[str]:
    """Yield the properties that a book shows to matter."""
    base = book.known["same"]
    for name, it in book.known.items():
        changed = (line for line in differences(base.end, it.end) if not line.startswith(_WORDS))
        if book.cases[name].about and next(changed, None):
            yield from _with_parents(book.cases[name].about)


def _with_parents(path: str) -> Iterator[str]:
    """Yield a property, and all that it is part of: they matter as it does."""
    names = path.split(".")
    for count in range(1, len(names) + 1):
        yield ".".join(names[:count])


def tried(book: Book, property_: str) -> bool:
    """Put cases of a property through a trial, and tell whether it matters."""
    trial = TRIALS[property_]
    usual = lived(lambda: _after(book, book.cases[trial.against], trial))
    return any(
        differences(usual, lived(lambda it=it: _after(book, it, trial)))  # type: ignore[misc]
        for it in _cases_about(book, property_)
    )


def _after(book: Book, case: Case, trial: Trial) -> Json:
    stage = book.stage
    if trial.before:
        trial.happens(stage)
    take(stage, _spec(book, case))
    if not trial.before:
        trial.happens(stage)
    end = end_of(stage.it)
    return {place: value for place, value in end.items() if not place.startswith(_WORDS)}


def _spec(book: Book, case: Case) -> Json:
    return case.spec(BASES[book.base].spec)


def _cases_about(book: Book, property_: str) -> list[Case]:
    kinds = {Class.TYPICAL, Class.LEAST, Class.MOST}
    return [it for it in book.cases.values() if it.about == property_ and it.kind in kinds]


def born_otherwise(book: Book, property_: str, usual: Json) -> bool:
    """Make new clusters, and tell whether a property matters to them."""
    return any(differences(usual, _born(_spec(book, it))) for it in _cases_about(book, property_))


def _born(spec: Json) -> Json:
    """Return what a new cluster comes to; one member tells as much as three."""

    def live() -> Json:
        with staged(Base("new", spec | {"replicas": 1})) as stage:
            settle(stage)
            end = end_of(stage.it)
            return {place: value for place, value in end.items() if not place.startswith(_WORDS)}

    return lived(live)


def idle(book: Book, seen: set[str]) -> list[str]:
    """Return the properties that matter nowhere and are not declared to be inert."""
    usual = _born(BASES[book.base].spec)
    for it in sorted(AT_BIRTH - seen):
        if born_otherwise(book, it, usual):
            seen |= set(_with_parents(it))
    for it in TRIALS:
        if it not in seen and tried(book, it):
            seen.add(it)
    return [it for it in every_property() if it not in seen and it not in INERT]
