"""UpdateDatabaseConfiguration: the database is made once, and then is what the spec says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stateward.core.errors import PeerError
from stateward.core.facts import Known, Unknown
from stateward.core.outcome import DONE, Outcome, Retry
from stateward.fdb.admin.errors import DatabaseRefused, Refusal
from stateward.fdb.admin.ports import Admin
from stateward.fdb.cluster.hands.asking import allowed, failed, held
from stateward.fdb.cluster.hands.intent import CHANGED, is_unchanged
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide import configuration, making
from stateward.fdb.decide.layouts import engines, steps
from stateward.fdb.guards.guard import Guard
from stateward.fdb.model.configuration import Configuration
from stateward.fdb.status import configuration as told
from stateward.fdb.status import health

#: Seconds until a database is looked at again that was just changed, or that is not there yet.
_SOON: Final = 1.0
_AWAY: Final = 10.0
_SLOWLY: Final = 30.0


class UpdateDatabaseConfiguration:
    """Makes a database, and changes it: in one command, or in several that it can follow."""

    name = "UpdateDatabaseConfiguration"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, seen: Seen) -> Outcome:
        """Do the next thing, if it is allowed now."""
        if seen.admin is None:
            return DONE
        if not seen.view.spec.automation_options.configure_database:
            return _left_to_people(seen)
        if not seen.view.configured:
            return await self._make(seen, seen.admin)
        live = told.configuration(seen.view.database)
        if isinstance(live, Unknown):
            return Retry(_AWAY, "ConfigurationUnknown", f"what it is now is unknown: {live.reason}")
        wanted = configuration.wanted(seen.view.spec)
        if not (wrong := configuration.differs(live.value, wanted)):
            return _rewriting(seen, wanted)
        step = configuration.next_step(live.value, wanted)
        if not_ours := (
            steps.elsewhere(seen.view, live.value) or steps.moved_here(seen.view, live.value, step)
        ):
            return Retry(_AWAY, "ConfiguredElsewhere", f"{'; '.join(wrong)}; {not_ours}")
        asked = (making.enough_zones, steps.enough_places, engines.engine_can_change)
        few = [it for ask in asked if (it := ask(seen.view, live.value, step)) is not None]
        if few:
            return held(seen, self.name, few, "configuring")
        guards = steps.guards(seen.view, live.value, step)
        return await self._change(seen, step, guards, wrong)

    async def _make(self, seen: Seen, admin: Admin) -> Outcome:
        """Make it, once: the database itself refuses to be made twice."""
        there = health.is_configured(seen.view.database)
        if isinstance(there, Unknown):
            # Its processes start just now: to ask again soon costs a command, and saves a wait.
            return Retry(
                _SOON, "DatabaseUnknown", f"whether it is there is unknown: {there.reason}"
            )
        if there.value:
            return DONE  # it was made; UpdateStatus notes it when it can be asked
        if (early := _too_early(seen)) is not None:
            return early
        if not await is_unchanged(self._tools.client, seen.cluster):
            return CHANGED
        wanted = steps.first(seen.view, configuration.wanted(seen.view.spec))
        try:
            await self._tools.fence.change(admin.create, wanted)
        except DatabaseRefused as error:
            if error.refusal is not Refusal.EXISTS:
                return trouble("the database is to be made", error)
        except PeerError as error:
            return trouble("the database is to be made", error)
        seen.book.configured = True
        return done("DatabaseMade", "the database was made", _SOON, asked=wanted.tokens())

    async def _change(
        self, seen: Seen, step: Configuration, guards: Sequence[Guard], wrong: Sequence[str]
    ) -> Outcome:
        if seen.admin is None:
            return DONE
        what = f"the configuration differs: {'; '.join(wrong)}"
        if isinstance(found := health.is_available(seen.view.database), Known) and not found.value:
            return Retry(
                _AWAY, "DatabaseUnavailable", f"{what}; it is not changed while it is away"
            )
        why = await allowed(self._tools, seen, self.name, guards, "configuring")
        if why is not None:
            return why
        try:
            await self._tools.fence.change(seen.admin.configure, step)
        except PeerError as error:
            return await failed(self._tools, seen, what, error)
        return done("DatabaseConfigured", what, _SOON, asked=step.tokens())


def _too_early(seen: Seen) -> Outcome | None:
    """Return what must come before a database is made; None: it can be made now."""
    if seen.view.spec.seed_connection_string:
        words = "the database of seedConnectionString is not made yet: its own cluster makes it"
        return Retry(_AWAY, "DatabaseNotMade", words)
    missing = making.why_not(seen.view)
    return Retry(_SOON, "ProcessesMissing", missing) if missing else None


def _rewriting(seen: Seen, wanted: Configuration) -> Outcome:
    """Say how far the database is with another engine: it does that by itself, and may take long.

    Nothing waits for it: what is asked for is done, and data is safe whatever engine it is in.
    """
    found = engines.rewriting(seen.view)
    if found is None:
        return DONE
    seen.book.progress = seen.book.progress or found  # an upgrade that is staged is told first
    words = (
        f"{found.of - found.done} of {found.of} storage servers have yet to be made anew for"
        f" storage_engine {wanted.storage_engine}; the database does that by itself"
    )
    return Retry(_SLOWLY, "EngineChanging", words)


def _left_to_people(seen: Seen) -> Outcome:
    """Say what somebody has to configure who does not want us to."""
    view, live = seen.view, told.configuration(seen.view.database)
    wrong: tuple[str, ...] = () if view.configured else ("there is no database yet",)
    if isinstance(live, Known):
        wrong = configuration.differs(live.value, configuration.wanted(view.spec))
    if not wrong:
        return DONE
    words = f"automationOptions.configureDatabase is off, and {'; '.join(wrong)}"
    return Retry(_AWAY, "ConfigurationLeft", words)
