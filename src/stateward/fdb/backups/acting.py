"""Acting for a backup or a restore: asked past the cache, as the leader, and told as it went."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from stateward.core.errors import PeerError
from stateward.core.outcome import Outcome
from stateward.fdb.admin.errors import DatabaseRefused
from stateward.fdb.backups.refusals import refused
from stateward.fdb.cluster.hands.intent import CHANGED, Getter
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.model.names import BACKUP_FINALIZER
from stateward.kube.client import Client, MergePatch
from stateward.kube.errors import Conflict, NotFound
from stateward.kube.meta import Object
from stateward.kube.resources import Resource

R = TypeVar("R")
#: Seconds for which the answer about an object counts.
_FRESH: Final = 5.0


class Changer(Protocol):
    """Who asks a database for a change only while we are sure to lead."""

    async def change(self, ask: Callable[..., Awaitable[R]], *arguments: Any) -> R:
        """Ask for it."""


@dataclass(frozen=True, slots=True)
class Acting:
    """A client of Kubernetes, and the fence before databases."""

    client: Client
    fence: Changer

    async def order(
        self,
        resource: Resource[Any],
        item: Object,
        said: tuple[str, str],
        ask: Callable[..., Awaitable[Any]],
        *arguments: Any,
    ) -> Outcome:
        """Ask a database for something that an object wants, if it still does; say what was done.

        What becomes of it, or whether it was done where no answer came, the next look tells.
        """
        reason, message = said
        try:
            if not await same(self.client, resource, item):
                return CHANGED
            await self.fence.change(ask, *arguments)
        except Conflict:
            raise
        except DatabaseRefused as error:
            return refused(message, error)
        except PeerError as error:
            return trouble(message, error)
        return done(reason, message, object=str(item.metadata.key))

    async def hold(self, resource: Resource[Any], item: Object, *, held: bool) -> Outcome | None:
        """Have the finalizer on it, or not; None: it is as it shall be."""
        there = item.metadata.finalizers
        if held is (BACKUP_FINALIZER in there):
            return None
        rest = [it for it in there if it != BACKUP_FINALIZER]
        metadata = item.metadata
        body = {
            "uid": metadata.uid,
            "resourceVersion": metadata.resource_version,
            "finalizers": [*rest, *([BACKUP_FINALIZER] if held else [])],
        }
        try:
            await self.client.patch(resource, metadata.key, MergePatch({"metadata": body}))
        except NotFound:
            return done("ObjectGone", "the object is gone")
        return done("Held" if held else "LetGo", _words(held=held), object=str(metadata.key))


def _words(*, held: bool) -> str:
    return "its deletion will wait for what is to end first" if held else "it may go"


async def same(client: Getter, resource: Resource[Any], item: Object) -> bool:
    """Tell whether an object is still the one that we judged by, as the server has it now.

    Who stood still while the answer came does not know what is so now.
    """
    time = asyncio.get_running_loop().time
    asked = time()
    try:
        live = await client.get(resource, item.metadata.key)
    except NotFound:
        return False
    if time() - asked > _FRESH:
        return False
    mine, theirs = item.metadata, live.metadata
    now = (theirs.uid, theirs.generation, theirs.deleting)
    return now == (mine.uid, mine.generation, mine.deleting)
