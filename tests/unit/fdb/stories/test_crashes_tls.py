"""The operator dies at a call while a cluster gets TLS, or gives it up."""

from __future__ import annotations

import pytest

from fakes.fdb_crashes import PLAIN, Crashes, crashed, ended, made
from fakes.fdb_stories import Story, merged
from fakes.fdb_tls import OFF, ON
from fakes.fdb_tls_stories import CERTIFIED, keep, kills, listening


@pytest.mark.parametrize("to_tls", [True, False], ids=["on", "off"])
def test_while_listeners_change(to_tls: bool) -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        keep(it)
        await made(it, merged(merged(PLAIN, CERTIFIED), OFF if to_tls else ON))
        crashes.begin(it)
        it.change(**(ON if to_tls else OFF))
        await ended(it)
        assert listening(it) == {to_tls}
        assert 2 <= kills(it) <= 3, "one restart may have been sent once more"

    assert crashed(story, Crashes(reads=80, writes_too=4)) > 3
