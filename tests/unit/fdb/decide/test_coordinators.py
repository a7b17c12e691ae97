"""Who coordinates. A process is written ``s1a``: its class, its zone, its data center."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.fdb.decide.coordinators import (
    Candidate,
    Choice,
    Rule,
    TooFew,
    choose,
    objections,
    rule_of,
)
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.configuration import Configuration, DataCenter, Region

KINDS = {"s": "storage", "l": "log", "t": "transaction", "x": "stateless"}
DOUBLE = rule_of(Configuration())
REGIONS = tuple(
    Region((DataCenter(main, 1), DataCenter("c", satellite=True))) for main in ("a", "b")
)
TWO_REGIONS = rule_of(Configuration(usable_regions=2, regions=REGIONS))


def candidate(word: str) -> Candidate:
    """Read ``s1a``; a dash behind it says that it goes."""
    kind, zone, center = word[0], word[1], word.rstrip("-")[2:]
    gone = "is about to go" if word.endswith("-") else ""
    number = 1 + sum(map(ord, word.rstrip("-"))) % 200
    host = f"10.{ord(kind)}.{ord(zone)}.{number}"
    kind_ = ProcessClass(KINDS[kind])
    return Candidate(word.rstrip("-"), Address(host, 4501), kind_, zone, center, "", gone)


def candidates(words: str) -> list[Candidate]:
    return [candidate(it) for it in words.split()]


def addresses(words: str) -> list[Address]:
    return [candidate(it).address for it in words.split()]


#: Who coordinates, who reports, and who shall coordinate.
TABLE = {
    "nobody yet": ("", "s1 s2 s3 s4 l5", "s1 s2 s3"),
    "all is well": ("s1 s2 s3", "s1 s2 s3 s4", "s1 s2 s3"),
    "one is lost, one is new": ("s1 s2 s3", "s1 s2 s4 s5", "s1 s2 s4"),
    "one goes, one is new": ("s1 s2 s3", "s1 s2 s3- s4", "s1 s2 s4"),
    "storage before logs": ("", "l1 l2 s3 s4 s5", "s3 s4 s5"),
    "logs where storage is not enough": ("", "s1 l2 l3 x4", "s1 l2 l3"),
    "transaction where logs are not": ("", "s1 l2 t3", "s1 l2 t3"),
    "who coordinates stays, whatever it is": ("l1 s2 s3", "l1 s2 s3 s4", "l1 s2 s3"),
    "one in a zone": ("", "s1 s1b s2 s3", "s1 s2 s3"),
    "two in a zone are one too many": ("s1 s1b s2", "s1 s1b s2 s3", "s1 s2 s3"),
    "there are too many": ("s1 s2 s3 s4", "s1 s2 s3 s4", "s1 s2 s3"),
}


@pytest.mark.parametrize("name", TABLE)
def test_who_shall_coordinate(name: str) -> None:
    now, there, wanted = TABLE[name]
    found = choose(addresses(now), candidates(there), DOUBLE)
    assert isinstance(found, Choice)
    assert sorted(it.name for it in found.chosen) == sorted(wanted.split())


def test_no_data_center_has_a_majority() -> None:
    words = " ".join(
        f"s{zone}{center}"
        for center in "abc"
        for zone in "12345".translate(
            {ord(n): chr(ord(n) + 10 * "abc".index(center)) for n in "12345"}
        )
    )
    found = choose([], candidates(words), TWO_REGIONS)
    assert isinstance(found, Choice)
    assert len(found.chosen) == 9
    centers = [it.data_center for it in found.chosen]
    assert {it: centers.count(it) for it in "abc"} == {"a": 3, "b": 3, "c": 3}


@pytest.mark.parametrize(
    ("now", "there", "said"),
    [
        ("s1 s2 s3", "s1 s2 s3", []),
        ("s1 s2 s3", "s1 s2", ["is no process that reports"]),
        ("s1 s2 s3", "s1 s2 s3-", ["s3 is about to go"]),
        ("s1 s2 x3", "s1 s2 x3", ["x3 is of the class stateless"]),
        ("s1 s1b s2", "s1 s1b s2", ["zone 1 has 2 of them"]),
        ("s1 s2", "s1 s2 s3", ["there are 2, and should be 3"]),
    ],
)
def test_what_is_wrong_with_those_who_do(now: str, there: str, said: list[str]) -> None:
    found = objections(addresses(now), candidates(there), DOUBLE)
    assert len(found) == len(said)
    assert all(part in text for part, text in zip(said, found, strict=True))


def test_where_there_are_too_few_it_is_said_why() -> None:
    found = choose([], candidates("s1 s1b s2 s3- x4 x5"), DOUBLE)
    assert found == TooFew(
        2,
        3,
        (
            "those who may are in 2 zones",
            "each of 2 processes is of the class stateless, which does not coordinate",
            "a process is about to go",
        ),
    )


TOO_FEW: dict[str, tuple[str, tuple[str, ...]]] = {
    "nobody is there": ("", ("those who may are in 0 zones",)),
    "all are in one zone": ("s1 s1b", ("those who may are in 1 zone",)),
    "nobody may": ("s1- s2- s3-", ("each of 3 processes is about to go",)),
}


@pytest.mark.parametrize("name", TOO_FEW)
def test_why_there_are_too_few_is_a_sentence(name: str) -> None:
    there, because = TOO_FEW[name]
    found = choose([], candidates(there), DOUBLE)
    assert isinstance(found, TooFew)
    assert found.because == because


worlds = st.lists(
    st.builds(
        lambda kind, zone, center, goes, n: Candidate(
            f"{kind}{zone}{center}{n}",
            Address(f"10.0.{ord(zone)}.{n}", 4501),
            ProcessClass(KINDS[kind]),
            f"{center}{zone}",
            center,
            "",
            "goes" if goes else "",
        ),
        st.sampled_from("sltx"),
        st.sampled_from("123456"),
        st.sampled_from("abc"),
        st.booleans(),
        st.integers(1, 250),
    ),
    max_size=40,
    unique_by=lambda it: it.address,
)


@given(worlds, st.sampled_from([DOUBLE, TWO_REGIONS]), st.data())
def test_what_is_chosen_is_right_and_keeps_all_that_it_can(
    there: list[Candidate], rule: Rule, data: st.DataObject
) -> None:
    now = data.draw(st.lists(st.sampled_from(there), max_size=9, unique=True)) if there else []
    found = choose([it.address for it in now], there, rule)
    if isinstance(found, TooFew):
        assert found.found < rule.count
        return
    assert objections([it.address for it in found.chosen], there, rule) == ()
    assert not any(it.objection for it in found.chosen)
    again = choose([it.address for it in found.chosen], there, rule)
    assert isinstance(again, Choice)
    assert (set(again.chosen), again.added) == (set(found.chosen), ())
    if not objections([it.address for it in now], there, rule):
        assert set(found.chosen) == set(now), "what is right is not touched"


@given(worlds, st.data())
def test_one_lost_is_one_changed(there: list[Candidate], data: st.DataObject) -> None:
    before = choose([], there, DOUBLE)
    if isinstance(before, TooFew):
        return
    lost = data.draw(st.sampled_from(before.chosen))
    left = [replace(it, objection="lost") if it == lost else it for it in there]
    after = choose([it.address for it in before.chosen], left, DOUBLE)
    if isinstance(after, Choice):
        assert len(after.added) == 1
