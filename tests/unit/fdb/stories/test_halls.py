"""Three data halls in one object: a process learns its hall from the label of its node."""

from __future__ import annotations

from collections import Counter

import pytest

from fakes.fdb_stories import NAME, Story, played, spec
from stateward.kube.codec import Json
from stateward.sim.fdb.scripts.halls import in_halls

NODES = 9


def body() -> Json:
    return spec(**in_halls(NAME))


def halls(it: Story) -> dict[str, str]:
    """Return the halls of all groups, by what their processes say."""
    return {
        one.localities["instance_id"]: one.localities.get("data_hall", "")
        for one in it.database.servers.values()
    }


def coordinators(it: Story) -> Counter[str]:
    every = it.database.servers.values()
    return Counter(
        one.localities.get("data_hall", "")
        for at in it.database.string.coordinators
        for one in every
        if one.listens_at(at)
    )


def test_three_halls_in_one_object_lose_one_and_get_it_back() -> None:
    async def story(it: Story) -> None:
        it.apply(body())
        await it.reconciled()
        it.write()
        assert it.database.settings is not None
        assert it.database.settings.redundancy == "three_data_hall"
        assert set(halls(it).values()) == {"zone-0", "zone-1", "zone-2"}
        assert coordinators(it) == {"zone-0": 3, "zone-1": 3, "zone-2": 3}
        before, groups = halls(it), set(it.groups())
        lost = [f"node-{number}" for number in range(NODES) if number % 3 == 1]
        for name in lost:
            it.it.lose_node(name, dark=True)
        await it.rest(600)
        assert it.database.recovery.serves
        assert set(halls(it).values()) == {"zone-0", "zone-2"}
        for name in lost:
            it.it.find_node(name)
        await it.reconciled()
        stored = {name: hall for name, hall in halls(it).items() if "stateless" not in name}
        assert stored == {name: hall for name, hall in before.items() if name in stored}
        assert groups <= set(it.groups()) | {name for name in groups if "stateless" in name}
        assert coordinators(it) == {"zone-0": 3, "zone-1": 3, "zone-2": 3}
        await it.until(
            "all copies", lambda: it.database.shards.fewest_copies(it.database.servers) == 3
        )

    played(story, nodes=NODES)


@pytest.mark.parametrize("gone", [1, 2])
def test_a_hall_that_is_missing_is_told_and_waited_for(gone: int) -> None:
    async def story(it: Story) -> None:
        missing = [f"node-{number}" for number in range(NODES) if number % 3 == gone]
        for name in missing:
            it.it.lose_node(name, dark=True)
        it.apply(body())
        await it.until("begun", lambda: bool(it.status.get("configured")))
        it.write()
        await it.rest(300)
        assert it.database.settings is not None
        assert it.database.settings.redundancy == "triple"
        told = [one for one in it.status["blockers"] if one["guard"] == "enough_places"]
        assert "storage processes in 3 data halls, and they are in 2" in told[0]["message"]
        assert f"zone-{gone}" not in told[0]["message"]

    played(story, nodes=NODES, whole=False)
