"""Who is away while a cluster gets TLS, or gives it up, finds its database when it is back."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_stories import KEY, USER, Story, played
from fakes.fdb_tls import OFF, ON
from fakes.fdb_tls_stories import BOTH, certified, keep, listening
from stateward.fdb.api.kind import CLUSTERS
from stateward.kube.client import MergePatch

MORE = {"processCounts": {"storage": 4}}
SOON = {"replacements": {"enabled": True, "failureDetectionTimeSeconds": 300}}


def lost(it: Story) -> tuple[str, str]:
    """Have the node of a storage server go dark that does not coordinate; return both."""
    chosen = next(one for one in it.groups("storage") if one not in it.coordinators())
    node = it.it.node_of(it.pod(chosen))
    it.it.lose_node(node, dark=True)
    return chosen, node


def body(to_tls: bool, **over: Any) -> Any:
    return certified(**MORE, **(OFF if to_tls else ON), **over)


@pytest.mark.parametrize("image_type", ["unified", "split"])
@pytest.mark.parametrize("to_tls", [True, False], ids=["on", "off"])
def test_the_old_address_is_kept_until_a_dark_node_is_back(to_tls: bool, image_type: str) -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(body(to_tls, imageType=image_type))
        chosen, node = lost(it)
        await it.rest(60)
        it.change(**(ON if to_tls else OFF))
        await it.rest(3000)
        assert {one.tls for one in it.database.string.coordinators} == {to_tls}
        assert it.status["requiredAddresses"] == BOTH
        (said,) = [one for one in it.status["blockers"] if one["guard"] == "ListenersAwaited"]
        assert f"until these are back, or go: shop-{chosen}" in said["message"]
        it.it.find_node(node)
        await it.reconciled()
        assert listening(it) == {to_tls}
        assert chosen in it.groups(), "it came back with its data"
        await it.at_rest()

    played(story, nodes=9)


def test_a_status_that_is_wiped_on_the_way_drops_no_address() -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(body(to_tls=True))
        _, node = lost(it)
        await it.rest(60)
        it.change(**ON)
        await it.until("moved", lambda: it.database.string.all_tls)
        await it.until("told", lambda: "ListenersAwaited" in awaited(it))
        nothing = MergePatch({"status": dict.fromkeys(it.status)})
        it.it.world.api.patch(CLUSTERS, KEY, nothing, USER, subresource="status")
        await it.rest(300)
        assert it.status["requiredAddresses"] == BOTH
        assert "ListenersAwaited" in awaited(it)
        it.it.find_node(node)
        await it.reconciled()
        assert listening(it) == {True}

    played(story, nodes=9)


def awaited(it: Story) -> list[str]:
    return [one["guard"] for one in it.status.get("blockers", ())]


@pytest.mark.parametrize("how", ["automatically", "by hand"])
def test_who_is_replaced_meanwhile_is_not_waited_for(how: str) -> None:
    async def story(it: Story) -> None:
        keep(it)
        options = SOON if how == "automatically" else {}
        await it.create(body(to_tls=True, automationOptions=options))
        chosen, node = lost(it)
        await it.rest(60)
        it.change(**ON)
        if how == "by hand":
            await it.until("both", lambda: it.status["requiredAddresses"] == BOTH)
            it.change(processGroupsToRemove=[chosen])
        await it.until("over", lambda: listening(it) == {True})
        it.it.find_node(node)
        await it.reconciled()
        await it.until("gone", it.none_leaves)
        assert chosen not in it.groups()

    played(story, nodes=9)
