"""What kills operators kills them where it says, and tells what goes wrong then."""

from __future__ import annotations

import pytest

from fakes.fdb_crashes import PLAIN, VARIABLE, Crashes, crashed, made
from fakes.fdb_stories import Story
from stateward.sim.network import Asked


def test_where_all_are_asked_for_it_dies_at_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Asked] = []

    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, PLAIN)
        it.it.world.weather.listeners.append(lambda _who, call: calls.append(call))
        crashes.begin(it)
        it.change(databaseConfiguration={"logs": 2})
        await it.rest(3)

    monkeypatch.setenv(VARIABLE, "all")
    many = crashed(story, Crashes(reads=40, befores=9, writes_too=7))
    writes = [it for it in calls if it.writes]
    assert writes
    assert many == len(calls) + len(writes), "before and after what writes"


def test_what_goes_wrong_after_a_crash_is_told() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, PLAIN)
        crashes.begin(it)
        await it.rest(30)
        assert not crashes.is_branch, "it went wrong"

    with pytest.raises(
        AssertionError, match=r"(\d+) of \1 crashes went wrong\ncrash-.* at call \d+"
    ):
        crashed(story, Crashes(reads=2))
