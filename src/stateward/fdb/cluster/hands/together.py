"""Acts that operators of one database do together: one of them does it for all, when all are ready.

An act is judged twice: by what was said when the pass began, and once more in the very transaction
that does it, or says that it is done. Who acted says so there: nobody acts on the same word again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial
from typing import Final

from stateward.core.errors import PeerError
from stateward.core.outcome import Outcome, Retry
from stateward.fdb.admin.errors import NothingDone
from stateward.fdb.admin.keyed.telling import IntentKeys, Writes, write
from stateward.fdb.admin.keys import Keys, KeyTransaction
from stateward.fdb.admin.ports import Admin
from stateward.fdb.api import questions
from stateward.fdb.cluster.hands import locked
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.operators import acting, intending
from stateward.fdb.decide.operators.agreeing import Agreement, agreement, awaited, is_due
from stateward.fdb.decide.operators.intending import Speaker
from stateward.fdb.model import intents
from stateward.fdb.model.intents import READY, Acted, Intent, Intents, Whose
from stateward.fdb.model.listing import some_of

_AGAIN: Final = 10.0
_LATEST: Final = 30.0
_SHOWN: Final = 3


class Disagreed(NothingDone):
    """What operators say is not what it was a moment ago: nothing was done."""

    reason = "Disagreed"


def store(seen: Seen, keys: Keys) -> IntentKeys:
    """Return where operators of a cluster's database tell each other what they are about to do."""
    return IntentKeys(keys, questions.lock_prefix(seen.view.spec))


def speaker(seen: Seen) -> Speaker:
    """Return as whom we speak there."""
    view = seen.view
    name = questions.lock_owner(view.spec)
    uid, prefix = seen.cluster.metadata.uid, questions.lock_prefix(view.spec)
    return Speaker(name, uid, int(view.now), prefix)


async def looked_up(seen: Seen, admin: Admin) -> Intents | None:
    """Return what operators say, if that can be read; for who cannot wait for a whole pass."""
    if seen.book.intents is not None or not questions.acts_together(seen.view.spec):
        return seen.book.intents
    try:
        return await store(seen, admin).look()
    except PeerError:
        return None  # the database takes no transactions, or there is no program for them


def going_elsewhere(seen: Seen, told: Intents | None) -> frozenset[str]:
    """Return which groups of other operators shall go, as far as they say so."""
    return acting.going_elsewhere(told, questions.lock_owner(seen.view.spec))


def leaving_elsewhere(seen: Seen) -> frozenset[str]:
    """Return of which groups of other operators data is about to leave."""
    view = seen.view
    me = questions.lock_owner(view.spec)
    return acting.leaving_elsewhere(seen.book.intents, me, view.now)


async def ready(
    tools: Tools, seen: Seen, pending: Intent, groups: Collection[str]
) -> Outcome | None:
    """Have others know just which of ours are ready for an act; return what is in the way."""
    told = seen.book.intents
    if told is None or seen.admin is None:
        if not groups:
            return None
        words = "nobody knows what other operators of the database are about to do"
        return Retry(_AGAIN, "IntentsUnknown", words)
    me = speaker(seen)
    if not intending.readied(told, me, pending, groups):
        return None
    change = partial(intending.readied, me=me, pending=pending, ready=groups)
    try:
        keys = store(seen, tools.fence.keys(seen.admin))
        seen.book.intents = await tools.fence.change(keys.say, change)
    except PeerError as error:
        return trouble("other operators are to be told who is ready", error)
    return None


def judged(tools: Tools, seen: Seen, pending: Intent) -> Agreement:
    """Return of whom all agree, by what is known in this pass."""
    told = seen.book.intents or Intents()
    return agreement(told, pending, seen.view.now, tools.window)


def is_coming(tools: Tools, seen: Seen, pending: Intent) -> bool:
    """Tell whether an act for all is waited for, or due, by what is known in this pass."""
    found = judged(tools, seen, pending)
    told = seen.book.intents or Intents()
    return bool(found.waiting) or is_due(told, pending, found, seen.view.now)


def waiting(
    seen: Seen, pending: Intent, found: Agreement, groups: Collection[str], purpose: str
) -> Outcome | None:
    """Return for whom some of ours wait; None: for nobody, and some of them may be acted upon."""
    if any(it.group in groups for it in found.together):
        return None
    me = questions.lock_owner(seen.view.spec)
    late = awaited(found, pending, groups)
    others = sorted({f"{it.operator} ({it.group})" for it in late if it.operator != me})
    after = min(found.after or _AGAIN, _LATEST)
    if others:
        words = f"{purpose} waits until other operators are ready: {some_of(others, _SHOWN)}"
        return Retry(after, "WaitsForOperators", words)
    if late:
        words = f"{purpose} waits: other operators may have something to say, too"
        return Retry(after, "WaitsForOperators", words)
    if is_done(seen, pending, groups) is not None:
        return Retry(_AGAIN, "ActedTogether", f"{purpose} was done for all operators at once")
    return Retry(_AGAIN, "WaitsForOperators", f"{purpose} waits until others know of it")


def is_done(seen: Seen, pending: Intent, groups: Collection[str]) -> Acted | None:
    """Return how some of ours were acted upon, if they were by what we say of them now."""
    told, me = seen.book.intents or Intents(), questions.lock_owner(seen.view.spec)
    found = (told.acts(pending, Whose(me, it)) for it in groups)
    return max((it for it in found if it is not None), key=lambda it: it.at, default=None)


def unless_more_go(seen: Seen, admin: Admin, told: Intents | None) -> locked.Check | None:
    """Return what keeps coordinators from those who go by now, if they did not before.

    None where nothing could be read a moment ago: only a lost one is followed by another then.
    """
    if told is None or not questions.acts_together(seen.view.spec):
        return None
    keys, going = store(seen, admin), going_elsewhere(seen, told)

    async def check(at: KeyTransaction) -> None:
        if more := going_elsewhere(seen, await keys.read(at)) - going:
            words = f"other operators have said meanwhile that {some_of(sorted(more), _SHOWN)} go"
            raise Disagreed(words)

    return check


async def act(
    tools: Tools, seen: Seen, pending: Intent, chosen: Iterable[Whose], writes: Writes
) -> None:
    """Write what is done for some, if the lock is ours and all still agree; and that it is done.

    Raise LockLost or Disagreed when nothing was done.
    """
    view, admin, me, some = seen.view, seen.admin, speaker(seen), frozenset(chosen)
    assert admin is not None  # noqa: S101 - by it others said that they are ready
    led = tools.fence.keys(admin)
    keys = store(seen, led)

    async def work(at: KeyTransaction) -> None:
        told = await keys.read(at)
        if not some <= agreement(told, pending, view.now, tools.window).together:
            raise Disagreed("what operators are about to do has changed meanwhile")
        for it in some:
            done = Acted(told.of(READY[pending])[it], me.now)
            key = intents.acted_key(keys.prefix, pending, Whose(me.name, it.group))
            at.set(key, intents.acted_value(done))
        write(at, writes)

    if not questions.uses_locks(view.spec):
        await tools.fence.change(led.transact, work)
        return
    fenced = locked.lock_of(view, led).fenced
    await tools.fence.change(fenced, locked.claim(view, tools.fence.now()), work)
