"""See, judge, do, tell: the reconciler of etcd clusters."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from stateward.core.clock import Clock
from stateward.core.errors import StatewardError
from stateward.core.outcome import DONE, Blocked, Outcome
from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.api.validation import problems
from stateward.etcd.decide import moves
from stateward.etcd.model.view import View
from stateward.etcd.moves.step import MakeNextMove
from stateward.etcd.moves.tools import Tools
from stateward.etcd.moves.writing import EnsureObjects
from stateward.etcd.observe import Observer
from stateward.etcd.secrets import SecretMissing
from stateward.etcd.seen import Seen
from stateward.etcd.tell import status
from stateward.etcd.tell.metrics import EtcdMetrics
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
        began = self._clock.monotonic()
        if cluster.metadata.deleting:
            # What it owns goes with it, and so do its volumes, unless they were told to stay.
            return DONE
        refusal = _refused(cluster)
        if refusal is None:
            try:
                seen = await self._observer.look(cluster)
            except SecretMissing as error:
                refusal = Blocked(error.reason, error.message, error.hint)
            else:
                report = await run_steps(self._steps, seen, self._clock)
                return await self._tell(seen.view, seen, report, began)
        view = View(cluster, self._clock.now())
        report = Report([Said("CheckSpec", refusal, self._clock.monotonic() - began)])
        return await self._tell(view, None, report, began)

    async def _tell(
        self, view: View, seen: Seen | None, report: Report, began: float
    ) -> Outcome:
        metadata = view.cluster.metadata
        subject = Subject(CONTROLLER, metadata.key, metadata.uid, metadata.generation)
        about = ObjectReference.of(ETCD_CLUSTERS, metadata)
        await self._voices.teller.tell(subject, about, report, began=began)
        self._voices.metrics.saw(view)
        if seen is not None and isinstance(seen.judgement.move, moves.Act):
            self._voices.metrics.moved(metadata.key, seen.judgement.move.name)
        if report.failure is not None:
            raise report.failure.error
        await self._write_status(view, seen, report)
        return report.outcome

    async def _write_status(self, view: View, seen: Seen | None, report: Report) -> None:
        """Write the status if it says something new, onto the very version that it speaks of."""
        move = seen.judgement.move if seen is not None else None
        if isinstance(move, moves.SaveSurvivor):
            return  # it has written the status itself, and that wakes us
        said = [(it.step, it.outcome) for it in report.said]
        refusals = seen.judgement.refusals if seen is not None else ()
        wanted = status.status_of(view, said, refusals)
        if report.settled or move is not None:
            wanted = status.noting(wanted, view, move, report.outcome)
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


def _refused(cluster: EtcdCluster) -> Blocked | None:
    """Say what is wrong with a spec, all of it; nothing is done by one that is."""
    found = problems(cluster)
    if not found:
        return None
    words = "; ".join(str(it) for it in found)
    return Blocked("SpecInvalid", words, found[0].hint or "mend the spec")
