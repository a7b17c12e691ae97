"""TLS is asked for together with something else: one after the other, and nobody is cut off."""

from __future__ import annotations

import pytest

from fakes.fdb_stories import Story, merged, played
from fakes.fdb_tls import OFF, ON
from fakes.fdb_tls_stories import BOTH, certified, keep, kills, listening
from stateward.kube.codec import Json

#: What else is asked for, and how often processes are started anew for all of it at most.
OTHERS: dict[str, tuple[Json, int]] = {
    "a patch release": ({"version": "7.3.69"}, 3),
    "another line": ({"version": "7.4.3"}, 2),
    "unified images": ({"imageType": "unified"}, 3),
    "more processes": ({"processCounts": {"storage": 5}}, 3),
    "fewer processes": ({"processCounts": {"log": 2}}, 3),
    "a knob": ({"processes": {"general": {"customParameters": ["knob_max_trace_lines=9"]}}}, 2),
}


def running(it: Story) -> set[str]:
    return {str(one.version) for one in it.database.servers.values()}


CASES = [(it, True) for it in OTHERS] + [("another line", False), ("unified images", False)]


@pytest.mark.parametrize(("other", "to_tls"), CASES)
def test_at_once_with(other: str, to_tls: bool) -> None:
    change, most = OTHERS[other]

    async def story(it: Story) -> None:
        keep(it)
        body = certified(imageType="split", processCounts={"storage": 4})
        await it.create(merged(body, OFF if to_tls else ON))
        it.change(**merged(ON if to_tls else OFF, change))
        await it.reconciled()
        await it.until("gone", it.none_leaves)
        assert listening(it) == {to_tls}
        assert kills(it) <= most
        assert running(it) == {change.get("version", "7.3.63")}
        await it.at_rest()

    played(story, nodes=9)


@pytest.mark.parametrize("other", ["another line", "unified images", "more processes"])
def test_in_the_middle_comes(other: str) -> None:
    change, _ = OTHERS[other]

    async def story(it: Story) -> None:
        keep(it)
        await it.create(certified(imageType="split", processCounts={"storage": 4}))
        it.change(**ON)
        await it.until("both", lambda: it.status["requiredAddresses"] == BOTH)
        it.change(**change)
        await it.reconciled()
        await it.until("gone", it.none_leaves)
        assert listening(it) == {True}
        assert running(it) == {change.get("version", "7.3.63")}

    played(story, nodes=9)
