"""Addresses of IPv6: from the first moment on, and as a change of a cluster that lives."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_stories import NAMESPACE, Story, merged, played, spec
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import SERVICES

HASTY: Json = {"automationOptions": {"waitBetweenRemovalsSeconds": 0}}


def routed(**fields: Any) -> Json:
    return {"routing": fields}


BY_ADDRESS = routed(useDNSInClusterFile=False)
SIX = routed(podIPFamily=6)
FOUR = routed(podIPFamily=4)

#: How a cluster is made whose addresses are of IPv6 from the first moment on.
FIRST: dict[str, Json] = {
    "by address": {},
    "by name": routed(useDNSInClusterFile=True),
    "with split images": {"imageType": "split"},
    "with addresses of services": routed(publicIPSource="service"),
    "excluded by address": {"automationOptions": {"useLocalitiesForExclusion": False}},
    "several in a pod": {"storageServersPerPod": 2},
}


def hosts(it: Story) -> set[str]:
    """Return where all processes of the database listen."""
    return {at.host for one in it.database.servers.values() for at in one.addresses}


def family(it: Story) -> set[int]:
    return {6 if ":" in host else 4 for host in hosts(it)}


def leads_to(it: Story) -> str:
    """Return the family that names lead to."""
    stored = it.it.world.api.store.get(SERVICES.name, ObjectKey(NAMESPACE, "shop"))
    return "" if stored is None else str(stored.document()["spec"]["ipFamilies"][0])


def misled(it: Story) -> list[str]:
    """Return coordinators whose names lead to where they do not listen."""
    family = 6 if leads_to(it) == "IPv6" else 4
    named = [at for at in it.database.string.coordinators if at.is_name]
    return [
        f"{at} leads to IPv{family}, and it listens at {one.address}"
        for at in named
        for one in it.database.servers.values()
        if one.listens_at(at) and (":" in one.address.host) != (family == 6)
    ]


@pytest.mark.parametrize("name", FIRST)
def test_a_cluster_of_ipv6_lives_as_any_other(name: str) -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**merged(merged(BY_ADDRESS, SIX), FIRST[name])))
        assert family(it) == {6}
        named = name == "by name"
        assert all(at.is_name == named for at in it.database.string.coordinators)
        if not named:
            assert "@[fd00:" in it.status["connectionString"], "in brackets, with a port behind"
        first = min(it.groups("storage"))
        it.change(processGroupsToRemove=[first])
        await it.until("who goes is gone", lambda: first not in it.groups())
        await it.reconciled()
        await it.until("and forgotten", lambda: not it.database.barred)
        barred = [one for one in it.watcher.commands if one.startswith("exclude")]
        by_address = name == "excluded by address"
        # A whole machine, so no port and no brackets.
        assert all((" fd00::" in one) == by_address for one in barred), barred
        assert barred
        await it.at_rest()

    played(story)


@pytest.mark.parametrize(
    ("way", "image"), [(BY_ADDRESS, "split"), (routed(useDNSInClusterFile=True), "unified")]
)
def test_another_family_is_other_groups_and_back(way: Json, image: str) -> None:
    async def story(it: Story) -> None:
        await it.create(spec(imageType=image, **merged(HASTY, merged(FOUR, way))))
        assert family(it) == {4}
        for wanted, number in ((SIX, 6), (FOUR, 4)):
            before = set(it.groups())
            it.change(**wanted)

            def goes_on(number: int = number) -> bool:
                assert misled(it) == []
                return it.is_reconciled and family(it) == {number}

            await it.until("the other family", goes_on)
            await it.reconciled()
            await it.until("who goes is gone", it.none_leaves)
            await it.until("and forgotten", lambda: not it.database.barred)
            assert before.isdisjoint(it.groups())
            named = way["routing"]["useDNSInClusterFile"]
            assert all(at.is_name == named for at in it.database.string.coordinators)
            assert misled(it) == []
            if named:
                assert leads_to(it) == f"IPv{number}"
        await it.at_rest()

    played(story)


def test_a_family_that_is_no_longer_asked_for_is_that_of_the_pod() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**merged(HASTY, merged(SIX, routed(useDNSInClusterFile=True)))))
        assert (leads_to(it), family(it)) == ("IPv6", {6})
        it.change(routing={"podIPFamily": None})

        def goes_on() -> bool:
            assert misled(it) == []
            return it.is_reconciled and family(it) == {4}

        await it.until("the first address of pods", goes_on)
        await it.reconciled()
        await it.until("who goes is gone", it.none_leaves)
        await it.until("and forgotten", lambda: not it.database.barred)
        assert leads_to(it) == "IPv4"
        assert all(at.is_name for at in it.database.string.coordinators)
        assert misled(it) == []
        await it.at_rest()

    played(story)
