"""UpdateDatabaseConfiguration: the database is made once, and then is what the spec says."""

from __future__ import annotations

from typing import Final

from stateward.core.errors import PeerError
from stateward.core.facts import Known, Unknown
from stateward.core.outcome import DONE, Outcome, Retry
from stateward.fdb.admin.errors import DatabaseRefused, Refusal
from stateward.fdb.admin.ports import Admin
from stateward.fdb.cluster.hands.asking import allowed, held
from stateward.fdb.cluster.hands.intent import CHANGED, is_unchanged
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide import configuration, making
from stateward.fdb.guards import acts
from stateward.fdb.model.configuration import Configuration
from stateward.fdb.status import configuration as told
from stateward.fdb.status import health

#: Seconds until a database is looked at again that was just changed, or that is not there yet.
_SOON: Final = 1.0
_AWAY: Final = 10.0


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
            return DONE
        step = configuration.next_step(live.value, wanted)
        few = making.enough_zones(seen.view, live.value, step)
        if few is not None:
            return held(seen, self.name, (few,), "configuring")
        return await self._change(seen, seen.admin, step, wrong)

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
        if missing := making.why_not(seen.view):
            return Retry(_SOON, "ProcessesMissing", missing)
        if not await is_unchanged(self._tools.client, seen.cluster):
            return CHANGED
        wanted = configuration.wanted(seen.view.spec)
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
        self, seen: Seen, admin: Admin, step: Configuration, wrong: tuple[str, ...]
    ) -> Outcome:
        what = f"the configuration differs: {'; '.join(wrong)}"
        if isinstance(found := health.is_available(seen.view.database), Known) and not found.value:
            return Retry(
                _AWAY, "DatabaseUnavailable", f"{what}; it is not changed while it is away"
            )
        why = await allowed(self._tools, seen, self.name, acts.CONFIGURE, "configuring")
        if why is not None:
            return why
        try:
            await self._tools.fence.change(admin.configure, step)
        except PeerError as error:
            return trouble(what, error)
        return done("DatabaseConfigured", what, _SOON, asked=step.tokens())


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
