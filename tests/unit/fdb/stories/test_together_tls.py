"""Operators that act together, one of them with certificates by which nothing would come back.

The others know neither them nor where they lie: who may be ended says so, or takes it back.
"""

from __future__ import annotations

from fakes.fdb_stories import Story, merged, played
from fakes.fdb_tls import ON
from fakes.fdb_tls_stories import EXPIRED, GOOD, certified, keep
from stateward.fdb.model.intents import Intent
from stateward.kube.codec import Json
from unit.fdb.stories.test_together import KNOB, kills, other, said, unsaid
from unit.fdb.stories.test_upgrading_together import LOCKS, NEW, OLD, join, listed

TOGETHER: Json = {
    "processGroupIDPrefix": "dc1",
    "automationOptions": {"synchronizationMode": "global"},
}


def ready(it: Story) -> list[str]:
    """Return which of ours are said to be ready."""
    return [one for one in said(it) if one.startswith("readyForRestart dc1")]


def test_nobody_restarts_us_by_certificates_that_are_bad() -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(certified(**merged(ON, TOGETHER)))
        before = len(kills(it))
        other(it, Intent.RESTART)
        it.change(processes=KNOB)
        await it.until("ready", lambda: bool(ready(it)))
        keep(it, EXPIRED)
        await it.until("taken back", lambda: not ready(it), within=120)
        other(it, Intent.READY_FOR_RESTART)
        await it.rest(120)
        assert ready(it) == []
        assert len(kills(it)) == before
        keep(it, GOOD)
        await it.until("restarted", lambda: len(kills(it)) > before)
        unsaid(it, Intent.RESTART, Intent.READY_FOR_RESTART)
        await it.reconciled()
        assert len(kills(it)) == before + 1

    played(story)


def test_nobody_upgrades_us_by_certificates_that_are_bad() -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(certified(**merged(ON, LOCKS), version=OLD))
        stranger = join(it)
        it.change(version=NEW)
        await it.until("prepared", lambda: listed(it) == it.groups().keys())
        keep(it, EXPIRED)
        await it.until("withdrawn", lambda: not listed(it), within=120)
        await it.rest(120)
        assert listed(it) == frozenset()
        keep(it, GOOD)
        await it.until("prepared", lambda: listed(it) == it.groups().keys())
        it.change(version=OLD)
        await it.until("taken back", lambda: not listed(it))
        it.database.leave(stranger.disk.process_id)
        await it.reconciled()

    played(story)
