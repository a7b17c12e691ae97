"""What databases said last, for all who look at process groups.

Posted by whoever asks a database, once in a pass, so that a thousand groups need not ask it a
thousand times. It is kept in memory only: after a restart nothing is known until somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from stateward.core.facts import Fact, Known, Unknown
from stateward.core.version import Version
from stateward.fdb.decide.groups.taints import Taints
from stateward.fdb.status.processes import Reporting, Roster
from stateward.kube.meta import ObjectKey


@dataclass(frozen=True, slots=True)
class Posted:
    """What a database said, when, and what its processes shall be by then."""

    at: float
    processes: Fact[Roster]
    #: What processes shall run.
    version: Version
    maintenance_zone: str = ""
    #: What the config map shall say.
    data: Mapping[str, str] = field(default_factory=dict)
    #: Whether the database takes reads and writes; not so also where nobody knows.
    available: bool = False
    #: Whether the cluster is only looked at: when it is let go, all are looked at anew.
    skipped: bool = False
    #: Taints of nodes, where these matter; None: nobody could look at nodes.
    taints: Taints | None = field(default_factory=dict)
    #: Hosts that are excluded, where groups shall stay after all; None: nobody knows.
    excluded: frozenset[str] | None = frozenset()

    @property
    def frame(self) -> tuple[object, ...]:
        """What is said of all groups alike."""
        return (
            self.version,
            self.maintenance_zone,
            self.data,
            self.available,
            self.skipped,
            self.taints,
            self.excluded,
        )

    def of_group(self, group: str) -> Fact[tuple[Reporting, ...]]:
        """Return who of a process group reports, by its id."""
        if isinstance(self.processes, Unknown):
            return self.processes
        found = self.processes.value.groups.get(group, ())
        return Known(found, self.processes.at, self.processes.source)


#: Told of a cluster, and of the ids of its groups that something new was said of; None: of all.
Listener: TypeAlias = Callable[[ObjectKey, frozenset[str] | None], None]


class Board:
    """The last word of every database, by its cluster."""

    def __init__(self) -> None:
        self._posted: dict[ObjectKey, Posted] = {}
        self._listeners: list[Listener] = []
        #: When it was proved that nothing is left on a group, by its UID.
        self._proofs: dict[ObjectKey, dict[str, str]] = {}

    def listen(self, listener: Listener) -> None:
        """Have it told of which groups something new is known."""
        self._listeners.append(listener)

    def post(self, cluster: ObjectKey, posted: Posted) -> None:
        """Take in what a database said; tell of whom it says something new."""
        before = self._posted.get(cluster)
        self._posted[cluster] = posted
        news = None if before is None else _news(before, posted)
        if news is None or news:
            for listener in self._listeners:
                listener(cluster, news)

    def of(self, cluster: ObjectKey) -> Posted | None:
        """Return what was said last; None: nothing since we started."""
        return self._posted.get(cluster)

    def vouch(self, cluster: ObjectKey, groups: Iterable[str], moment: str) -> None:
        """Take in that it was proved at a moment that nothing is left on groups, by their UIDs."""
        self._proofs.setdefault(cluster, {}).update(dict.fromkeys(groups, moment))

    def drop(self, cluster: ObjectKey, groups: Iterable[str]) -> None:
        """Forget what was proved of groups that are gone, by their UIDs."""
        for it in groups:
            self._proofs.get(cluster, {}).pop(it, None)

    def vouches(self, cluster: ObjectKey, group: str, moment: str | None) -> bool:
        """Tell whether we ourselves proved it at that very moment, since we started.

        What an object says may have been written by anybody.
        """
        return moment is not None and self._proofs.get(cluster, {}).get(group) == moment

    def forget(self, cluster: ObjectKey) -> None:
        """Drop what a cluster said that is gone."""
        self._posted.pop(cluster, None)
        self._proofs.pop(cluster, None)


def _news(before: Posted, now: Posted) -> frozenset[str] | None:
    """Return the groups of which something else is said now; None: of all."""
    if before.frame != now.frame:
        return None
    if isinstance(before.processes, Unknown) or isinstance(now.processes, Unknown):
        same = isinstance(before.processes, Unknown) and isinstance(now.processes, Unknown)
        return frozenset() if same else None
    old, new = before.processes.value.groups, now.processes.value.groups
    return frozenset(
        it
        for it in {*old, *new}
        if [*map(_words, old.get(it, ()))] != [*map(_words, new.get(it, ()))]
    )


def _words(process: Reporting) -> tuple[object, ...]:
    """Return what of a process matters to its group; how busy it is changes all the time."""
    entry = process.entry
    return (
        process.key,
        process.addresses,
        process.localities,
        entry.command_line,
        entry.excluded,
        entry.messages,
        entry.version,
    )
