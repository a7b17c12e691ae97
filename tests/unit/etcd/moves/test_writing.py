"""Objects around the pods: one that is refused keeps no other from being written."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.core.errors import PeerUnreachable
from stateward.core.outcome import DONE, Blocked, Retry
from stateward.etcd.build import documents
from stateward.etcd.build.config import TOKEN, config_map
from stateward.etcd.model.names import config_key
from stateward.etcd.model.view import Config, View
from stateward.etcd.moves.writing import Applier, EnsureObjects
from stateward.etcd.objects import WHOLE_CONFIG_MAPS, WORKLOADS
from stateward.etcd.seen import Seen
from stateward.kube import drift
from stateward.kube.client import MergePatch
from stateward.kube.errors import BadRequest, Forbidden, Unavailable
from stateward.kube.resources import DISRUPTION_BUDGETS, SERVICES
from unit.etcd.build.examples import all_documents
from unit.etcd.moves.places import Place

pytestmark = pytest.mark.virtual

TROUBLES: dict[str, tuple[Any, type, str]] = {
    "a right is missing": (Forbidden("you may not"), Blocked, "ObjectRefused"),
    "it makes no sense": (BadRequest("what?"), Blocked, "ObjectRefused"),
    "the server is away": (PeerUnreachable("away"), Retry, "PeerUnreachable"),
    "the server is busy": (Unavailable("not now"), Retry, "ServiceUnavailable"),
}


@pytest.mark.parametrize("case", TROUBLES)
async def test_trouble_with_one_object_is_told_and_the_others_are_written(case: str) -> None:
    place = Place()
    error, kind, reason = TROUBLES[case]
    cluster = await place.cluster(replicas=3)
    place.doorman.refusals["patch services default/shop-headless"] = error
    seen = Seen(
        View(cluster, place.clock.now()),
        wanted=documents.around(cluster, voters=3, members=3),
    )
    ensure = EnsureObjects(place.client, Applier(place.client))
    said = await ensure.run(seen)
    assert isinstance(said, kind)
    assert getattr(said, "reason", "") == reason
    services = {it.metadata.name for it in (await place.user.list(SERVICES)).items}
    assert services == {"kubernetes", "shop"}
    assert len((await place.user.list(DISRUPTION_BUDGETS)).items) == 1
    place.doorman.refusals.clear()
    assert await ensure.run(seen) == DONE


async def test_a_statefulset_that_a_webhook_rewrites_is_not_written_again_and_again() -> None:
    """What is compared has no size, and what is written has one."""
    place = Place()
    cluster = await place.cluster(replicas=3)
    whole = all_documents(cluster)[-1].document
    size = {"replicas", "volumeClaimTemplates"}
    rest = {name: it for name, it in whole["spec"].items() if name not in size}
    compared = drift.sealed(whole | {"spec": rest})
    applier = Applier(Rewriting(place))  # type: ignore[arg-type]
    assert await applier.apply(WORKLOADS, dict(whole), seen=True, compared=compared) is None
    live = await place.user.get(WORKLOADS, cluster.metadata.key)
    assert drift.differs({"spec": live.spec}, {"spec": compared["spec"]})
    assert not applier.differs(live, compared)
    other = await place.user.patch(
        WORKLOADS, live.metadata.key, MergePatch({"spec": {"replicas": 1}})
    )
    assert applier.differs(other, compared), "a new version is looked at anew"


class Rewriting:
    """A client of a server with a webhook: what is applied comes out otherwise."""

    def __init__(self, place: Place) -> None:
        self._client = place.user

    async def patch(self, resource: Any, key: Any, patch: Any) -> Any:
        await self._client.patch(resource, key, patch)
        body = {"spec": {"revisionHistoryLimit": 10}}
        return await self._client.patch(resource, key, MergePatch(body))


CONFIG = Config((("shop-0", "https://shop-0:2380"),), existing=True)
BARE = MergePatch({"metadata": {"labels": None, "ownerReferences": None}})


async def test_a_config_map_without_labels_and_owner_is_known_by_what_is_in_it() -> None:
    place = Place()
    cluster = await place.cluster(replicas=3)
    wanted, key = config_map(cluster, CONFIG), config_key(cluster.metadata.key)
    applier = Applier(place.client)
    assert await applier.apply(WHOLE_CONFIG_MAPS, wanted, seen=False) is None
    bare = await place.user.patch(WHOLE_CONFIG_MAPS, key, BARE)
    assert not bare.metadata.labels
    assert await applier.apply(WHOLE_CONFIG_MAPS, wanted, seen=False) is None
    again = await place.user.get(WHOLE_CONFIG_MAPS, key)
    assert again.metadata.controller is not None
    assert again.metadata.labels == wanted["metadata"]["labels"]


@pytest.mark.parametrize("data", [{}, {TOKEN: "default-shop-of-an-earlier-one"}])
async def test_one_that_speaks_of_nobody_we_know_is_left_alone(data: dict[str, str]) -> None:
    place = Place()
    cluster = await place.cluster(replicas=3)
    wanted, key = config_map(cluster, CONFIG), config_key(cluster.metadata.key)
    metadata = {"namespace": key.namespace, "name": key.name}
    theirs = await place.user.create(WHOLE_CONFIG_MAPS, {"metadata": metadata, "data": data})
    said = await Applier(place.client).apply(WHOLE_CONFIG_MAPS, wanted, seen=False)
    assert isinstance(said, Blocked)
    assert said.reason == "NameTaken"
    assert f"kubectl -n default delete configmaps {key.name}" in said.hint
    assert await place.user.get(WHOLE_CONFIG_MAPS, key) == theirs
