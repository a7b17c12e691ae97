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


async def test_coordinators_move_and_the_string_is_another(lab: Lab) -> None:
    before = await lab.admin.connection_string()
    new = of(lab, "storage-1", "storage-4", "storage-5")
    found = await lab.admin.change_coordinators(new)
    assert set(found.coordinators) == set(new)
    assert (found.id != before.id, found.description) == (True, before.description)
    assert value(coordinators.connection_string(await lab.admin.status())) == found


async def test_all_of_them_move_at_once(lab: Lab) -> None:
    await lab.admin.change_coordinators(of(lab, "log-1", "log-2", "stateless-1"))
    await lab.lose("storage-1", "storage-2")
    assert await lab.writes()


async def test_what_was_written_is_there_after_they_moved(lab: Lab) -> None:
    await lab.typed("writemode on; set kept yes")
    await lab.admin.change_coordinators(of(lab, "storage-4", "storage-5", "log-1"))
    assert "`kept' is `yes'" in (await lab.typed("get kept")).out


async def test_the_same_coordinators_keep_their_string(lab: Lab) -> None:
    before = await lab.admin.connection_string()
    assert await lab.admin.change_coordinators(before.coordinators) == before


async def test_one_who_does_not_answer_does_not_coordinate(lab: Lab) -> None:
    new = [*of(lab, "storage-1", "storage-2"), Address.parse("127.0.99.9:4501")]
    assert await refused(lab.admin.change_coordinators(new)) is Refusal.UNREACHABLE


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("coordinators {0} {0}", 0, "passed redundant coordinators"),
        ("coordinators {0}:abc", 0, "is not a valid network endpoint address"),
        ("coordinators {0} description=a-b", 1, "Cluster description must match"),
    ],
    ids=["one twice", "no address", "bad description"],
)
async def test_what_is_no_list_changes_nothing(lab: Lab, words: str, code: int, said: str) -> None:
    before = await lab.admin.connection_string()
    answer = await lab.typed(words.format(lab.at("storage-4")))
    assert (answer.code, said in answer.err) == (code, True)
    assert await lab.admin.connection_string() == before


async def test_auto_leaves_healthy_ones_alone(lab: Lab) -> None:
    before = await lab.admin.connection_string()
    answer = await lab.typed("coordinators auto")
    assert "No change" in answer.out
    assert await lab.admin.connection_string() == before


async def test_auto_replaces_one_who_is_gone(lab: Lab) -> None:
    await lab.lose("storage-3")
    await lab.sees(silent_ones, 1)
    answer = await lab.typed("coordinators auto", 60)
    assert "Coordination state changed" in answer.out
    found = await lab.admin.connection_string()
    assert lab.at("storage-3") not in found.coordinators


async def test_one_coordinator_less_is_one_fault_less(lab: Lab) -> None:
    await lab.lose("storage-3")
    status = await lab.sees(silent_ones, 1)
    assert value(health.tolerance(status)).spare == 0
    await lab.admin.change_coordinators(of(lab, "storage-1", "storage-2", "storage-4"))
    await lab.sees(silent_ones, 0)


async def test_without_a_majority_it_looks_down_and_transactions_go_on(lab: Lab) -> None:
    await lab.lose("storage-2", "storage-3")
    status = await lab.sees(health.is_available, False)
    assert value(health.tolerance(status)) == "?"
    assert await lab.writes()


async def test_a_change_without_a_majority_takes_it_down_until_one_is_back(lab: Lab) -> None:
    await lab.lose("storage-2", "storage-3")
    await lab.sees(health.is_available, False)
    with pytest.raises(OutcomeUnknown):
        await lab.admin.change_coordinators(of(lab, "storage-1"))
    assert not await lab.writes()
    await lab.come_back("storage-2")
    await lab.sees(health.is_available, True)
    assert await lab.writes()


async def test_with_no_coordinator_at_all_nobody_is_found(lab: Lab) -> None:
    await lab.lose("storage-1", "storage-2", "storage-3")
    status = await lab.sees(health.is_available, False)
    assert silent_ones(status) == 3
    await lab.come_back("storage-1", "storage-2", "storage-3")
    await lab.sees(health.is_available, True)


async def test_what_was_written_is_there_after_all_coordinators_came_back(lab: Lab) -> None:
    await lab.typed("writemode on; set kept yes")
    await lab.lose("storage-1", "storage-2", "storage-3")
    await lab.sees(health.is_available, False)
    await lab.come_back("storage-1", "storage-2", "storage-3")
    await lab.sees(health.is_available, True)
    assert "`kept' is `yes'" in (await lab.typed("get kept")).out


async def test_one_wiped_coordinator_comes_back_silently(lab: Lab) -> None:
    await lab.lose("storage-3")
    await lab.return_as("storage-3", wiped=True)
    await lab.sees(silent_ones, 0)
    assert await lab.writes()


async def test_who_has_an_old_cluster_file_is_told_of_the_new_one(lab: Lab) -> None:
    other = lab.other()
    new = await lab.admin.change_coordinators(of(lab, "storage-4", "storage-5", "log-1"))
    assert await other.connection_string() != new
    await other.status()
    assert await other.connection_string() == new


async def test_who_was_away_while_they_moved_finds_the_way(lab: Lab) -> None:
    await lab.lose("storage-5")
    await lab.admin.change_coordinators(of(lab, "storage-1", "storage-4", "log-1"))
    await lab.come_back("storage-5")

    def is_there(status: Status) -> object:
        entries = status.document.cluster.processes or {}
        return str(lab.at("storage-5")) in {it.address for it in entries.values()}

    await lab.sees(is_there, True)


async def test_they_move_twice_and_the_oldest_file_still_leads_there(lab: Lab) -> None:
    other = lab.other()
    await lab.admin.change_coordinators(of(lab, "storage-1", "storage-2", "storage-4"))
    new = await lab.admin.change_coordinators(of(lab, "storage-1", "storage-4", "storage-5"))
    await other.status()
    assert await other.connection_string() == new


async def test_the_list_is_told_without_anybody(lab: Lab) -> None:
    await lab.lose("storage-1", "storage-2", "storage-3")
    answer = await lab.typed("coordinators")
    assert (answer.code, "Cluster coordinators (3):" in answer.out) == (0, True)
    with pytest.raises(DatabaseSilent):
        await lab.admin.exclusions()
