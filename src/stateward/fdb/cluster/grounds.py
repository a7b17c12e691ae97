"""The taints of nodes, looked at where a cluster asks for it: most never do.

All nodes are listed at once, and not again and again: a cluster is on many of them, and several
clusters on the same. Whoever may not look at nodes says so, and nobody is replaced for a taint.
"""

from __future__ import annotations

from typing import Final, Protocol

from stateward.core.clock import Clock
from stateward.core.errors import PeerError
from stateward.core.facts import Fact, Known, Unknown
from stateward.core.moments import from_rfc3339
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.decide.groups.taints import NodeTaint, Taints
from stateward.kube.client import Listing, Read, Selection
from stateward.kube.objects.pods import Node, Taint
from stateward.kube.resources import NODES, Resource

#: Seconds for which an answer is believed, also that there is none.
_GOOD_FOR: Final = 15.0
#: Seconds for which a list is believed while no newer one can be had: a hiccup is told nobody.
_LAST_WORD: Final = 60.0
_EVERY: Final = Selection()


class Lister(Protocol):
    """The one call that is needed."""

    async def list(
        self, resource: Resource[Node], selection: Selection = _EVERY, *, read: Read = Read.QUORUM
    ) -> Listing[Node]:
        """Return all nodes."""


class Grounds:
    """Lists nodes, for all clusters of one operator."""

    def __init__(self, client: Lister, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        #: What was said last, and the last list, each with its moment.
        self._last: tuple[float, Fact[Taints]] | None = None
        self._list: tuple[float, Known[Taints]] | None = None

    async def look(self, spec: FoundationDBClusterSpec) -> Fact[Taints]:
        """Return the taints of all nodes; none where they do not matter to a cluster."""
        now = self._clock.now()
        if not spec.automation_options.replacements.taint_replacement_options:
            return Known({}, now, "spec")
        moment = self._clock.monotonic()
        if self._last is not None and moment - self._last[0] < _GOOD_FOR:
            return self._last[1]
        answer = await self._ask(now, moment)
        self._last = (moment, answer)
        return answer

    async def _ask(self, now: float, moment: float) -> Fact[Taints]:
        try:
            found = await self._client.list(NODES, read=Read.CACHE)
        except PeerError as error:
            if self._list is not None and moment - self._list[0] < _LAST_WORD:
                return self._list[1]
            return Unknown(f"nodes cannot be listed: {error.message}")
        taints = {it.metadata.name: tuple(map(_taint, it.spec.taints)) for it in found.items}
        known: Known[Taints] = Known({k: v for k, v in taints.items() if v}, now, "nodes")
        self._list = (moment, known)
        return known


def _taint(told: Taint) -> NodeTaint:
    try:
        return NodeTaint(told.key, from_rfc3339(told.time_added) if told.time_added else None)
    except ValueError:
        return NodeTaint(told.key)
