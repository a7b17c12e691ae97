"""The judgement of the example operator, as pictures and as laws.

A team is drawn as its members in order: a letter for each ordinal. ``m`` says the motto, ``o`` says something old,
``l`` is leaving, ``.`` is not there.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.example import decide
from stateward.example.api import FINALIZER, Team, TeamSpec
from stateward.example.view import Member, View, view_of
from stateward.kube.meta import ObjectMeta, OwnerReference
from stateward.kube.objects.configs import ConfigMap


def picture(members: str, size: int, *, held: bool = True, leaving: bool = False) -> View:
    team = Team(
        metadata=ObjectMeta(
            name="crew",
            uid="team",
            finalizers=(FINALIZER,) if held else (),
            deletion_timestamp="2026-01-01T00:00:00Z" if leaving else None,
        ),
        spec=TeamSpec(size=size, motto="new"),
    )
    drawn = tuple(
        Member(n, f"uid-{n}", "old" if letter == "o" else "new", leaving=letter == "l")
        for n, letter in enumerate(members)
        if letter != "."
    )
    return View(team, drawn)


def told(move: decide.Move) -> str:
    match move:
        case decide.Add(ordinal=ordinal):
            return f"add {ordinal}"
        case decide.Teach(member=member) | decide.Remove(member=member):
            return f"{type(move).__name__.lower()} {member.ordinal}"
        case decide.AwaitGone(member=member):
            return f"await {member.ordinal}"
        case _:
            return type(move).__name__.lower()


@pytest.mark.parametrize(
    ("members", "size", "move"),
    [
        ("", 0, "rest"),
        ("", 3, "add 0"),
        ("mm", 3, "add 2"),
        ("mmm", 3, "rest"),
        ("m.m", 3, "add 1"),
        ("mmmmm", 3, "remove 4"),
        ("moo", 3, "teach 1"),
        ("ooooo", 3, "remove 4"),
        ("o.", 2, "teach 0"),
        ("mml", 3, "await 2"),
        ("mmml", 3, "await 3"),
        ("m", 0, "remove 0"),
    ],
)
def test_next_move(members, size, move):
    assert told(decide.next_move(picture(members, size))) == move


@pytest.mark.parametrize(
    ("members", "held", "move"),
    [
        ("mmm", True, "remove 2"),
        ("mml", True, "await 2"),
        ("", True, "letgo"),
        ("", False, "rest"),
        ("mm", False, "rest"),
    ],
)
def test_a_team_on_its_way_out(members, held, move):
    assert told(decide.next_move(picture(members, 3, held=held, leaving=True))) == move


def test_nothing_is_made_before_the_team_is_held():
    assert told(decide.next_move(picture("", 3, held=False))) == "hold"


DRAWN = st.text("mol.", max_size=7)


@given(members=DRAWN, size=st.integers(0, 7), leaving=st.booleans())
def test_a_removal_is_always_justified_by_the_view_it_was_decided_on(members, size, leaving):
    view = picture(members, size, leaving=leaving)
    move = decide.next_move(view)

    if isinstance(move, decide.Remove):
        assert decide.still_justified(move, view)


@given(members=DRAWN, size=st.integers(0, 7))
def test_no_member_comes_or_changes_while_another_leaves(members, size):
    move = decide.next_move(picture(members, size))

    if "l" in members:
        assert isinstance(move, decide.AwaitGone)


@given(members=st.text("mo.", max_size=7), size=st.integers(0, 7))
def test_moves_lead_to_rest(members, size):
    """Carry every move out on the picture: the team is as asked after few of them."""
    drawn = list(members.ljust(7, "."))
    for _ in range(30):
        match decide.next_move(picture("".join(drawn), size)):
            case decide.Add(ordinal=ordinal):
                drawn[ordinal] = "m"
            case decide.Teach(member=member):
                drawn[member.ordinal] = "m"
            case decide.Remove(member=member):
                drawn[member.ordinal] = "."
            case _:
                break

    assert "".join(drawn) == "m" * size + "." * (7 - size)


def config_map(name: str, owner: str) -> ConfigMap:
    reference = OwnerReference(kind="Team", name="crew", uid=owner, controller=True)
    return ConfigMap(metadata=ObjectMeta(name=name, uid=name, owner_references=(reference,)))


def test_children_of_another_incarnation_are_not_ours():
    children = [config_map("crew-0", "team"), config_map("crew-1", "an earlier team")]

    view = view_of(picture("", 3).team, children)

    assert [member.uid for member in view.members] == ["crew-0"]


def test_ordinals_are_numbers_not_texts():
    children = [config_map(f"crew-{n}", "team") for n in (10, 9, 2)]

    view = view_of(picture("", 3).team, children)

    assert [member.ordinal for member in view.members] == [2, 9, 10]
