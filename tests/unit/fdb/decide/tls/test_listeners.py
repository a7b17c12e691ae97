"""How processes listen on the way from one kind to the other: never so that somebody is cut off."""

from __future__ import annotations

from itertools import product

import msgspec
import pytest

from stateward.core.facts import Known, Unknown
from stateward.fdb.decide.tls.listeners import Scene, judge
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.transport import Papers
from stateward.fdb.status.document import Process
from stateward.fdb.status.processes import Reporting, Roster

PLAIN, TLS = False, True
KINDS = {"p": frozenset({PLAIN}), "t": frozenset({TLS}), "b": frozenset({PLAIN, TLS})}
FLAWED = Papers(flaws=("secret ns/certs must be there",))


def reporting(kinds: frozenset[bool], **entry: object) -> Reporting:
    addresses = [
        Address("10.0.0.1", 4500 if it else 4501, it) for it in sorted(kinds, reverse=True)
    ]
    return Reporting("a", tuple(addresses), {}, msgspec.convert(entry, Process))


def scene(asked: bool, used: bool | None, who: str = "", **over: object) -> Scene:
    """Return a scene of processes: ``p`` listen without TLS, ``t`` with it, ``b`` in both."""
    found = None
    if used is not None:
        found = ConnectionString.parse("a:b@10.0.0.1:" + ("4500:tls" if used else "4501"))
    roster = Roster({f"storage-{n}": (reporting(KINDS[it]),) for n, it in enumerate(who)})
    usual = {
        "former": frozenset(),
        "roster": Known(roster, 0.0, "test"),
        "papers": Papers(),
        "staying": frozenset(roster.groups),
    }
    return Scene(asked=asked, connection=found, **{**usual, **over})  # type: ignore[arg-type]


def kinds(of: Scene) -> frozenset[bool]:
    found = judge(of)
    return frozenset(it for it, is_so in ((TLS, found.tls), (PLAIN, found.plain)) if is_so)


@pytest.mark.parametrize(
    ("asked", "used", "who", "wanted"),
    [
        (PLAIN, None, "", "p"),
        (TLS, None, "", "t"),
        (PLAIN, PLAIN, "ppp", "p"),
        (TLS, PLAIN, "ppp", "b"),
        (TLS, PLAIN, "pbb", "b"),
        (TLS, PLAIN, "bbb", "b"),
        (TLS, TLS, "bbb", "t"),
        (TLS, TLS, "btt", "t"),
        (TLS, TLS, "bbp", "b"),
        (TLS, TLS, "ttt", "t"),
        (PLAIN, TLS, "ttt", "b"),
        (PLAIN, TLS, "tbb", "b"),
        (PLAIN, PLAIN, "bbb", "p"),
        (PLAIN, PLAIN, "bbt", "b"),
        (PLAIN, PLAIN, "", "p"),
    ],
)
def test_the_way(asked: bool, used: bool | None, who: str, wanted: str) -> None:
    assert kinds(scene(asked, used, who)) == KINDS[wanted]


@pytest.mark.parametrize("who", ["".join(it) for it in product("ptb", repeat=3)])
@pytest.mark.parametrize("used", [PLAIN, TLS])
@pytest.mark.parametrize("asked", [PLAIN, TLS])
def test_nobody_is_cut_off(asked: bool, used: bool, who: str) -> None:
    """Who coordinates is found where it is looked for; who has one kind is heard in it."""
    found = kinds(scene(asked, used, who))

    assert used in found
    assert all(KINDS[it] & found for it in who)
    assert asked in found


@pytest.mark.parametrize(
    ("asked", "used", "former", "wanted"),
    [
        # It has a cluster file of before, and comes back by the old address.
        (TLS, TLS, "b", "b"),
        (PLAIN, PLAIN, "b", "b"),
        # Nothing changes, or the old address is dropped already: it was there when others moved.
        (TLS, TLS, "t", "t"),
        (PLAIN, PLAIN, "p", "p"),
        (TLS, PLAIN, "p", "b"),
    ],
)
def test_the_old_way_stays_while_somebody_is_away(
    asked: bool, used: bool, former: str, wanted: str
) -> None:
    found = scene(asked, used, "bb", former=KINDS[former], absent=("shop-storage-7",))

    assert kinds(found) == KINDS[wanted]


def test_an_unknown_database_changes_nothing() -> None:
    unknown = Unknown("it is silent")

    assert kinds(scene(TLS, TLS, roster=unknown, former=KINDS["b"])) == KINDS["b"]
    assert kinds(scene(TLS, TLS, roster=unknown, former=KINDS["t"])) == KINDS["t"]
    assert not judge(scene(TLS, TLS, roster=unknown)).unfinished


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ({"papers": FLAWED}, "must be there"),
        ({"lacking": ("shop-log-1",)}, "pods have yet to get certificates: shop-log-1"),
        ({"lacking": tuple("abcde")}, "a, b, c and 2 more"),
    ],
)
def test_tls_is_not_begun_without_certificates(over: dict[str, object], words: str) -> None:
    held = judge(scene(TLS, PLAIN, "ppp", **over))

    assert (held.tls, held.plain) == (False, True)
    assert words in held.held
    assert not held.converts


@pytest.mark.parametrize(("who", "former"), [("ppp", "b"), ("pbb", "p"), ("pbb", "b")])
def test_what_was_begun_is_not_taken_back_for_a_flaw(who: str, former: str) -> None:
    found = judge(scene(TLS, PLAIN, who, papers=FLAWED, former=KINDS[former]))

    assert found.tls
    assert found.plain
    assert found.converts


def test_the_way_is_not_over_while_somebody_who_stays_listens_otherwise() -> None:
    assert judge(scene(TLS, TLS, "ttb")).converts
    assert not judge(scene(TLS, TLS, "ttb", staying=frozenset({"storage-0"}))).converts
    assert not judge(scene(TLS, TLS, "ttt")).converts
