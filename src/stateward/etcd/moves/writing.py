"""Writing objects as we want them, by server-side apply, and only where they differ."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

from stateward.core.errors import PeerError
from stateward.core.outcome import DONE, Blocked, Outcome, Retry, Wait
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.build.config import TOKEN
from stateward.etcd.build.documents import Wanted
from stateward.etcd.model.names import CLUSTER_UID_LABEL, FIELD_MANAGER
from stateward.etcd.moves.refused import refusal
from stateward.etcd.objects import Whole
from stateward.etcd.seen import Seen
from stateward.kube import drift
from stateward.kube.client import Apply, Client
from stateward.kube.codec import Json, plain
from stateward.kube.errors import ApiError, Conflict, NotFound
from stateward.kube.meta import Object, ObjectKey, ObjectMeta
from stateward.kube.resources import Resource

#: Seconds until an object is written again that a peer in trouble did not take.
_TROUBLED = 2.0
#: Objects of which we remember that writing them once more changes nothing.
_REMEMBERED = 10_000


class Applier:
    """Applies documents; what a server will not have as we say is not written again and again."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._settled: OrderedDict[str, tuple[str, str]] = OrderedDict()

    def differs(self, live: Object, wanted: Json) -> bool:
        """Tell whether writing a document would change an object, as far as we know."""
        metadata = live.metadata
        as_it_is = (drift.seal_of(wanted), metadata.resource_version)
        if self._settled.get(metadata.uid) == as_it_is:
            return False
        if drift.differs(plain(live), wanted):
            return True
        self._settle(metadata.uid, as_it_is)
        return False

    async def apply(
        self, resource: Resource[Any], wanted: Json, *, seen: bool, compared: Json | None = None
    ) -> Outcome | None:
        """Write a document; say why not when somebody else's object has its name.

        ``compared`` is the part of it that :meth:`differs` is asked about; None: all of it.
        """
        metadata = wanted["metadata"]
        key = ObjectKey(metadata["namespace"], metadata["name"])
        ours = seen
        if not seen and (found := await self._found(resource, key)) is not None:
            if (taken := _taken(resource, found, wanted)) is not None:
                return taken
            ours = True  # somebody changed it so that we did not know it again
        try:
            patch = Apply(wanted, FIELD_MANAGER, force=ours)
            found = await self._client.patch(resource, key, patch)
        except Conflict as error:
            if ours:
                raise
            return _name_taken(resource, key, str(error))
        except ApiError as error:
            if (refused := refusal(f"{resource.kind} {key.name}", error)) is None:
                raise
            return refused
        written = found.metadata
        self._settle(written.uid, (drift.seal_of(compared or wanted), written.resource_version))
        return None

    async def _found(self, resource: Resource[Any], key: ObjectKey) -> Object | None:
        try:
            found: Object = await self._client.get(resource, key)
        except NotFound:
            return None
        return found

    def _settle(self, uid: str, as_it_is: tuple[str, str]) -> None:
        """Remember that an object in a version is all that a document can make of it."""
        self._settled[uid] = as_it_is
        self._settled.move_to_end(uid)
        if len(self._settled) > _REMEMBERED:
            self._settled.popitem(last=False)


def is_ours(found: ObjectMeta, uid: str) -> bool:
    """Tell whether an object is the cluster's, or nobody's any more and once was of one like it."""
    owner = found.controller
    return CLUSTER_UID_LABEL in found.labels if owner is None else owner.uid == uid


def _taken(resource: Resource[Any], found: Object, wanted: Json) -> Outcome | None:
    """Say so when an object of that name is not our cluster's."""
    if is_ours(found.metadata, wanted["metadata"]["ownerReferences"][0]["uid"]):
        return None
    if found.metadata.controller is None and _speaks_of_us(found, wanted):
        return None
    name = found.metadata.name
    if found.metadata.deleting:
        return Wait("LeftoverLeaving", f"waiting for {resource.kind} {name} of before to go")
    return _name_taken(resource, found.metadata.key, "it is not of this cluster")


def _speaks_of_us(found: Object, wanted: Json) -> bool:
    """Tell whether what is in an object names our very cluster, though its labels no longer do."""
    token = (wanted.get("data") or {}).get(TOKEN)
    return isinstance(found, Whole) and token is not None and found.data.get(TOKEN) == token


def _name_taken(resource: Resource[Any], key: ObjectKey, why: str) -> Blocked:
    return Blocked(
        "NameTaken",
        f"{resource.kind} {key.name} is there and cannot be ours: {why}",
        f"look at what is in it, then delete it: kubectl -n {key.namespace} delete"
        f" {resource.plural} {key.name}; or give the cluster another name",
    )


class EnsureObjects:
    """Services and the disruption budget: everything that stands around the pods; row 0."""

    name = "EnsureObjects"

    def __init__(self, client: Client, applier: Applier) -> None:
        self._client = client
        self._applier = applier

    async def run(self, seen: Seen) -> Outcome:
        """Write what differs, and delete what is ours and no longer wanted.

        Trouble with one object keeps neither the others nor the members from being seen to.
        """
        if seen.cluster.spec.paused or seen.cluster.metadata.deleting:
            return DONE
        there = {(it.name, live.metadata.name): live for it, live in seen.live}
        troubles = []
        for it in seen.wanted:
            found = there.pop((it.resource.name, it.key.name), None)
            tended = self._tend(seen.cluster, it, found)
            troubles.append(await _without_raising(f"{it.resource.kind} {it.key.name}", tended))
        for resource, live in seen.live:
            if (resource.name, live.metadata.name) in there:
                dropped = self._drop(seen.cluster, resource, live)
                what = f"{resource.kind} {live.metadata.name}"
                troubles.append(await _without_raising(what, dropped))
        return next((it for it in troubles if it is not None), DONE)

    async def _tend(
        self, cluster: EtcdCluster, wanted: Wanted, found: Whole | None
    ) -> Outcome | None:
        """Write an object if it differs."""
        if found is not None and not self._applier.differs(found, wanted.document):
            return None
        ours = found is not None and is_ours(found.metadata, cluster.metadata.uid)
        return await self._applier.apply(wanted.resource, wanted.document, seen=ours)

    async def _drop(self, cluster: EtcdCluster, resource: Resource[Any], live: Whole) -> None:
        """Delete an object of the cluster that the spec no longer asks for."""
        owner = live.metadata.controller
        if owner is None or owner.uid != cluster.metadata.uid or live.metadata.deleting:
            return
        with suppress(NotFound):
            await self._client.delete(resource, live.metadata.key, uid=live.metadata.uid)


async def _without_raising(what: str, work: Awaitable[Outcome | None]) -> Outcome | None:
    """Return what became of some work; that a peer is in trouble is an outcome, too."""
    try:
        return await work
    except ApiError as error:
        after = max(_TROUBLED, error.retry_after or 0.0)
        later = Retry(after, error.reason, f"{what}: {error.message}")
        return refusal(what, error) or later
    except PeerError as error:
        return Retry(_TROUBLED, error.reason, f"{what}: {error.message}")
