"""Another storage engine: what is refused, what the database does by itself, and what is told."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_stories import Story, played, single, spec
from stateward.emulate.fdb.configuration.engines import outdated
from stateward.kube.codec import Json

NEW = "ssd-redwood-1"


def asked(**fields: Any) -> Json:
    return {"databaseConfiguration": fields}


GRADUAL = asked(storage_engine=NEW, storage_migration_type="gradual", perpetual_storage_wiggle=1)
AGGRESSIVE = asked(storage_engine=NEW, storage_migration_type="aggressive")


@pytest.mark.parametrize("way", [GRADUAL, AGGRESSIVE], ids=["gradual", "aggressive"])
def test_it_is_told_how_many_have_the_former_engine(way: Json) -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        it.database.shards.fill(600_000_000)
        it.change(**way)
        seen: list[tuple[int, int]] = []

        def goes_on() -> bool:
            said = it.status.get("progress") or {}
            if said.get("step") == "RewritingStorage":
                seen.append((said.get("done", 0), said["of"]))
                assert "have yet to be made anew for storage_engine ssd-redwood-1" in it.told()
            assert it.database.shards.fewest_copies(it.database.servers) >= 2
            return bool(seen) and not outdated(it.database)

        await it.until("all are of the other engine", goes_on)
        assert seen == sorted(seen), "it only goes forward"
        assert {of for _, of in seen} == {3}
        await it.reconciled()
        await it.rest(60)
        assert "EngineChanging" not in it.told()
        await it.at_rest()

    played(story)


def test_a_cluster_goes_on_living_while_it_is_rewritten() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        it.database.shards.fill(600_000_000)
        it.change(**GRADUAL)
        await it.until("begun", lambda: bool(it.database.wiggled))
        gone = min(it.groups("storage"))
        it.change(processGroupsToRemove=[gone])
        await it.until("who goes is gone", lambda: gone not in it.groups())
        await it.until("all are of the other engine", lambda: not outdated(it.database))
        await it.reconciled()
        await it.until("and forgotten", lambda: not it.database.barred)

    played(story)


def test_one_storage_server_is_rewritten_in_its_place_only() -> None:
    async def story(it: Story) -> None:
        await it.create(single())
        it.change(**GRADUAL)
        await it.rest(300)
        told = [one for one in it.status["blockers"] if one["guard"] == "engine_can_change"]
        words = "must be in 2 zones, or two in each, for storage_migration_type gradual"
        assert f"{words}; they are in 1" in told[0]["message"]
        assert "aggressive, which needs no room elsewhere" in told[0]["hint"]
        it.change(**asked(storage_migration_type="aggressive", perpetual_storage_wiggle=None))
        await it.reconciled()
        await it.until("rewritten", lambda: not outdated(it.database))

    played(story)
