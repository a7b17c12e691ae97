"""Acts on several groups: trouble with one holds none of the others up, an old view does."""

from __future__ import annotations

import asyncio

from stateward.core.outcome import Outcome, Retry
from stateward.fdb.cluster.hands.editing import each
from stateward.kube.errors import Conflict, NotFound

NAMES = [f"shop-storage-{it}" for it in range(1, 10)]


def acted(refused: dict[str, Exception]) -> tuple[list[str], Outcome | None]:
    """Act on all; return who was tried, and what came of it."""
    tried: list[str] = []

    async def act(name: str) -> None:
        tried.append(name)
        if name in refused:
            raise refused[name]

    return tried, asyncio.run(each(NAMES, act))


def test_trouble_with_some_keeps_none_of_the_others() -> None:
    some = {NAMES[0]: Conflict("old"), NAMES[3]: NotFound("gone"), NAMES[5]: Conflict("old")}
    tried, found = acted(some)
    assert tried == NAMES
    assert isinstance(found, Retry)
    assert found.reason == "Conflict"


def test_whoever_has_an_old_view_of_all_stops() -> None:
    tried, found = acted({it: Conflict("old") for it in NAMES})
    assert tried == NAMES[:3]
    assert isinstance(found, Retry)
