"""Does the user still want this? Asked past the cache, right before something is taken away."""

from __future__ import annotations

from typing import Protocol, TypeVar

from stateward.core.outcome import Stop
from stateward.fdb.api.kind import CLUSTERS, FoundationDBCluster
from stateward.kube.errors import NotFound
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import Resource

T = TypeVar("T", bound=Object)
#: The spec is another now: look again, at once.
CHANGED = Stop(0.5, "SpecChanged", "the spec was changed meanwhile; looking at it anew")


class Getter(Protocol):
    """The one call that is needed to look past a cache."""

    async def get(self, resource: Resource[T], key: ObjectKey) -> T:
        """Return the object as it is now."""


async def is_unchanged(client: Getter, cluster: FoundationDBCluster) -> bool:
    """Tell whether the cluster is the one we looked at, with the spec that we judged by."""
    try:
        live = await client.get(CLUSTERS, cluster.metadata.key)
    except NotFound:
        return False
    mine = cluster.metadata
    same = (live.metadata.uid, live.metadata.generation) == (mine.uid, mine.generation)
    return same and not live.metadata.deleting
