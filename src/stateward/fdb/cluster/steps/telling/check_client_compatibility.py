"""CheckClientCompatibility: no upgrade begins that clients, or the database, could not follow."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from stateward.core.errors import PeerError
from stateward.core.outcome import DONE, Blocked, Outcome, Retry
from stateward.fdb.cluster.hands.intent import CHANGED, is_unchanged
from stateward.fdb.cluster.hands.marking import names_of
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.hands.writing import exactly
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide import clients
from stateward.fdb.decide.clients import VersionChange
from stateward.fdb.decide.groups.staging import has_server_of
from stateward.fdb.decide.upgrades import judging as upgrades
from stateward.fdb.model.names import STAGED_VERSION_KEY
from stateward.fdb.views import GroupView
from stateward.kube.client import MergePatch
from stateward.kube.errors import Conflict
from stateward.kube.resources import CONFIG_MAPS

#: Seconds until it is judged again whether an upgrade may begin.
_AGAIN: Final = 60.0


class CheckClientCompatibility:
    """Lets an upgrade to another line of releases begin, or says what holds it back.

    Until it begins, the cluster goes on as one of the version that runs.
    """

    name = "CheckClientCompatibility"

    def __init__(self, tools: Tools) -> None:
        self._client = tools.client

    async def run(self, seen: Seen) -> Outcome:
        """Have it on record that pods are given the programs of another version from now on."""
        view = seen.view
        is_near = clients.version_change(view) in (VersionChange.NONE, VersionChange.COMPATIBLE)
        if is_near or not view.configured:
            return DONE
        if view.staging:
            return await self._stay_ready(seen)
        late = seen.outdated | _behind(seen)
        if (held := upgrades.objection(view, seen.program_missing, late)) is not None:
            if held.hint:
                return Blocked(held.guard, held.message, held.hint)
            return Retry(_AGAIN, held.guard, held.message)
        asked = f"from {view.running_version} to {view.spec.version}"
        words = f"an upgrade {asked} begins: pods are given its programs"
        return await self._record(seen, view.spec.version, "UpgradeBegun", words)

    async def _stay_ready(self, seen: Seen) -> Outcome:
        """Let pods go on with the new programs, unless somebody waits outside for too long.

        Or unless one cannot have them: its pod is to be made anew, and nobody's is meanwhile.
        """
        view, version = seen.view, seen.view.spec.version
        running = view.running_version
        if some := upgrades.too_long_outside(view):
            words = f"{names_of(some)} started as {version} and cannot join those of {running}"
        elif some := upgrades.never_staged(view, partial(_with_other_server, seen)):
            words = f"{names_of(some)} cannot be given {version} before pods are as asked otherwise"
        else:
            return DONE
        words = f"{words}: pods go back to programs of {running}, and the upgrade begins anew"
        return await self._record(seen, None, "UpgradeTakenBack", words)

    async def _record(self, seen: Seen, version: str | None, reason: str, words: str) -> Outcome:
        """Have it on record for which version pods have programs, beside the one that runs."""
        if seen.config_map is None or not await is_unchanged(self._client, seen.cluster):
            return CHANGED
        live = seen.config_map.metadata
        body = {"metadata": exactly(live), "data": {STAGED_VERSION_KEY: version}}
        try:
            await self._client.patch(CONFIG_MAPS, live.key, MergePatch(body))
        except Conflict:
            raise
        except PeerError as error:
            return trouble(f"config map {live.name}", error)
        return done(reason, words)


def _behind(seen: Seen) -> frozenset[str]:
    """Return who shall go, still holds something, and runs by an image of an upgrade before."""
    leaving = (it for it in seen.view.groups if it.marked and not it.holds_nothing)
    return _with_other_server(seen, leaving)


def _with_other_server(seen: Seen, groups: Iterable[GroupView]) -> frozenset[str]:
    """Return whose image of fdbserver is not what it would be made with now."""
    return frozenset(
        it.name
        for it in groups
        if not has_server_of(seen.object_of(it).spec, seen.wanted.group(it.id))
    )
