"""What an operator tells others of its groups: what is pending, what it writes, and what it moves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.fdb_desk import with_condition
from fakes.fdb_views import NOW, cluster
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.decide import exclusions
from stateward.fdb.decide.operators import intending
from stateward.fdb.decide.operators.intending import Speaker
from stateward.fdb.model import intents
from stateward.fdb.model.exclusions import of_instance
from stateward.fdb.model.intents import Acted, Beat, Intent, Intents, Whose
from stateward.fdb.views import ClusterView

P = b"p"
ME = Speaker("dc1", "uid-1", int(NOW), P)
SHORT = {
    Intent.REMOVAL: "removal",
    Intent.EXCLUSION: "exclusion",
    Intent.INCLUSION: "inclusion",
    Intent.RESTART: "restart",
}


def shown(view: ClusterView, *excluded: str) -> str:
    found = intending.pending(view, [of_instance(it) for it in excluded])
    parts = [f"{SHORT[intent]}: {' '.join(sorted(ids))}" for intent, ids in found.items() if ids]
    return "; ".join(parts)


LATE = with_condition(Kind.INCORRECT_COMMAND_LINE)

#: A cluster, who is on the database's list, and what is pending of it.
STORIES = {
    "all is well": (cluster("s1 s2 s3"), (), ""),
    "one shall go": (
        cluster("s1- s2 s3"),
        (),
        "removal: storage-1; exclusion: storage-1; inclusion: storage-1",
    ),
    "it is on the list": (
        cluster("s1- s2 s3"),
        ("storage-1",),
        "removal: storage-1; inclusion: storage-1",
    ),
    "nothing is on it": (
        cluster("s1! s2 s3"),
        ("storage-1",),
        "removal: storage-1; inclusion: storage-1",
    ),
    "nothing was on it, and somebody took the exclusion back": (
        cluster("s1! s2 s3"),
        (),
        "removal: storage-1; exclusion: storage-1; inclusion: storage-1",
    ),
    "nothing is on it, and it goes": (
        cluster("s1!> s2 s3"),
        (),
        "removal: storage-1; inclusion: storage-1",
    ),
    "it may go with what it holds": (
        cluster("s1~ s2 s3"),
        (),
        "removal: storage-1; inclusion: storage-1",
    ),
    "other arguments": (cluster("s1 s2 s3", change=LATE), (), "restart: storage-1"),
    "other arguments, while programs of another version are there": (
        replace(cluster("s1 s2 s3", change=LATE), staging=True),
        (),
        "",
    ),
    "other arguments, and nobody may be restarted": (
        cluster("s1 s2 s3", change=LATE, automationOptions={"killProcesses": False}),
        (),
        "",
    ),
    "other arguments, and it is not restarted": (
        cluster("s1 s2 s3", change=LATE, buggify={"ignoreDuringRestart": ["storage-1"]}),
        (),
        "",
    ),
    "other arguments, and it shall go": (
        cluster("s1- s2 s3", change=LATE),
        (),
        "removal: storage-1; exclusion: storage-1; inclusion: storage-1",
    ),
    "a tester": (cluster("T1- s1 s2 s3"), (), ""),
}


@pytest.mark.parametrize("name", STORIES)
def test_what_is_pending(name: str) -> None:
    view, excluded, found = STORIES[name]
    assert shown(view, *excluded) == found


@pytest.mark.parametrize("name", STORIES)
def test_who_is_to_be_excluded_is_pending(name: str) -> None:
    """Who gets ready for what nobody knows of would wait for ever."""
    view, excluded, _ = STORIES[name]
    listed = frozenset(map(of_instance, excluded))
    names = {str(it.id) for it in exclusions.plan(view, listed).exclude}
    assert names <= {*intending.pending(view, listed)[Intent.EXCLUSION]}


def at(told: dict[Intent, dict[str, int]]) -> Intents:
    """Return what lies in the database: by ``OPERATOR/GROUP``, since when."""
    return Intents(
        {
            intent: {Whose(*name.split("/")): since for name, since in every.items()}
            for intent, every in told.items()
        }
    )


def test_what_is_so_already_keeps_its_moment_and_what_is_gone_goes() -> None:
    told = at(
        {
            Intent.RESTART: {"dc1/a": 5, "dc1/gone": 5, "dc2/x": 5, "dc10/y": 5},
            Intent.READY_FOR_RESTART: {"dc1/a": 6, "dc1/gone": 6, "dc2/x": 6},
            Intent.READY_FOR_EXCLUSION: {"dc1/a": 6},
        }
    )
    found = intending.writes(told, ME, {Intent.RESTART: {"a", "new"}})
    assert found == {
        b"p/pendingForRestart/dc1/new": intents.moment(NOW),
        b"p/pendingForRestart/dc1/gone": None,
        b"p/readyForRestart/dc1/gone": None,
    }


def test_nothing_is_written_where_all_is_said() -> None:
    told = at({Intent.RESTART: {"dc1/a": 5}})
    assert intending.writes(told, ME, {Intent.RESTART: {"a"}}) == {}


def test_another_name_takes_all_along_with_its_moments() -> None:
    told = at({Intent.RESTART: {"old/a": 5, "dc2/x": 5}, Intent.READY_FOR_RESTART: {"old/a": 6}})
    told = replace(
        told,
        addresses={Whose("old", "a"): ("10.0.0.1",)},
        beats={"old": Beat(9, "uid-1"), "dc2": Beat(9, "uid-2"), "new": Beat(9, "uid-1")},
        acted={Intent.RESTART: {Whose("old", "x"): Acted(5, 8)}},
    )
    me = replace(ME, name="new")
    assert intending.former(told, me) == ("old",)
    assert intending.moved(told, "old", me) == {
        b"p/pendingForRestart/old/a": None,
        b"p/pendingForRestart/new/a": intents.moment(5),
        b"p/readyForRestart/old/a": None,
        b"p/readyForRestart/new/a": intents.moment(6),
        b"p/processAddresses/old/a": None,
        b"p/processAddresses/new/a": b'["10.0.0.1"]',
        b"p/actedForRestart/old/x": None,
        b"p/actedForRestart/new/x": intents.acted_value(Acted(5, 8)),
        b"p/operators/old": None,
    }


RESTART = Intent.RESTART

#: What lies in the database of our one group that is pending, whether it is ready, and what is
#: written then: a new word, none any more, or nothing.
READINESS = {
    "it gets ready": (at({RESTART: {"dc1/a": 5}}), True, "new"),
    "it is": (at({RESTART: {"dc1/a": 5}, Intent.READY_FOR_RESTART: {"dc1/a": 6}}), True, ""),
    "not any more": (
        at({RESTART: {"dc1/a": 5}, Intent.READY_FOR_RESTART: {"dc1/a": 6}}),
        False,
        "none",
    ),
    "it is not pending": (at({}), True, ""),
    "another's": (at({RESTART: {"dc2/a": 5}, Intent.READY_FOR_RESTART: {"dc2/a": 6}}), False, ""),
}


@pytest.mark.parametrize("name", READINESS)
def test_who_is_ready(name: str) -> None:
    told, ready, wanted = READINESS[name]
    found = intending.readied(told, ME, RESTART, ["a"] if ready else [])
    words = {"new": intents.moment(NOW), "none": None}
    key = b"p/readyForRestart/dc1/a"
    assert found == ({key: words[wanted]} if wanted else {})


@pytest.mark.parametrize(
    ("ago", "again"), [(10, False), (89, False), (90, True), (-299, False), (-300, True)]
)
def test_who_was_acted_upon_and_not_reached_says_so_anew(ago: int, *, again: bool) -> None:
    told = at({RESTART: {"dc1/a": 5}, Intent.READY_FOR_RESTART: {"dc1/a": 6}})
    acted = {Whose("dc2", "a"): Acted(6, int(NOW) - ago)}
    told = replace(told, acted={RESTART: acted})
    found = intending.readied(told, ME, RESTART, ["a"])
    assert bool(found) is again


def test_that_we_acted_is_said_as_long_as_its_word_stands() -> None:
    told = at({Intent.READY_FOR_RESTART: {"dc2/a": 6, "dc2/b": 7}})
    mine = {"a": Acted(6, 8), "b": Acted(6, 8), "gone": Acted(6, 8)}
    acted = {Whose("dc1", name): it for name, it in mine.items()}
    acted[Whose("dc3", "gone")] = Acted(6, 8)
    found = intending.observed(replace(told, acted={RESTART: acted}), ME)
    assert found == {b"p/actedForRestart/dc1/b": None, b"p/actedForRestart/dc1/gone": None}


#: Whose beat lies under our name and how old it is; whether it is a rival's; whether we beat anew.
BEATS = {
    "nobody's": (None, False, True),
    "ours": (Beat(int(NOW) - 10, "uid-1"), False, False),
    "ours, old": (Beat(int(NOW) - 60, "uid-1"), False, True),
    "another's": (Beat(int(NOW) - 10, "uid-2"), True, True),
    "another's, who is gone": (Beat(int(NOW) - 300, "uid-2"), False, True),
    "of a stranger": (Beat(int(NOW) - 10), False, True),
    "ours, of a clock that was ahead": (Beat(int(NOW) + 10, "uid-1"), False, True),
    "another's, by a clock that is ahead": (Beat(int(NOW) + 10, "uid-2"), True, True),
    "another's, whose clock was far ahead": (Beat(int(NOW) + 300, "uid-2"), False, True),
}


@pytest.mark.parametrize("name", BEATS)
def test_two_of_a_name(name: str) -> None:
    beat, rival, anew = BEATS[name]
    beats = {} if beat is None else {"dc1": beat}
    told = replace(at({RESTART: {"dc1/a": 5}}), beats=beats)
    assert intending.rival(told, ME) is rival
    assert bool(intending.alive(told, ME)) is anew


def test_who_says_nothing_needs_no_beat() -> None:
    """At rest nothing is written, and nobody waits for one who says nothing."""
    told = Intents(beats={"dc1": Beat(5, "uid-1")})
    assert intending.alive(told, ME) == {}


def test_where_groups_are_is_said_of_those_that_go() -> None:
    told = Intents(addresses={Whose("dc1", "old"): ("1.1.1.1",), Whose("dc2", "x"): ("2.2.2.2",)})
    found = intending.located(told, ME, {"new": ("3.3.3.3",)})
    assert found == {
        b"p/processAddresses/dc1/old": None,
        b"p/processAddresses/dc1/new": b'["3.3.3.3"]',
    }


@pytest.mark.parametrize(
    ("ago", "reporting", "forgotten"),
    [
        (86_399, (), False),
        (86_400, (), True),
        (86_400, ("x",), False),
        (86_400, None, False),
        (-86_400, (), True),
    ],
)
def test_who_is_long_gone_with_all_it_had_is_forgotten(
    ago: int, reporting: tuple[str, ...] | None, *, forgotten: bool
) -> None:
    then = int(NOW) - ago
    told = replace(at({RESTART: {"dc2/x": then}}), beats={"dc2": Beat(then, "uid-2")})
    found = intending.buried(told, ME, reporting)
    assert [*found] == ([b"p/pendingForRestart/dc2/x", b"p/operators/dc2"] if forgotten else [])
