"""What an operator does to a database, by its own ports; each scenario is written once."""

from __future__ import annotations

from typing import Any

import pytest

from contract.fdb.backends import DOUBLE, Lab, created, model
from fakes.fdb_databases import server
from stateward.core.errors import OutcomeUnknown
from stateward.core.facts import Known
from stateward.emulate.fdb import gray
from stateward.emulate.fdb.console import Console
from stateward.emulate.fdb.servers import Disk
from stateward.fdb.admin.answers import Stage
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, Refusal
from stateward.fdb.admin.fdbcli import Fdbcli
from stateward.fdb.model import exclusions
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.configuration import Configuration
from stateward.fdb.status import (
    configuration,
    coordinators,
    health,
    maintenance,
    movement,
    processes,
    recovery,
)
from stateward.fdb.status import exclusions as leaving


def value(fact: Any) -> Any:
    return fact.value if isinstance(fact, Known) else "?"


def by(name: str) -> exclusions.Exclusion:
    return exclusions.of_instance(name)


def at(text: str) -> Address:
    return Address.parse(text)


async def refused(work: Any) -> Refusal:
    with pytest.raises(DatabaseRefused) as caught:
        await work
    return caught.value.refusal


# -------------------------------------------------------------------------- creating, configuring


async def test_a_database_is_created_once() -> None:
    lab = model()
    assert value(health.is_configured(await lab.admin.status())) is False
    await lab.admin.create(DOUBLE)
    assert value(health.is_available(await lab.admin.status())) is True
    assert await refused(lab.admin.create(DOUBLE)) is Refusal.EXISTS


async def test_right_after_it_was_created_nobody_knows_of_the_data() -> None:
    lab = model()
    await lab.admin.create(DOUBLE)
    status = await lab.admin.status()
    assert value(health.is_fully_replicated(status)) == "?"
    lab.pass_by(40)
    assert value(health.is_fully_replicated(await lab.admin.status())) is True


async def test_what_is_asked_for_is_what_it_is() -> None:
    lab = await created()
    await lab.admin.configure(Configuration(redundancy="triple", logs=3, resolvers=2))
    seen = value(configuration.configuration(await lab.admin.status()))
    assert (seen.redundancy, seen.logs, seen.resolvers) == ("triple", 3, 2)


async def test_other_roles_are_a_recovery_and_the_same_again_is_none() -> None:
    lab = await created()
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
)
async def test_what_is_refused_changes_nothing(wish: Configuration, why: Refusal) -> None:
    lab = await created()
    before = value(configuration.configuration(await lab.admin.status()))
    assert await refused(lab.admin.configure(wish)) is why
    assert value(configuration.configuration(await lab.admin.status())) == before


async def test_an_engine_changes_where_data_may_migrate() -> None:
    lab = await created()
    wish = Configuration(
        storage_engine="ssd-redwood-1", storage_migration_type="aggressive", logs=2
    )
    await lab.admin.configure(wish)
    seen = value(configuration.configuration(await lab.admin.status()))
    assert seen.storage_engine == "ssd-redwood-1"


async def test_data_halls_that_are_not_there_take_it_down() -> None:
    """Of that the operator must know before: the database itself does not refuse it."""
    lab = await created()
    with pytest.raises(OutcomeUnknown):
        await lab.admin.configure(Configuration(redundancy="three_data_hall"))
    assert value(health.is_available(await lab.admin.status())) is False


async def test_without_a_database_nothing_is_configured() -> None:
    lab = model()
    with pytest.raises(OutcomeUnknown):
        await lab.admin.configure(DOUBLE)


# -------------------------------------------------------------------------- exclusions


async def test_data_leaves_and_then_there_is_proof() -> None:
    lab = await created()
    found = await lab.admin.exclude([by("storage-4")])
    assert list(found.values()) == [Stage.MOVING]
    status = await lab.admin.status()
    assert value(leaving.Leftovers(status).on("storage-4")).why == "it has the role storage"
    lab.pass_by(60)
    assert list((await lab.admin.exclude([by("storage-4")])).values()) == [Stage.OVER]
    assert value(leaving.Leftovers(await lab.admin.status()).on("storage-4")).is_gone


async def test_while_data_leaves_no_copy_is_missing() -> None:
    lab = await created()
    await lab.admin.exclude([by("storage-4")])
    lab.pass_by(1)
    status = await lab.admin.status()
    assert value(movement.is_moving(status)) is True
    assert value(health.fewest_replicas(status)) == 2


async def test_a_process_without_data_is_excluded_at_once() -> None:
    lab = await created()
    found = await lab.admin.exclude([exclusions.parse("127.0.3.2:4501")])
    assert list(found.values()) == [Stage.OVER]


async def test_a_log_is_excluded_with_its_generation() -> None:
    lab = await created()
    found = await lab.admin.exclude([by("log-1")])
    assert list(found.values()) == [Stage.MOVING]
    lab.pass_by(20)
    assert value(leaving.Leftovers(await lab.admin.status()).on("log-1")).is_gone


async def test_exclusions_are_listed_and_taken_back_each_by_its_own_name() -> None:
    lab = await created()
    both = [by("storage-4"), exclusions.parse("127.0.1.4:4501")]
    await lab.admin.exclude(both)
    assert (await lab.admin.exclusions()).excluded == frozenset(both)
    await lab.admin.include([both[1]])
    assert (await lab.admin.exclusions()).excluded == {both[0]}
    assert value(leaving.excluded(await lab.admin.status())) == {both[0]}
    await lab.admin.include([both[0]])
    await lab.admin.include([both[0]])
    assert (await lab.admin.exclusions()).excluded == frozenset()


async def test_nobody_is_excluded_and_said_to_be_nobody() -> None:
    lab = await created()
    found = await lab.admin.exclude([by("nobody"), exclusions.parse("127.0.77.1:4501")])
    assert set(found.values()) == {Stage.NOBODY, Stage.MISSING}


async def test_all_storage_is_not_excluded() -> None:
    lab = await created()
    work = lab.admin.exclude([exclusions.parse("locality_dcid:dc1")])
    assert await refused(work) is Refusal.NO_ROOM
    assert (await lab.admin.exclusions()).excluded == frozenset()


async def test_who_is_gone_is_missing_and_nobody_knows_of_its_disk() -> None:
    lab = await created()
    lab.lose("storage-5")
    lab.pass_by(10)
    found = await lab.admin.exclude([exclusions.parse("127.0.1.5:4501")])
    assert list(found.values()) == [Stage.MISSING]
    assert value(leaving.Leftovers(await lab.admin.status()).on("storage-5")) == "?"


async def test_without_coordinators_the_impact_is_unknown() -> None:
    lab = await created()
    lab.lose("storage-2", "storage-3")
    assert await refused(lab.admin.exclude([by("storage-5")])) is Refusal.NOT_YET


# -------------------------------------------------------------------------- coordinators


async def test_coordinators_move_and_the_string_is_another() -> None:
    lab = await created()
    before = await lab.admin.connection_string()
    new = [at("127.0.1.1:4501"), at("127.0.1.4:4501"), at("127.0.1.5:4501")]
    found = await lab.admin.change_coordinators(new)
    assert set(found.coordinators) == set(new)
    assert (found.id != before.id, found.description) == (True, before.description)
    assert value(coordinators.connection_string(await lab.admin.status())) == found


async def test_the_same_coordinators_keep_their_string() -> None:
    lab = await created()
    before = await lab.admin.connection_string()
    assert await lab.admin.change_coordinators(before.coordinators) == before


async def test_one_who_does_not_answer_does_not_coordinate() -> None:
    lab = await created()
    new = [at("127.0.1.1:4501"), at("127.0.1.2:4501"), at("127.0.99.9:4501")]
    assert await refused(lab.admin.change_coordinators(new)) is Refusal.UNREACHABLE


async def test_one_coordinator_less_is_one_fault_less() -> None:
    lab = await created()
    lab.lose("storage-3")
    lab.pass_by(10)
    status = await lab.admin.status()
    assert value(health.tolerance(status)).spare == 0
    assert [it.reachable for it in value(coordinators.coordinators(status))].count(False) == 1
    new = [at("127.0.1.1:4501"), at("127.0.1.2:4501"), at("127.0.1.4:4501")]
    await lab.admin.change_coordinators(new)
    status = await lab.admin.status()
    assert all(it.reachable for it in value(coordinators.coordinators(status)))


async def test_without_a_majority_it_looks_down_and_a_change_takes_it_down() -> None:
    lab = await created()
    lab.lose("storage-2", "storage-3")
    status = await lab.admin.status()
    assert value(health.is_available(status)) is False
    assert value(health.tolerance(status)) == "?"
    assert lab.database.recovery.serves, "transactions go on"
    with pytest.raises(OutcomeUnknown):
        await lab.admin.change_coordinators([at("127.0.1.1:4501")])
    assert not lab.database.recovery.serves
    lab.come_back("storage-2")
    lab.pass_by(5)
    assert value(health.is_available(await lab.admin.status())) is True


# -------------------------------------------------------------------------- losses, kills


async def test_a_lost_disk_is_missed_first_and_then_healed() -> None:
    lab = await created()
    lab.lose("storage-5")
    lab.pass_by(10)
    status = await lab.admin.status()
    assert "storage-5" not in value(processes.roster(status)).groups
    assert value(health.is_fully_replicated(status)) is True, "nobody looks for 45 seconds"
    lab.pass_by(36)
    assert value(health.fewest_replicas(await lab.admin.status())) == 1
    lab.pass_by(60)
    assert value(health.fewest_replicas(await lab.admin.status())) == 2


async def test_a_lost_log_is_a_recovery() -> None:
    lab = await created()
    before = value(recovery.count(await lab.admin.status()))
    lab.lose("log-1")
    lab.pass_by(7)
    status = await lab.admin.status()
    assert value(recovery.count(status)) > before
    assert value(recovery.age(status)) < 10


async def test_all_logs_lost_nobody_can_write() -> None:
    lab = await created()
    lab.lose("log-1", "log-2")
    lab.pass_by(5)
    status = await lab.admin.status()
    assert value(health.is_available(status)) is False
    with pytest.raises(DatabaseSilent):
        await lab.admin.maintenance()
    lab.come_back("log-1", "log-2")
    lab.pass_by(5)
    assert value(health.is_available(await lab.admin.status())) is True


async def test_killed_processes_come_back_younger() -> None:
    lab = await created()
    assert await lab.admin.kill([at("127.0.1.5:4501")]) == 1
    (one,) = value(processes.roster(await lab.admin.status())).groups["storage-5"]
    assert one.entry.uptime_seconds < 30


async def test_all_are_killed_at_once_and_it_serves_again() -> None:
    lab = await created()
    every = [it.address for it in lab.database.servers.values()]
    assert await lab.admin.kill(every, twice=True) == len(every)
    lab.pass_by(10)
    assert value(health.is_available(await lab.admin.status())) is True


async def test_who_is_not_there_is_not_killed() -> None:
    lab = await created()
    assert await refused(lab.admin.kill([at("127.0.9.9:4501")])) is Refusal.NOT_RECOGNIZED


# -------------------------------------------------------------------------- maintenance


async def test_a_zone_may_be_away() -> None:
    lab = await created()
    assert await lab.admin.maintenance() is None
    await lab.admin.begin_maintenance("z5", 600)
    found = await lab.admin.maintenance()
    assert found is not None
    assert (found.zone, 590 < found.seconds <= 600) == ("z5", True)
    status = await lab.admin.status()
    assert value(maintenance.maintenance(status)).zone == "z5"
    assert value(health.tolerance(status)).spare == 0
    lab.lose("storage-5")
    lab.pass_by(120)
    assert value(movement.is_moving(await lab.admin.status())) is False
    lab.come_back("storage-5")
    await lab.admin.end_maintenance()
    assert await lab.admin.maintenance() is None


async def test_maintenance_ends_by_itself() -> None:
    lab = await created()
    await lab.admin.begin_maintenance("z5", 60)
    lab.pass_by(61)
    assert await lab.admin.maintenance() is None


async def test_who_was_away_for_too_long_is_healed() -> None:
    lab = await created()
    await lab.admin.begin_maintenance("z5", 60)
    lab.lose("storage-5")
    lab.pass_by(180)
    assert value(health.fewest_replicas(await lab.admin.status())) == 2


# -------------------------------------------------------------------------- disks, addresses, classes


async def test_a_wiped_disk_is_another_process_of_the_same_name() -> None:
    lab = await created()
    (before,) = value(processes.roster(await lab.admin.status())).groups["storage-5"]
    lab.lose("storage-5")
    lab.pass_by(10)
    lab.database.join(server("storage-5", lab.database.now, Disk("f" * 32)))
    (after,) = value(processes.roster(await lab.admin.status())).groups["storage-5"]
    assert (after.key != before.key, after.addresses) == (True, before.addresses)


async def test_what_a_wiped_disk_had_is_healed_from_others() -> None:
    lab = await created()
    lab.lose("storage-5")
    lab.database.join(server("storage-5", lab.database.now, Disk("f" * 32)))
    lab.pass_by(120)
    status = await lab.admin.status()
    assert value(health.fewest_replicas(status)) == 2
    assert value(health.is_fully_replicated(status)) is True


async def test_with_all_copies_gone_data_is_missing_until_a_disk_is_back() -> None:
    lab = await created()
    lab.lose("storage-3", "storage-4", "storage-5")
    lab.pass_by(60)
    status = await lab.admin.status()
    assert value(health.fewest_replicas(status)) == 0
    assert value(health.is_fully_replicated(status)) is False
    lab.come_back("storage-3", "storage-4", "storage-5")
    lab.pass_by(60)
    assert value(health.fewest_replicas(await lab.admin.status())) == 2


async def test_who_is_excluded_stays_so_when_it_is_restarted() -> None:
    lab = await created()
    await lab.admin.exclude([by("storage-4")])
    lab.pass_by(60)
    await lab.admin.kill([at("127.0.1.4:4501")])
    lab.pass_by(60)
    left = leaving.Leftovers(await lab.admin.status())
    assert value(left.on("storage-4")).is_gone


@pytest.mark.parametrize(
    ("target", "follows"),
    [(by("storage-4"), True), (exclusions.parse("127.0.1.4:4501"), False)],
    ids=["by locality", "by address"],
)
async def test_only_a_locality_follows_one_to_its_next_address(
    target: exclusions.Exclusion, follows: bool
) -> None:
    lab = await created()
    await lab.admin.exclude([target])
    lab.pass_by(60)
    lab.lose("storage-4")
    moved = server("storage-4", lab.database.now)
    moved.addresses = (at("127.0.9.4:4501"),)
    lab.database.join(moved)
    (one,) = value(processes.roster(await lab.admin.status())).groups["storage-4"]
    assert one.entry.excluded is follows


async def test_a_whole_machine_is_excluded_and_included_with_all_its_ports() -> None:
    lab = await created()
    both = [exclusions.parse("127.0.1.4"), exclusions.parse("127.0.1.4:4501")]
    await lab.admin.exclude(both)
    await lab.admin.include([both[0]])
    assert (await lab.admin.exclusions()).excluded == frozenset()


async def test_two_that_exclude_at_once_both_have_their_way() -> None:
    lab = await created()
    other = Fdbcli(Console(lab.database))
    await lab.admin.exclude([by("storage-4")])
    await other.exclude([by("storage-5")])
    lab.pass_by(90)
    left = leaving.Leftovers(await other.status())
    assert [value(left.on(it)).is_gone for it in ("storage-4", "storage-5")] == [True, True]


async def test_who_has_an_old_cluster_file_is_told_of_the_new_one() -> None:
    lab = await created()
    other = Fdbcli(Console(lab.database))
    new = await lab.admin.change_coordinators([at("127.0.1.4:4501")])
    assert await other.connection_string() != new
    await other.status()
    assert await other.connection_string() == new


async def test_a_process_of_another_class_takes_other_work() -> None:
    lab = await created()
    lab.lose("storage-5")
    lab.pass_by(5)
    other = server("storage-5", lab.database.now)
    other.told_class = ProcessClass.STATELESS
    lab.database.join(other)
    lab.pass_by(120)
    (one,) = value(processes.roster(await lab.admin.status())).groups["storage-5"]
    assert one.entry.class_type == "stateless"
    assert [it.role for it in one.entry.roles if it.role == "storage"] == []


async def test_a_slow_process_says_so() -> None:
    lab = await created()
    next(iter(lab.database.servers.values())).degraded = True
    (slow,) = (
        it
        for group in value(processes.roster(await lab.admin.status())).groups.values()
        for it in group
        if it.entry.degraded is True
    )
    assert slow.instance == "storage-1"


async def test_one_whom_nobody_hears_is_as_good_as_gone() -> None:
    lab = await created()
    gray.cut_off(lab.database, server("storage-3").disk.process_id)
    lab.pass_by(5)
    status = await lab.admin.status()
    assert "storage-3" not in value(processes.roster(status)).groups
    assert [it.reachable for it in value(coordinators.coordinators(status))].count(False) == 1


async def test_a_recovery_is_counted_with_its_cause() -> None:
    lab = await created()
    lab.lose("log-2")
    lab.pass_by(5)
    await lab.admin.configure(Configuration(logs=3))
    causes = [text for _, text in lab.database.recovery.causes]
    assert causes == [
        "the database was created",
        "127.0.2.2:4501 was lost",
        "the configuration was changed",
    ]


def test_the_lab_is_as_recorded() -> None:
    lab: Lab = model()
    assert len(lab.database.servers) == 10
