"""Two objects that share a database and would not be told apart, or ask for different things."""

from __future__ import annotations

from fakes.fdb_places import Places
from fakes.fdb_stories import Story, played
from stateward.kube.codec import Json

FEW = {"storage": 3, "log": 3, "stateless": 1}


async def begun(it: Places) -> str:
    it.apply("dc1", dataCenter="dc1", processCounts=FEW)
    await it.reconciled("dc1")
    it.story.write()
    return await it.found("dc1")


def test_who_comes_second_with_the_same_prefix_makes_nothing() -> None:
    async def story(told: Story) -> None:
        it = Places(told)
        seed = await begun(it)
        groups, lines = set(told.groups()), list(told.watcher.commands)
        it.apply("dc2", seed, dataCenter="dc2", processCounts=FEW, processGroupIDPrefix="dc1")
        await told.rest(300)
        assert "processGroupIDPrefix must differ in all clusters of a database" in (
            it.blockers("dc2")
        )
        assert set(told.groups()) == groups
        assert told.watcher.commands == lines
        assert [one for one in told.watcher.writes if "dc2-config" in one] == []
        ready = [one for one in it.status("dc2")["conditions"] if one["type"] == "Ready"]
        assert ready[0]["status"] == "False"
        assert "PrefixTaken" in it.blockers("dc2")
        it.change("dc2", processGroupIDPrefix="dc2")
        await it.reconciled("dc1", "dc2")
        assert {name.split("-")[0] for name in told.groups()} == {"dc1", "dc2"}
        # A prefix that another one has is not changed to, either.
        groups = set(told.groups())
        it.change("dc2", processGroupIDPrefix="dc1")
        await told.rest(300)
        assert "and are another cluster's" in it.blockers("dc2")
        assert set(told.groups()) == groups
        it.change("dc2", processGroupIDPrefix="dc2")
        await it.reconciled("dc1", "dc2")

    played(story)


def test_of_two_that_come_at_once_the_older_one_has_the_prefix() -> None:
    async def story(told: Story) -> None:
        it = Places(told)
        seed = await begun(it)
        for name in ("dc2", "dc3"):
            it.apply(name, seed, dataCenter=name, processCounts=FEW, processGroupIDPrefix="b")
        await it.reconciled("dc2")
        assert "cluster default/dc2 of the same database has it" in it.blockers("dc3")
        assert not any("dc3" in one["metadata"]["name"] for one in told.groups().values())
        it.change("dc3", processGroupIDPrefix="c")
        await it.reconciled("dc1", "dc2", "dc3")

    played(story)


def test_clusters_that_look_for_the_lock_at_different_places_say_so() -> None:
    def locks(place: str) -> Json:
        return {"disableLocks": False, "lockKeyPrefix": place}

    async def story(told: Story) -> None:
        it = Places(told)
        seed = await begun(it)
        it.change("dc1", lockOptions=locks(""))
        it.apply("dc2", seed, dataCenter="dc2", processCounts=FEW, lockOptions=locks("elsewhere"))
        await it.reconciled("dc1", "dc2")
        for name, other in (("dc1", "dc2"), ("dc2", "dc1")):
            assert f"no lock to default/{other}, of the same database" in it.blockers(name)
        it.change("dc2", lockOptions=locks(""))
        await it.reconciled("dc1", "dc2")
        await told.rest(60)
        assert not any("LocksApart" in it.blockers(one) for one in ("dc1", "dc2"))

    played(story)
