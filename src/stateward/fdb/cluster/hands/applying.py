"""Applying objects: what we say of them holds, and what we no longer say goes again."""

from __future__ import annotations

from typing import Any

from stateward.fdb.cluster.hands.writing import exactly
from stateward.fdb.model.names import FIELD_MANAGER
from stateward.kube.client import Apply, Client, MergePatch
from stateward.kube.codec import Json
from stateward.kube.managed import OwnedMeta, as_applied, just_created, owned
from stateward.kube.meta import ObjectMeta
from stateward.kube.resources import Resource


async def create(client: Client, resource: Resource[Any], wanted: Json) -> ObjectMeta:
    """Create an object, and have it count as applied: else nothing of it could be taken back."""
    made = (await client.create(owned(resource), wanted)).metadata
    return await _called_applied(client, resource, made, just_created(made, FIELD_MANAGER))


async def apply(
    client: Client, resource: Resource[Any], wanted: Json, seen: ObjectMeta
) -> ObjectMeta:
    """Apply to the very version that was seen: who comes late changes nothing of what is newer."""
    now = await _applied(client, resource, wanted, seen)
    if (fields := as_applied(now, FIELD_MANAGER)) is None:
        return now
    # We ended between the two halves of making it: what is no longer wanted is still there.
    return await _applied(
        client, resource, wanted, await _called_applied(client, resource, now, fields)
    )


async def _applied(
    client: Client, resource: Resource[Any], wanted: Json, seen: ObjectMeta
) -> OwnedMeta:
    body = {**wanted, "metadata": {**wanted["metadata"], **exactly(seen)}}
    patch = Apply(body, FIELD_MANAGER, force=True)
    return (await client.patch(owned(resource), seen.key, patch)).metadata


async def _called_applied(
    client: Client, resource: Resource[Any], now: OwnedMeta, fields: list[Json] | None
) -> OwnedMeta:
    if fields is None:
        return now
    body = {"metadata": {**exactly(now), "managedFields": fields}}
    return (await client.patch(owned(resource), now.key, MergePatch(body))).metadata
