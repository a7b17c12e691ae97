"""The claims of a cluster's members, also those whose labels somebody took off.

We watch by label alone. A claim that is not watched any more would never be deleted, and a member
that joins anew would crash on its old data for ever: so where a pod is seen without its claim, the
claim is asked for.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass

from stateward.etcd.caches import INSTANCE, of_cluster
from stateward.etcd.model import names
from stateward.etcd.model.view import ClaimSeen
from stateward.etcd.objects import Getter
from stateward.etcd.reading import claim_seen, holds_data_of
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.objects.storage import PersistentVolumeClaim
from stateward.kube.resources import VOLUME_CLAIMS
from stateward.runtime.cache import Cache


@dataclass(frozen=True, slots=True)
class Volumes:
    """Finds claims: in the cache, or past it."""

    cache: Cache[PersistentVolumeClaim]
    client: Getter

    def watched(self, cluster: ObjectMeta, template: str) -> dict[int, ClaimSeen]:
        """Return the claims that were made from a template and are labelled as the cluster's."""
        found = {}
        for claim in of_cluster(self.cache, cluster.key):
            ordinal = names.ordinal_of(f"{template}-{cluster.name}", claim.metadata.name)
            if ordinal is not None:
                found[ordinal] = claim_seen(claim, ordinal, cluster.name)
        return found

    async def strays(
        self,
        cluster: ObjectMeta,
        template: str,
        ordinals: Iterable[int],
        joining: Container[int] = (),
    ) -> dict[int, ClaimSeen]:
        """Return the claims of some ordinals that are the cluster's and are not watched.

        Of those that are about to join, also claims that are nobody's: their pods would start on
        them.
        """
        found = {}
        for ordinal in ordinals:
            key = _key(cluster, template, ordinal)
            try:
                claim = self.cache.get(key) or await self.client.get(VOLUME_CLAIMS, key)
            except NotFound:
                continue
            seen = claim_seen(claim, ordinal, cluster.name)
            # One that goes with an earlier cluster of this name is under a pod that we took over.
            if ordinal in joining or holds_data_of(claim, cluster.uid) or seen.owner_uid:
                found[ordinal] = seen
        return found

    def taken(self, cluster: ObjectMeta, template: str, ordinals: Iterable[int]) -> Iterator[str]:
        """Yield the claims that a member would take and that hold another cluster's data."""
        for ordinal in ordinals:
            found = self.cache.get(_key(cluster, template, ordinal))
            if found is None or holds_data_of(found, cluster.uid):
                continue
            if found.metadata.labels.get(INSTANCE) != cluster.name:
                yield found.metadata.name


def _key(cluster: ObjectMeta, template: str, ordinal: int) -> ObjectKey:
    return ObjectKey(cluster.namespace, f"{template}-{names.pod_name(cluster.name, ordinal)}")
