"""Answers that get lost, servers that are busy: nothing is done twice, and all of it in the end."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from fakes.bench import until
from stateward.core.chance import Chance
from stateward.core.errors import OutcomeUnknown, PeerUnreachable
from stateward.kube.errors import Conflict
from stateward.kube.resources import NAMESPACES, PODS, VOLUME_CLAIMS
from stateward.local.catalog import VOLUMES
from stateward.local.controllers.cluster.volumes import ensure_defaults
from unit.local.controllers.cluster.cluster import Cluster

pytestmark = pytest.mark.virtual


def weather(seed: int) -> Any:
    """Return what befalls every write: a third of them goes wrong, in one way or another."""
    chance = Chance(seed)

    async def befalls(perform: Any) -> Any:
        if chance.happens(0.1):
            raise PeerUnreachable("the line is dead")
        if chance.happens(0.1):
            raise Conflict("somebody was faster")
        result = await perform()
        if chance.happens(0.15):
            raise OutcomeUnknown("the answer was lost")
        return result

    return befalls


@pytest.mark.parametrize("seed", range(6))
async def test_nobody_is_placed_twice_and_no_volume_is_made_twice(seed: int):
    cluster = Cluster()
    await ensure_defaults(cluster.user)
    for number in "123":
        await cluster.node(f"n{number}", f"z{number}")
    cluster.wire.always = dict.fromkeys(("create", "patch", "update", "delete"), weather(seed))
    size = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    async with cluster.works():
        for name in "abcdef":
            meta = {"namespace": "shop", "name": name}
            await cluster.user.create(VOLUME_CLAIMS, {"metadata": meta, "spec": size})
            volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]
            await cluster.pod(name, cpu="1", volumes=volumes)
        await until(lambda: cluster.placed().count(":n") == 6)
        assert Counter(it[2:] for it in cluster.placed().split()) == {"n1": 2, "n2": 2, "n3": 2}
        assert len(cluster.names(VOLUMES).split()) == 6

        await cluster.delete(NAMESPACES, "shop")
        await until(lambda: not cluster.see(NAMESPACES, "shop"))
        await until(lambda: not cluster.names(VOLUMES) and not cluster.names(PODS))
