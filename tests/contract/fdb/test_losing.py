"""Processes are lost, killed, frozen, and come back; recoveries, healing, and maintenance."""

from __future__ import annotations

from contextlib import suppress

import pytest

from contract.fdb.labs import Lab, group, there, value
from contract.fdb.test_creating import refused
from fakes.fdb_databases import names
from stateward.core.errors import OutcomeUnknown
from stateward.fdb.admin.errors import DatabaseSilent, Refusal
from stateward.fdb.model.addresses import Address
from stateward.fdb.status import health, maintenance, movement, processes, recovery
from stateward.fdb.status.reading import Status


def uptime(status: Status, name: str) -> float:
    (one,) = group(status, name)
    return float(one.entry.uptime_seconds)


def has_log(status: Status, name: str) -> bool:
    """Tell whether a process has a log: two of three have, and which ones is chance."""
    (one,) = group(status, name)
    return any(it.role == "log" for it in one.entry.roles)


async def test_a_lost_disk_is_missed_first_and_then_healed(lab: Lab) -> None:
    await lab.lose("storage-5")
    await lab.sees(there("storage-5"), False, within=30)
    await lab.pass_by(60)  # nobody looks for 45 seconds; how it is meanwhile was recorded
    await lab.sees(health.fewest_replicas, 2)
    await lab.sees(health.is_fully_replicated, True)


async def test_a_lost_log_is_a_recovery(fresh: Lab) -> None:
    seen = await fresh.admin.status()
    before = value(recovery.count(seen))
    await fresh.lose(next(it for it in ("log-1", "log-2", "log-3") if has_log(seen, it)))
    status = await fresh.sees(lambda it: value(recovery.count(it)) > before, True)
    assert value(recovery.age(status)) < 30
    assert await fresh.writes()


async def test_all_logs_lost_nobody_can_write(fresh: Lab) -> None:
    await fresh.lose("log-1", "log-2", "log-3")
    await fresh.sees(health.is_available, False)
    with pytest.raises(DatabaseSilent):
        await fresh.admin.maintenance()
    await fresh.come_back("log-1", "log-2", "log-3")
    await fresh.sees(health.is_available, True)


async def test_killed_processes_come_back_younger(fresh: Lab) -> None:
    await fresh.pass_by(60)
    before = uptime(await fresh.admin.status(), "storage-5")
    assert await fresh.admin.kill([fresh.at("storage-5")]) == 1
    await fresh.sees(
        lambda it: there("storage-5")(it) is True and uptime(it, "storage-5") < before, True
    )


async def test_several_are_killed_at_once(fresh: Lab) -> None:
    await fresh.pass_by(60)
    three = ("storage-4", "storage-5", "log-3")
    before = await fresh.admin.status()
    assert await fresh.admin.kill([fresh.at(it) for it in three]) == 3

    def are_younger(status: Status) -> object:
        return all(
            there(it)(status) is True and uptime(status, it) < uptime(before, it) for it in three
        )

    await fresh.sees(are_younger, True)


async def test_all_are_killed_at_once_and_it_serves_again(fresh: Lab) -> None:
    await fresh.typed("writemode on; set kept yes")
    every = [fresh.at(it) for it in names()]
    with suppress(OutcomeUnknown):  # who could tell is among them
        assert await fresh.admin.kill(every, twice=True) == len(every)
    await fresh.sees(health.is_available, True)
    assert "`kept' is `yes'" in (await fresh.typed("get kept")).out


async def test_who_is_not_there_is_not_killed(fresh: Lab) -> None:
    nobody = Address.parse("127.0.9.9:4501")
    assert await refused(fresh.admin.kill([nobody])) is Refusal.NOT_RECOGNIZED


async def test_whom_nobody_listed_nobody_kills(fresh: Lab) -> None:
    answer = await fresh.typed(f"kill {fresh.at('storage-5').plain}")
    assert (answer.code, "not recognized" in answer.err) == (1, True)


async def test_one_that_stands_still_is_as_good_as_gone(fresh: Lab) -> None:
    await fresh.freeze("storage-5")
    await fresh.sees(there("storage-5"), False)
    assert await fresh.writes()


async def test_with_all_copies_gone_data_is_missing_until_a_disk_is_back(lab: Lab) -> None:
    await lab.lose("storage-3", "storage-4", "storage-5")
    await lab.sees(health.fewest_replicas, 0)
    assert value(health.is_fully_replicated(await lab.admin.status())) is False
    await lab.come_back("storage-3", "storage-4", "storage-5")
    await lab.sees(health.fewest_replicas, 2)


async def test_a_wiped_disk_is_another_process_of_the_same_name(fresh: Lab) -> None:
    (before,) = group(await fresh.admin.status(), "storage-5")
    await fresh.lose("storage-5")
    await fresh.sees(there("storage-5"), False)
    await fresh.return_as("storage-5", wiped=True)
    status = await fresh.sees(there("storage-5"), True)
    (after,) = group(status, "storage-5")
    assert (after.key != before.key, after.addresses) == (True, before.addresses)


async def test_what_a_wiped_disk_had_is_healed_from_others(lab: Lab) -> None:
    await lab.lose("storage-5")
    await lab.return_as("storage-5", wiped=True)
    await lab.sees(health.fewest_replicas, 2)
    await lab.sees(health.is_fully_replicated, True)


async def test_a_process_of_another_class_takes_other_work(lab: Lab) -> None:
    await lab.lose("storage-5")
    await lab.sees(there("storage-5"), False)
    await lab.return_as("storage-5", kind="stateless")

    def does(status: Status) -> object:
        found = group(status, "storage-5")
        return [(it.entry.class_type, _stores(it)) for it in found]

    await lab.sees(does, [("stateless", False)])


def _stores(one: processes.Reporting) -> bool:
    return any(it.role == "storage" for it in one.entry.roles)


async def test_setclass_is_believed_more_than_the_command_line(fresh: Lab) -> None:
    await fresh.typed(f"setclass {fresh.at('storage-5').plain} stateless")

    def is_so(status: Status) -> object:
        found = group(status, "storage-5")
        return [(it.entry.class_type, it.entry.class_source) for it in found]

    await fresh.sees(is_so, [("stateless", "set_class")])


# -------------------------------------------------------------------------- maintenance


async def test_a_zone_may_be_away(lab: Lab) -> None:
    assert await lab.admin.maintenance() is None
    await lab.admin.begin_maintenance("z5", 600)
    found = await lab.admin.maintenance()
    assert found is not None
    assert (found.zone, 560 < found.seconds <= 600) == ("z5", True)
    status = await lab.admin.status()
    assert value(maintenance.maintenance(status)).zone == "z5"
    assert value(health.tolerance(status)).spare == 0
    await lab.admin.end_maintenance()
    assert await lab.admin.maintenance() is None


async def test_who_is_away_for_maintenance_is_not_healed(lab: Lab) -> None:
    await lab.admin.begin_maintenance("z5", 6000)
    await lab.lose("storage-5")
    await lab.pass_by(90)
    assert value(movement.is_moving(await lab.admin.status())) is False
    await lab.come_back("storage-5")
    await lab.sees(there("storage-5"), True)
    await lab.admin.end_maintenance()


async def test_maintenance_ends_by_itself(fresh: Lab) -> None:
    await fresh.admin.begin_maintenance("z5", 60)
    await fresh.pass_by(65)
    assert await fresh.admin.maintenance() is None


async def test_the_next_zone_takes_the_place_of_the_last(fresh: Lab) -> None:
    await fresh.admin.begin_maintenance("z4", 600)
    await fresh.admin.begin_maintenance("z5", 600)
    found = await fresh.admin.maintenance()
    assert found is not None
    assert found.zone == "z5"


async def test_who_was_away_for_too_long_is_healed(lab: Lab) -> None:
    await lab.admin.begin_maintenance("z5", 60)
    await lab.lose("storage-5")
    await lab.pass_by(100)
    await lab.sees(health.fewest_replicas, 2)
