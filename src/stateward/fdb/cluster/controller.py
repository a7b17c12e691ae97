"""See, judge, do, tell: the reconciler of FoundationDB clusters."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from stateward.core.clock import Clock
from stateward.core.errors import (
    NotLeader,
    PeerError,
    SpecInvalid,
    UsageError,
)
from stateward.core.outcome import DONE, Blocked, Done, Outcome, Retry, wake_after
from stateward.fdb.api import questions
from stateward.fdb.api.kind import CLUSTERS, FoundationDBCluster
from stateward.fdb.api.status import FoundationDBClusterStatus, RequiredAddresses
from stateward.fdb.api.validation import hindering
from stateward.fdb.cluster.hands.refused import refusal
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.hands.writing import difference
from stateward.fdb.cluster.lately import Lately
from stateward.fdb.cluster.observe import Observer
from stateward.fdb.cluster.pipeline import steps
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.groups.caches import GroupCaches
from stateward.fdb.tell.broken import status_without_look
from stateward.fdb.tell.haste import can_wait
from stateward.fdb.tell.metrics import Series, blocked_readings, lock_readings
from stateward.fdb.tell.status import Told, status_of
from stateward.kube.client import MergePatch
from stateward.kube.codec import plain
from stateward.kube.errors import ApiError, Conflict, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.patch import merge_diff
from stateward.runtime.pipeline import Failure, Report, Said, run_steps
from stateward.runtime.telling.journal import Subject
from stateward.runtime.telling.recorder import ObjectReference
from stateward.runtime.telling.teller import Teller

CONTROLLER: Final = "fdb"
#: Seconds until what a person must mend is looked at again: nothing else tells us when.
_BLOCKED_AGAIN: Final = 5.0
#: Seconds between two writes of a status that say only how far things are.
_TOLD_EVERY: Final = 5.0


class ClusterReconciler:
    """Brings one cluster a little closer to what it asks for."""

    def __init__(
        self,
        caches: GroupCaches,
        observer: Observer,
        tools: Tools,
        teller: Teller,
        clock: Clock,
        *,
        series: Series,
    ) -> None:
        self._clusters = caches.clusters
        self._observer = observer
        self._client = tools.client
        self._teller = teller
        self._clock = clock
        self._series = series
        self._steps = steps(tools)
        self._lately = Lately(clock)
        #: When a status was written last.
        self._told_at: dict[ObjectKey, float] = {}

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Look, do what is allowed now, and tell about it."""
        cluster = self._clusters.get(key)
        if cluster is None:
            self._observer.forget(key)
            self._told_at.pop(key, None)
            self._lately.forget(key)
            self._series.forget(key)
            return DONE
        if cluster.metadata.deleting:
            return DONE  # its groups see to what they have when it is gone
        began = self._clock.monotonic()
        seen = await self._look(cluster)
        if isinstance(seen, Seen):
            report = Report()
            if not seen.view.spec.skip:
                report = await run_steps(self._steps, seen, self._clock)
            heard = await self._told(cluster, report, began)
            return await self._tell(seen, report, heard)
        report = Report()
        if isinstance(seen, Failure):
            report.failure = seen
        else:
            report.said.append(Said("CheckSpec", seen, self._clock.monotonic() - began))
        heard = await self._told(cluster, report, began)
        glimpsed = None if isinstance(seen, Failure) else await self._glimpse(cluster)
        if glimpsed is not None:
            return await self._tell(glimpsed, report, heard, invalid=True)
        return await self._tell_unseen(cluster, report)

    async def hindered(self, key: ObjectKey, why: ApiError) -> Outcome:
        """Say that we may not look at what belongs to a cluster, so nothing is done for it."""
        cluster = self._clusters.get(key)
        if cluster is None:
            return DONE
        began = self._clock.monotonic()
        refused = refusal("what belongs to clusters must be readable", why) or Retry(
            _BLOCKED_AGAIN, why.reason, why.message
        )
        report = Report([Said("Watch", refused, 0.0)])
        await self._told(cluster, report, began)
        return await self._tell_unseen(cluster, report)

    async def _glimpse(self, cluster: FoundationDBCluster) -> Seen | None:
        """Return what can be seen of a cluster that is not touched: a typo must blind nobody."""
        with suppress(Exception):  # such a spec may say nothing that could be looked at
            return await self._observer.look(cluster, valid=False)
        return None

    async def _look(self, cluster: FoundationDBCluster) -> Seen | Blocked | Failure:
        """Return the cluster as it is, or why it cannot be touched."""
        if found := hindering(cluster):
            words = "; ".join(map(str, found))
            return Blocked("SpecInvalid", words, found[0].hint or "mend the spec")
        try:
            return await self._observer.look(cluster)
        except (SpecInvalid, UsageError) as error:
            return Blocked(error.reason, error.message, error.hint)
        except (PeerError, NotLeader):
            raise
        except Exception as error:  # noqa: BLE001 - a bug must reach the status, and is raised then
            return Failure("Look", error)

    async def _told(self, cluster: FoundationDBCluster, report: Report, began: float) -> Report:
        """Tell of a pass; return what of it is worth a word to people."""
        metadata = cluster.metadata
        subject = Subject(CONTROLLER, metadata.key, metadata.uid, metadata.generation)
        about = ObjectReference.of(CLUSTERS, metadata)
        return await self._teller.tell(subject, about, report, began=began)

    async def _tell(
        self, seen: Seen, report: Report, heard: Report, *, invalid: bool = False
    ) -> Outcome:
        book, wanted = seen.book, seen.wanted
        told = Told(
            said=heard.words,
            hushed=heard is not report,
            refused=[(it.step, it.refusal) for it in book.refused],
            lately=self._lately.recall(seen.view.key),
            connection=book.connection,
            configured=book.configured,
            running=book.running,
            adopted_from=book.adopted_from,
            progress=book.progress,
            maintenance=book.maintenance,
            invalid=invalid,
            coordinators=book.coordinators,
            locks=book.locks,
            deny_list=book.deny_list,
            key_prefix=book.key_prefix,
            intents=book.intents,
            silenced=book.silenced,
            job_differs=book.job_differs,
            config_map_differs=seen.config_map is None
            or difference(seen.config_map, seen.config) is not None,
            services_differ=(seen.service is not None)
            is not bool(wanted.spec.routing.headless_service),
            outdated=seen.outdated,
            addresses=RequiredAddresses(tls=wanted.tls, non_tls=wanted.plain),
            image_types=frozenset(it.spec.image_type for it in seen.groups.values()),
        )
        new = status_of(seen.view, told)
        self._lately.note(seen.view.key, seen.view.status.blockers, new.blockers, report.words)
        self._show(seen, new)
        left = self._left(seen.cluster, new)
        if left is None or report.failure is not None:
            await self._write(seen.cluster, new, report)
        return _looked_at_again(report.outcome, left)

    async def _tell_unseen(self, cluster: FoundationDBCluster, report: Report) -> Outcome:
        """Tell why nothing is done for a cluster that could not be looked at."""
        now = self._clock.now()
        wanted = status_without_look(cluster, report.words, now)
        self._series.show(cluster.metadata.key, blocked_readings(wanted.blockers, now))
        await self._write(cluster, wanted, report)
        return _looked_at_again(report.outcome)

    def _show(self, seen: Seen, new: FoundationDBClusterStatus) -> None:
        """Show in metrics what is held back, and whose the lock is, where somebody looked."""
        spec, now, found = seen.view.spec, seen.view.now, seen.book.locks
        readings = [*blocked_readings(new.blockers, now)]
        if found is not None:
            readings += lock_readings(found, questions.lock_owner(spec), now)
        self._series.show(seen.view.key, readings)

    def _left(self, cluster: FoundationDBCluster, new: FoundationDBClusterStatus) -> float | None:
        """Return in how many seconds what is new is told; None: at once, or there is nothing."""
        before = self._told_at.get(cluster.metadata.key)
        if before is None or new == cluster.status or not can_wait(cluster.status, new):
            return None
        left = before + _TOLD_EVERY - self._clock.monotonic()
        return left if left > 0 else None

    async def _write(
        self, cluster: FoundationDBCluster, wanted: FoundationDBClusterStatus, report: Report
    ) -> None:
        """Write the status; after a failure, that matters more than one in writing about it."""
        failure = report.failure
        if failure is None:
            await self._write_status(cluster, wanted)
            return
        if not isinstance(failure.error, NotLeader | Conflict):
            with suppress(PeerError, NotLeader):
                await self._write_status(cluster, wanted)
        raise failure.error

    async def _write_status(
        self, cluster: FoundationDBCluster, wanted: FoundationDBClusterStatus
    ) -> None:
        """Write the status if it says something new, onto the very version that it speaks of."""
        if wanted == cluster.status:
            return
        metadata = cluster.metadata
        body = {
            "metadata": {"uid": metadata.uid, "resourceVersion": metadata.resource_version},
            "status": merge_diff(plain(cluster.status), plain(wanted)),
        }
        self._told_at[metadata.key] = self._clock.monotonic()
        with suppress(NotFound):  # a cluster that is gone hears no more
            await self._client.patch(CLUSTERS, metadata.key, MergePatch(body), subresource="status")


def _looked_at_again(outcome: Outcome, left: float | None = None) -> Outcome:
    """Look again where no event tells us to: at what is blocked, and at what is yet to be told."""
    if isinstance(outcome, Blocked):
        return Retry(_BLOCKED_AGAIN, outcome.reason, outcome.message)
    if left is None:
        return outcome
    if isinstance(outcome, Done):
        return Retry(left, "StatusToldLater", "the status is not told more often")
    after = wake_after(outcome)
    soonest = left if after is None else min(after, left)
    return Retry(soonest, outcome.reason, outcome.message)
