"""A desk at which one step is given a cluster in pictures, and what it asks of others is noted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import msgspec

from fakes.fdb_views import KEY, NOW
from stateward.core.chance import Chance
from stateward.core.errors import PeerError
from stateward.core.moments import to_rfc3339
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.kind import FoundationDBCluster, FoundationDBProcessGroup
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.cluster.book import Book
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.pipeline import steps
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.views import ClusterView, GroupView
from stateward.kube.meta import ObjectMeta
from stateward.runtime.pipeline import Step


@dataclass
class Desk:
    """Notes what a step asks of others, who all say yes; but for the lock, if it is so."""

    view: ClusterView
    is_ours: bool = True
    asked: list[str] = field(default_factory=list)
    turns: list[str] = field(default_factory=list)
    #: After which errors the lock was left to others.
    left: list[PeerError] = field(default_factory=list)
    #: What is told of the pass.
    book: Book = field(default_factory=Book)
    #: By the ids of groups: what their objects say of themselves.
    statuses: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: What time it is when something is asked for.
    at: float = NOW

    def __getattr__(self, verb: str) -> Callable[..., Awaitable[Any]]:
        async def ask(*_words: Any, **_more: Any) -> Any:
            self.asked.append(verb)
            return ConnectionString.parse("shop:new@10.0.0.1:4501")

        return ask

    async def get(self, *_words: Any) -> FoundationDBCluster:
        return self.cluster

    def keys(self, keys: Any) -> Any:
        return keys

    def now(self) -> float:
        return self.at

    async def change(self, ask: Callable[..., Awaitable[Any]], *words: Any) -> Any:
        return await ask(*words)

    async def take(self, _seen: Seen, purpose: str) -> Refusal | None:
        self.turns.append(purpose)
        return None if self.is_ours else Refusal("turn_is_ours", "it is somebody else's turn")

    def lapsed(self, _seen: Seen, _purpose: str) -> None:
        """A turn that is ours stays so."""

    async def leave(self, _seen: Seen, error: PeerError) -> None:
        self.left.append(error)

    @property
    def cluster(self) -> FoundationDBCluster:
        metadata = ObjectMeta(name=KEY.name, namespace=KEY.namespace, uid="u", generation=1)
        spec = FoundationDBClusterSpec(version="7.3.79")
        return FoundationDBCluster(metadata=metadata, spec=spec, status=self.view.status)

    def seen(self, *finalizers: str) -> Seen:
        groups = {
            it.name: _object(it, finalizers, self.statuses.get(str(it.id), {}))
            for it in self.view.groups
        }
        nothing = cast("Any", None)
        return Seen(
            self.cluster, self.view, groups, nothing, frozenset(), {}, None, None,
            cast("Any", self), book=self.book,
        )  # fmt: skip

    async def run(self, step: str, *finalizers: str) -> Any:
        return await self.step(step).run(self.seen(*finalizers))

    @property
    def tools(self) -> Tools:
        it = cast("Any", self)
        return Tools(client=it, turn=it, fence=it, chance=Chance(1, "steps"))

    def step(self, name: str) -> Step[Seen]:
        tools = self.tools
        for group in self.view.groups:  # what is proved was proved by us
            if group.proved_at is not None:
                tools.board.vouch(KEY, [group.uid], to_rfc3339(group.proved_at))
        return next(one for one in steps(tools) if one.name == name)


def _object(
    it: GroupView, finalizers: tuple[str, ...], status: dict[str, Any]
) -> FoundationDBProcessGroup:
    spec = {
        "clusterName": KEY.name,
        "processGroupID": str(it.id),
        "processClass": it.process_class,
        "exclusionTimestamp": None if it.proved_at is None else to_rfc3339(it.proved_at),
    }
    metadata = {
        "name": it.name,
        "namespace": KEY.namespace,
        "uid": it.uid,
        "finalizers": list(finalizers),
    }
    return msgspec.convert(
        {"metadata": metadata, "spec": spec, "status": status}, FoundationDBProcessGroup
    )


def with_condition(kind: Kind, name: str = "storage-1") -> Callable[[GroupView], GroupView]:
    return lambda it: replace(it, conditions={kind: NOW - 10}) if str(it.id) == name else it
