"""What several judgements share: whoever is held back, and who is all there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.views import GroupView

Order: TypeAlias = tuple[str, str, int]
#: Seconds for which a proof that nothing is left is believed: data comes back to whom somebody
#: includes, and nobody may have been there to see it. For so long also counts that one may go with
#: what it holds.
BELIEVED: Final = 120.0
#: Classes of which copies are kept in different zones.
KEEPS: Final = frozenset({ProcessClass.STORAGE, ProcessClass.LOG, ProcessClass.TRANSACTION})


@dataclass(frozen=True, slots=True)
class Held:
    """A group, by its id, that has to wait, and why; an empty id: all of them."""

    group: str
    why: str


def hold(groups: Iterable[GroupView], why: str) -> tuple[Held, ...]:
    """Return all of some groups, held back for one reason."""
    return tuple(Held(str(it.id), why) for it in groups)


def is_whole(group: GroupView) -> bool:
    """Tell whether all processes of a group report."""
    return len(group.processes) >= group.servers


def is_tester(group: GroupView) -> bool:
    """Tell whether a group has nothing that anybody could miss."""
    return group.process_class is ProcessClass.TEST


def order(group: GroupView) -> Order:
    """Return by what groups are put in order: always the same one."""
    return (group.id.process_class, group.id.prefix, group.id.number)
