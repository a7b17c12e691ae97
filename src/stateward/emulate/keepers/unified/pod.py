"""The launcher's own pod: annotations that it reads, and annotations that it writes.

Without credentials, or without knowing which pod it is, a launcher goes on and nobody is told.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Protocol, TypeVar

from stateward.core.clock import Clock
from stateward.core.errors import PeerError
from stateward.emulate.keepers.unified.logs import Log
from stateward.kube.client import (
    EVERYTHING,
    Apply,
    Change,
    Listing,
    Malformed,
    Patch,
    Read,
    Selection,
    WatchEvent,
)
from stateward.kube.errors import Gone, NotFound
from stateward.kube.meta import Object, ObjectKey, ObjectMeta
from stateward.kube.resources import NODES, PODS, Resource

T = TypeVar("T", bound=Object)

CONFIGURATION = "foundationdb.org/launcher-current-configuration"
ENVIRONMENT = "foundationdb.org/launcher-environment"
CLUSTER_FILE = "foundationdb.org/cluster-file-change"
OUTDATED = "foundationdb.org/outdated-config-map-seen"
ISOLATED = "foundationdb.org/isolate-process-group"
DELAY = "foundationdb.org/delay-shutdown"

MANAGER = "fdb-kubernetes-monitor"

#: Seconds between tries, at first and at most.
_PAUSE, _LONGEST_PAUSE = 0.5, 30.0


class Kubernetes(Protocol):
    """The calls that are needed."""

    async def get(self, resource: Resource[T], key: ObjectKey) -> T:
        """Return an object."""

    async def list(
        self, resource: Resource[T], selection: Selection = EVERYTHING, *, read: Read = Read.QUORUM
    ) -> Listing[T]:
        """Return objects, and since when to watch them."""

    def watch(
        self, resource: Resource[T], selection: Selection = EVERYTHING, *, since: str
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Yield what changes."""

    async def patch(
        self,
        resource: Resource[T],
        key: ObjectKey,
        patch: Patch,
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> T:
        """Change an object."""


class OwnPod:
    """One pod, in which we are."""

    def __init__(self, client: Kubernetes, key: ObjectKey, clock: Clock, log: Log) -> None:
        self._client = client
        self._key = key
        self._clock = clock
        self._log = log
        self._uid = ""
        self._wanted: dict[str, str] = {}
        self._wake = asyncio.Event()

    def publish(self, annotations: Mapping[str, str]) -> None:
        """Have annotations written, soon; those that were written before stay."""
        self._wanted |= annotations
        self._wake.set()

    async def publishing(self) -> None:
        """Write what is to be written, again and again until it is; never ends."""
        pause = _PAUSE
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._write()
            except NotFound as error:
                self._log.trouble("the pod is gone, its annotations stay as they are", error)
            except PeerError as error:
                self._log.trouble("annotations of the pod are not written", error)
                await self._clock.sleep(pause)
                pause = min(_LONGEST_PAUSE, 2 * pause)
                self._wake.set()
            else:
                pause = _PAUSE

    async def following(self, seen: Callable[[Mapping[str, str]], None]) -> None:
        """Tell all annotations of the pod whenever they may have changed; never ends."""
        pause = _PAUSE
        while True:
            try:
                await self._follow(seen)
                pause = _PAUSE
            except Gone:
                pause = _PAUSE
            except PeerError as error:
                self._log.trouble("the pod is not watched", error)
                pause = min(_LONGEST_PAUSE, 2 * pause)
            await self._clock.sleep(pause)

    async def node_labels(self) -> dict[str, str]:
        """Return the labels of the node that the pod is on; none when it cannot be asked."""
        try:
            pod = await self._client.get(PODS, self._key)
            node = await self._client.get(NODES, ObjectKey("", pod.spec.node_name))
        except PeerError as error:
            self._log.trouble("the labels of the node are not known", error)
            return {}
        return dict(node.metadata.labels)

    async def _write(self) -> None:
        """Apply the annotations; the UID keeps that from making a pod where there is none."""
        if not self._uid:
            self._uid = (await self._client.get(PODS, self._key)).metadata.uid
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": self._key.name,
                "namespace": self._key.namespace,
                "uid": self._uid,
                "annotations": dict(self._wanted),
            },
        }
        await self._client.patch(PODS, self._key, Apply(body, MANAGER, force=True))

    async def _follow(self, seen: Callable[[Mapping[str, str]], None]) -> None:
        ours = Selection(self._key.namespace, fields=f"metadata.name={self._key.name}")
        listing = await self._client.list(PODS, ours)
        for pod in listing.items:
            seen(pod.metadata.annotations)
        async for event in self._client.watch(PODS, ours, since=listing.revision):
            if event.change is not Change.BOOKMARK:
                seen(_metadata(event.object).annotations)


def _metadata(it: Object | Malformed) -> ObjectMeta:
    return it.metadata


def is_true(text: str) -> bool:
    """Tell whether an annotation says yes, in any of the words that Go reads.

    >>> is_true("True"), is_true("1"), is_true("yes")
    (True, True, False)
    """
    return text in {"1", "t", "T", "true", "TRUE", "True"}


def label_variable(name: str) -> str:
    """Return the variable in which a label of the node is found.

    >>> label_variable("topology.kubernetes.io/zone")
    'NODE_LABEL_TOPOLOGY_KUBERNETES_IO_ZONE'
    """
    return "NODE_LABEL_" + "".join(it if it.isalnum() else "_" for it in name).upper()
