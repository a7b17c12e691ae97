"""Bugs about operators of one database: the lock that they share, and what they tell each other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from stateward.fdb.admin.keyed.locking import LockKeys
from stateward.fdb.admin.keys import KeyTransaction
from stateward.fdb.api import questions
from stateward.fdb.cluster.hands.locked import Locks
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.cluster.steps.telling import coordinate_operators
from stateward.fdb.decide.operators import agreeing, intending
from stateward.fdb.decide.operators.agreeing import Agreement
from stateward.fdb.decide.operators.intending import Said, Speaker, Writes
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.model import locks
from stateward.fdb.model.intents import READY, Intent, Intents, Whose
from stateward.fdb.model.locks import Claim, Lock, NotOurs
from stateward.sim.mutants.planting import Mind, Patch, bug


@bug(
    "M08",
    "all operators of a database take its lock by one and the same name",
    "FoundationDB/fdb-kubernetes-operator#1796",
    *("fdb-locks", "fdb-locks-asleep"),
)
def one_name(patch: Patch) -> None:
    """Go by the key of the lock, which all have."""
    patch.put(questions, "lock_owner", lambda spec: questions.lock_prefix(spec).hex())


@bug(
    "M09",
    "a lock that is free is taken by one to whom it is denied",
    "FoundationDB/fdb-kubernetes-operator, lock client: the deny list is read for others' locks",
    *("fdb-locks-denied",),
)
def free_for_all(patch: Patch) -> None:
    """Ask who is denied only when somebody has it."""
    former = locks.judged

    def judged(found: Lock | None, claim: Claim, denied: Collection[str]) -> Lock | NotOurs:
        return former(found, claim, () if found is None else denied)

    patch.put(locks, "judged", judged)


@bug(
    "M10",
    "who once took the lock believes in it by its own clock, and acts without reading it",
    "seed 000: a lease that is compared with the time of who holds it",
    *("fdb-locks-replace:I:fdbkeys writes", "fdb-locks-clocks:I"),
)
def by_the_clock(patch: Patch) -> None:
    """Keep in mind until when it is ours, and ask nobody."""
    former, ends = vars(Locks)["take"], Mind[dict[str, float]](dict)

    async def take(self: Locks, seen: Seen, purpose: str) -> Refusal | None:
        mine, uid = ends.now(), seen.cluster.metadata.uid
        if self._fence.now() <= mine.get(uid, 0.0):
            return None
        found: Refusal | None = await former(self, seen, purpose)
        if found is None and seen.book.locks is not None and seen.book.locks.lock is not None:
            mine[uid] = seen.book.locks.lock.end
        return found

    async def fenced(
        self: LockKeys, _claim: Claim, act: Callable[[KeyTransaction], Awaitable[None]]
    ) -> None:
        await self.keys.transact(act)

    patch.put(Locks, "take", take)
    patch.put(LockKeys, "fenced", fenced)


@bug(
    "M18",
    "what is not pending any more is said for ever: only what is to be said is looked at",
    "seed 002, clean-up of pending lists",
    *("fdb-global",),
)
def never_unsaid(patch: Patch) -> None:
    """Go through what shall be said, and not through what is."""
    former = intending.writes

    def writes(told: Intents, me: Speaker, said: Said) -> Writes:
        return {key: it for key, it in former(told, me, said).items() if it is not None}

    patch.put(intending, "writes", writes)


@bug(
    "M19",
    "operators act when as many are ready as are pending, whoever those are",
    "seed 002, a shortcut of the like of len(pending) == len(ready)",
    *("fdb-global-classes",),
)
def as_many(patch: Patch) -> None:
    """Count instead of comparing."""
    former = agreeing._of_class  # noqa: SLF001 - that is where it is compared

    def of_class(
        told: Intents, pending: Intent, some: list[Whose], now: float, window: float
    ) -> Agreement:
        ready = told.of(READY[pending])
        enough = len(ready) >= len(some)
        chosen = [it for it in some if it in ready or not enough]
        return former(told, pending, chosen, now, window)

    patch.put(agreeing, "_of_class", of_class)


@bug(
    "M20",
    "who gets another name says all under the new one, and later takes the old one back",
    "seed 002, migration of a prefix",
    *("fdb-global-prefix",),
)
def two_names(patch: Patch) -> None:
    """Take two transactions."""

    def renamed(me: Speaker, told: Intents) -> Writes:
        found: Writes = {}
        speaks = any(it.operator == me.name for every in told.said.values() for it in every)
        for name in intending.former(told, me):
            moved = intending.moved(told, name, me)
            found |= {key: it for key, it in moved.items() if (it is None) is speaks}
        return found

    patch.put(coordinate_operators, "_renamed", renamed)


BUGS = (
    *(one_name, free_for_all, by_the_clock),
    *(never_unsaid, as_many, two_names),
)
