"""Writes what a pod's status is: only what changed, and again until the server took it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from stateward.core.errors import StatewardError
from stateward.kube.client import Client, MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import Conflict, NotFound
from stateward.kube.meta import is_newer
from stateward.kube.resources import PODS
from stateward.local.agent.life.status import changes
from stateward.local.documents import Document, loosely

_PODS = loosely(PODS)


class Reporter:
    """Writes the status of one pod."""

    def __init__(self, client: Client, pod: Document, status: Callable[[Document], Json]) -> None:
        #: The newest version of the pod that we know.
        self.pod = pod
        self._client = client
        self._status = status
        self._dirty = asyncio.Event()
        self._is_closed = False
        self._log = structlog.get_logger("agent").bind(pod=str(pod.metadata.key))

    def take_in(self, pod: Document) -> None:
        """Take in a version of the pod, unless we know a newer one."""
        mine = self.pod.metadata.resource_version
        if is_newer(pod.metadata.resource_version, than=mine):
            self.pod = pod
            self.changed()

    def changed(self) -> None:
        """Take in that there may be something to write."""
        self._dirty.set()

    def close(self) -> None:
        """Write nothing more."""
        self._is_closed = True

    async def run(self, may_write: asyncio.Event, rest: Callable[[int], Awaitable[None]]) -> None:
        """Write whenever something changed, until cancelled."""
        failures = 0
        while not self._is_closed:
            await self._dirty.wait()
            await may_write.wait()
            self._dirty.clear()
            try:
                await self.write()
                failures = 0
            except StatewardError as error:
                failures += 1
                self._dirty.set()
                self._log.info("status not written", error=error.sentence())
                await rest(failures)

    async def write(self) -> None:
        """Write once what is different; a pod that is gone needs no status."""
        body = changes(self.pod.status, self._status(self.pod))
        if not body or self._is_closed:
            return
        meta = self.pod.metadata
        named = {"uid": meta.uid, "resourceVersion": meta.resource_version}
        patch = MergePatch({"metadata": named, "status": body})
        try:
            self.pod = await self._client.patch(_PODS, meta.key, patch, subresource="status")
        except NotFound:
            self._is_closed = True
        except Conflict:
            await self._look()

    async def is_let_go(self) -> bool:
        """Tell the server that nothing runs any more and have the object go; False: ask again."""
        meta = self.pod.metadata
        is_held = meta.deletion_grace_period_seconds == 0 and meta.finalizers
        try:
            await self.write()
            if not is_held:
                await self._client.delete(PODS, meta.key, uid=meta.uid, grace_seconds=0)
        except (NotFound, Conflict):
            return True
        except StatewardError as error:
            self._log.warning("pod not let go", error=error.sentence())
            return False
        return True

    async def _look(self) -> None:
        """See who was faster, and have it written again."""
        try:
            found = await self._client.get(_PODS, self.pod.metadata.key)
        except NotFound:
            self._is_closed = True
            return
        if found.metadata.uid == self.pod.metadata.uid:
            self.pod = found
            self.changed()
        else:
            self._is_closed = True
