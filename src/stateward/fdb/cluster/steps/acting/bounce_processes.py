"""BounceProcesses: processes with other arguments than wanted are started anew, at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from msgspec import UNSET

from stateward.core.errors import PeerError
from stateward.core.outcome import DONE, Blocked, Outcome, Retry
from stateward.fdb.admin.ports import Admin
from stateward.fdb.api import questions
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.cluster.hands import together
from stateward.fdb.cluster.hands.asking import allowed_alone, failed
from stateward.fdb.cluster.hands.marking import names_of
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.hands.waiting import told
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.cluster.steps.acting.all_at_once import AllAtOnce
from stateward.fdb.decide import bounces
from stateward.fdb.decide.bounces import BouncePlan
from stateward.fdb.decide.clients import of_other_patch
from stateward.fdb.decide.held import is_whole
from stateward.fdb.decide.operators import acting
from stateward.fdb.guards import acts
from stateward.fdb.guards.transport import certificates_are_good
from stateward.fdb.model.intents import Intent
from stateward.fdb.model.listing import some_of
from stateward.fdb.views import ClusterView, GroupView

_AGAIN: Final = 15.0
_SOON: Final = 1.0
_SHOWN: Final = 5
_PURPOSE: Final = "starting processes anew"
#: For how long after a pod was made the database may still tell of the process before it.
_YOUNG: Final = 60.0
#: Clusters whose last restart is kept in mind.
_REMEMBERED: Final = 1000
#: What was asked for, and by group what its processes ran with.
_Tried: TypeAlias = tuple[int, frozenset[tuple[str, tuple[str, ...]]]]


@dataclass(frozen=True, slots=True)
class _Kill:
    tried: _Tried
    names: tuple[str, ...]
    at: float


class BounceProcesses:
    """Kills them all in one command, so that the database recovers once."""

    name = "BounceProcesses"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        #: By the uid of a cluster: the last restart, until it is seen that it helped.
        self._last: dict[str, _Kill] = {}
        self._upgrade = AllAtOnce(self.name, tools)

    async def run(self, seen: Seen) -> Outcome:
        """Kill those that must be started anew, once all of them are ready for it."""
        view, admin = seen.view, seen.admin
        if not view.configured or admin is None:
            return DONE
        if view.staging:  # whoever ends now comes back as the new version: all do, or nobody
            return await self._upgrade.run(seen, admin)
        return await self._bounce(seen, admin)

    async def _bounce(self, seen: Seen, admin: Admin) -> Outcome:
        view, uid = seen.view, seen.cluster.metadata.uid
        plan, with_others = bounces.plan(view), questions.acts_together(view.spec)
        if with_others and (unsaid := await self._say_ready(seen, plan)) is not None:
            return unsaid
        if plan.waiting:
            return Retry(_AGAIN, "BounceWaits", told(plan.waiting))
        if not plan.kill:
            if (last := self._last.get(uid)) is not None and _helped(view, last):
                del self._last[uid]
            return _told_of_versions(view)
        if _is_in_vain(view, plan, self._last.get(uid)):
            return _in_vain(plan)
        if with_others:
            return await self._kill_together(seen, admin, plan)
        return await self._held(seen) or await self._kill(seen, admin, plan)

    async def _kill(self, seen: Seen, admin: Admin, plan: BouncePlan) -> Outcome:
        try:
            await self._tools.fence.change(admin.kill, plan.kill)
        except PeerError as error:
            what = f"{names_of(plan.groups)} are to be started anew"
            return await failed(self._tools, seen, what, error)
        self._remember(seen.cluster.metadata.uid, _kill(seen.view, plan, seen.view.now))
        words = f"processes are started anew: {names_of(plan.groups)}"
        return done("ProcessesBounced", words, _SOON, killed=[str(it) for it in plan.kill])

    async def _say_ready(self, seen: Seen, plan: BouncePlan) -> Outcome | None:
        """Say whom others may end; they know neither our files nor our certificates."""
        is_late = bool(plan.waiting) or certificates_are_good(seen.view) is not None
        names = () if is_late else _ids(plan)
        return await together.ready(self._tools, seen, Intent.RESTART, names)

    async def _kill_together(self, seen: Seen, admin: Admin, plan: BouncePlan) -> Outcome:
        """Kill those of all operators with one command, once all of them are ready."""
        view, uid, names = seen.view, seen.cluster.metadata.uid, _ids(plan)
        if (acted := together.is_done(seen, Intent.RESTART, names)) is not None:
            self._remember(uid, _kill(view, plan, acted.at))
        found = together.judged(self._tools, seen, Intent.RESTART)
        waiting = together.waiting(seen, Intent.RESTART, found, names, _PURPOSE)
        if waiting is not None:
            return waiting
        addresses = acting.restarted(view, found.together)
        held = await self._held(seen)
        if held is not None:
            return held
        kill = [it for some in addresses.values() for it in some]
        shown = some_of([it.group for it in addresses], _SHOWN)
        try:
            await together.act(self._tools, seen, Intent.RESTART, addresses, {})
            await self._tools.fence.change(admin.kill, kill)
        except PeerError as error:
            return await failed(self._tools, seen, f"{shown} are to be started anew", error)
        self._remember(uid, _kill(view, plan, view.now))
        words = f"processes are started anew, for all operators at once: {shown}"
        return done("ProcessesBounced", words, _SOON, killed=[str(it) for it in kill])

    async def _held(self, seen: Seen) -> Outcome | None:
        """Return what holds a restart back."""
        return await allowed_alone(self._tools, seen, self.name, acts.BOUNCE, _PURPOSE)

    def _remember(self, uid: str, kill: _Kill) -> None:
        while len(self._last) >= _REMEMBERED:
            del self._last[next(iter(self._last))]
        self._last[uid] = kill


def _in_vain(plan: BouncePlan) -> Outcome:
    return Blocked(
        "BounceDidNotHelp",
        f"{names_of(plan.groups)} came back with the same arguments, which are not wanted",
        "see with what their pods start fdbserver: an image or a template that sets its own"
        " arguments; any change of the spec lets them be started anew once more",
    )


def _ids(plan: BouncePlan) -> tuple[str, ...]:
    return tuple(str(it.id) for it in plan.groups)


def _kill(view: ClusterView, plan: BouncePlan, at: float) -> _Kill:
    return _Kill(_tried(view, plan.groups), tuple(it.name for it in plan.groups), at)


def _tried(view: ClusterView, groups: tuple[GroupView, ...]) -> _Tried:
    lines = ((it.name, tuple(sorted(_lines(it)))) for it in groups)
    return view.generation, frozenset(lines)


def _lines(group: GroupView) -> list[str]:
    return [str(it.entry.command_line) for it in group.processes]


def _helped(view: ClusterView, last: _Kill) -> bool:
    """Tell whether all that were started anew are back, as they shall be."""
    wrong = GroupConditionType.INCORRECT_COMMAND_LINE
    return all(is_whole(it) and not it.has(wrong) for it in view.named(last.names))


def _is_in_vain(view: ClusterView, plan: BouncePlan, last: _Kill | None) -> bool:
    """Tell whether all of them were started anew for this before, and came back as they were."""
    if last is None or last.tried != _tried(view, plan.groups):
        return False
    uptimes = [it.entry.uptime_seconds for one in plan.groups for it in one.processes]
    return all(it is UNSET or it < view.now - last.at for it in uptimes)


def _told_of_versions(view: ClusterView) -> Outcome:
    """Say whose image is not the version that is asked for: a restart would not change it."""
    groups = of_other_patch(view)
    if not groups:
        return DONE
    found = ", ".join(sorted({str(it.entry.version) for one in groups for it in one.processes}))
    words = f"{names_of(groups)} run {found}, not {view.spec.version}, with the image asked for"
    if all(it.pod is not None and view.now - it.pod.created < _YOUNG for it in groups):
        return Retry(_AGAIN, "VersionDiffers", words)
    hint = "let spec.version and the images (imageConfigs, podTemplate) say the same version"
    return Blocked("VersionDiffers", words, hint)
