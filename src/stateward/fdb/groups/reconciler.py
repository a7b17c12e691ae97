"""See, judge, do, tell: the reconciler of process groups."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from stateward.core.clock import Clock
from stateward.core.errors import (
    NotLeader,
    PeerError,
    SpecInvalid,
)
from stateward.core.outcome import DONE, Blocked, Done, Outcome, Retry, Wait, wake_after
from stateward.fdb.api.group import FoundationDBProcessGroupStatus
from stateward.fdb.api.kind import PROCESS_GROUPS, FoundationDBProcessGroup
from stateward.fdb.groups.acts import SyncFiles
from stateward.fdb.groups.decide import next_acts
from stateward.fdb.groups.observe import Eyes, look
from stateward.fdb.groups.performing import Agents, Performed, Performer
from stateward.fdb.groups.seen import Fate, GroupSeen
from stateward.fdb.groups.status import says_more, status_of, still_coming
from stateward.fdb.groups.viewing import settles, view_of
from stateward.kube.client import Client, MergePatch
from stateward.kube.codec import plain
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.patch import merge_diff
from stateward.runtime.pipeline import Failure, Report
from stateward.runtime.telling.journal import Subject
from stateward.runtime.telling.recorder import ObjectReference
from stateward.runtime.telling.teller import Teller

CONTROLLER: Final = "fdb-groups"
#: Seconds: nothing tells us when a person has mended what blocks a group.
_BLOCKED_AGAIN: Final = 15.0
#: Seconds for which trouble may go away by itself before it is told.
_SHORT: Final = 5.0


@dataclass(frozen=True, slots=True)
class Hands:
    """What a reconciler acts with: a client of Kubernetes, and how sidecars are reached."""

    client: Client
    agents: Agents


class GroupReconciler:
    """Makes and deletes what process groups are made of, and tells how they are.

    ``eyes`` are shared with whoever else looks at groups; what ``hands`` write must be noted by
    the informers of the caches (runtime/tracking.py), and fenced.
    """

    def __init__(self, eyes: Eyes, hands: Hands, teller: Teller, clock: Clock) -> None:
        self._eyes = eyes
        self._client = hands.client
        self._performer = Performer(hands.client, hands.agents, clock, eyes.silent)
        self._teller = teller
        self._clock = clock
        #: Since when a group has not come to rest.
        self._restless: dict[ObjectKey, float] = {}

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Look at one group, do what it needs, and tell about it."""
        group = self._eyes.caches.groups.get(key)
        if group is None:
            self._restless.pop(key, None)
            return DONE
        began = self._clock.monotonic()
        try:
            seen = await look(self._eyes, self._client, group)
        except SpecInvalid as error:  # an object of its name cannot be read
            return Retry(_BLOCKED_AGAIN, error.reason, error.message)
        if seen.fate is Fate.ELSEWHERE:  # two who tell how it is would never agree
            self._restless.pop(key, None)
            return DONE
        performed = await self._act(seen)
        report = performed.report
        about = ObjectReference.of(PROCESS_GROUPS, group.metadata)
        await self._teller.tell(_subject(group), about, report, began=began)
        outcome = _outcome(report)
        left = await self._tell(seen, outcome, performed)
        if report.failure is not None:
            raise report.failure.error
        moments = [it for it in (left, performed.again, settles(seen)) if it is not None]
        return _looked_at_again(outcome, min(moments, default=None))

    async def _act(self, seen: GroupSeen) -> Performed:
        try:
            chosen = next_acts(seen)
            if seen.pod is not None and not any(isinstance(it, SyncFiles) for it in chosen):
                self._eyes.silent.discard(seen.pod.metadata.uid)
            return await self._performer.perform(seen, chosen)
        except (NotLeader, PeerError):
            raise
        except Exception as error:  # noqa: BLE001 - a bug must reach the status, and is raised then
            return Performed(Report(failure=Failure("Act", error)), acted=False)

    async def _tell(self, seen: GroupSeen, outcome: Outcome, performed: Performed) -> float | None:
        """Write the status if it is worth it; return in how many seconds it may be."""
        is_stuck = self._is_stuck(seen, outcome, performed)
        if performed.acted and not is_stuck:
            return None  # what was done is seen in the next pass, which tells
        new = status_of(seen, view_of(seen, self._eyes.memo), _told(outcome, is_stuck=is_stuck))
        if not says_more(seen.group.status, new):
            return None
        left = None if is_stuck else still_coming(seen, new)
        if left is None:
            await self._write(seen.group, new)
        return left

    def _is_stuck(self, seen: GroupSeen, outcome: Outcome, performed: Performed) -> bool:
        """Tell whether something is wrong that does not go away by itself."""
        if isinstance(outcome, Done | Wait) and not performed.acted:
            self._restless.pop(seen.key, None)
            return False
        now = self._clock.monotonic()
        since = self._restless.setdefault(seen.key, now)
        return isinstance(outcome, Blocked) or now - since >= _SHORT

    async def _write(
        self, group: FoundationDBProcessGroup, new: FoundationDBProcessGroupStatus
    ) -> None:
        """Write the status onto the very version that it speaks of."""
        metadata = group.metadata
        body = {
            "metadata": {"uid": metadata.uid, "resourceVersion": metadata.resource_version},
            "status": merge_diff(plain(group.status), plain(new)),
        }
        with suppress(NotFound):  # a group that is gone hears no more
            patch = MergePatch(body)
            await self._client.patch(PROCESS_GROUPS, metadata.key, patch, subresource="status")


def _subject(group: FoundationDBProcessGroup) -> Subject:
    metadata = group.metadata
    return Subject(CONTROLLER, metadata.key, metadata.uid, metadata.generation)


def _outcome(report: Report) -> Outcome:
    """Return what a pass came to; what a person must mend is told before all else."""
    if (failure := report.failure) is not None:
        return failure.outcome
    said = [it.outcome for it in report.said]
    return next(_worst_first(said), DONE)


def _worst_first(said: list[Outcome]) -> Iterator[Outcome]:
    for kind in (Blocked, Retry, Wait):
        yield from (it for it in said if isinstance(it, kind))


def _told(outcome: Outcome, *, is_stuck: bool) -> Outcome:
    """Return what is told of an outcome: trouble only when it lasts."""
    return DONE if isinstance(outcome, Retry) and not is_stuck else outcome


def _looked_at_again(outcome: Outcome, left: float | None) -> Outcome:
    """Look again where no event tells us to: at what is blocked, and at what takes its time."""
    after = wake_after(outcome)
    if isinstance(outcome, Blocked):
        after = _BLOCKED_AGAIN
    if left is not None:
        after = left if after is None else min(after, left)
    if after is None:
        return outcome
    if isinstance(outcome, Done):
        return Retry(after, "ComingUp", "the pod of this process group comes up, or its files do")
    return Retry(after, outcome.reason, outcome.message)
