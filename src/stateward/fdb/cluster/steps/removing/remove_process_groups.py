"""RemoveProcessGroups: groups on which nothing is left go; when they are gone, they are included.

Every arrow is seen before the next: nothing is left (by the database's own word, in this very
pass), the object is deleted, its pod, claim and service are gone, the exclusion is taken back.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from stateward.core.errors import PeerError
from stateward.core.facts import Fact, Unknown
from stateward.core.moments import to_rfc3339
from stateward.core.outcome import DONE, Blocked, Done, Outcome, Retry, Stop
from stateward.fdb.admin.keys import excluded_key
from stateward.fdb.admin.ports import Admin
from stateward.fdb.api import questions
from stateward.fdb.api.kind import PROCESS_GROUPS
from stateward.fdb.cluster.hands import locked, together
from stateward.fdb.cluster.hands.asking import allowed, failed, held
from stateward.fdb.cluster.hands.editing import each, edit
from stateward.fdb.cluster.hands.intent import CHANGED, is_unchanged
from stateward.fdb.cluster.hands.marking import names_of
from stateward.fdb.cluster.hands.saying import done, wrote
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.hands.waiting import told as said_of
from stateward.fdb.cluster.hands.writing import exactly
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide import removing
from stateward.fdb.decide.absent import left_on
from stateward.fdb.decide.coordinating import coordinators_now
from stateward.fdb.decide.held import Held, is_tester
from stateward.fdb.decide.including import inclusions, retained
from stateward.fdb.decide.operators import acting
from stateward.fdb.decide.removing import RemovalPlan
from stateward.fdb.guards import acts
from stateward.fdb.guards.guard import refusals
from stateward.fdb.model.exclusions import Exclusion
from stateward.fdb.model.intents import Intent, Intents
from stateward.fdb.model.names import EXCLUSION_FINALIZER, FINALIZER
from stateward.fdb.status import exclusions as told
from stateward.fdb.status.exclusions import Left, Leftovers
from stateward.fdb.views import ClusterView, GroupView
from stateward.kube.client import MergePatch

_AGAIN: Final = 15.0
_SOON: Final = 1.0
#: So many are proved anew with one status: it must not grow old while that is written.
_AT_ONCE: Final = 100
_REMEMBERED: Final = 10_000
_PROVED: Final = {"excluded": True}
_REFUTED: Final = {"excluded": False, "exclusionTimestamp": None}


class RemoveProcessGroups:
    """Writes what is proved, deletes what may go, includes what is gone; all of them, each as far.

    One that is stuck holds none of the others back.
    """

    name = "RemoveProcessGroups"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        #: UIDs of groups that could not be deleted: others are tried first.
        self._refused: OrderedDict[str, None] = OrderedDict()

    async def run(self, seen: Seen) -> Outcome:
        """Get as far as possible with every group that shall go."""
        kept = await self._retain(seen)
        if isinstance(kept, Stop) or not any(it.marked for it in seen.view.groups):
            return kept or DONE
        plan = removing.plan(
            seen.view,
            _leftovers(seen.view),
            coordinators_now(seen.view),
            self._voucher(seen),
            frozenset(self._refused),
        )
        troubles = [kept]
        for act in (self._write, self._delete_some, self._include_gone):
            found = await act(seen, plan)
            if isinstance(found, Stop):
                return found
            troubles.append(found)
        return _worst(*troubles, _rest(seen, plan))

    async def _delete_some(self, seen: Seen, plan: RemovalPlan) -> Outcome | None:
        return await self._delete(seen, plan.delete) if plan.delete else None

    async def _include_gone(self, seen: Seen, _plan: RemovalPlan) -> Outcome | None:
        return await self._see_off(seen)

    async def _write(self, seen: Seen, plan: RemovalPlan) -> Outcome | None:
        """Write what is proved by now, or refuted; None: nothing of that is new."""
        back = [it for it in plan.taken_back if not _is_empty(seen, it)]
        if back:
            return await self._take_back(seen, back)
        if plan.gone:
            return await self._note(seen, plan.gone)
        old = [it for it in plan.renew if not _is_empty(seen, it)]
        if old and not plan.delete:
            return await self._note(seen, old[:_AT_ONCE])
        return None

    async def _take_back(self, seen: Seen, groups: Sequence[GroupView]) -> Outcome:
        """Keep groups from going on which something is again; whatever the spec says by now."""
        changes = {it.name: _REFUTED for it in groups}
        found = await edit(self._tools.client, seen.groups, changes)
        return found or done("ProofRefuted", f"something is on {names_of(groups)} again")

    async def _note(self, seen: Seen, groups: Sequence[GroupView]) -> Outcome:
        if not await is_unchanged(self._tools.client, seen.cluster):
            return CHANGED
        moment = to_rfc3339(seen.view.now)
        proved = [it for it in groups if not it.skipped]
        # Before it is written: whoever sees it written believes it then.
        self._tools.board.vouch(seen.view.key, [it.uid for it in groups], moment)
        dated = {"exclusionTimestamp": moment}
        changes = {it.name: dated if it.skipped else dated | _PROVED for it in groups}
        found = await edit(self._tools.client, seen.groups, changes)
        if not proved:
            words = f"{names_of(groups)} may go with what they hold"
            return found or done("RemovalAllowed", words)
        return found or done("ExclusionProved", f"nothing is left on {names_of(proved)}")

    def _voucher(self, seen: Seen) -> Callable[[GroupView], bool]:
        """Return who tells whether what a group shows as proved was proved by us."""

        def vouched(it: GroupView) -> bool:
            moment = seen.object_of(it).spec.exclusion_timestamp
            return self._tools.board.vouches(seen.view.key, it.uid, moment)

        return vouched

    async def _delete(self, seen: Seen, groups: Sequence[GroupView]) -> Outcome:
        refused = refusals(acts.REMOVE, seen.view) if seen.view.configured else ()
        if refused:
            return held(seen, self.name, refused, f"removing {names_of(groups)}")
        if not await is_unchanged(self._tools.client, seen.cluster):
            return CHANGED

        async def delete(name: str) -> None:
            live = seen.groups[name].metadata
            self._refused[live.uid] = None
            if len(self._refused) > _REMEMBERED:
                self._refused.popitem(last=False)
            await self._tools.client.delete(
                PROCESS_GROUPS, live.key, uid=live.uid, resource_version=live.resource_version
            )
            self._refused.pop(live.uid, None)

        found = await each([it.name for it in groups], delete)
        return found or done("GroupsRemoved", f"process groups go: {names_of(groups)}", _SOON)

    async def _retain(self, seen: Seen) -> Outcome | None:
        """Take back the exclusions of groups that the spec names to stay after all."""
        listed = told.excluded(seen.view.database)
        if seen.admin is None or isinstance(listed, Unknown):
            return None
        me = questions.lock_owner(seen.view.spec)
        targets = retained(seen.view, acting.to_take_back(seen.book.intents, me, listed.value))
        if not targets:
            return None
        words = f"{', '.join(map(str, targets))} stay after all"
        found = await self._include(seen, seen.admin, targets)
        return found or done("ExclusionCancelled", words, _SOON)

    async def _see_off(self, seen: Seen) -> Outcome | None:
        """Take back the exclusions of groups that are gone, then let go of their objects."""
        empty = [it for it in seen.view.groups if it.leaving and _is_empty(seen, it)]
        gone = [it for it in empty if removing.is_past(seen.view, it)]
        if empty and not gone:
            return Retry(_AGAIN, "RemovalWaits", f"{names_of(empty)} went with what they held")
        if not gone:
            return None
        listed = told.excluded(seen.view.database)
        if isinstance(listed, Unknown):
            words = f"who is excluded is unknown: {listed.reason}"
            return Retry(_AGAIN, "ExclusionsUnknown", words)
        others = [it for it in seen.view.groups if it not in gone]
        me = questions.lock_owner(seen.view.spec)
        mine = acting.to_take_back(seen.book.intents, me, listed.value)
        found = inclusions(gone, others, mine)
        with_others = [
            it.group
            for it in found
            if it.entries and questions.acts_together(seen.view.spec) and not is_tester(it.group)
        ]
        free = [it for it in gone if it not in with_others]
        if not free:
            return await self._include_together(seen, with_others, listed.value)
        targets = [entry for it in found if it.group in free for entry in it.entries]
        if targets and seen.admin is not None:
            trouble_found = await self._include(seen, seen.admin, targets)
            if trouble_found is not None:
                return trouble_found
        return await self._let_go(seen, free)

    async def _include(
        self, seen: Seen, admin: Admin, targets: Sequence[Exclusion]
    ) -> Outcome | None:
        held_back = await allowed(self._tools, seen, self.name, acts.INCLUDE, "including")
        if held_back is not None:
            return held_back
        try:
            await locked.include(self._tools.fence, seen, admin, targets)
        except PeerError as error:
            what = "exclusions are to be taken back"
            return await failed(self._tools, seen, what, error)
        wrote("exclusions were taken back", included=[str(it) for it in targets])
        return None

    async def _include_together(
        self, seen: Seen, gone: Sequence[GroupView], listed: Collection[Exclusion]
    ) -> Outcome:
        """Take back the exclusions of those of all operators that are gone, with one command."""
        kind, names = Intent.INCLUSION, [str(it.id) for it in gone]
        trouble_found = await together.ready(self._tools, seen, kind, names)
        if trouble_found is not None or seen.admin is None:
            return trouble_found or DONE
        found = together.judged(self._tools, seen, kind)
        waiting = together.waiting(seen, kind, found, names, "including")
        if waiting is not None:
            return waiting
        told_ = seen.book.intents or Intents()
        entries = acting.included(seen.view, told_, found.together, listed)
        held_back = await allowed(self._tools, seen, self.name, acts.INCLUDE, "including")
        if held_back is not None:
            return held_back
        targets = [one for some in entries.values() for one in some]
        writes = {excluded_key(it): None for it in targets}
        try:
            await together.act(self._tools, seen, kind, entries, writes)
        except PeerError as error:
            what = "exclusions are to be taken back"
            return await failed(self._tools, seen, what, error)
        words = f"{', '.join(map(str, targets))} are gone, for all operators at once"
        return done("IncludedTogether", words, _SOON, included=[str(it) for it in targets])

    async def _let_go(self, seen: Seen, gone: Sequence[GroupView]) -> Outcome:
        async def let_go(name: str) -> None:
            live = seen.groups[name].metadata
            rest = [it for it in live.finalizers if it != EXCLUSION_FINALIZER]
            patch = MergePatch({"metadata": {**exactly(live), "finalizers": rest}})
            await self._tools.client.patch(PROCESS_GROUPS, live.key, patch)

        found = await each([it.name for it in gone], let_go)
        self._tools.board.drop(seen.view.key, [it.uid for it in gone])
        return found or done("GroupsGone", f"{names_of(gone)} are gone")


def _worst(*said: Outcome | None) -> Outcome:
    """Return what a person must mend, or else what was said last of what is not done."""
    told = [it for it in said if it is not None and not isinstance(it, Done)]
    blocked = [it for it in told if isinstance(it, Blocked)]
    return next(iter([*blocked, *reversed(told)]), DONE)


def _rest(seen: Seen, plan: RemovalPlan) -> Outcome:
    """Return what is waited for when nothing can be done now."""
    going = [it for it in seen.view.groups if _goes(it) and not _is_empty(seen, it)]
    pods = [it for it in going if it.pod is not None]
    objects = [it for it in going if it.pod is None]
    words = [*_held(seen.view, plan)]
    if pods:
        words.append(f"waiting for the pods of {names_of(pods)} to go")
    if objects:
        words.append(f"waiting for what is left of {names_of(objects)} to go")
    return Retry(_AGAIN, "RemovalWaits", "; ".join(words)) if words else DONE


def _goes(it: GroupView) -> bool:
    """Tell whether nothing keeps a group: its own controller takes away what it has."""
    return it.marked and it.leaving and (it.holds_nothing or is_tester(it))


def _held(view: ClusterView, plan: RemovalPlan) -> Iterator[str]:
    """Yield who cannot go yet: those that hold something first, then those that nobody knows of."""
    left, groups = _leftovers(view), {str(it.id): it for it in view.groups}
    doubts = "; ".join(it.message for it in refusals(acts.PROOF, view))
    holding: list[Held] = []
    doubtful: list[Held] = []
    others: list[Held] = []
    for it in plan.held:
        found = left(it.group, groups[it.group].servers)
        if not isinstance(found, Unknown) and found.value.why == it.why:
            holding.append(it)
        else:
            (doubtful if doubts and it.why.endswith(doubts) else others).append(it)
    if holding:
        whys = "; ".join(sorted({it.why for it in holding}))
        yield f"waiting for data to leave {_named(groups, holding)} ({whys})"
    if doubtful:
        yield f"waiting for proof that nothing is left on {_named(groups, doubtful)}: {doubts}"
    if others:
        yield f"waiting to remove {said_of(others)}"


def _named(groups: Mapping[str, GroupView], held_back: Sequence[Held]) -> str:
    return names_of([groups[it.group] for it in held_back])


def _leftovers(view: ClusterView) -> Callable[[str, int], Fact[Left]]:
    """Return who tells what is left on a group: itself, or all others when it is long gone."""
    reported = Leftovers(view.database)
    groups = {str(it.id): it for it in view.groups}

    def left(instance: str, processes: int) -> Fact[Left]:
        found = reported.on(instance, processes)
        if isinstance(found, Unknown) and not groups[instance].processes:
            return left_on(view, groups[instance])
        return found

    return left


def _is_empty(seen: Seen, group: GroupView) -> bool:
    """Tell whether its own controller has let go of it: pod, claim and service are gone."""
    return FINALIZER not in seen.object_of(group).metadata.finalizers
