"""Addresses of another family, and clusters that are in each other's way."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Final

from stateward.fdb.api.kind import CLUSTERS
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import AlreadyExists, NotFound
from stateward.kube.meta import ObjectKey
from stateward.sim.fdb.scripts.kit import (
    FEW,
    KEY,
    ONE,
    OTHER,
    Holds,
    Script,
    Step,
    cluster,
    create,
    edit,
    is_settled,
    manifest,
)
from stateward.sim.fdb.world import FdbWorld

_APART: Final[Json] = {"lockOptions": {"disableLocks": True}, "processGroupIDPrefix": "a"}


def _joins(key: ObjectKey, until: Holds) -> Step:
    """Have somebody create a cluster that joins the database of the first, with its prefix."""

    async def do(it: FdbWorld) -> None:
        first = cluster(it)
        if first is None:
            return
        seed = first.status.connection_string
        with suppress(AlreadyExists):
            asked = manifest(key, **_APART, dataCenter="b", seedConnectionString=seed)
            await it.world.client.create(CLUSTERS, asked)

    return Step(f"create {key.name}, which joins with the same prefix", do, until, quick=900.0)


def _alike(**spec: object) -> Step:
    """Have somebody change both clusters, one after the other."""

    async def do(it: FdbWorld) -> None:
        for key in (OTHER, KEY):
            with suppress(NotFound):
                await it.world.client.patch(CLUSTERS, key, MergePatch({"spec": spec}))

    def are_settled(it: FdbWorld) -> bool:
        return is_settled(it) and is_settled(it, OTHER)

    return Step("change both", do, are_settled, quick=3600.0)


def _says(key: ObjectKey, guard: str) -> Holds:
    """Return whether a cluster says that something holds it."""

    def holds(it: FdbWorld) -> bool:
        found = cluster(it, key)
        return found is not None and guard in {one.guard for one in found.status.blockers}

    return holds


_FOUR: Final[Json] = {
    "databaseConfiguration": ONE, "processCounts": FEW, "routing": {"podIPFamily": 4}
}  # fmt: skip

SCENARIOS: Final[dict[str, Script]] = {
    # All processes get addresses of the other family; coordinators go by name before and after.
    "fdb-family": (
        create(KEY, **_FOUR),
        replace(edit(routing={"podIPFamily": 6}), quick=7200.0),
    ),
    # Who comes second with a prefix that is taken makes nothing until it has its own; then both
    # ask for different things, and do not fight.
    "fdb-prefix-taken": (
        create(KEY, **_APART, dataCenter="a"),
        _joins(OTHER, _says(OTHER, "PrefixTaken")),
        replace(edit(OTHER, processGroupIDPrefix="b"), quick=3600.0),
        replace(
            edit(
                OTHER,
                until=_says(OTHER, "ConfiguredElsewhere"),
                databaseConfiguration={"redundancy_mode": "double", "resolvers": 2},
            ),
            quick=900.0,
        ),
        _alike(databaseConfiguration={"redundancy_mode": "double", "resolvers": 2}),
    ),
}
