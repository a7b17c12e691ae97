"""How long each pod has had the chance to run that it has now, as this operator watched it.

Kept in mind only: an operator that begins has seen nobody fail yet, and gives everybody their time.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TypeAlias

from stateward.etcd.model.trouble import is_held_up
from stateward.etcd.model.view import ClaimSeen, PodSeen

#: Seconds between two looks that count as watching; what goes beyond was not seen by anybody.
_WATCHED = 30.0
_REMEMBERED = 10_000

#: What a pod is held up by, and by what its volume is.
_Mark: TypeAlias = tuple[bool, bool]


@dataclass(frozen=True, slots=True)
class _Chance:
    mark: _Mark
    #: Whether its node was not heard of.
    unheard: bool
    since: float
    looked: float


class Chances:
    """Remembers pods from look to look."""

    def __init__(self) -> None:
        self._of: OrderedDict[str, _Chance] = OrderedDict()

    def noted(self, pod: PodSeen, claim: ClaimSeen | None, now: float) -> PodSeen:
        """Return the pod with since when it has had its chance.

        One that begins or ends to be held up has another one from now on, and so has one whose node
        is heard of again. What Kubernetes tells of a start counts too: an etcd that runs now has
        run only since then.
        """
        mark = (is_held_up(pod), claim is not None and claim.lost)
        former = self._of.pop(pod.uid, None)
        since = now
        is_back = former is not None and former.unheard and not pod.unheard
        if former is not None and former.mark == mark and not is_back:
            since = former.since + max(0.0, now - former.looked - _WATCHED)
        self._of[pod.uid] = _Chance(mark, pod.unheard, since, now)
        if len(self._of) > _REMEMBERED:
            self._of.popitem(last=False)
        return replace(pod, chance_since=min(now, max(since, pod.chance_since)))
