"""Writing objects as we want them, by server-side apply, and only where they differ."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

from stateward.core.errors import PeerError
from stateward.core.outcome import DONE, Blocked, Outcome, Retry, Wait
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.build.documents import Wanted
from stateward.etcd.model.names import CLUSTER_UID_LABEL, FIELD_MANAGER
from stateward.etcd.moves.intent import is_as_seen
from stateward.etcd.moves.refused import refusal
from stateward.etcd.objects import Whole
from stateward.etcd.seen import Seen
from stateward.kube import drift
from stateward.kube.client import Apply, Client, MergePatch
from stateward.kube.codec import Json, plain
from stateward.kube.errors import ApiError, Conflict, NotFound
from stateward.kube.managed import as_applied, just_created, owned
from stateward.kube.meta import Object, ObjectKey, ObjectMeta
from stateward.kube.resources import Resource

#: Seconds until an object is written again that a peer in trouble did not take.
_TROUBLED = 2.0
#: Seconds until we look again at an object that somebody else wrote; a watch tells sooner.
_CHANGED = 1.0
#: Objects of which we remember that writing them once more changes nothing.
_REMEMBERED = 10_000


class Applier:
    """Applies documents; what a server will not have as we say is not written again and again.

    Documents that are compared are told apart by their seals (drift.py).
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._settled: OrderedDict[str, tuple[str, str]] = OrderedDict()

    def differs(self, live: Object, wanted: Json) -> bool:
        """Tell whether writing a document would change an object, as far as we know."""
        metadata = live.metadata
        as_it_is = (drift.seal_on(wanted), metadata.resource_version)
        if self._settled.get(metadata.uid) == as_it_is:
            return False
        if drift.differs(plain(live), wanted):
            return True
        self._settle(metadata.uid, as_it_is)
        return False

    async def apply(
        self,
        resource: Resource[Any],
        wanted: Json,
        *,
        seen: ObjectMeta | None,
        compared: Json | None = None,
    ) -> Outcome | None:
        """Write a document over the very version that was seen, or create what was not.

        So what we send and what arrives late, when others already lead, changes nothing of theirs.
        Say why not when somebody else's object has its name. ``compared`` is the part of it that
        :meth:`differs` is asked about; None: all of it.
        """
        metadata = wanted["metadata"]
        key = ObjectKey(metadata["namespace"], metadata["name"])
        if seen is None and (found := await self._found(resource, key)) is not None:
            if (taken := _taken(resource, found, wanted)) is not None:
                return taken
            seen = found.metadata  # somebody changed it so that we did not know it again
        try:
            now = await self._written(resource, wanted, seen)
        except ApiError as error:
            if (refused := refusal(f"{resource.kind} {key.name}", error)) is None:
                raise
            return refused
        self._settle(now.uid, (drift.seal_on(compared or wanted), now.resource_version))
        return None

    async def _written(
        self, resource: Resource[Any], wanted: Json, seen: ObjectMeta | None
    ) -> ObjectMeta:
        """Create an object, or apply to it; have what we created count as applied, too.

        Otherwise nothing of it could be taken back. If we ended between the two, that is done when
        it is written the next time.
        """
        if seen is None:
            made = (await self._client.create(owned(resource), wanted)).metadata
            return await self._called_applied(resource, made, just_created(made, FIELD_MANAGER))
        patch = Apply(_exactly(wanted, seen), FIELD_MANAGER, force=True)
        now = (await self._client.patch(owned(resource), seen.key, patch)).metadata
        if (fields := as_applied(now, FIELD_MANAGER)) is None:
            return now
        return await self._written(
            resource, wanted, await self._called_applied(resource, now, fields)
        )

    async def _called_applied(
        self, resource: Resource[Any], now: ObjectMeta, fields: list[Json] | None
    ) -> ObjectMeta:
        if fields is None:
            return now
        version = {"uid": now.uid, "resourceVersion": now.resource_version}
        body = {"metadata": {**version, "managedFields": fields}}
        return (await self._client.patch(owned(resource), now.key, MergePatch(body))).metadata

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


def _exactly(wanted: Json, seen: ObjectMeta) -> Json:
    """Return a document that is taken only by the very version of the object that was seen."""
    version = {"uid": seen.uid, "resourceVersion": seen.resource_version}
    return {**wanted, "metadata": {**wanted["metadata"], **version}}


async def newest(client: Client, resource: Resource[Any], seen: ObjectMeta) -> ObjectMeta:
    """Return the newest version of an object; raise Conflict when it is no longer what we saw.

    The status of a StatefulSet or of a budget is written all the time, so the version that we
    looked at is seldom the newest.
    """
    changed = Conflict(f"{resource.kind} {seen.name} must be as we looked at it, and was changed")
    try:
        now: ObjectMeta = (await client.get(resource, seen.key)).metadata
    except NotFound:
        raise changed from None
    if (now.uid, now.generation, now.labels) != (seen.uid, seen.generation, seen.labels):
        raise changed
    return now


def is_ours(found: ObjectMeta, uid: str) -> bool:
    """Tell whether an object is the cluster's, or nobody's any more and once was of one like it."""
    owner = found.controller
    return CLUSTER_UID_LABEL in found.labels if owner is None else owner.uid == uid


def _taken(resource: Resource[Any], found: Object, wanted: Json) -> Outcome | None:
    """Say so when an object of that name is not our cluster's."""
    if is_ours(found.metadata, wanted["metadata"]["ownerReferences"][0]["uid"]):
        return None
    name = found.metadata.name
    if found.metadata.deleting:
        return Wait("LeftoverLeaving", f"waiting for {resource.kind} {name} of before to go")
    return _name_taken(resource, found.metadata.key, "it is not of this cluster")


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
        if not await is_as_seen(self._client, cluster):
            return None  # what we want of it is of the past; soon we know better
        seen = None
        if found is not None and is_ours(found.metadata, cluster.metadata.uid):
            seen = found.metadata
            if seen.generation:  # else nothing tells a change of it from one of its status
                seen = await newest(self._client, wanted.resource, seen)
        return await self._applier.apply(wanted.resource, wanted.document, seen=seen)

    async def _drop(self, cluster: EtcdCluster, resource: Resource[Any], live: Whole) -> None:
        """Delete an object of the cluster that the spec no longer asks for."""
        owner = live.metadata.controller
        if owner is None or owner.uid != cluster.metadata.uid or live.metadata.deleting:
            return
        if not await is_as_seen(self._client, cluster):
            return  # by what we saw it is not wanted, and that is of the past
        with suppress(NotFound):
            await self._client.delete(resource, live.metadata.key, uid=live.metadata.uid)


async def _without_raising(what: str, work: Awaitable[Outcome | None]) -> Outcome | None:
    """Return what became of some work; that a peer is in trouble is an outcome, too."""
    try:
        return await work
    except Conflict as error:
        return Retry(_CHANGED, error.reason, f"{what} changed meanwhile: {error.message}")
    except ApiError as error:
        after = max(_TROUBLED, error.retry_after or 0.0)
        later = Retry(after, error.reason, f"{what}: {error.message}")
        return refusal(what, error) or later
    except PeerError as error:
        return Retry(_TROUBLED, error.reason, f"{what}: {error.message}")
