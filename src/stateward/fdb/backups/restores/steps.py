"""The steps of a pass over a restore: on record first, then begun; ended with its object."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from stateward.core import moments
from stateward.core.clock import Clock
from stateward.core.errors import PeerError
from stateward.core.outcome import DONE, Blocked, Outcome
from stateward.fdb.admin.backups.ports import RestoreAdmin
from stateward.fdb.admin.errors import DatabaseRefused
from stateward.fdb.api.backups import urls
from stateward.fdb.api.backups.kinds import RESTORES
from stateward.fdb.api.backups.restore import FoundationDBRestoreSpec
from stateward.fdb.api.backups.stores import knobs
from stateward.fdb.backups.acting import Acting
from stateward.fdb.backups.caches import destination_of
from stateward.fdb.backups.refusals import refused
from stateward.fdb.backups.restores.seen import RestoreSeen
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.decide.backups import backing, restoring
from stateward.fdb.decide.backups.views import Abort, Begin, Clear, LetGo, Note
from stateward.fdb.model.backups import KeyRange, RestoreOrder
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json

#: What a database says of a place in which there is not what spec asks for.
_ELSEWHERE: Final = ("BackupMissing", "VersionNotRestorable")
_FOLDER: Final = (
    "a spec.fileURL must be the folder that starting the backup made, beneath that of its"
    " FoundationDBBackup, whose status.backupDetails.url has it"
)


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
            "clusterName": destination_of(seen.restore).name,
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
        ask = seen.admin.start
        found = await self._acting.order(RESTORES, seen.restore, said, ask, order)
        is_full = isinstance(found, Blocked) and found.reason == "DestinationNotEmpty"
        if not is_full or not restoring.may_clear(seen.view):
            return _placed(found, order)
        version = await _possible(seen.admin, order)
        if not isinstance(version, int):
            return version
        at = moments.to_rfc3339(self._clock.now())
        noted = {"at": at, "done": False, "version": version, "url": urls.bare(order.url)}
        await self._write(seen, {"clearing": noted})
        return done("ClearingNoted", "that keys are to be cleared before is on record")

    async def _clear(self, seen: RestoreSeen) -> Outcome:
        """Take keys away, by a transaction that does so once, if they can be brought back."""
        if seen.clearing is None or seen.admin is None:
            return backing.UNREACHED
        try:
            order = _order(seen)
        except ValueError as error:
            return Blocked("SpecInvalid", f"spec must be possible: {error}", "mend the spec")
        version = await _possible(seen.admin, order)
        if not isinstance(version, int):
            return version
        tag, ranges = seen.view.tag, _ranges(seen)
        what = f"of {len(ranges)} ranges" if ranges else "of users"
        said = "KeysCleared", f"all keys {what} are cleared, before {tag} is begun"
        ask = seen.clearing.clear
        return await self._acting.order(RESTORES, seen.restore, said, ask, tag, ranges)


async def _possible(admin: RestoreAdmin, order: RestoreOrder) -> int | Outcome:
    """Return to which version it can be restored; or why that is impossible, or unknown."""
    what = "no key is cleared before it is sure that the backup can be restored"
    try:
        return await admin.rehearse(order)
    except DatabaseRefused as error:
        return _placed(refused(what, error), order)
    except PeerError as error:
        return trouble(what, error)


def _placed(outcome: Outcome, order: RestoreOrder) -> Outcome:
    """Say where there must be a backup: the database only says that there is none, or no such."""
    if not isinstance(outcome, Blocked) or outcome.reason not in _ELSEWHERE:
        return outcome
    what = "there must be a backup"
    if outcome.reason == "VersionNotRestorable":
        version = "" if order.version is None else f" to version {order.version}"
        what += f" that can be restored{version}"
    words = f"{what} at {urls.shown(order.url)}: {outcome.message}"
    hint = f"{_FOLDER}; {outcome.hint}" if urls.is_file(order.url) else outcome.hint
    return replace(outcome, message=words, hint=hint)


def _order(seen: RestoreSeen) -> RestoreOrder:
    """Return what to restore; what keys are cleared for is a version from before that."""
    spec, pinned = seen.restore.spec, seen.view.record.clearing_version
    return RestoreOrder(
        seen.view.tag,
        seen.view.url,
        pinned if spec.backup_version is None else spec.backup_version,
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
