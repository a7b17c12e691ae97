"""See, judge, do, tell: the reconciler of etcd clusters."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from stateward.core.clock import Clock
from stateward.core.errors import SpecInvalid
from stateward.core.outcome import DONE, Blocked, Outcome, Retry
from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.api.status import EtcdClusterStatus
from stateward.etcd.api.validation import problems
from stateward.etcd.decide.chart import Judgement
from stateward.etcd.decide.moves import Act, SaveSurvivor
from stateward.etcd.model.view import View
from stateward.etcd.moves.step import MakeNextMove
from stateward.etcd.moves.tools import Tools
from stateward.etcd.moves.writing import EnsureObjects
from stateward.etcd.observe import Observer
from stateward.etcd.secrets import SecretMissing
from stateward.etcd.seen import Seen
from stateward.etcd.tell.metrics import EtcdMetrics
from stateward.etcd.tell.notes import noting, was_made
from stateward.etcd.tell.status import status_of
from stateward.kube.client import MergePatch
from stateward.kube.codec import plain
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.patch import merge_diff
from stateward.runtime.cache import Cache
from stateward.runtime.pipeline import Report, Said, run_steps
from stateward.runtime.telling.journal import Subject
from stateward.runtime.telling.recorder import ObjectReference
from stateward.runtime.telling.teller import Teller

CONTROLLER = "etcd"
#: Seconds: nothing tells us when a secret appears, since we do not watch everybody's.
_LOOK_AGAIN = 5.0
#: Seconds.
_BLOCKED_AGAIN = 5.0


@dataclass(frozen=True, slots=True)
class Voices:
    """Who is told what happened."""

    teller: Teller
    metrics: EtcdMetrics


class EtcdReconciler:
    """Brings one cluster one move closer to what it asks for."""

    def __init__(
        self,
        clusters: Cache[EtcdCluster],
        observer: Observer,
        tools: Tools,
        voices: Voices,
        clock: Clock,
    ) -> None:
        self._clusters = clusters
        self._observer = observer
        self._client = tools.client
        self._voices = voices
        self._clock = clock
        self._steps = (EnsureObjects(tools.client, tools.applier), MakeNextMove(tools))

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Look, make one move, and tell about it."""
        cluster = self._clusters.get(key)
        if cluster is None:
            self._voices.metrics.forgot(key)
            return DONE
        if cluster.metadata.deleting:
            # What it owns goes with it, and so do its volumes, unless they were told to stay.
            return DONE
        began = self._clock.monotonic()
        seen = await self._look(cluster)
        if isinstance(seen, Blocked):
            view = View(cluster, self._clock.now())
            report = Report([Said("CheckSpec", seen, self._clock.monotonic() - began)])
            await self._tell(view, None, report, began)
            return Retry(_LOOK_AGAIN, seen.reason, seen.message)
        report = await run_steps(self._steps, seen, self._clock)
        return await self._tell(seen.view, seen.judgement, report, began)

    async def _look(self, cluster: EtcdCluster) -> Seen | Blocked:
        """Return the cluster as it is, or why it cannot be touched."""
        found = problems(cluster)
        if found:
            words = "; ".join(map(str, found))
            return Blocked("SpecInvalid", words, found[0].hint or "mend the spec")
        try:
            return await self._observer.look(cluster)
        except (SecretMissing, SpecInvalid) as error:
            return Blocked(error.reason, error.message, error.hint)

    async def _tell(
        self, view: View, judgement: Judgement | None, report: Report, began: float
    ) -> Outcome:
        metadata = view.cluster.metadata
        subject = Subject(CONTROLLER, metadata.key, metadata.uid, metadata.generation)
        about = ObjectReference.of(ETCD_CLUSTERS, metadata)
        await self._voices.teller.tell(subject, about, report, began=began)
        if report.failure is not None:
            raise report.failure.error
        said = [(it.step, it.outcome) for it in report.said]
        status = status_of(view, said, judgement.refusals if judgement else ())
        if judgement is not None:
            status = noting(status, view, judgement.move, report.outcome)
            if isinstance(judgement.move, Act) and was_made(judgement.move, report.outcome):
                self._voices.metrics.moved(metadata.key, judgement.move.name)
        self._voices.metrics.saw(view)
        if judgement is None or not isinstance(judgement.move, SaveSurvivor):
            await self._write_status(view, status)  # that one writes it itself, and wakes us
        return _looked_at_again(report.outcome)

    async def _write_status(self, view: View, wanted: EtcdClusterStatus) -> None:
        """Write the status if it says something new, onto the very version that it speaks of."""
        if wanted == view.cluster.status:
            return
        metadata = view.cluster.metadata
        body = {
            "metadata": {"uid": metadata.uid, "resourceVersion": metadata.resource_version},
            "status": merge_diff(plain(view.cluster.status), plain(wanted)),
        }
        with suppress(NotFound):  # a cluster that is gone hears no more
            patch = MergePatch(body)
            await self._client.patch(ETCD_CLUSTERS, metadata.key, patch, subresource="status")


def _looked_at_again(outcome: Outcome) -> Outcome:
    """Look again soon at what a person must mend: neither etcd nor a secret tells us when."""
    match outcome:
        case Blocked(reason=reason, message=message) if reason != "SpecInvalid":
            return Retry(_BLOCKED_AGAIN, reason, message)
        case _:
            return outcome
