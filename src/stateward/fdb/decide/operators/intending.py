"""What an operator tells the others of its groups, and what it must write so that this is so.

What is there and still true keeps its moment: who judges by it sees since when it is so. What is
there and is not true any more goes, whoever wrote it under our name, also of groups that are gone:
an entry that nobody takes away would be waited for by all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from stateward.fdb.api.group import GroupConditionType as Is
from stateward.fdb.decide.bounces import is_given_up, is_left_out
from stateward.fdb.decide.exclusions import exclusions_of, is_listed, must_be_excluded
from stateward.fdb.decide.held import is_tester
from stateward.fdb.decide.operators.agreeing import DEAD, heard
from stateward.fdb.model import intents
from stateward.fdb.model.exclusions import Exclusion
from stateward.fdb.model.intents import READY, Acted, Beat, Intent, Intents, Whose
from stateward.fdb.views import ClusterView, GroupView

#: By what is said: of which groups, by their ids.
Said: TypeAlias = Mapping[Intent, Collection[str]]
Writes: TypeAlias = dict[bytes, bytes | None]

#: Seconds after which an operator says anew that it is there.
BEAT: Final = 60
#: Seconds after which one who was acted upon, and is as before, was not reached.
UNREACHED: Final = 90
#: Seconds after which nobody remembers an operator of which nothing reports any more.
FORGOTTEN: Final = 86_400


def pending(view: ClusterView, excluded: Collection[Exclusion]) -> Said:
    """Return what is pending of our groups; testers take no part."""
    ours = [it for it in view.groups if not is_tester(it)]
    going = [it for it in ours if it.marked]
    by_locality = bool(view.spec.automation_options.use_localities_for_exclusion)
    listed = frozenset(excluded)
    holding = [
        it
        for it in going
        if must_be_excluded(it) and not is_listed(it, listed, by_locality=by_locality)
    ]
    return {
        Intent.REMOVAL: _ids(going),
        Intent.EXCLUSION: _ids(holding),
        Intent.INCLUSION: _ids(going),
        Intent.RESTART: _ids(it for it in ours if _restarts(view, it)),
    }


def _restarts(view: ClusterView, it: GroupView) -> bool:
    if view.staging:  # whoever ends now comes back as the new version: nobody else may end it
        return False
    # Who is never restarted never gets ready, and all would wait for it.
    if not view.spec.automation_options.kill_processes or is_left_out(view, it):
        return False
    if it.marked or it.leaving or it.has(Is.RESOURCES_TERMINATING):
        return False
    return it.has(Is.INCORRECT_COMMAND_LINE) and not is_given_up(view, it)


def _ids(groups: Iterator[GroupView] | Collection[GroupView]) -> frozenset[str]:
    return frozenset(str(it.id) for it in groups)


def at_addresses(view: ClusterView) -> dict[str, tuple[str, ...]]:
    """Return where those are that shall go, by their ids: others may have to exclude them by it."""
    going = [it for it in view.groups if it.marked and not is_tester(it)]
    return {str(it.id): tuple(map(str, exclusions_of(it, by_locality=False))) for it in going}


# ------------------------------------------------------------------ what is written
@dataclass(frozen=True, slots=True)
class Speaker:
    """Who says something: its name to others, its object, when, and below which prefix."""

    name: str
    uid: str
    now: int
    prefix: bytes

    def key(self, intent: Intent, group: str) -> bytes:
        """Return where it says something of a group."""
        return intents.intent_key(self.prefix, intent, Whose(self.name, group))


def writes(told: Intents, me: Speaker, said: Said) -> Writes:
    """Return what to write so that this is said under our name: of what is named, no more.

    What is ready stays as it is while it is pending: who got it ready says when it is not.
    """
    found: Writes = {}
    for intent, wanted in said.items():
        there = {it.group for it in told.of(intent) if it.operator == me.name}
        for name in there.symmetric_difference(wanted):
            found[me.key(intent, name)] = intents.moment(me.now) if name in wanted else None
    for intent, ready in READY.items():
        if intent not in said:
            continue
        for it in told.of(ready):
            if it.operator == me.name and it.group not in said[intent]:
                found[me.key(ready, it.group)] = None
    return found


def located(told: Intents, me: Speaker, wanted: Mapping[str, tuple[str, ...]]) -> Writes:
    """Return what to write so that it is said where our groups are."""
    there = {it.group: where for it, where in told.addresses.items() if it.operator == me.name}
    found: Writes = {}
    for name in there.keys() | wanted.keys():
        where = wanted.get(name)
        if where != there.get(name):
            key = intents.addresses_key(me.prefix, Whose(me.name, name))
            found[key] = None if where is None else intents.addresses_value(where)
    return found


def readied(told: Intents, me: Speaker, pending: Intent, ready: Collection[str]) -> Writes:
    """Return what to write so that just these of ours are ready for one kind of act.

    Who was acted upon by this very word, and is ready still, was not reached: it says so anew.
    """
    kind = READY[pending]
    there = {it: word for it, word in told.of(kind).items() if it.operator == me.name}
    mine = {it for it in told.of(pending) if it.operator == me.name}
    found: Writes = {me.key(kind, it.group): None for it in there if it.group not in ready}
    for it in mine:
        acted = told.acts(pending, it)
        is_new = it not in there or (acted is not None and _is_unreached(acted, me.now))
        if it.group in ready and is_new:
            found[me.key(kind, it.group)] = intents.moment(me.now)
    return found


def _is_unreached(acted: Acted, now: int) -> bool:
    """Tell whether an act was long ago; also by a clock that is far ahead of ours."""
    return now - acted.at >= UNREACHED or acted.at - now >= DEAD


def alive(told: Intents, me: Speaker) -> Writes:
    """Return what to write so that others see that we are there, while they may wait for us."""
    mine = told.beats.get(me.name)
    speaks = any(it.operator == me.name for every in told.said.values() for it in every)
    if mine is not None and mine.uid == me.uid and (0 <= me.now - mine.at < BEAT or not speaks):
        return {}
    value = intents.beat_value(Beat(me.now, me.uid))
    return {intents.beat_key(me.prefix, me.name): value}


def observed(told: Intents, me: Speaker) -> Writes:
    """Return what to write so that we say no more that we acted on somebody by an old word."""
    found: Writes = {}
    for intent, every in told.acted.items():
        current = {it.group: word for it, word in told.of(READY[intent]).items()}
        for it, acted in every.items():
            if it.operator == me.name and current.get(it.group) != acted.word:
                found[intents.acted_key(me.prefix, intent, it)] = None
    return found


def rival(told: Intents, me: Speaker) -> bool:
    """Tell whether another object speaks under our name, and did a moment ago."""
    mine = told.beats.get(me.name)
    return mine is not None and mine.uid not in ("", me.uid) and abs(me.now - mine.at) < DEAD


def former(told: Intents, me: Speaker) -> tuple[str, ...]:
    """Return the names under which this object spoke before."""
    return tuple(it for it, beat in told.beats.items() if it != me.name and beat.uid == me.uid)


def moved(told: Intents, before: str, me: Speaker) -> Writes:
    """Return what to write so that all that was said under another name is said under ours."""
    return silenced(told, before, me.prefix) | _spoken(told, before, me.name, me.prefix)


def silenced(told: Intents, operator: str, prefix: bytes) -> Writes:
    """Return what to write so that nothing is said under a name any more."""
    found: Writes = dict.fromkeys(_spoken(told, operator, operator, prefix))
    if operator in told.beats:
        found[intents.beat_key(prefix, operator)] = None
    return found


def _spoken(told: Intents, operator: str, name: str, prefix: bytes) -> Writes:
    """Return all that an operator said, as it would stand under a name."""
    found: Writes = {}
    for intent, said in told.said.items():
        for it, since in said.items():
            if it.operator == operator:
                key = intents.intent_key(prefix, intent, Whose(name, it.group))
                found[key] = intents.moment(since)
    for intent, acts in told.acted.items():
        for it, acted in acts.items():
            if it.operator == operator:
                key = intents.acted_key(prefix, intent, Whose(name, it.group))
                found[key] = intents.acted_value(acted)
    return found | _places(told, operator, name, prefix)


def _places(told: Intents, operator: str, name: str, prefix: bytes) -> Writes:
    return {
        intents.addresses_key(prefix, Whose(name, it.group)): intents.addresses_value(where)
        for it, where in told.addresses.items()
        if it.operator == operator
    }


def buried(told: Intents, me: Speaker, reporting: Collection[str] | None) -> Writes:
    """Return what to write so that operators are forgotten that are long gone with all they had.

    Nobody is where nobody knows who reports (None).
    """
    if reporting is None:
        return {}
    names = {it.operator for every in told.said.values() for it in every} | told.beats.keys()
    found: Writes = {}
    for name in names - {me.name}:
        groups = {it.group for every in told.said.values() for it in every if it.operator == name}
        is_gone = abs(me.now - heard(told, name, me.now)) >= FORGOTTEN
        if is_gone and groups.isdisjoint(reporting):
            found |= silenced(told, name, me.prefix)
    return found
