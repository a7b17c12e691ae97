"""Operators that act together in a database into which somebody wrote nonsense: nobody is stopped."""

from __future__ import annotations

from itertools import product

import pytest

from fakes.fdb_stories import Story, played, spec
from stateward.fdb.model import tuples
from stateward.fdb.model.intents import Intent
from stateward.fdb.model.locks import PREFIX
from stateward.sim.loop import EPOCH

FOLDERS = (
    *(str(it) for it in Intent),
    *("actedForExclusion", "actedForInclusion", "actedForRestart"),
    *("processAddresses", "operators", "upgrades", "other"),
)
#: What follows the folder: an operator and a group, or less, or more, or neither.
NAMES = (
    *(b"dc2/dc2-storage-1", b"dc2/dc2 log;'1", b"dc2/", b"/", b"", b"dc2", b"/dc2-log-1"),
    *(b"dc2/dc2-log-1/more", b"\xff/\xfe", b"dc2/\xc3\xa9", b"dc3/dc2-storage-1", b"dc1/none"),
    *(b"dc1", b"7.4.1/dc2-log-1", b"7.4.1/\xff"),
)
#: A moment before the world began: long ago, and not so long that all is forgotten.
BEGAN = int(EPOCH) - 1000
HUGE = (1 << 64) - 1
VALUES = {
    "bytes": b"\xff\x00\xfe",
    "a moment long ago": tuples.pack(-HUGE),
    "never": tuples.pack(HUGE),
    "a beat of never": tuples.pack(HUGE, "uid"),
    "deep": b"[" * 50_000,
    "a data center": b'["locality_dcid:dc1", "locality_zoneid:z", "\\ud800", 7]',
}


@pytest.mark.parametrize("kind", VALUES)
def test_nonsense_stops_nobody(kind: str) -> None:
    async def story(it: Story) -> None:
        options = {"synchronizationMode": "global", "useLocalitiesForExclusion": kind != "deep"}
        await it.create(spec(processGroupIDPrefix="dc1", automationOptions=options))
        keys = [b"/".join((PREFIX, at.encode(), it)) for at, it in product(FOLDERS, NAMES)]
        it.database.store.write([(key, VALUES[kind]) for key in keys])
        mine = next(iter(it.groups("storage")))
        knob = {"general": {"customParameters": ["knob_disable_posix_kernel_aio=1"]}}
        it.change(processes=knob, processGroupsToRemove=[mine])
        await it.reconciled()
        await it.until("gone", it.none_leaves)
        assert mine not in it.groups()
        await it.at_rest()

    played(story)


def test_thousands_of_operators_that_are_gone_are_told_in_a_few_words() -> None:
    async def story(it: Story) -> None:
        options = {"synchronizationMode": "global"}
        await it.create(spec(processGroupIDPrefix="dc1", automationOptions=options))
        every = [f"/{Intent.RESTART}/dc{one}/dc{one}-log-1" for one in range(2, 2000)]
        it.database.store.write([(PREFIX + one.encode(), tuples.pack(BEGAN)) for one in every])
        await it.until("told", lambda: "silent" in it.status.get("synchronization", {}))
        assert len(it.status["synchronization"]["silent"]) == 10
        assert max(len(one["message"]) for one in it.status["blockers"]) < 300

    played(story)
