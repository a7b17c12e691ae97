"""A coordinator is lost while nobody knows what other operators of the database are about to do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from fakes.fdb_views import NOW, cluster, healthy
from stateward.core.outcome import Outcome
from stateward.fdb.admin.errors import ProgramUnusable
from stateward.fdb.admin.keys import KeyTransaction
from stateward.fdb.cluster.pipeline import steps
from stateward.fdb.model.intents import Intent, Whose, intent_key, moment
from stateward.fdb.model.locks import PREFIX
from unit.fdb.cluster.test_locks_of_steps import Shared

T = TypeVar("T")
GLOBAL = {"synchronizationMode": "global"}


class NoProgram(Shared):
    """A desk at which there is no program for keys."""

    async def transact(self, work: Callable[[KeyTransaction], Awaitable[T]]) -> T:
        raise ProgramUnusable("there is no libfdb_c")


def desk(kind: type[Shared] = Shared, going: str = "", **options: Any) -> Shared:
    """Return that of dc1's operator: storage-3 is lost, storage-4 may follow, lists are unread."""
    tree = healthy()
    del tree["cluster"]["configuration"]
    view = cluster(
        "s1 s2 s3? s4",
        tree,
        coordinating="storage-1 storage-2 storage-3",
        processGroupIDPrefix="dc1",
        automationOptions=GLOBAL,
        lockOptions=options,
    )
    # What runs as storage-4 is another operator's: it is in the database, and none of our groups.
    view = replace(view, groups=tuple(it for it in view.groups if str(it.id) != "storage-4"))
    said = {intent_key(PREFIX, Intent.REMOVAL, Whose("dc2", going)): moment(NOW - 9_000)}
    return kind(view, rows=said if going else {})


async def tried(it: Shared) -> Outcome:
    """Have the coordinators changed, after it was asked what others are about to do."""
    seen = it.seen()
    for name in ("CoordinateOperators", "ChangeCoordinators"):
        found = await next(one for one in steps(it.tools) if one.name == name).run(seen)
    assert seen.book.intents is None, "that could not be known by then"
    return found


@pytest.mark.parametrize("going", ["", "dc2-stateless-7", "dc2-storage-9"])
@pytest.mark.parametrize("disabled", [True, False])
async def test_another_coordinates_whoever_goes_elsewhere(going: str, disabled: bool) -> None:
    """Not: it is called a change of mind for ever that somebody goes of whom nobody knew."""
    it = desk(going=going, disableLocks=disabled)
    await tried(it)
    assert it.asked[0] == "set coordinators"


async def test_but_nobody_who_goes_by_what_can_be_looked_up() -> None:
    it = desk(going="storage-4")
    await tried(it)
    assert it.asked == []


async def test_nor_is_a_program_for_keys_needed_where_nobody_asks_for_a_lock() -> None:
    it = desk(NoProgram, disableLocks=True)
    await tried(it)
    assert it.asked[0] == "change_coordinators"
