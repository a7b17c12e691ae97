"""UpdateDetectionJob: with replacements, a CronJob looks for missing processes beside us."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from stateward.core.errors import PeerError
from stateward.core.memory import Memory
from stateward.core.outcome import DONE, Blocked, Done, Outcome, Wait
from stateward.fdb.api.checks.jobs import job_problems
from stateward.fdb.build.detection import WHOLE_CRON_JOBS, WholeCronJob, detection_job
from stateward.fdb.cluster.hands.applying import apply, create
from stateward.fdb.cluster.hands.intent import CHANGED, is_unchanged
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import wrote
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.model.names import detection_job_name
from stateward.kube import drift
from stateward.kube.codec import Json, plain
from stateward.kube.errors import AlreadyExists, Conflict, NotFound
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.patch import PatchError

#: Clusters whose jobs are kept in mind.
_LIMIT: Final = 1000
_ROLES: Final = "apply the operator's roles of this version, or do without enabled replacements"


class UpdateDetectionJob:
    """Makes it, has it be as the spec says, and deletes it once replacements are not enabled.

    Nothing follows from it here, and we look by ourselves too: whatever is wrong with it, the pass
    goes on.
    """

    name = "UpdateDetectionJob"

    def __init__(self, tools: Tools) -> None:
        self._client = tools.client
        self._detector = tools.detector
        self._wanted: Memory[object, Json | Blocked | None] = Memory(_LIMIT)
        #: What a job has become when we wrote it last: some servers change what we say.
        self._settled: dict[str, tuple[str, int]] = {}

    async def run(self, seen: Seen) -> Outcome:
        """Write it, or delete it, where it differs; note whether it is as asked then."""
        found = await self._run(seen)
        if found != CHANGED:  # else nobody looked: the spec is another one by now
            seen.book.job_differs = not isinstance(found, Done)
        return found

    async def _run(self, seen: Seen) -> Outcome:
        wanted = self._wanted.recall(seen.wanted.uid, seen.wanted, lambda: self._judged(seen))
        if isinstance(wanted, Blocked):
            return wanted
        if seen.jobs_unseen and (wanted is not None or seen.detection_job is not None):
            words = f"cron jobs must be readable, and nothing else waits for it: {seen.jobs_unseen}"
            return Blocked("JobsUnreadable", words, _ROLES)
        try:
            if wanted is None:
                return await self._drop(seen)
            return await self._settle(seen, wanted)
        except Conflict:
            raise
        except PeerError as error:
            return trouble(f"cron job {detection_job_name(seen.wanted.name)}", error)

    def _judged(self, seen: Seen) -> Json | Blocked | None:
        """Return what it shall be; None: there shall be none."""
        options = seen.wanted.spec.automation_options.replacements
        if options.enabled and (found := tuple(job_problems(seen.wanted.spec))):
            words = "; ".join(map(str, found))
            return Blocked("JobInvalid", words, found[0].hint or "mend the spec")
        try:
            made = detection_job(seen.wanted, self._detector)
        except PatchError as error:
            words = f"automationOptions.replacements.cronJob.spec cannot be laid over it: {error}"
            return Blocked("JobInvalid", words, "mend the spec")
        if made is None and options.enabled and options.cron_job is not None:
            return Blocked(
                "JobImageUnknown",
                "the job that looks for missing processes must have an image, and the operator"
                " was not told its own",
                "start the operator with --image, or name one in automationOptions.replacements"
                ".cronJob.spec.jobTemplate.spec.template.spec.containers",
            )
        return made

    # ------------------------------------------------------------------ writing
    async def _settle(self, seen: Seen, wanted: Json) -> Outcome:
        live = seen.detection_job
        if live is None:
            return await self._make(seen, wanted)
        if (taken := _taken(seen, live.metadata)) is not None:
            return taken
        if not drift.differs(plain(live), wanted) or self._is_settled(live.metadata, wanted):
            return DONE
        return await self._write(wanted, live.metadata)

    async def _make(self, seen: Seen, wanted: Json) -> Outcome:
        # Who just started may see a spec of before, and would make what was deleted by the new one.
        if not await is_unchanged(self._client, seen.cluster):
            return CHANGED
        try:
            made = await create(self._client, WHOLE_CRON_JOBS, wanted)
        except AlreadyExists:  # of somebody else, or without the labels by which we see ours
            return await self._adopt(seen, wanted)
        self._remember(made, wanted)
        wrote("the job that looks for missing processes was made", name=made.name)
        return DONE

    async def _adopt(self, seen: Seen, wanted: Json) -> Outcome:
        key = ObjectKey(wanted["metadata"]["namespace"], wanted["metadata"]["name"])
        live: WholeCronJob = await self._client.get(WHOLE_CRON_JOBS, key)
        return _taken(seen, live.metadata) or await self._write(wanted, live.metadata)

    async def _write(self, wanted: Json, live: ObjectMeta) -> Outcome:
        now = await apply(self._client, WHOLE_CRON_JOBS, wanted, live)
        self._remember(now, wanted)
        wrote("the job that looks for missing processes was written", name=live.name)
        return DONE

    async def _drop(self, seen: Seen) -> Outcome:
        live = seen.detection_job
        if live is None or live.metadata.deleting or not _is_ours(seen, live.metadata):
            return DONE
        if not await is_unchanged(self._client, seen.cluster):
            return CHANGED
        with suppress(NotFound):
            await self._client.delete(WHOLE_CRON_JOBS, live.metadata.key, uid=live.metadata.uid)
            wrote("the job that looks for missing processes was deleted", name=live.metadata.name)
        self._settled.pop(live.metadata.uid, None)
        return DONE

    # ------------------------------------------------------------------ what others change
    def _remember(self, now: ObjectMeta, wanted: Json) -> None:
        while len(self._settled) >= _LIMIT:
            del self._settled[next(iter(self._settled))]
        self._settled[now.uid] = (drift.seal_on(wanted), now.generation)

    def _is_settled(self, now: ObjectMeta, wanted: Json) -> bool:
        """Tell whether it is what became of this very document: it would become that again."""
        return self._settled.get(now.uid) == (drift.seal_on(wanted), now.generation)


def _is_ours(seen: Seen, live: ObjectMeta) -> bool:
    owner = live.controller
    return owner is not None and owner.uid == seen.cluster.metadata.uid


def _taken(seen: Seen, live: ObjectMeta) -> Outcome | None:
    """Say so when a job of this name is not the cluster's."""
    if live.deleting:
        return Wait("LeftoverLeaving", f"waiting for cron job {live.name} of before to go")
    if _is_ours(seen, live):
        return None
    return Blocked(
        "NameTaken",
        f"cron job {live.name} is there and is not this cluster's",
        f"delete it: kubectl -n {live.namespace} delete cronjob {live.name}; or give the cluster"
        " another name",
    )
