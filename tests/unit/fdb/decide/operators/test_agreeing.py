"""Whether operators act together: who is pending, who is ready, who is waited for or left out."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.fdb.decide.operators.agreeing import Agreement, agreement, awaited, silent
from stateward.fdb.model import intents, tuples
from stateward.fdb.model.intents import Acted, Beat, Intent, Intents, Whose

NOW = 10_000
WINDOW = 30.0


def whose(name: str) -> Whose:
    """Return a group by its id, whose prefix is its operator's name."""
    return Whose(name.partition("-")[0] if name[0] == "d" else "", name)


def told(picture: str) -> Intents:
    """Read ``dc1-log-1:90!40@40 dc2:10``.

    Pending for 90 s, ready for 40, acted upon by just that word; dc2 was there 10 s ago.
    """
    pending, ready, beats = dict[Whose, int](), dict[Whose, int](), dict[str, Beat]()
    acted = dict[Whose, Acted]()
    for word in picture.split():
        name, _, times = word.partition(":")
        since, _, done = times.partition("!")
        if name.count("-") == 0:
            beats[name] = Beat(NOW - int(since))
            continue
        pending[whose(name)] = NOW - int(since)
        done, _, by = done.partition("@")
        if done:
            ready[whose(name)] = NOW - int(done)
        if by:
            acted[Whose("dc9", name)] = Acted(NOW - int(by), NOW)
    said = {Intent.EXCLUSION: pending, Intent.READY_FOR_EXCLUSION: ready}
    return Intents(said, beats=beats, acted={Intent.EXCLUSION: acted})


def shown(found: Agreement) -> str:
    parts = [" ".join(sorted(it.group for it in found.together))]
    parts += [f"waits {' '.join(it.group for it in found.waiting)}"] if found.waiting else []
    parts += [f"without {' '.join(it.group for it in found.left_out)}"] if found.left_out else []
    parts += [f"in {found.after:g}"] if found.after is not None else []
    return "; ".join(it for it in parts if it)


#: What lies in the database, and what may be done.
STORIES = {
    "": "",
    "dc1-log-1:90!40": "dc1-log-1",
    "dc1-log-1:90!40 dc2-log-1:80!31": "dc1-log-1 dc2-log-1",
    # Somebody said something a moment ago: others may yet join.
    "dc1-log-1:90!40 dc2-log-1:80!10": "waits dc1-log-1 dc2-log-1; in 20",
    "dc1-log-1:90!40 dc2-log-1:5": "waits dc2-log-1; in 295",
    # One is not ready yet.
    "dc1-log-1:90!40 dc2-log-1:80": "waits dc2-log-1; in 260",
    # As many are ready as are pending, and they are others.
    "dc1-log-1:90 dc1-log-2:90!80 dc2-log-1:90": "waits dc1-log-1 dc2-log-1; in 220",
    # Class by class.
    "dc1-log-1:90!40 dc2-storage-1:80": "dc1-log-1; waits dc2-storage-1; in 220",
    "dc1-log-1:90!40 dc2-storage-1:80!60": "dc1-log-1 dc2-storage-1",
    # One that cannot get ready, though its operator is there.
    "dc1-log-1:400!390 dc2-log-1:400 dc1:9 dc2:9": "dc1-log-1; without dc2-log-1",
    # An operator that is gone: what it said to be ready is not acted upon.
    "dc1-log-1:90!40 dc2-log-1:999": "dc1-log-1; without dc2-log-1",
    "dc1-log-1:90!40 dc2-log-1:999!998": "dc1-log-1; without dc2-log-1",
    "dc1-log-1:90!40 dc2-log-1:999!998 dc2:10": "dc1-log-1 dc2-log-1",
    "dc1-log-1:90!40 dc2-log-1:40!40 dc2:600": "dc1-log-1 dc2-log-1",
    # A clock that is far ahead, as one that is far behind; and one that was, and is right now.
    "dc1-log-1:90!40 dc2-log-1:-299!-299": "waits dc1-log-1 dc2-log-1; in 329",
    "dc1-log-1:90!40 dc2-log-1:-9000!-9000": "dc1-log-1; without dc2-log-1",
    "dc1-log-1:-9000!-9000 dc1:1": "dc1-log-1",
    "dc1-log-1:90!40 dc2-log-1:-9000!-9000 dc2:1": "dc1-log-1 dc2-log-1",
    # Others join all the time.
    "dc1-log-1:999!899 dc1:1 dc2-log-1:3 dc2:1": "waits dc2-log-1; in 1",
    "dc1-log-1:999!901 dc1:1 dc2-log-1:3 dc2:1": "dc1-log-1; without dc2-log-1",
    # Who was acted upon is waited for by nobody, until it says something new.
    "dc1-log-1:90!40@40 dc2-log-1:80!31": "dc2-log-1",
    "dc1-log-1:90!40@40": "",
    "dc1-log-1:90!40@70 dc2-log-1:80!31": "dc1-log-1 dc2-log-1",
    # Names that begin with others'.
    "dc1-log-1:90!40 dc10-log-1:90": "waits dc10-log-1; in 260",
}


@pytest.mark.parametrize("picture", STORIES)
def test_who_may_be_acted_upon(picture: str) -> None:
    assert shown(agreement(told(picture), Intent.EXCLUSION, NOW, WINDOW)) == STORIES[picture]


@pytest.mark.parametrize(
    ("picture", "ours", "late"),
    [
        # Logs wait for logs alone, and nobody is named for whom they do not wait.
        ("dc1-log-1:90!10 dc2-storage-1:80", "dc1-log-1", "dc1-log-1"),
        ("dc1-log-1:90!10 dc2-storage-1:80 dc2-log-1:80", "dc1-log-1", "dc2-log-1"),
        ("dc1-log-1:90!10 dc2-storage-1:80", "dc1-log-1 dc1-storage-1", "dc1-log-1 dc2-storage-1"),
        ("dc1-log-1:90!10 nonsense:80", "dc1-log-1", "dc1-log-1"),
    ],
)
def test_whom_ours_wait_for(picture: str, ours: str, late: str) -> None:
    said = told(picture)
    found = agreement(said, Intent.EXCLUSION, NOW, WINDOW)
    assert " ".join(it.group for it in awaited(found, Intent.EXCLUSION, ours.split())) == late
    everybody = awaited(found, Intent.RESTART, ours.split())
    assert everybody == found.waiting, "all classes restart at once"


NAMES = st.builds(
    "dc{}-{}-{}".format, st.integers(1, 3), st.sampled_from(["log", "storage"]), st.integers(1, 2)
)
WORDS = st.builds(
    lambda name, since, ready: f"{name}:{since}" + (f"!{min(since, ready)}" if ready else ""),
    NAMES,
    st.integers(0, 2000),
    st.integers(0, 2000),
)


@given(st.lists(WORDS, max_size=8).map(" ".join), st.integers(0, 120))
def test_nobody_is_acted_upon_that_is_not_ready_or_forgotten(picture: str, window: int) -> None:
    said = told(picture)
    found = agreement(said, Intent.EXCLUSION, NOW, window)
    pending, ready = said.of(Intent.EXCLUSION), said.of(Intent.READY_FOR_EXCLUSION)
    assert found.together <= pending.keys() & ready.keys()
    assert {*found.together, *found.waiting, *found.left_out} <= pending.keys()
    assert not found.together & {*found.waiting, *found.left_out}
    assert (found.after is None) == (not found.waiting)
    open_ = [it for it in pending if said.acts(Intent.EXCLUSION, it) is None]
    assert said.yet_to_do(Intent.EXCLUSION) == open_
    alone = [it for it in pending if it not in found.together and it not in ready]
    assert {*alone} <= {*found.waiting, *found.left_out}


def test_all_classes_restart_at_once() -> None:
    """A restart of any class is a recovery; an exclusion of storage servers is none."""
    said = told("dc1-log-1:90!40 dc2-storage-1:80")
    pending, ready = said.of(Intent.EXCLUSION), said.of(Intent.READY_FOR_EXCLUSION)
    restart = Intents({Intent.RESTART: pending, Intent.READY_FOR_RESTART: ready})
    assert shown(agreement(restart, Intent.RESTART, NOW, WINDOW)) == "waits dc2-storage-1; in 260"


@pytest.mark.parametrize(
    ("picture", "names"),
    [
        ("", []),
        ("dc1-log-1:10 dc2-log-1:400", ["dc2"]),
        ("dc2-log-1:400 dc2:10", []),
        ("dc2:4000", []),
        ("dc2-log-1:-4000 dc2:-4000", ["dc2"]),
        ("dc2-log-1:-4000 dc2:10", []),
    ],
)
def test_who_is_silent(picture: str, names: list[str]) -> None:
    assert [*silent(told(picture), NOW)] == names


@given(st.lists(WORDS, max_size=8).map(" ".join))
def test_nobody_waits_for_ever(picture: str) -> None:
    found = agreement(told(picture), Intent.EXCLUSION, NOW + 1000.0, WINDOW)
    assert found.waiting == ()


def test_thousands_of_groups_are_judged_in_a_moment() -> None:
    """Every pass judges several times, and nothing else of the operator runs meanwhile."""
    every = dict.fromkeys((Whose("dc1", f"dc1-log-{it}") for it in range(6000)), NOW - 100)
    said = {Intent.EXCLUSION: every, Intent.READY_FOR_EXCLUSION: every}
    acted = {Intent.EXCLUSION: dict.fromkeys(every, Acted(1, 1))}
    began = process_time()
    found = agreement(Intents(said, acted=acted), Intent.EXCLUSION, NOW, WINDOW)
    assert len(found.together) == len(every)
    assert process_time() - began < 3


# ------------------------------------------------------------------ as it lies in the database


def test_it_is_read_as_it_was_written() -> None:
    prefix = b"\xff\x02/p"
    one, other = Whose("dc1", "dc1-log-1"), Whose("", "log-1")
    rows = [
        (intents.intent_key(prefix, Intent.RESTART, one), intents.moment(7.9)),
        (intents.intent_key(prefix, Intent.READY_FOR_EXCLUSION, other), intents.moment(8)),
        (intents.addresses_key(prefix, one), intents.addresses_value(["10.0.0.1:4501"])),
        (intents.beat_key(prefix, "dc2"), intents.beat_value(Beat(9, "uid"))),
        (intents.beat_key(prefix, "dc3"), b"no"),
        (
            intents.acted_key(prefix, Intent.RESTART, one),
            intents.acted_value(Acted(7, 11)),
        ),
        (prefix + b"/actedForRestart/dc1/odd", b"no"),
        (prefix + b"/pendingForRestart/x", b"no"),
        (prefix + b"/pendingForRestart/dc1/odd", b"no"),
        (prefix + b"/other/dc1/x", b"no"),
        (prefix + b"/\xff", b"no"),
    ]
    found = intents.read(prefix, rows)
    assert found.of(Intent.RESTART) == {one: 7, Whose("dc1", "odd"): 0}
    assert found.of(Intent.READY_FOR_EXCLUSION) == {other: 8}
    assert found.addresses == {one: ("10.0.0.1:4501",)}
    assert found.beats == {"dc2": Beat(9, "uid"), "dc3": Beat(0)}
    assert found.acted[Intent.RESTART] == {one: Acted(7, 11), Whose("dc1", "odd"): Acted(0, 0)}
    begin, end = intents.span(prefix)
    assert all(begin <= key < end for key, _ in rows)
    assert not begin <= prefix + b"0/global" < end, "another prefix is another's"


HUGE = 1 << 62


@pytest.mark.parametrize("at", [-HUGE, -1, HUGE])
def test_moments_that_no_calendar_has_were_long_ago(at: int) -> None:
    """They are told to users as dates, and nobody waits for what will be in a million years."""
    one = Whose("dc2", "dc2-log-1")
    rows = [
        (intents.intent_key(b"p", Intent.RESTART, one), tuples.pack(at)),
        (intents.beat_key(b"p", "dc2"), tuples.pack(at, "uid")),
        (intents.beat_key(b"p", "dc3"), tuples.pack(at)),
        (intents.acted_key(b"p", Intent.RESTART, one), tuples.pack(at, at)),
    ]
    found = intents.read(b"p", rows)
    assert found.of(Intent.RESTART) == {one: 0}
    assert found.beats == {"dc2": Beat(0, "uid"), "dc3": Beat(0)}
    assert found.acted[Intent.RESTART] == {one: Acted(0, 0)}


@pytest.mark.parametrize("value", [b"[" * 100_000, b"\xff", b"{}", b"[1, null]"])
def test_addresses_that_are_none_say_nothing(value: bytes) -> None:
    one = Whose("dc2", "dc2-log-1")
    found = intents.read(b"p", [(intents.addresses_key(b"p", one), value)])
    assert found.addresses == {one: ()}


def test_a_group_without_a_name_is_none() -> None:
    rows = [(b"p/pendingForExclusion/dc2/", b""), (b"p/processAddresses/dc2/", b"[]")]
    assert intents.read(b"p", rows) == intents.read(b"p", [])
