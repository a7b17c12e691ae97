"""Where a database is found: coordinators move, are lost, and old cluster files are forwarded."""

from __future__ import annotations

import pytest

from contract.fdb.labs import Lab, value
from contract.fdb.test_creating import refused
from stateward.core.errors import OutcomeUnknown
from stateward.fdb.admin.errors import DatabaseSilent, Refusal
from stateward.fdb.model.addresses import Address
from stateward.fdb.status import coordinators, health
from stateward.fdb.status.reading import Status


def of(lab: Lab, *names: str) -> list[Address]:
    return [lab.at(it) for it in names]


def silent_ones(status: Status) -> object:
    """Ask how many coordinators do not answer."""
    found = value(coordinators.coordinators(status))
    return found if found == "?" else [it.reachable for it in found].count(False)


async def test_coordinators_move_and_the_string_is_another(fresh: Lab) -> None:
    before = await fresh.admin.connection_string()
    new = of(fresh, "storage-1", "storage-4", "storage-5")
    found = await fresh.admin.change_coordinators(new)
    assert set(found.coordinators) == set(new)
    assert (found.id != before.id, found.description) == (True, before.description)
    assert value(coordinators.connection_string(await fresh.admin.status())) == found


async def test_all_of_them_move_at_once(fresh: Lab) -> None:
    await fresh.admin.change_coordinators(of(fresh, "log-1", "log-2", "stateless-1"))
    await fresh.lose("storage-1", "storage-2")
    assert await fresh.writes()


async def test_what_was_written_is_there_after_they_moved(fresh: Lab) -> None:
    await fresh.typed("writemode on; set kept yes")
    await fresh.admin.change_coordinators(of(fresh, "storage-4", "storage-5", "log-1"))
    assert "`kept' is `yes'" in (await fresh.typed("get kept")).out


async def test_the_same_coordinators_keep_their_string(fresh: Lab) -> None:
    before = await fresh.admin.connection_string()
    assert await fresh.admin.change_coordinators(before.coordinators) == before


async def test_one_who_does_not_answer_does_not_coordinate(fresh: Lab) -> None:
    new = [*of(fresh, "storage-1", "storage-2"), Address.parse("127.0.99.9:4501")]
    assert await refused(fresh.admin.change_coordinators(new)) is Refusal.UNREACHABLE


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("coordinators {0} {0}", 0, "passed redundant coordinators"),
        ("coordinators {0}:abc", 0, "is not a valid network endpoint address"),
        ("coordinators {0} description=a-b", 1, "Cluster description must match"),
    ],
    ids=["one twice", "no address", "bad description"],
)
async def test_what_is_no_list_changes_nothing(
    fresh: Lab, words: str, code: int, said: str
) -> None:
    before = await fresh.admin.connection_string()
    answer = await fresh.typed(words.format(fresh.at("storage-4")))
    assert (answer.code, said in answer.err) == (code, True)
    assert await fresh.admin.connection_string() == before


async def test_auto_leaves_healthy_ones_alone(fresh: Lab) -> None:
    before = await fresh.admin.connection_string()
    answer = await fresh.typed("coordinators auto")
    assert "No change" in answer.out
    assert await fresh.admin.connection_string() == before


async def test_auto_replaces_one_who_is_gone(fresh: Lab) -> None:
    await fresh.lose("storage-3")
    await fresh.sees(silent_ones, 1)
    answer = await fresh.typed("coordinators auto", 60)
    assert "Coordination state changed" in answer.out
    found = await fresh.admin.connection_string()
    assert fresh.at("storage-3") not in found.coordinators


async def test_one_coordinator_less_is_one_fault_less(lab: Lab) -> None:
    await lab.lose("storage-3")
    status = await lab.sees(silent_ones, 1)
    assert value(health.tolerance(status)).spare == 0
    await lab.admin.change_coordinators(of(lab, "storage-1", "storage-2", "storage-4"))
    await lab.sees(silent_ones, 0)


async def test_without_a_majority_it_looks_down_and_transactions_go_on(fresh: Lab) -> None:
    await fresh.lose("storage-2", "storage-3")
    status = await fresh.sees(health.is_available, False)
    assert value(health.tolerance(status)) == "?"
    # Our programs keep what is written with the coordinators, and say nothing that may be forgotten.
    assert await fresh.writes() is (fresh.kind != "programs")
    await fresh.come_back("storage-2", "storage-3")
    await fresh.sees(health.is_available, True)
    assert await fresh.writes()


async def test_a_change_without_a_majority_takes_it_down_until_one_is_back(fresh: Lab) -> None:
    await fresh.lose("storage-2", "storage-3")
    await fresh.sees(health.is_available, False)
    with pytest.raises(OutcomeUnknown):
        await fresh.admin.change_coordinators(of(fresh, "storage-1"))
    assert not await fresh.writes()
    await fresh.come_back("storage-2")
    await fresh.sees(health.is_available, True)
    assert await fresh.writes()


async def test_with_no_coordinator_at_all_nobody_is_found(fresh: Lab) -> None:
    await fresh.lose("storage-1", "storage-2", "storage-3")
    status = await fresh.sees(health.is_available, False)
    assert silent_ones(status) == 3
    await fresh.come_back("storage-1", "storage-2", "storage-3")
    await fresh.sees(health.is_available, True)


async def test_what_was_written_is_there_after_all_coordinators_came_back(fresh: Lab) -> None:
    await fresh.typed("writemode on; set kept yes")
    await fresh.lose("storage-1", "storage-2", "storage-3")
    await fresh.sees(health.is_available, False)
    await fresh.come_back("storage-1", "storage-2", "storage-3")
    await fresh.sees(health.is_available, True)
    assert "`kept' is `yes'" in (await fresh.typed("get kept")).out


async def test_one_wiped_coordinator_comes_back_silently(fresh: Lab) -> None:
    await fresh.lose("storage-3")
    await fresh.return_as("storage-3", wiped=True)
    await fresh.sees(silent_ones, 0)
    assert await fresh.writes()


async def test_who_has_an_old_cluster_file_is_told_of_the_new_one(fresh: Lab) -> None:
    other = fresh.other()
    new = await fresh.admin.change_coordinators(of(fresh, "storage-4", "storage-5", "log-1"))
    assert await other.connection_string() != new
    await other.status()
    assert await other.connection_string() == new


async def test_who_was_away_while_they_moved_finds_the_way(fresh: Lab) -> None:
    await fresh.lose("storage-5")
    await fresh.admin.change_coordinators(of(fresh, "storage-1", "storage-4", "log-1"))
    await fresh.come_back("storage-5")

    def is_there(status: Status) -> object:
        entries = status.document.cluster.processes or {}
        return str(fresh.at("storage-5")) in {it.address for it in entries.values()}

    await fresh.sees(is_there, True)


async def test_they_move_twice_and_the_oldest_file_still_leads_there(fresh: Lab) -> None:
    other = fresh.other()
    await fresh.admin.change_coordinators(of(fresh, "storage-1", "storage-2", "storage-4"))
    new = await fresh.admin.change_coordinators(of(fresh, "storage-1", "storage-4", "storage-5"))
    await other.status()
    assert await other.connection_string() == new


async def test_the_list_is_told_without_anybody(fresh: Lab) -> None:
    await fresh.lose("storage-1", "storage-2", "storage-3")
    answer = await fresh.typed("coordinators")
    assert (answer.code, "Cluster coordinators (3):" in answer.out) == (0, True)
    with pytest.raises(DatabaseSilent):
        await fresh.admin.exclusions()
