"""Objects around the pods: one that is refused keeps no other from being written."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.core.errors import PeerUnreachable
from stateward.core.outcome import DONE, Blocked, Retry
from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.build import documents
from stateward.etcd.build.config import TOKEN, config_map
from stateward.etcd.build.documents import Wanted
from stateward.etcd.model.names import FIELD_MANAGER, config_key
from stateward.etcd.model.view import Config, View
from stateward.etcd.moves.writing import Applier, EnsureObjects
from stateward.etcd.objects import WHOLE_BUDGETS, WHOLE_CONFIG_MAPS, WORKLOADS
from stateward.etcd.seen import Seen
from stateward.kube import drift
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import (
    AlreadyExists,
    BadRequest,
    Conflict,
    Forbidden,
    NotFound,
    Unavailable,
)
from stateward.kube.resources import DISRUPTION_BUDGETS, SERVICES
from stateward.local.client import MemoryClient
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
    place.doorman.refusals["create services default/shop-headless"] = error
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
    assert await applier.apply(WORKLOADS, dict(whole), seen=None, compared=compared) is None
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

    async def get(self, resource: Any, key: Any) -> Any:
        return await self._client.get(resource, key)

    async def create(self, resource: Any, body: Any) -> Any:
        return await self._client.create(resource, body)

    async def patch(self, resource: Any, key: Any, patch: Any) -> Any:
        await self._client.patch(resource, key, patch)
        body = {"spec": {"revisionHistoryLimit": 10}}
        return await self._client.patch(resource, key, MergePatch(body))


CONFIG = Config((("shop-0", "https://shop-0:2380"),), existing=True)


@pytest.mark.parametrize("data", [{}, {TOKEN: "default-shop-of-an-earlier-one"}])
async def test_one_that_speaks_of_nobody_we_know_is_left_alone(data: dict[str, str]) -> None:
    place = Place()
    cluster = await place.cluster(replicas=3)
    wanted, key = config_map(cluster, CONFIG), config_key(cluster.metadata.key)
    metadata = {"namespace": key.namespace, "name": key.name}
    theirs = await place.user.create(WHOLE_CONFIG_MAPS, {"metadata": metadata, "data": data})
    said = await Applier(place.client).apply(WHOLE_CONFIG_MAPS, wanted, seen=None)
    assert isinstance(said, Blocked)
    assert said.reason == "NameTaken"
    assert f"kubectl -n default delete configmaps {key.name}" in said.hint
    assert await place.user.get(WHOLE_CONFIG_MAPS, key) == theirs


# -------------------------------------------------------------------------- who comes too late

LATER = Config((("started-0", "https://shop-0:2380"),), existing=True)


async def test_what_arrives_after_somebody_else_wrote_changes_nothing() -> None:
    """A leader that slept through its lease wakes up, and its write is still under way."""
    place = Place()
    cluster = await place.cluster(replicas=3)
    key, applier = config_key(cluster.metadata.key), Applier(place.client)
    old, new = config_map(cluster, CONFIG), config_map(cluster, LATER)
    await applier.apply(WHOLE_CONFIG_MAPS, old, seen=None)
    seen = (await place.user.get(WHOLE_CONFIG_MAPS, key)).metadata
    await applier.apply(WHOLE_CONFIG_MAPS, new, seen=seen)
    now = await place.user.get(WHOLE_CONFIG_MAPS, key)
    with pytest.raises(Conflict):
        await applier.apply(WHOLE_CONFIG_MAPS, old, seen=seen)
    assert await place.user.get(WHOLE_CONFIG_MAPS, key) == now


async def test_what_is_created_too_late_changes_nothing() -> None:
    place = Place()
    cluster = await place.cluster(replicas=3)
    key = config_key(cluster.metadata.key)
    await Applier(place.client).apply(WHOLE_CONFIG_MAPS, config_map(cluster, LATER), seen=None)
    now = await place.user.get(WHOLE_CONFIG_MAPS, key)
    place.doorman.refusals[f"get configmaps {key}"] = NotFound("as it was a moment ago")
    with pytest.raises(AlreadyExists):
        await Applier(place.client).apply(WHOLE_CONFIG_MAPS, config_map(cluster, CONFIG), seen=None)
    assert await place.user.get(WHOLE_CONFIG_MAPS, key) == now


@pytest.mark.parametrize("dies", [False, True], ids=["lives", "died after the create"])
async def test_what_was_created_can_be_taken_back_by_an_apply(dies: bool) -> None:
    place = Place()
    cluster = await place.cluster(replicas=3)
    wanted, key = config_map(cluster, CONFIG), config_key(cluster.metadata.key)
    more = wanted | {"data": wanted["data"] | {"ETCD_MORE": "1"}}
    if dies:
        await MemoryClient(place.api, field_manager=FIELD_MANAGER).create(WHOLE_CONFIG_MAPS, more)
    else:
        await Applier(place.client).apply(WHOLE_CONFIG_MAPS, more, seen=None)
    for document in (more, wanted):
        seen = (await place.user.get(WHOLE_CONFIG_MAPS, key)).metadata
        await Applier(place.client).apply(WHOLE_CONFIG_MAPS, document, seen=seen)
    assert (await place.user.get(WHOLE_CONFIG_MAPS, key)).data == wanted["data"]


#: What changed since we looked: the wish, or the members on record.
CHANGES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "the spec": {"spec": {"replicas": 5}},
    "the members": {"status": {"lastKnownMembers": [{"name": "shop-0", "id": "1"}]}},
}


async def _changed(place: Place, cluster: EtcdCluster, what: str) -> None:
    part = "status" if what == "the members" else ""
    change = MergePatch(CHANGES[what])
    await place.user.patch(ETCD_CLUSTERS, cluster.metadata.key, change, subresource=part)


@pytest.mark.parametrize("what", CHANGES)
async def test_what_is_not_wanted_goes_only_if_that_is_so_now(what: str) -> None:
    place = Place()
    cluster = await place.cluster(replicas=3)
    made = await place.user.create(WHOLE_BUDGETS, _budget(cluster, 3))
    await _changed(place, cluster, what)
    seen = Seen(View(cluster, place.clock.now()), live=((WHOLE_BUDGETS, made),))
    assert await EnsureObjects(place.client, Applier(place.client)).run(seen) == DONE
    left = len((await place.user.list(DISRUPTION_BUDGETS)).items)
    assert left == (what != "nothing")


@pytest.mark.parametrize("what", CHANGES)
async def test_what_is_wanted_is_written_only_if_that_is_so_now(what: str) -> None:
    """By the past a budget of three would be enough, and five members are on record by now."""
    place = Place()
    cluster = await place.cluster(replicas=3)
    made = await place.user.create(WHOLE_BUDGETS, _budget(cluster, 5))
    await _changed(place, cluster, what)
    wanted = (Wanted(DISRUPTION_BUDGETS, _budget(cluster, 3)),)
    seen = Seen(View(cluster, place.clock.now()), wanted=wanted, live=((WHOLE_BUDGETS, made),))
    assert await EnsureObjects(place.client, Applier(place.client)).run(seen) == DONE
    now = await place.user.get(WHOLE_BUDGETS, made.metadata.key)
    assert now.spec["minAvailable"] == (2 if what == "nothing" else 3)


async def test_a_budget_whose_status_changed_meanwhile_is_written_at_once() -> None:
    """Kubernetes writes there all the time; a conflict would cost a second, and be told."""
    place = Place()
    cluster = await place.cluster(replicas=3)
    seen = await place.user.create(WHOLE_BUDGETS, _budget(cluster, 5))
    body = MergePatch({"status": {"disruptionsAllowed": 1}})
    await place.user.patch(WHOLE_BUDGETS, seen.metadata.key, body, subresource="status")
    wanted = tuple(it for it in documents.around(cluster, voters=3, members=3) if _is_budget(it))
    view = View(cluster, place.clock.now())

    ensure = EnsureObjects(place.client, Applier(place.client))
    assert await ensure.run(Seen(view, wanted=wanted, live=((WHOLE_BUDGETS, seen),))) == DONE

    now = await place.user.get(WHOLE_BUDGETS, seen.metadata.key)
    assert now.spec["minAvailable"] == 2


def _budget(cluster: EtcdCluster, voters: int) -> Json:
    around = documents.around(cluster, voters=voters, members=voters)
    return dict(next(it.document for it in around if _is_budget(it)))


def _is_budget(it: documents.Wanted) -> bool:
    return it.resource.name == WHOLE_BUDGETS.name
