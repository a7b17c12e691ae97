"""See, judge, do, tell: the reconciler of etcd clusters."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from stateward.core.clock import Clock
from stateward.core.errors import (
    NotLeader,
    PeerError,
    SpecInvalid,
    UsageError,
)
from stateward.core.outcome import DONE, Blocked, Outcome, Retry
from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.api.status import EtcdClusterStatus
from stateward.etcd.caches import Caches
from stateward.etcd.decide.chart import Judgement
from stateward.etcd.decide.moves import Act, SaveSurvivor
from stateward.etcd.model.view import View
from stateward.etcd.moves import volumes
from stateward.etcd.moves.refused import refusal
from stateward.etcd.moves.step import MakeNextMove
from stateward.etcd.moves.tools import Tools
from stateward.etcd.moves.volumes import KeepVolumes
from stateward.etcd.moves.writing import EnsureObjects
from stateward.etcd.observe import Observer
from stateward.etcd.secrets import SecretMissing
from stateward.etcd.seen import Seen
from stateward.etcd.tell.metrics import EtcdMetrics
from stateward.etcd.tell.notes import noting, was_made
from stateward.etcd.tell.status import status_of
from stateward.kube.client import MergePatch
from stateward.kube.codec import plain
from stateward.kube.errors import ApiError, Conflict, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.patch import merge_diff
from stateward.runtime.pipeline import Failure, Report, Said, run_steps
from stateward.runtime.telling.journal import Subject
from stateward.runtime.telling.recorder import ObjectReference
from stateward.runtime.telling.teller import Teller

CONTROLLER = "etcd"
#: Seconds: nothing tells us when a secret appears, for one: we do not watch everybody's.
_BLOCKED_AGAIN = 5.0


@dataclass(frozen=True, slots=True)
class Voices:
    """Who is told what happened."""

    teller: Teller
    metrics: EtcdMetrics


class EtcdReconciler:
    """Brings one cluster one move closer to what it asks for."""

    def __init__(
        self, caches: Caches, observer: Observer, tools: Tools, voices: Voices, clock: Clock
    ) -> None:
        self._clusters = caches.clusters
        self._observer = observer
        self._client = tools.client
        self._voices = voices
        self._clock = clock
        self._volumes = KeepVolumes(tools.client, caches.claims)
        self._steps = (EnsureObjects(tools.client, tools.applier), MakeNextMove(tools, clock))

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Look, make one move, and tell about it."""
        cluster = self._clusters.get(key)
        if cluster is None:
            self._voices.metrics.forgot(key)
            return DONE
        began = self._clock.monotonic()
        cluster, kept = await self._volumes.settle(cluster)
        report = Report([Said(volumes.STEP, kept, self._clock.monotonic() - began)])
        if cluster.metadata.deleting:
            return await self._see_off(cluster, kept, report, began)
        seen = await self._look(cluster)
        if isinstance(seen, Seen):
            made = await run_steps(self._steps, seen, self._clock)
            report = Report([*report.said, *made.said], made.failure)
            return await self._tell(seen.view, seen.judgement, report, began)
        if isinstance(seen, Failure):
            report.failure = seen
        else:
            report.said.append(Said("CheckSpec", seen, self._clock.monotonic() - began))
        return await self._tell(await self._glimpse(cluster, seen), None, report, began)

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
        return await self._tell(View(cluster, self._clock.now()), None, report, began)

    async def _glimpse(self, cluster: EtcdCluster, why: Blocked | Failure) -> View:
        """Return what can be seen of a cluster that is not touched: a typo must blind nobody."""
        if isinstance(why, Blocked) and why.reason == SpecInvalid.reason:
            with suppress(Exception):  # such a spec may name nobody who could be asked
                return (await self._observer.look(cluster)).view
        return View(cluster, self._clock.now())

    async def _see_off(
        self, cluster: EtcdCluster, kept: Outcome, report: Report, began: float
    ) -> Outcome:
        """Do nothing more: what it owns goes with it, and so do volumes that are tied to it."""
        if not isinstance(kept, Blocked):
            return kept
        return await self._tell(View(cluster, self._clock.now()), None, report, began)

    async def _look(self, cluster: EtcdCluster) -> Seen | Blocked | Failure:
        """Return the cluster as it is, or why it cannot be touched."""
        if found := self._observer.problems(cluster):
            words = "; ".join(map(str, found))
            return Blocked("SpecInvalid", words, found[0].hint or "mend the spec")
        try:
            seen = await self._observer.look(cluster)
            seen.judgement  # noqa: B018 - judged here, where a bug in judging is told
            return seen  # noqa: TRY300
        except (SecretMissing, SpecInvalid, UsageError) as error:
            return Blocked(error.reason, error.message, error.hint)
        except ApiError as error:
            if (refused := refusal("what the spec names must be readable", error)) is None:
                raise
            return refused
        except (PeerError, NotLeader):
            raise
        except Exception as error:  # noqa: BLE001 - a bug must reach the status, and is raised then
            return Failure("Look", error)

    async def _tell(
        self, view: View, judgement: Judgement | None, report: Report, began: float
    ) -> Outcome:
        metadata = view.cluster.metadata
        subject = Subject(CONTROLLER, metadata.key, metadata.uid, metadata.generation)
        about = ObjectReference.of(ETCD_CLUSTERS, metadata)
        await self._voices.teller.tell(subject, about, report, began=began)
        self._voices.metrics.saw(view)
        said = report.words
        status = status_of(view, said, judgement.refusals if judgement else ())
        move = judgement.move if judgement is not None else None
        made = dict(said).get(MakeNextMove.name, DONE)
        if move is not None:
            status = noting(status, view, move, made)
        if move is not None and isinstance(move, Act) and was_made(move, made):
            self._voices.metrics.moved(metadata.key, move.name)
        if report.failure is not None:
            await self._write_anyway(view, status, report.failure.error)
            raise report.failure.error
        if not isinstance(move, SaveSurvivor) or not was_made(move, made):
            await self._write_status(view, status)  # that one writes it itself, and wakes us
        return _looked_at_again(report.outcome)

    async def _write_anyway(self, view: View, status: EtcdClusterStatus, error: Exception) -> None:
        """Write the status after a failure, which matters more than one in writing about it."""
        if isinstance(error, NotLeader | Conflict):
            return  # another one tells, or we look again at once
        with suppress(PeerError, NotLeader):
            await self._write_status(view, status)

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
    """Look again soon at what a person must mend: nothing else tells us when."""
    if isinstance(outcome, Blocked):
        return Retry(_BLOCKED_AGAIN, outcome.reason, outcome.message)
    return outcome
