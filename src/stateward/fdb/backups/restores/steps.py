"""The steps of a pass over a restore: on record first, then begun; ended with its object."""

from __future__ import annotations

from stateward.core import moments
from stateward.core.clock import Clock
from stateward.core.outcome import DONE, Blocked, Outcome
from stateward.fdb.api.backups.kinds import RESTORES
from stateward.fdb.api.backups.restore import FoundationDBRestoreSpec
from stateward.fdb.api.backups.stores import knobs
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.restores.seen import RestoreSeen
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.decide.backups import backing, restoring
from stateward.fdb.decide.backups.views import Abort, Begin, Clear, LetGo, Note
from stateward.fdb.model.backups import KeyRange, RestoreOrder
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json


class HoldRestore:
    """Has its deletion wait until it does not go on."""

    name = "HoldRestore"

    def __init__(self, acting: Acting) -> None:
        self._acting = acting

    async def run(self, seen: RestoreSeen) -> Outcome:
        """Put the finalizer on before it is begun; take it off once it is over."""
        record = seen.view.record
        held = not record.is_over and not record.is_foreign
        return await self._acting.hold(RESTORES, seen.restore, held=held) or DONE


class StartRestore:
    """Begins it, once."""

    name = "StartRestore"

    def __init__(self, acting: Acting, clock: Clock) -> None:
        self._acting = acting
        self._clock = clock

    async def run(self, seen: RestoreSeen) -> Outcome:
        """Put it on record, or begin it."""
        found = restoring.restoring(seen.view)
        match found:
            case Note():
                await self._record(seen)
                return done("RestoreNoted", "that it is to be begun is on record")
            case Clear():
                return await self._clear(seen)
            case Begin():
                return await self._begin(seen)
            case _:
                return found

    async def _record(self, seen: RestoreSeen) -> None:
        begun = {
            "clusterUID": seen.view.cluster_uid,
            "at": moments.to_rfc3339(self._clock.now()),
            "generation": seen.restore.metadata.generation,
        }
        await self._write(seen, {"begun": begun, "tag": seen.view.tag})

    async def _write(self, seen: RestoreSeen, status: Json) -> None:
        metadata = seen.restore.metadata
        body = {
            "metadata": {"uid": metadata.uid, "resourceVersion": metadata.resource_version},
            "status": status,
        }
        client = self._acting.client
        await client.patch(RESTORES, metadata.key, MergePatch(body), subresource="status")

    async def _begin(self, seen: RestoreSeen) -> Outcome:
        if seen.admin is None:
            return backing.UNREACHED
        try:
            order = _order(seen)
        except ValueError as error:
            return Blocked("SpecInvalid", f"spec must be possible: {error}", "mend the spec")
        said = "RestoreBegun", f"restore {seen.view.tag} is begun"
        found = await self._acting.order(RESTORES, seen.restore, said, seen.admin.start, order)
        is_full = isinstance(found, Blocked) and found.reason == "DestinationNotEmpty"
        if is_full and restoring.may_clear(seen.view):
            at = moments.to_rfc3339(self._clock.now())
            await self._write(seen, {"clearing": {"at": at, "done": False}})
            return done("ClearingNoted", "that keys are to be cleared before is on record")
        return found

    async def _clear(self, seen: RestoreSeen) -> Outcome:
        """Take keys away, by a transaction that does so once."""
        if seen.clearing is None:
            return backing.UNREACHED
        tag, ranges = seen.view.tag, _ranges(seen)
        what = f"of {len(ranges)} ranges" if ranges else "of users"
        said = "KeysCleared", f"all keys {what} are cleared, before {tag} is begun"
        ask = seen.clearing.clear
        return await self._acting.order(RESTORES, seen.restore, said, ask, tag, ranges)


def _order(seen: RestoreSeen) -> RestoreOrder:
    spec = seen.restore.spec
    return RestoreOrder(
        seen.view.tag,
        seen.view.url,
        spec.backup_version,
        _ranges(seen),
        parameters=tuple(_parameters(spec)),
    )


def _ranges(seen: RestoreSeen) -> tuple[KeyRange, ...]:
    return tuple(KeyRange.parse(it.start, it.end) for it in seen.restore.spec.key_ranges)


def _parameters(spec: FoundationDBRestoreSpec) -> list[str]:
    key = spec.encryption_key_path
    return [*(["--encryption-key-file", key] if key else []), *knobs(spec.custom_parameters)]


class LeaveRestore:
    """Ends what goes on, and lets the object go."""

    name = "LeaveRestore"

    def __init__(self, acting: Acting) -> None:
        self._acting = acting

    async def run(self, seen: RestoreSeen) -> Outcome:
        """Do the next thing."""
        found = restoring.leaving(seen.view)
        match found:
            case LetGo():
                return await self._acting.hold(RESTORES, seen.restore, held=False) or DONE
            case Abort():
                return await self._abort(seen)
            case _:
                return found

    async def _abort(self, seen: RestoreSeen) -> Outcome:
        if seen.admin is None:
            return backing.UNREACHED
        tag, ask = seen.view.tag, seen.admin.abort
        said = "RestoreAborted", f"restore {tag} ends, and the database is unlocked"
        return await self._acting.order(RESTORES, seen.restore, said, ask, tag)
