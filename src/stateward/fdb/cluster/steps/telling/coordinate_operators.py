"""CoordinateOperators: what operators of one database tell each other, and whose its lock is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from stateward.core.errors import PeerConfused, PeerError
from stateward.core.facts import Known
from stateward.core.moments import to_rfc3339
from stateward.core.outcome import DONE, Blocked, Done, Outcome, Retry, Stop
from stateward.core.version import Version
from stateward.fdb.admin.errors import NothingDone, ProgramUnusable
from stateward.fdb.admin.keyed.locking import LockKeys
from stateward.fdb.admin.keyed.preparing import PreparedKeys
from stateward.fdb.admin.keyed.telling import IntentKeys
from stateward.fdb.admin.ports import Admin
from stateward.fdb.api import questions
from stateward.fdb.cluster.hands import locked, together
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import waits, wrote
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.layouts.sharing import prefix_taken
from stateward.fdb.decide.operators import agreeing, intending
from stateward.fdb.decide.operators.intending import Speaker, Writes
from stateward.fdb.decide.upgrades import judging as upgrades
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.model import locks, versions
from stateward.fdb.model.intents import Intents
from stateward.fdb.model.listing import some_of
from stateward.fdb.model.names import STAGED_VERSION_KEY
from stateward.fdb.status import exclusions, health, processes
from stateward.fdb.tell.generations import is_at_rest
from stateward.fdb.tell.locking import allowing
from stateward.fdb.views import ClusterView

_AGAIN: Final = 15.0
_SHOWN: Final = 3
_SOON: Final = 5.0
_HEAR: Final = (
    "see whether they run, reach the database, and are not told to look on (spec.skip); what one"
    " said that is gone for good is forgotten after a day, once none of its groups reports"
)
_NOBODY: Final = "nobody knows whose the lock of the database is"


class _NameTaken(NothingDone):
    """Another object speaks under our name: nothing was said."""

    reason = "PrefixTaken"


class CoordinateOperators:
    """Tells other operators of the same database what is pending here, and learns what is there.

    Where they act alone nothing is heeded but the lock, and nothing is said; without locks nothing
    is read at all.
    """

    name = "CoordinateOperators"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, seen: Seen) -> Outcome:
        """Say what is pending of ours, and look at the lock."""
        view, admin = seen.view, seen.admin
        if not view.configured or admin is None or not _has_others(view):
            return DONE
        if isinstance(found := health.is_available(view.database), Known) and not found.value:
            return Retry(_AGAIN, "LockUnknown", f"{_NOBODY}: the database is not available")
        if (left := await self._leave_former_place(seen, admin)) is not None:
            return left
        if questions.acts_together(view.spec):
            said = await self._speak(seen, admin)
        else:
            said = await self._fall_silent(seen, admin)
        if isinstance(said, Stop):
            return said
        looked = await self._look_at_lock(seen, admin)
        return said if isinstance(looked, Done) else looked

    # ------------------------------------------------------------------ what is told

    async def _speak(self, seen: Seen, admin: Admin) -> Outcome:
        """Say what is pending of ours, all at once; learn what others say."""
        view, me = seen.view, together.speaker(seen)
        if prefix_taken(view, seen.rivals):
            return DONE  # who is not to be told from another says nothing; a later step says why
        listed = exclusions.excluded(view.database)
        if not isinstance(listed, Known):
            return Retry(_AGAIN, "IntentsUnknown", f"who is excluded is unknown: {listed.reason}")
        said = intending.pending(view, listed.value)
        where = intending.at_addresses(view)
        changes = (
            partial(_renamed, me),
            lambda told: intending.writes(told, me, said),
            lambda told: intending.located(told, me, where),
            lambda told: intending.alive(told, me),
            lambda told: intending.observed(told, me),
            lambda told: intending.buried(told, me, _reporting(view)),
        )
        try:
            keys = together.store(seen, self._tools.fence.keys(admin))
            seen.book.intents = await self._tools.fence.change(keys.say, *changes)
        except _NameTaken as error:
            return _taken(seen, error)
        except PeerError as error:
            return _untold(seen, error)
        return _silent(seen, seen.book.intents)

    async def _fall_silent(self, seen: Seen, admin: Admin) -> Outcome:
        """Say nothing any more, where we did when operators acted together: nobody shall wait."""
        spoke = seen.view.status.synchronization
        if spoke is None:
            return DONE
        prefix = questions.lock_prefix(seen.view.spec)
        change = partial(intending.silenced, operator=spoke.name, prefix=prefix)
        try:
            keys = together.store(seen, self._tools.fence.keys(admin))
            await self._tools.fence.change(keys.say, change)
        except PeerError as error:
            return trouble("other operators are to be told nothing any more", error)
        seen.book.silenced = True
        wrote("nothing is said to other operators any more", name=spoke.name)
        return DONE

    async def _leave_former_place(self, seen: Seen, admin: Admin) -> Outcome | None:
        """Say nothing and have no lock below a lockKeyPrefix of before: nobody shall wait there."""
        view = seen.view
        former, current = view.status.locks.key_prefix, view.spec.lock_options.lock_key_prefix
        if former != current:
            keys, spoke = self._tools.fence.keys(admin), view.status.synchronization
            lock = LockKeys(keys, locks.prefix_of(former))
            names = {spoke.name} if spoke else set[str]()
            if not prefix_taken(view, seen.rivals):  # else what is there under it is another's
                names.add(questions.lock_owner(view.spec))
            try:
                for name in sorted(names):
                    await self._forget(lock, name)
                listed = (await lock.look()).prepared
                every = dict.fromkeys(listed, frozenset(str(it.id) for it in view.groups))
                for version, ours in every.items():
                    await self._tools.fence.change(PreparedKeys(lock, version).remove, ours)
            except PeerError as error:
                return trouble(f"nothing is to be said below the lockKeyPrefix {former!r}", error)
            wrote("locks and words are below another prefix from now on", prefix=current)
        seen.book.key_prefix = current
        return None

    async def _forget(self, lock: LockKeys, name: str) -> None:
        change = partial(intending.silenced, operator=name, prefix=lock.prefix)
        await self._tools.fence.change(IntentKeys(lock.keys, lock.prefix).say, change)
        await self._tools.fence.change(lock.release, name)

    # ------------------------------------------------------------------ the lock

    async def _look_at_lock(self, seen: Seen, admin: Admin) -> Outcome:
        view = seen.view
        if not questions.uses_locks(view.spec):
            return DONE
        lock = locked.lock_of(view, self._tools.fence.keys(admin))
        owner = questions.lock_owner(view.spec)
        try:
            seen.book.locks = there = await lock.look()
            if there.lock is not None and there.lock.owner == owner and _is_at_rest(view):
                await self._tools.fence.change(lock.release, owner)
                seen.book.locks = await lock.look()
        except PeerError as error:
            return await self._withdraw_unseen(seen, lock) or _troubled(error)
        try:
            await self._withdraw(seen, there.prepared, lock)
        except PeerError as error:
            return _listed_still(seen, error)
        if owner in there.denied:
            return _denied(view)
        return _apart(seen.apart) if seen.apart else DONE

    async def _withdraw(
        self, seen: Seen, listed: Mapping[str, frozenset[str]], lock: LockKeys
    ) -> None:
        """Take ours off lists of upgrades that are over, or were taken back; and who lost them."""
        view = seen.view
        ours = frozenset(str(it.id) for it in view.groups)
        current = view.spec.version if view.staging else ""
        for version, groups in listed.items():
            out = ours if version != current else upgrades.withdrawn(view)
            if gone := groups & (out | upgrades.vanished(view, groups)):
                await self._tools.fence.change(PreparedKeys(lock, version).remove, gone)

    async def _withdraw_unseen(self, seen: Seen, lock: LockKeys) -> Outcome | None:
        """Take ours off the list of an upgrade that is being taken back, though nobody could look.

        The list can be had where the lock itself cannot be read.
        """
        ours = frozenset(str(it.id) for it in seen.view.groups)
        listed = dict.fromkeys(_taken_back(seen), ours)
        try:
            await self._withdraw(seen, listed, lock)
        except PeerError as error:
            return _listed_still(seen, error)
        return None


def _has_others(view: ClusterView) -> bool:
    """Tell whether there may be other operators, or we spoke as if there were."""
    spec = view.spec
    spoke = view.status.synchronization is not None
    return questions.uses_locks(spec) or questions.acts_together(spec) or spoke


def _taken_back(seen: Seen) -> tuple[str, ...]:
    """Return for which version pods still have programs that are taken away in this very pass."""
    view, config = seen.view, seen.config_map
    staged = config.data.get(STAGED_VERSION_KEY) if config is not None else None
    if not staged or view.staging:
        return ()
    try:
        is_over = versions.are_compatible(Version.parse(staged), view.running_version)
    except ValueError:  # somebody's hand wrote that
        return ()
    return () if is_over else (staged,)


def _renamed(me: Speaker, told: Intents) -> Writes:
    """Return what to write so that what we said under another name is said under ours."""
    if intending.rival(told, me):
        at = to_rfc3339(told.beats[me.name].at)
        raise _NameTaken(f"another cluster spoke as {me.name!r} to the others at {at}")
    found: Writes = {}
    for name in intending.former(told, me):
        found |= intending.moved(told, name, me)
    return found


def _reporting(view: ClusterView) -> frozenset[str] | None:
    found = processes.roster(view.database)
    return frozenset(found.value.groups) if isinstance(found, Known) else None


def _taken(seen: Seen, error: PeerError) -> Outcome:
    words = f"processGroupIDPrefix must differ in all clusters of a database: {error.message}"
    hint = (
        "give this cluster another processGroupIDPrefix, as the name of its data center; the name"
        f" of one that is gone is free after {agreeing.DEAD:g} s"
    )
    return waits(seen, CoordinateOperators.name, _AGAIN, error.reason, words, hint=hint)


def _untold(seen: Seen, error: PeerError) -> Outcome:
    """Say that others know what was said before; go no further if they must not act on it."""
    view, what = seen.view, "other operators are to be told what is pending"
    if not view.staging or not upgrades.unstaged(view):
        return trouble(what, error)
    # Whom they restart for arguments of before would come back as what nobody speaks yet.
    words = f"{what} before more pods are given the programs of an upgrade: {error.message}"
    return waits(seen, CoordinateOperators.name, _SOON, error.reason, words)


def _silent(seen: Seen, told: Intents) -> Outcome:
    """Say which operators are gone that have something pending, also while nothing is to be done.

    Nobody waits for them, and nobody acts on what they have: only a person has them come back.
    """
    view = seen.view
    gone = agreeing.silent(told, view.now)
    if not gone:
        return DONE
    last = {it: to_rfc3339(agreeing.heard(told, it, view.now)) for it in gone}
    since = some_of([f"{it!r} since {at}" for it, at in last.items()], _SHOWN)
    words = f"nothing is heard of other operators, and nobody waits for them: {since}"
    seen.book.refuse(CoordinateOperators.name, [Refusal("OperatorSilent", words, _HEAR)])
    return Blocked("OperatorSilent", words, _HEAR)


def _is_at_rest(view: ClusterView) -> bool:
    """Tell whether all was as asked when it was looked at last.

    Pods whose data has left may be going yet: nobody knows for how long, and nobody waits for them.
    """
    return is_at_rest(view.status.generations, view.generation)


def _denied(view: ClusterView) -> Outcome:
    """Say that nothing can be done that needs the lock, also while nothing is to be done."""
    owner, said = questions.lock_owner(view.spec), view.spec.lock_options.deny_list
    words = f"the deny list of the database has {owner!r}, which is this cluster itself"
    if any(it.id == owner and not it.allow for it in said):
        words += ", as its own lockOptions.denyList says"
    return Blocked("LockDenied", f"{words}: nothing is done that needs the lock", allowing(owner))


def _listed_still(seen: Seen, error: PeerError) -> Outcome:
    """Go no further: pods must not lose the programs while others would end them by the list."""
    words = (
        "process groups are to be taken off the list of those that have other programs:"
        f" {error.message}"
    )
    return waits(seen, CoordinateOperators.name, _SOON, "UpgradeListed", words)


def _apart(others: Sequence[str]) -> Outcome:
    """Say who looks for the lock elsewhere; of clusters of other operators nobody knows."""
    words = f"the lock is no lock to {some_of(others, _SHOWN)}, of the same database"
    return Blocked(
        "LocksApart",
        f"{words}: lockOptions.lockKeyPrefix differs, so they do not wait for each other",
        "let lockOptions.lockKeyPrefix be the same in all clusters of the database",
    )


def _troubled(error: PeerError) -> Outcome:
    words = f"{_NOBODY}: {error.message}"
    if isinstance(error, PeerConfused | ProgramUnusable):
        hint = error.hint or "set spec.lockOptions.disableLocks if this is its only operator"
        return Blocked("LockUnreadable", words, hint)
    return Retry(_AGAIN, "LockUnknown", words)
