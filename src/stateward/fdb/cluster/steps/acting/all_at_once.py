"""The restart of an upgrade: all processes end at once, and come back as the new version."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from msgspec import UNSET

from stateward.core.errors import PeerError
from stateward.core.outcome import Blocked, Outcome, Retry
from stateward.fdb.admin.keyed.preparing import PreparedKeys
from stateward.fdb.admin.keys import Keys
from stateward.fdb.admin.ports import Admin
from stateward.fdb.api import questions
from stateward.fdb.cluster.hands import locked
from stateward.fdb.cluster.hands.asking import allowed, failed
from stateward.fdb.cluster.hands.intent import CHANGED, is_unchanged
from stateward.fdb.cluster.hands.marking import names_of
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.hands.waiting import told
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide import clients
from stateward.fdb.decide.clients import VersionChange
from stateward.fdb.decide.upgrades import judging as upgrades
from stateward.fdb.decide.upgrades.judging import RestartPlan
from stateward.fdb.guards import acts
from stateward.fdb.guards.guard import Refusal, refusals
from stateward.fdb.model.listing import some_of
from stateward.fdb.views import ClusterView

_AGAIN: Final = 15.0
_SOON: Final = 1.0
_SHOWN: Final = 5
#: Clusters whose last restart is kept in mind.
_REMEMBERED: Final = 1000


@dataclass(frozen=True, slots=True)
class _Kill:
    #: For which generation of the spec it was, and when.
    generation: int
    at: float


class AllAtOnce:
    """Kills all processes in one command, once every pod has the new programs."""

    def __init__(self, step: str, tools: Tools) -> None:
        self._step = step
        self._tools = tools
        #: By the uid of a cluster: its last restart.
        self._last: dict[str, _Kill] = {}

    async def run(self, seen: Seen, admin: Admin) -> Outcome:
        """Have all change to the staged version, or say who is waited for."""
        view, uid = seen.view, seen.cluster.metadata.uid
        if clients.version_change(view) is not VersionChange.UPGRADE:
            words = "nobody knows which version runs: waiting until the database answers"
            return Retry(_AGAIN, "UpgradeWaits", words)
        plan = upgrades.restart(view)
        if plan.refused is not None:
            return _refused(plan.refused)
        if plan.waiting:
            return Retry(_AGAIN, "UpgradeWaits", told(plan.waiting))
        if not plan.kill:
            return Retry(_AGAIN, "UpgradeWaits", "nobody reports who could be started anew")
        if _is_in_vain(view, plan, self._last.get(uid)):
            return Blocked(
                "UpgradeDidNotHelp",
                f"{names_of(plan.groups)} were started anew for {view.spec.version}, and came back"
                f" as {view.running_version}",
                "see with what their pods start fdbserver: an image that is not of its tag?; any"
                " change of the spec lets them be started anew once more",
            )
        alone = plan.begun or not questions.uses_locks(view.spec)
        found = None if alone else await self._prepared(seen, admin, plan)
        found = found or await self._held(seen, admin, plan)
        if found is None and not alone:
            found = await self._take_list(seen, admin, plan)
        return found or await self._kill(seen, admin, plan)

    async def _prepared(self, seen: Seen, admin: Admin, plan: RestartPlan) -> Outcome | None:
        """List ours as prepared, as far as others may end them; return whose are not."""
        keys = _list_of(seen, self._tools.fence.keys(admin))
        ours = {*_ids(plan)} - upgrades.withdrawn(seen.view)
        try:
            listed = await self._tools.fence.change(keys.add, ours)
        except PeerError as error:
            return trouble(f"{_purpose(seen.view)} is to be agreed upon", error)
        late = upgrades.unprepared(plan, listed)
        if not late:
            return None
        words = (
            f"{_purpose(seen.view)} waits until other operators have prepared theirs for"
            f" {seen.view.spec.version}: {some_of(late, _SHOWN)}"
        )
        return Retry(_AGAIN, "UpgradeWaits", words)

    async def _take_list(self, seen: Seen, admin: Admin, plan: RestartPlan) -> Outcome | None:
        """Take the list away, so that nobody else restarts them by it."""
        needed = {*_ids(plan), *upgrades.unprepared(plan, ())}
        mine = locked.claim(seen.view, self._tools.fence.now())
        try:
            keys = _list_of(seen, self._tools.fence.keys(admin))
            await self._tools.fence.change(keys.take, mine, needed)
        except PeerError as error:
            return trouble(f"{_purpose(seen.view)} is due", error)
        return None

    async def _held(self, seen: Seen, admin: Admin, plan: RestartPlan) -> Outcome | None:
        """Return what holds it back; one that was begun is finished, whoever has come since."""
        view = seen.view
        guards = acts.UPGRADE
        if not plan.begun:
            refused = upgrades.unseen(view, seen.program_missing) or upgrades.cut_off(view)
            if refused is not None:
                return _refused(refused)
            if not refusals(guards, view) and (late := await _latecomers(view, admin)) is not None:
                return late
        if plan.begun:  # a database that is down gives no lock, and comes back by this alone
            return None if await is_unchanged(self._tools.client, seen.cluster) else CHANGED
        # The user is asked last: what comes before may take its time.
        return await allowed(self._tools, seen, self._step, guards, _purpose(view))

    async def _kill(self, seen: Seen, admin: Admin, plan: RestartPlan) -> Outcome:
        """End all processes of the database."""
        view, uid = seen.view, seen.cluster.metadata.uid
        theirs = [] if plan.begun else [it.addresses[0] for it in plan.others if it.addresses]
        kill = [*plan.kill, *theirs]
        try:
            # Nobody may be left out, so whoever is still there is told once more.
            await self._tools.fence.change(partial(admin.kill, twice=True), kill)
        except PeerError as error:
            return await failed(self._tools, seen, f"{_purpose(view)} is due", error)
        while len(self._last) >= _REMEMBERED:
            del self._last[next(iter(self._last))]
        self._last[uid] = _Kill(view.generation, view.now)
        words = f"all processes change to {view.spec.version} at once: {len(kill)} were ended"
        return done("ProcessesUpgraded", words, _SOON)


def _list_of(seen: Seen, keys: Keys) -> PreparedKeys:
    return PreparedKeys(locked.lock_of(seen.view, keys), seen.view.spec.version)


def _ids(plan: RestartPlan) -> tuple[str, ...]:
    return tuple(str(it.id) for it in plan.groups)


def _purpose(view: ClusterView) -> str:
    return f"the restart of all processes for {view.spec.version}"


async def _latecomers(view: ClusterView, admin: Admin) -> Outcome | None:
    """Ask once more who uses the database: clients may have come while pods got the programs."""
    try:
        fresh = replace(view, database=await admin.status())
    except PeerError as error:
        return trouble(f"{_purpose(view)} is due", error)
    refused = upgrades.cut_off(fresh)
    return None if refused is None else _refused(refused)


def _refused(refusal: Refusal) -> Outcome:
    if refusal.hint:
        return Blocked(refusal.guard, refusal.message, refusal.hint)
    return Retry(refusal.after or _AGAIN, refusal.guard, refusal.message)


def _is_in_vain(view: ClusterView, plan: RestartPlan, last: _Kill | None) -> bool:
    """Tell whether all of them were started anew for this, and came back as they were."""
    if last is None or last.generation != view.generation:
        return False
    uptimes = [it.entry.uptime_seconds for one in plan.groups for it in one.processes]
    return all(it is UNSET or it < view.now - last.at for it in uptimes)
