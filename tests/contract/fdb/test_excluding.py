"""Data leaves processes and comes back to them; what is safe and what only looks so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from contract.fdb.labs import Lab, group, there, value
from contract.fdb.test_creating import refused
from stateward.fdb.admin.answers import Stage
from stateward.fdb.admin.errors import Refusal
from stateward.fdb.model import exclusions
from stateward.fdb.model.exclusions import Exclusion
from stateward.fdb.status import exclusions as leaving
from stateward.fdb.status import health
from stateward.fdb.status.reading import Status


def by(name: str) -> Exclusion:
    """Return the exclusion of a process by its name, wherever it is."""
    return exclusions.of_instance(name)


def gone(*names: str) -> Callable[[Status], bool]:
    """Return a question: is it proven that nothing is left on any of them?

    A laboratory's processes are as young as its tests are short.
    """

    def ask(status: Status) -> bool:
        left = [value(leaving.Leftovers(status, settled=0).on(it, 1)) for it in names]
        return all(it != "?" and it.is_gone for it in left)

    return ask


async def test_data_leaves_and_then_there_is_proof(lab: Lab) -> None:
    found = await lab.admin.exclude([by("storage-4")])
    assert set(found.values()) <= {Stage.MOVING, Stage.OVER}
    await lab.sees(gone("storage-4"), True)
    assert list((await lab.admin.exclude([by("storage-4")])).values()) == [Stage.OVER]


async def test_while_data_leaves_no_copy_is_missing(lab: Lab) -> None:
    await lab.admin.exclude([by("storage-4")])

    def is_over(status: Status) -> object:
        assert value(health.fewest_replicas(status)) in (2, "?")
        return gone("storage-4")(status)

    await lab.sees(is_over, True)


async def test_a_process_without_data_is_excluded_at_once(lab: Lab) -> None:
    found = await lab.admin.exclude([exclusions.parse(lab.at("stateless-2").plain)])
    assert list(found.values()) == [Stage.OVER]


async def test_a_log_is_excluded_with_its_generation(lab: Lab) -> None:
    await lab.admin.exclude([by("log-1")])
    await lab.sees(gone("log-1"), True)


async def test_exclusions_are_listed_and_taken_back_each_by_its_own_name(lab: Lab) -> None:
    both = [by("storage-4"), exclusions.parse(lab.at("storage-4").plain)]
    await lab.admin.exclude(both)
    assert (await lab.admin.exclusions()).excluded == frozenset(both)
    await lab.admin.include([both[1]])
    assert (await lab.admin.exclusions()).excluded == {both[0]}
    assert value(leaving.excluded(await lab.admin.status())) == {both[0]}
    await lab.admin.include([both[0]])
    await lab.admin.include([both[0]])
    assert (await lab.admin.exclusions()).excluded == frozenset()


async def test_who_is_included_has_data_again(lab: Lab) -> None:
    await lab.admin.exclude([by("storage-4")])
    await lab.sees(gone("storage-4"), True)
    await lab.admin.include([by("storage-4")])

    def stores(status: Status) -> object:
        roles = [it.role for one in group(status, "storage-4") for it in one.entry.roles]
        return "storage" in roles

    await lab.sees(stores, True)


async def test_nobody_is_excluded_and_said_to_be_nobody(lab: Lab) -> None:
    found = await lab.admin.exclude([by("nobody"), exclusions.parse("127.0.77.1:4501")])
    assert set(found.values()) == {Stage.NOBODY, Stage.MISSING}


async def test_all_storage_is_not_excluded(lab: Lab) -> None:
    work = lab.admin.exclude([exclusions.parse("locality_dcid:dc1")])
    assert await refused(work) is Refusal.NO_ROOM
    assert (await lab.admin.exclusions()).excluded == frozenset()


async def test_who_is_gone_is_missing_and_nobody_knows_of_its_disk(lab: Lab) -> None:
    await lab.lose("storage-5")
    await lab.sees(there("storage-5"), False)
    await lab.pass_by(10)
    found = await lab.admin.exclude([exclusions.parse(lab.at("storage-5").plain)])
    assert list(found.values()) == [Stage.MISSING]
    assert value(leaving.Leftovers(await lab.admin.status()).on("storage-5", 1)) == "?"


async def test_without_coordinators_the_impact_is_unknown(lab: Lab) -> None:
    await lab.lose("storage-2", "storage-3")
    await lab.sees(health.is_available, False)
    assert await refused(lab.admin.exclude([by("storage-5")])) is Refusal.NOT_YET


async def test_what_is_no_address_excludes_nobody_and_says_zero(lab: Lab) -> None:
    answer = await lab.typed("exclude no_wait 127.0.0.1:abc")
    assert (answer.code, "neither a valid network endpoint" in answer.err) == (0, True)
    assert (await lab.admin.exclusions()).excluded == frozenset()


async def test_two_copies_of_something_are_not_given_up(lab: Lab) -> None:
    """``failed`` by address is checked: nobody may be without whom something is lost."""
    every = " ".join(lab.at(f"storage-{n}").plain for n in (1, 2, 3, 4))
    answer = await lab.typed(f"exclude failed {every}")
    assert answer.code == 1
    assert (await lab.admin.exclusions()).failed == frozenset()


async def test_failed_ones_are_listed_apart_and_included_apart(lab: Lab) -> None:
    await lab.typed(f"exclude failed no_wait {lab.at('stateless-2').plain}")
    one = exclusions.parse(lab.at("stateless-2").plain)
    assert (await lab.admin.exclusions()).failed == {one}
    await lab.typed("include all")
    assert (await lab.admin.exclusions()).failed == {one}
    await lab.typed("include failed all")
    assert (await lab.admin.exclusions()).failed == frozenset()


async def test_a_whole_machine_is_included_with_all_its_ports(lab: Lab) -> None:
    host = lab.at("storage-4").host
    both = [exclusions.parse(host), exclusions.parse(f"{host}:4501")]
    await lab.admin.exclude(both)
    await lab.admin.include([both[0]])
    assert (await lab.admin.exclusions()).excluded == frozenset()


async def test_a_zone_is_excluded_with_all_that_are_in_it(lab: Lab) -> None:
    await lab.admin.exclude([exclusions.parse("locality_zoneid:z3")])
    await lab.sees(gone("storage-3", "log-3"), True)


async def test_two_that_exclude_at_once_both_have_their_way(lab: Lab) -> None:
    other = lab.other()
    await asyncio.gather(lab.admin.exclude([by("storage-4")]), other.exclude([by("storage-5")]))
    await lab.sees(gone("storage-4", "storage-5"), True)
    assert (await other.exclusions()).excluded == {by("storage-4"), by("storage-5")}


async def test_one_excludes_and_another_includes_at_once(lab: Lab) -> None:
    await lab.admin.exclude([by("storage-4")])
    await asyncio.gather(
        lab.admin.exclude([by("storage-5")]), lab.other().include([by("storage-4")])
    )
    assert (await lab.admin.exclusions()).excluded == {by("storage-5")}


async def test_who_is_excluded_stays_so_when_it_is_restarted(lab: Lab) -> None:
    await lab.admin.exclude([by("storage-4")])
    await lab.sees(gone("storage-4"), True)
    await lab.admin.kill([lab.at("storage-4")])
    await lab.sees(gone("storage-4"), True)


@pytest.mark.parametrize("follows", [True, False], ids=["by locality", "by address"])
async def test_only_a_locality_follows_one_to_its_next_address(lab: Lab, follows: bool) -> None:
    target = by("storage-4") if follows else exclusions.parse(lab.at("storage-4").plain)
    await lab.admin.exclude([target])
    await lab.sees(gone("storage-4"), True)
    await lab.lose("storage-4")
    await lab.return_as("storage-4", moved=True)

    def excluded_now(status: Status) -> object:
        found = group(status, "storage-4")
        return [it.entry.excluded for it in found if it.addresses != (lab.at("storage-4"),)]

    await lab.sees(excluded_now, [follows])
