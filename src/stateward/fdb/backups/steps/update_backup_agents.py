"""UpdateBackupAgents: the Deployment of agents is as asked; at 0 there is none."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from stateward.core.errors import PeerError
from stateward.core.memory import Memory
from stateward.core.outcome import DONE, Blocked, Outcome, Wait
from stateward.fdb.api.backups.kinds import BACKUPS
from stateward.fdb.backups.acting import Acting, same
from stateward.fdb.backups.seen import BackupSeen
from stateward.fdb.build.backup_agents import WHOLE_DEPLOYMENTS, WholeDeployment, agents
from stateward.fdb.cluster.hands.applying import apply, create
from stateward.fdb.cluster.hands.intent import CHANGED
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import wrote
from stateward.fdb.model.names import agents_name
from stateward.kube import drift
from stateward.kube.codec import Json, plain
from stateward.kube.errors import AlreadyExists, Conflict, NotFound
from stateward.kube.meta import ObjectKey, ObjectMeta

#: Backups whose agents are kept in mind.
_LIMIT: Final = 1000
_ROLES: Final = "apply the operator's roles of this version: they have rights to deployments"


class UpdateBackupAgents:
    """Makes it, has it be as the spec says, and deletes it where no agents are asked for.

    Agents go on with what a backup is told, whatever is wrong with it; so the pass goes on, too.
    """

    name = "UpdateBackupAgents"

    def __init__(self, acting: Acting) -> None:
        self._acting = acting
        self._wanted: Memory[object, Json | None] = Memory(_LIMIT)
        #: What a deployment has become when we wrote it last: some servers change what we say.
        self._settled: Memory[tuple[str, int], bool] = Memory(_LIMIT)

    async def run(self, seen: BackupSeen) -> Outcome:
        """Write it, or delete it, where it differs."""
        if seen.view.holder:
            return DONE  # who may do nothing needs nobody to do it
        if seen.around is None:
            return DONE  # nothing says what agents would work for; UpdateBackupStatus tells
        if seen.deployments_unseen:
            words = f"deployments must be readable: {seen.deployments_unseen}"
            return Blocked("DeploymentsUnreadable", words, _ROLES)
        wanted = self.wanted(seen)
        try:
            if wanted is None:
                return await self._drop(seen)
            return await self._settle(seen, wanted)
        except Conflict:
            raise
        except PeerError as error:
            return trouble(f"deployment {_name(seen).name}", error)

    def wanted(self, seen: BackupSeen) -> Json | None:
        """Return what it shall be; None: there shall be none."""
        around = seen.around
        if around is None:
            return None
        backup = seen.backup
        asked = (backup.spec, around)
        uid = backup.metadata.uid
        return self._wanted.recall(uid, asked, lambda: agents(backup, around))

    def is_settled(self, seen: BackupSeen) -> bool:
        """Tell whether the deployment is as asked, as far as can be seen."""
        live = seen.deployment
        if seen.around is None or seen.deployments_unseen:
            return False
        wanted = self.wanted(seen)
        if wanted is None or live is None:
            return live is None and wanted is None
        return _is_ours(seen, live.metadata) and not self._differs(live, wanted)

    # ------------------------------------------------------------------ writing
    async def _settle(self, seen: BackupSeen, wanted: Json) -> Outcome:
        live = seen.deployment
        if live is None:
            return await self._make(seen, wanted)
        if (taken := _taken(seen, live.metadata)) is not None:
            return taken
        if not self._differs(live, wanted):
            return DONE
        if not await same(self._acting.client, BACKUPS, seen.backup):
            return CHANGED
        return await self._write(wanted, live.metadata)

    async def _make(self, seen: BackupSeen, wanted: Json) -> Outcome:
        # Who just started may see a spec of before, and would make what was deleted by the new one.
        if not await same(self._acting.client, BACKUPS, seen.backup):
            return CHANGED
        try:
            made = await create(self._acting.client, WHOLE_DEPLOYMENTS, wanted)
        except AlreadyExists:  # of somebody else, or without the labels by which we see ours
            return await self._adopt(seen, wanted)
        self._remember(made, wanted)
        wrote("the deployment of backup agents was made", name=made.name)
        return DONE

    async def _adopt(self, seen: BackupSeen, wanted: Json) -> Outcome:
        live = await self._acting.client.get(WHOLE_DEPLOYMENTS, _name(seen))
        return _taken(seen, live.metadata) or await self._write(wanted, live.metadata)

    async def _write(self, wanted: Json, live: ObjectMeta) -> Outcome:
        now = await apply(self._acting.client, WHOLE_DEPLOYMENTS, wanted, live)
        self._remember(now, wanted)
        wrote("the deployment of backup agents was written", name=live.name)
        return DONE

    async def _drop(self, seen: BackupSeen) -> Outcome:
        live = seen.deployment
        if live is None or live.metadata.deleting or not _is_ours(seen, live.metadata):
            return DONE
        if not await same(self._acting.client, BACKUPS, seen.backup):
            return CHANGED
        with suppress(NotFound):
            await self._acting.client.delete(
                WHOLE_DEPLOYMENTS, live.metadata.key, uid=live.metadata.uid
            )
            wrote("the deployment of backup agents was deleted", name=live.metadata.name)
        return DONE

    # ------------------------------------------------------------------ what others change
    def _differs(self, live: WholeDeployment, wanted: Json) -> bool:
        asked = (drift.seal_on(wanted), live.metadata.generation)
        if self._settled.kept(live.metadata.uid, asked):
            return False
        return drift.differs(plain(live), wanted)

    def _remember(self, now: ObjectMeta, wanted: Json) -> None:
        self._settled.keep(now.uid, (drift.seal_on(wanted), now.generation), answer=True)


def _name(seen: BackupSeen) -> ObjectKey:
    metadata = seen.backup.metadata
    return ObjectKey(metadata.namespace, agents_name(metadata.name))


def _is_ours(seen: BackupSeen, live: ObjectMeta) -> bool:
    owner = live.controller
    return owner is not None and owner.uid == seen.backup.metadata.uid


def _taken(seen: BackupSeen, live: ObjectMeta) -> Outcome | None:
    """Say so when a deployment of this name is not the backup's."""
    if live.deleting:
        return Wait("LeftoverLeaving", f"waiting for deployment {live.name} of before to go")
    if _is_ours(seen, live):
        return None
    return Blocked(
        "NameTaken",
        f"deployment {live.name} is there and is not this backup's",
        f"delete it: kubectl -n {live.namespace} delete deployment {live.name}; or give the backup"
        " another name",
    )
