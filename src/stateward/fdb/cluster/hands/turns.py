"""Taking turns with other clusters of the same database that this operator keeps."""

from __future__ import annotations

from typing import Final

from stateward.core.facts import Known
from stateward.core.moments import to_rfc3339
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.status import processes
from stateward.fdb.views import ClusterView
from stateward.kube.meta import ObjectKey

#: Seconds after which a database tells of pods that went: until then all guards would let more go.
_NOTICED: Final = 90.0
#: Databases whose last turn is kept in mind.
_REMEMBERED: Final = 1000


class Neighbours:
    """Clusters of one database that this operator keeps: one at a time lets something go.

    Each of them asks the database whether a zone may be away, and to all it says yes at first.
    Pods that are made anew, and processes that are started anew, take the same turns.
    """

    def __init__(self) -> None:
        #: By what a database is called: whose pods went last, and when; nobody's: since we look.
        self._last: dict[str, tuple[ObjectKey | None, float]] = {}

    def take(self, view: ClusterView) -> Refusal | None:
        """Take the turn for making pods or starting processes anew; return whose it is."""
        refused = self.whose(view)
        if refused is None and view.connection is not None and _is_shared(view):
            self._keep(view.connection.description, view.key, view.now)
        return refused

    def whose(self, view: ClusterView) -> Refusal | None:
        """Return whose turn it is, if it is not ours; nothing is taken."""
        if view.connection is None or not _is_shared(view):
            return None
        name = view.connection.description
        # An operator before us may have let pods of another cluster go a moment ago.
        whose, since = self._last.get(name, (None, view.now))
        left = _NOTICED - (view.now - since)
        if whose == view.key or left <= 0:
            return None
        self._keep(name, whose, since)
        other = f"of {whose} have" if whose else "of other clusters may have"
        until = to_rfc3339(int(since + _NOTICED))
        words = (
            f"pods or processes {other} just gone; their database has until {until} to tell of it"
        )
        return Refusal("turn_is_ours", words, after=left)

    def _keep(self, name: str, whose: ObjectKey | None, since: float) -> None:
        while len(self._last) >= _REMEMBERED and name not in self._last:
            del self._last[next(iter(self._last))]
        self._last[name] = (whose, since)


def _is_shared(view: ClusterView) -> bool:
    """Tell whether processes of others belong to the database, or may: some do not say yet."""
    roster = processes.roster(view.database)
    ours = {str(it.id) for it in view.groups}
    return not isinstance(roster, Known) or not roster.value.groups.keys() <= ours
