"""The journal: what is kept, what is folded, who makes room for whom, and the exported format."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.hand_clock import START
from stateward.core.errors import PeerUnreachable, UsageError
from stateward.core.outcome import DONE, Blocked, Retry, Stop, Wait
from stateward.kube.meta import ObjectKey
from stateward.runtime.pipeline import Failure, Report, Said
from stateward.runtime.telling.journal import Entry, Journal, Subject, entry_of


def entry(name: str = "orders", word: str = "a", *, at: float = 0, **more: Any) -> Entry:
    """One pass about one object that says one word."""
    subject = Subject(more.pop("controller", "etcd"), ObjectKey("shop", name), uid=f"uid-{name}")
    report = Report(said=[Said("Look", Wait("Said", word), more.pop("took", 0.0))])
    return entry_of(
        subject, report, pass_id=f"p{at:g}", at=START + at, seconds=more.pop("seconds", 0.0), **more
    )


def words(journal: Journal, name: str = "orders") -> str:
    """What is kept about an object, newest first."""
    return "".join(e.said[0].message for e in journal.about(ObjectKey("shop", name)))


GOLDEN = """\
{"at":"2023-11-14T22:13:20.250000Z","passID":"7f","controller":"etcd","namespace":"shop",\
"name":"orders","uid":"u-1","generation":3,"seconds":0.125,"said":[\
{"step":"Observe","outcome":"Done","seconds":0.5},\
{"step":"AddPods","outcome":"Wait","reason":"PodPending","message":"orders-2 waits for a node",\
"seconds":0.0},\
{"step":"Promote","outcome":"Retry","reason":"LearnerBehind","message":"catching up",\
"after":5.0,"seconds":0.0},\
{"step":"Resize","outcome":"Blocked","reason":"SizeEven","message":"4 members",\
"hint":"choose 3 or 5","seconds":0.0},\
{"step":"Remove","outcome":"Stop","reason":"NoQuorum","message":"1 of 3 answer",\
"after":10.0,"seconds":0.0}],\
"failure":{"step":"Tell","reason":"PeerUnreachable","message":"PeerUnreachable: no answer"},\
"facts":{"leader":"orders-0","members":3},\
"count":2,"lastAt":"2023-11-14T22:13:30.250000Z","lastPassID":"80"}
{"at":"2023-11-14T22:14:20.000000Z","passID":"81","controller":"nodes","name":"n1","seconds":0.0}
"""


def test_golden_format() -> None:
    report = Report(
        said=[
            Said("Observe", DONE, 0.5),
            Said("AddPods", Wait("PodPending", "orders-2 waits for a node"), 0),
            Said("Promote", Retry(5, "LearnerBehind", "catching up"), 0),
            Said("Resize", Blocked("SizeEven", "4 members", "choose 3 or 5"), 0),
            Said("Remove", Stop(10, "NoQuorum", "1 of 3 answer"), 0),
        ],
        failure=Failure("Tell", PeerUnreachable("no answer")),
    )
    orders = Subject("etcd", ObjectKey("shop", "orders"), uid="u-1", generation=3)
    node = Subject("nodes", ObjectKey("", "n1"))
    facts = {"members": 3, "leader": "orders-0"}
    journal = Journal()
    for pass_id, at in (("7f", START + 0.25), ("80", START + 10.25)):
        journal.add(entry_of(orders, report, pass_id=pass_id, at=at, seconds=0.125, facts=facts))
    journal.add(entry_of(node, Report(), pass_id="81", at=START + 60, seconds=0))
    assert journal.export().decode() == GOLDEN
    assert journal.size == len(GOLDEN)


def test_what_was_exported_can_be_read_again() -> None:
    journal = Journal()
    journal.load(GOLDEN.splitlines(keepends=True))
    assert journal.export().decode() == GOLDEN
    assert len(journal) == 2
    (found,) = journal.about(ObjectKey("shop", "orders"))
    assert (found.count, found.said[2].after, found.key) == (2, 5, ObjectKey("shop", "orders"))


def test_readers_skip_what_they_do_not_know_and_name_a_broken_line() -> None:
    journal = Journal()
    line = {"at": "t", "passID": "1", "controller": "c", "name": "n", "seconds": 0, "new": [1]}
    known = json.dumps(line)
    journal.load([known, "", "\n"])
    assert len(journal) == 1
    with pytest.raises(UsageError, match="line 2 is not a journal entry"):
        journal.load([known, '{"at": 5}'])


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("a", "a"),
        ("aaaa", "a"),
        ("aab", "ba"),
        ("abab", "baba"),  # only what is the same as the one right before
        ("aabbb", "ba"),
    ],
)
def test_folding(said: str, kept: str) -> None:
    journal = Journal()
    for at, word in enumerate(said):
        journal.add(entry(word=word, at=at))
    assert words(journal) == kept


def test_a_folded_entry_says_how_often_until_when_and_how_slow() -> None:
    journal = Journal()
    for at, seconds in ((0, 0.5), (60, 2.0), (120, 1.0)):
        journal.add(entry(at=at, seconds=seconds, took=seconds))
    (only,) = journal.about(ObjectKey("shop", "orders"))
    assert (only.count, only.seconds) == (3, 2.0)
    assert (only.at, only.last_at) == ("2023-11-14T22:13:20.000000Z", "2023-11-14T22:15:20.000000Z")
    assert (only.pass_id, only.last_pass_id) == ("p0", "p120")


@pytest.mark.parametrize(
    "other",
    [
        entry(facts={"x": 1}),
        entry(controller="fdb"),
        entry_of(
            Subject("etcd", ObjectKey("shop", "orders"), uid="reborn"),
            Report(said=[Said("Look", Wait("Said", "a"), 0)]),
            pass_id="",
            at=0,
            seconds=0,
        ),
        entry_of(
            Subject("etcd", ObjectKey("shop", "orders"), uid="uid-orders", generation=2),
            Report(said=[Said("Look", Wait("Said", "a"), 0)]),
            pass_id="",
            at=0,
            seconds=0,
        ),
    ],
    ids=["facts", "controller", "uid", "generation"],
)
def test_what_differs_is_not_folded(other: Entry) -> None:
    journal = Journal()
    journal.add(entry())
    journal.add(other)
    assert len(journal.about(ObjectKey("shop", "orders"))) == 2


def test_a_query_is_newest_first_across_controllers_and_can_be_narrowed() -> None:
    journal = Journal()
    for at, (controller, word) in enumerate([("etcd", "a"), ("fdb", "b"), ("etcd", "c")]):
        journal.add(entry(word=word, at=at, controller=controller))
    journal.add(entry("other", "x"))
    orders = ObjectKey("shop", "orders")
    assert words(journal) == "cba"
    assert [e.said[0].message for e in journal.about(orders, controller="etcd")] == ["c", "a"]
    assert [e.said[0].message for e in journal.about(orders, limit=1)] == ["c"]
    assert journal.about(ObjectKey("shop", "unknown")) == ()


def test_a_chatty_object_pushes_out_only_itself() -> None:
    journal = Journal(max_entries=20)
    for word in "abc":
        journal.add(entry("quiet", word))
    for n in range(1000):
        journal.add(entry("chatty", f"{n} "))
    assert words(journal, "quiet") == "cba"
    assert words(journal, "chatty").split() == [str(n) for n in range(999, 982, -1)]


def test_neither_do_few_large_entries_push_out_many_small_ones() -> None:
    journal = Journal(max_entries=1000, max_bytes=20_000)
    for n in range(20):
        journal.add(entry("quiet", f"{n} "))
    for n in range(50):
        journal.add(entry("large", f"{n} ", facts={"text": "x" * 1000}))
    assert len(words(journal, "quiet").split()) == 20
    assert journal.size <= 20_000


def test_the_last_word_about_an_object_goes_last_and_oldest_first() -> None:
    journal = Journal(max_entries=3)
    for name in ("one", "two", "three", "three", "four"):
        journal.add(entry(name, word=f"{name}{len(journal)} "))
    assert [e.name for e in journal.entries()] == ["two", "three", "four"]


def test_objects_long_gone_make_room_as_a_whole() -> None:
    journal = Journal(max_objects=2)
    for name, word in (("gone", "a"), ("gone", "b"), ("here", "c"), ("new", "d")):
        journal.add(entry(name, word))
    assert {e.name for e in journal.entries()} == {"here", "new"}
    assert len(journal) == 2
    assert journal.size == len(journal.export())


def test_a_giant_is_kept_in_outline_only() -> None:
    journal = Journal(max_bytes=16_000)
    journal.add(entry("quiet"))
    giant = [Said("Look", Wait("Said", "x" * 1000), 0)] * 100
    journal.add(
        entry_of(
            Subject("etcd", ObjectKey("shop", "giant")),
            Report(said=giant),
            pass_id="1",
            at=START,
            seconds=0,
        )
    )
    assert words(journal, "quiet") == "a"
    (outline,) = journal.about(ObjectKey("shop", "giant"))
    assert outline.said == ()
    assert "bytes of entry" in outline.facts["omitted"]


@given(
    said=st.lists(st.tuples(st.sampled_from("xyz"), st.text("ab", max_size=9)), max_size=60),
    max_entries=st.integers(1, 8),
    max_bytes=st.integers(200, 3000),
)
def test_the_bounds_hold_and_the_newest_is_there(
    said: list[tuple[str, str]], max_entries: int, max_bytes: int
) -> None:
    journal = Journal(max_entries=max_entries, max_bytes=max_bytes, max_objects=2)
    for name, word in said:
        journal.add(entry(name, word))
        assert len(journal) <= max_entries
        assert len({e.name for e in journal.entries()}) <= 2
        assert journal.size == len(journal.export()) <= max_bytes
        assert len(journal) == len(list(journal.entries()))
        assert journal.about(ObjectKey("shop", name)) or not len(journal)


def test_an_entry_is_small_clean_and_its_own() -> None:
    facts = {"password": "hunter2", "members": ["a"]}
    taken = entry(word="x" * 5000, facts=facts)
    facts["members"] = ["a", "b"]
    assert len(taken.said[0].message) == 1024
    assert taken.facts == {"password": "***", "members": ["a"]}
    assert entry(facts={"blob": "x" * 5000}).facts == {"omitted": "5011 bytes of facts"}
    assert entry(facts={"odd": {1, 2**70, float("nan")}, 5: object}).facts.keys() == {"odd", "5"}
    failure = Failure("Ask", ValueError("sent Bearer abcdef"))
    failed = entry_of(
        Subject("etcd", ObjectKey("shop", "orders")),
        Report(failure=failure),
        pass_id="1",
        at=START,
        seconds=0,
    ).failure
    assert failed is not None
    assert (failed.reason, failed.message) == ("InternalError", "ValueError: sent Bearer ***")
