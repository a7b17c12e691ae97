"""Which process groups are to be made, and who they are.

A number is never used again while anything still knows it: an exclusion of the same name would
keep the new one empty for ever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from itertools import islice
from typing import Final

from stateward.core.facts import Known
from stateward.fdb.model import locality
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.exclusions import ByLocality
from stateward.fdb.model.names import ProcessGroupID, pod_name
from stateward.fdb.status.exclusions import excluded
from stateward.fdb.views import ClusterView

LAST_NUMBER: Final = 99_999
#: How often chance is asked for one number, before the first that is free is taken.
_TRIES: Final = 1_000


def missing(view: ClusterView) -> Mapping[ProcessClass, int]:
    """Return how many groups of each class there are too few; those that go do not count."""
    there = Counter(it.process_class for it in view.groups if not it.marked and not it.leaving)
    return {kind: many - there[kind] for kind, many in view.counts.items() if many > there[kind]}


def new_ids(
    view: ClusterView, chance_numbers: Iterator[int], taken: Container[str]
) -> tuple[ProcessGroupID, ...]:
    """Return the ids of all groups that are missing; ``taken`` are more ids, or names of pods.

    Where the exclusions of the database are not known, the rest must do: the groups are needed.
    """
    lacking = missing(view)
    if not lacking:
        return ()
    free = _Free(view, taken)
    found: list[ProcessGroupID] = []
    for kind, many in lacking.items():
        for _ in range(many):
            it = free.take(kind, chance_numbers)
            if it is None:
                break
            found.append(it)
    return tuple(found)


class _Free:
    """Numbers that nobody has; each is given once."""

    def __init__(self, view: ClusterView, taken: Container[str]) -> None:
        self._prefix, self._cluster = view.spec.process_group_id_prefix, view.key.name
        # Names of pods have no prefix, so the number of a group with another one is taken too.
        self._used = {(it.process_class, it.id.number) for it in view.groups}
        self._named = _named(view)
        self._taken = taken

    def take(self, kind: ProcessClass, numbers: Iterator[int]) -> ProcessGroupID | None:
        """Return an id of a class by chance; None: all numbers are in use."""
        for number in islice(numbers, _TRIES):
            if (found := self._free(kind, number)) is not None:
                return found
        every = (self._free(kind, it) for it in range(1, LAST_NUMBER + 1))
        return next((it for it in every if it is not None), None)

    def _free(self, kind: ProcessClass, number: int) -> ProcessGroupID | None:
        if not 1 <= number <= LAST_NUMBER or (kind, number) in self._used:
            return None
        found = ProcessGroupID(kind, number, self._prefix)
        if str(found) in self._named or str(found) in self._taken:
            return None
        if pod_name(self._cluster, found) in self._taken:
            return None
        self._used.add((kind, number))
        return found


def _named(view: ClusterView) -> set[str]:
    """Return the ids that the spec, or an exclusion of the database, speaks of."""
    spec = view.spec
    found = {
        *spec.process_groups_to_remove,
        *spec.process_groups_to_remove_without_exclusion,
        *spec.automation_options.cancel_replacements_for_process_groups,
    }
    told = excluded(view.database)
    entries = told.value if isinstance(told, Known) else frozenset()
    return found | {
        it.value for it in entries if isinstance(it, ByLocality) and it.key == locality.INSTANCE
    }
