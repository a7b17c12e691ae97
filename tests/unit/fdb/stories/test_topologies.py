"""One database in several data centers or halls: an object for each, and one operator."""

from __future__ import annotations

from fakes.fdb_places import Places, database, region
from fakes.fdb_stories import Story, played

BOTH = database(2, region("dc1", 1, "dc3"), region("dc2", 0, "dc3"))
FEW = {"stateless": 2}


async def three_centers(it: Places) -> None:
    """Have two data centers with data and one with logs, each an object of its own."""
    it.apply("dc1", dataCenter="dc1", databaseConfiguration=BOTH)
    seed = await it.found("dc1")
    it.apply("dc2", seed, dataCenter="dc2", databaseConfiguration=BOTH)
    it.apply("dc3", seed, dataCenter="dc3", databaseConfiguration=BOTH)
    await it.reconciled("dc1", "dc2", "dc3")


def test_three_data_centers_from_the_first_apply() -> None:
    async def story(told: Story) -> None:
        it = Places(told)
        await three_centers(it)
        told.write()
        assert told.database.settings is not None
        assert told.database.settings.usable_regions == 2
        assert it.coordinators("dcid") == {"dc1": 3, "dc2": 3, "dc3": 3}
        assert [line for line in it.configured() if " new " in line] == it.configured()[:1]
        await told.at_rest()

    played(story)
