"""One EtcdCluster on the stage: what its user does to it, what befalls it, and who writes to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from stateward.app.demo.kills import NOBODY, Strike
from stateward.app.demo.picture import Picture, healed
from stateward.app.demo.stage import NAMESPACE, Stage
from stateward.app.etcd.writer import Writer
from stateward.core.errors import UsageError
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.etcd.members.port import Endpoint, MemberApi
from stateward.etcd.model.names import CLIENT_PORT
from stateward.kube.client import MergePatch, Selection
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS

#: How long a member may be away until it is replaced: short, for an audience that waits.
GRACE = "10s"
#: Seconds for which the addresses of pods are not asked for again.
_FRESH = 0.2


@dataclass(slots=True)
class Play:
    """A cluster by its name, and the writer that never stops."""

    stage: Stage
    name: str
    writer: Writer = field(init=False)
    _doors: tuple[MemberApi, ...] = ()
    _looked: float = float("-inf")

    def __post_init__(self) -> None:
        self.writer = Writer(self._members, self.stage.ports.clock)

    @property
    def key(self) -> ObjectKey:
        """Where the cluster is."""
        return ObjectKey(NAMESPACE, self.name)

    def picture(self) -> Picture:
        """Return what there is to see now."""
        return self.stage.picture(self.key)

    # ------------------------------------------------------------------ what its user does

    async def create(self, **spec: Any) -> None:
        """Ask for the cluster, of the etcd that this machine shows things with."""
        usual = {"version": str(self.stage.etcd.version), "unhealthyMemberGracePeriod": GRACE}
        metadata = {"namespace": self.key.namespace, "name": self.key.name}
        await self.stage.client.create(ETCD_CLUSTERS, {"metadata": metadata, "spec": usual | spec})

    async def edit(self, **spec: Any) -> None:
        """Change what the cluster is asked to be."""
        await self.stage.client.patch(ETCD_CLUSTERS, self.key, MergePatch({"spec": spec}))

    async def delete(self) -> None:
        """Delete the cluster."""
        found = await self.stage.client.get(ETCD_CLUSTERS, self.key)
        await self.stage.client.delete(ETCD_CLUSTERS, self.key, uid=found.metadata.uid)

    # ------------------------------------------------------------------ what befalls it

    def kill(self, pod: str) -> None:
        """Kill the process of a member, as a crash would; raise UsageError when there is none."""
        self.stage.cluster.agent.faults.kill(ObjectKey(NAMESPACE, pod))

    def strike(self, pick: int) -> Strike:
        """Kill one of the members that run, if any; return whom, and how it is back."""
        before = self.picture()
        names = before.running()
        if not names:
            return NOBODY
        name = names[pick % len(names)]
        try:
            self.kill(name)
        except UsageError:  # its node is done with it
            return NOBODY
        return Strike(name, healed(before, name))

    async def wipe(self, pod: str) -> None:
        """Take all data of a member away and kill it, as a disk that dies would."""
        await self.stage.cluster.agent.faults.wipe(ObjectKey(NAMESPACE, f"data-{pod}"))
        self.kill(pod)

    def pull_cable(self) -> str:
        """Cut the operator that leads off; return who it was."""
        leads = self.picture().operator
        self.stage.cables[leads].pull()
        return leads

    # ------------------------------------------------------------------ who writes to it

    @asynccontextmanager
    async def writing(self) -> AsyncGenerator[None, None]:
        """Have the writer at work for the length of a block."""
        self.writer.rest()
        task = asyncio.create_task(self.writer.run(), name="the writer")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            self.writer.rest()

    def _members(self) -> Sequence[MemberApi]:
        """Return the members by the addresses of their pods, those that serve first."""
        now = self.stage.ports.clock.monotonic()
        if now - self._looked >= _FRESH:
            self._looked = now
            ours = Selection(NAMESPACE, labels=f"app.kubernetes.io/instance={self.name}")
            stored = self.stage.cluster.api.list(PODS, ours).items
            pods = sorted((PODS.read(it.text) for it in stored), key=lambda it: not it.ready)
            dial = self.stage.dialer.dial
            self._doors = tuple(
                dial(Endpoint(it.status.pod_ip, CLIENT_PORT)) for it in pods if it.status.pod_ip
            )
        return self._doors
