"""A database is made, and made another; what it refuses, and what it should have refused."""

from __future__ import annotations

from typing import Any

import pytest

from contract.fdb.labs import DOUBLE, Lab, value
from stateward.core.errors import OutcomeUnknown
from stateward.fdb.admin.errors import DatabaseRefused, Refusal
from stateward.fdb.model.configuration import Configuration
from stateward.fdb.status import configuration, health, recovery
from stateward.fdb.status.reading import Status


async def refused(work: Any) -> Refusal:
    """Return why something was refused."""
    with pytest.raises(DatabaseRefused) as caught:
        await work
    return caught.value.refusal


async def test_a_database_is_created_once(bare: Lab) -> None:
    await bare.sees(health.is_configured, False)
    await bare.admin.create(DOUBLE)
    await bare.sees(health.is_available, True)
    assert await refused(bare.admin.create(DOUBLE)) is Refusal.EXISTS


async def test_nobody_knows_of_the_data_before_somebody_looked(bare: Lab) -> None:
    await bare.admin.create(DOUBLE)
    assert value(health.is_fully_replicated(await bare.admin.status())) == "?"
    await bare.sees(health.is_fully_replicated, True)


async def test_nobody_writes_before_it_is_created(bare: Lab) -> None:
    assert not await bare.writes()
    await bare.admin.create(DOUBLE)
    assert await bare.writes()


async def test_without_a_database_nothing_is_configured(bare: Lab) -> None:
    with pytest.raises(OutcomeUnknown):
        await bare.admin.configure(DOUBLE)
    assert value(health.is_configured(await bare.admin.status())) is False


@pytest.mark.parametrize("mode", ["single", "double", "triple"])
async def test_it_is_created_as_it_was_asked_for(bare: Lab, mode: str) -> None:
    await bare.admin.create(Configuration(redundancy=mode, storage_engine="ssd-2"))
    status = await bare.sees(health.is_available, True)
    found = value(configuration.configuration(status))
    assert (found.redundancy, found.storage_engine) == (mode, "ssd-2")


async def test_what_is_asked_for_is_what_it_is(lab: Lab) -> None:
    await lab.admin.configure(Configuration(redundancy="triple", logs=3, resolvers=2))
    seen = value(configuration.configuration(await lab.admin.status()))
    assert (seen.redundancy, seen.logs, seen.resolvers) == ("triple", 3, 2)


async def test_more_copies_are_made_and_then_are_there(lab: Lab) -> None:
    await lab.admin.configure(Configuration(redundancy="triple"))
    await lab.sees(health.fewest_replicas, 3)


async def test_other_roles_are_a_recovery_and_the_same_again_is_none(lab: Lab) -> None:
    before = value(recovery.count(await lab.admin.status()))
    await lab.admin.configure(DOUBLE)
    assert value(recovery.count(await lab.admin.status())) == before
    await lab.admin.configure(Configuration(logs=3))
    assert value(recovery.count(await lab.admin.status())) > before


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        (Configuration(logs=0), Refusal.INVALID),
        (Configuration(usable_regions=2), Refusal.INVALID),
        (Configuration(storage_engine="memory-2"), Refusal.INVALID),
        (Configuration(redundancy="nonsense"), Refusal.MISUNDERSTOOD),
        (Configuration(redundancy="three_datacenter"), Refusal.TOO_FEW),
    ],
    ids=["no logs", "two regions", "engine", "nonsense", "too few zones"],
)
async def test_what_is_refused_changes_nothing(
    fresh: Lab, wish: Configuration, why: Refusal
) -> None:
    before = value(configuration.configuration(await fresh.admin.status()))
    assert await refused(fresh.admin.configure(wish)) is why
    assert value(configuration.configuration(await fresh.admin.status())) == before


async def test_an_engine_changes_where_data_may_migrate(fresh: Lab) -> None:
    wish = Configuration(
        storage_engine="ssd-redwood-1", storage_migration_type="aggressive", logs=2
    )
    await fresh.admin.configure(wish)
    seen = value(configuration.configuration(await fresh.admin.status()))
    assert seen.storage_engine == "ssd-redwood-1"


async def test_data_halls_that_are_not_there_take_it_down(fresh: Lab) -> None:
    """Of that the operator must know before: the database itself does not refuse it."""
    with pytest.raises(OutcomeUnknown):
        await fresh.admin.configure(Configuration(redundancy="three_data_hall"))
    assert value(health.is_available(await fresh.admin.status())) is False
    assert not await fresh.writes()


async def test_a_configuration_that_took_it_down_is_taken_back_by_force(fresh: Lab) -> None:
    with pytest.raises(OutcomeUnknown):
        await fresh.admin.configure(Configuration(redundancy="three_data_hall"))
    answer = await fresh.typed("configure FORCE double logs=2", 60)
    assert "Configuration changed" in answer.out
    await fresh.sees(health.is_available, True)


async def test_words_that_contradict_each_other_are_not_understood(fresh: Lab) -> None:
    answer = await fresh.typed("configure single double")
    assert (answer.code, answer.out.startswith("Usage: configure")) == (1, True)


async def test_a_locked_database_serves_only_who_knows_of_it(fresh: Lab) -> None:
    answer = await fresh.typed("lock")
    assert "Database locked." in answer.out
    assert not await fresh.writes()
    refusal = await fresh.typed("getversion")
    assert (refusal.code, "1038" in refusal.err) == (1, True)
    await fresh.admin.configure(Configuration(logs=3))  # the operator goes on
    again = await fresh.typed("lock")
    assert (again.code, "1038" in again.err) == (1, True)


async def test_who_is_made_for_logs_has_them_when_it_comes(bare: Lab) -> None:
    await bare.lose("log-1", "log-2", "log-3")
    await bare.admin.create(DOUBLE)
    await bare.sees(health.is_available, True)
    await bare.come_back("log-1", "log-2", "log-3")

    def classes_of_logs(status: Status) -> object:
        entries = (status.document.cluster.processes or {}).values()
        return {it.class_type for it in entries if any(one.role == "log" for one in it.roles)}

    await bare.sees(classes_of_logs, {"log"})
