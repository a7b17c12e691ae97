"""Transactions of the stand-in: all or nothing, in some order, and refused as the real ones are."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.emulate.fdb.keys import (
    KEY_TOO_LARGE,
    LOCKED,
    NOT_COMMITTED,
    OUTSIDE,
    TOO_OLD,
    USED,
    VALUE_TOO_LARGE,
    FdbError,
    Store,
    Transaction,
)


def code(work) -> int:
    """Return the number of the error."""
    with pytest.raises(FdbError) as caught:
        work()
    return caught.value.code


def put(store: Store, key: bytes, value: bytes, now: float = 1.0) -> int:
    mine = Transaction(store, now)
    mine.set(key, value)
    return mine.commit(now)


def test_what_is_written_is_read_by_those_after_it() -> None:
    store = Store()
    before = Transaction(store, 1.0)
    put(store, b"a", b"1")
    assert before.get(b"a") is None
    assert Transaction(store, 1.0).get(b"a") == b"1"


def test_one_sees_its_own_writes() -> None:
    store = Store()
    for key in (b"a", b"b", b"c"):
        put(store, key, key)
    mine = Transaction(store, 1.0)
    mine.clear(b"a")
    mine.set(b"d", b"d")
    mine.clear_range(b"c", b"d")
    assert mine.get(b"a") is None
    assert mine.get_range(b"a", b"z") == [(b"b", b"b"), (b"d", b"d")]
    mine.commit(1.0)
    assert Transaction(store, 1.0).get_range(b"", b"\xff") == [(b"b", b"b"), (b"d", b"d")]


@pytest.mark.parametrize(
    ("read", "committed"),
    [
        (lambda it: it.get(b"lock"), False),
        (lambda it: it.get_range(b"a", b"z"), False),
        (lambda it: it.get(b"other"), True),
        (lambda it: None, True),
    ],
)
def test_who_read_what_another_changed_is_refused(read, committed: bool) -> None:
    """The fence of the operator's lock: it is read, and something is done; or the other way round."""
    store = Store()
    put(store, b"lock", b"mine")
    mine = Transaction(store, 1.0)
    read(mine)
    mine.set(b"done", b"1")
    put(store, b"lock", b"theirs")
    if committed:
        assert mine.commit(1.0) > 0
    else:
        assert code(lambda: mine.commit(1.0)) == NOT_COMMITTED
    assert (Transaction(store, 1.0).get(b"done") is not None) == committed


def test_who_only_reads_is_never_refused() -> None:
    store = Store()
    mine = Transaction(store, 1.0)
    mine.get(b"a")
    put(store, b"a", b"1")
    assert mine.commit(1.0) == -1


def test_what_is_refused() -> None:
    store = Store()
    assert code(lambda: Transaction(store, 1.0).get(b"\xff\x02/x")) == OUTSIDE
    assert Transaction(store, 1.0, system=True).get(b"\xff\x02/x") is None
    assert code(lambda: Transaction(store, 1.0).set(b"a" * 10_001, b"")) == KEY_TOO_LARGE
    assert code(lambda: Transaction(store, 1.0).set(b"a", b"1" * 100_001)) == VALUE_TOO_LARGE
    mine = Transaction(store, 1.0)
    mine.set(b"a", b"1")
    assert code(lambda: mine.commit(6.5)) == TOO_OLD
    assert code(lambda: mine.commit(6.5)) == USED
    store.locked_by = "0" * 32
    assert code(lambda: Transaction(store, 1.0).get(b"a")) == LOCKED
    assert Transaction(store, 7.0, aware=True).get(b"a") is None
    assert FdbError(LOCKED).words == "Database is locked"


KEYS = st.sampled_from([b"a", b"b", b"c", b"d"])
#: What one of three transactions does next: read, write or commit.
STEPS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("rwc"), KEYS), max_size=40)


@given(STEPS)
def test_all_is_as_if_one_came_after_the_other(steps: list[tuple[int, str, bytes]]) -> None:
    """Those that committed, each alone and in the order of their commits, read what they read."""
    store, open_ones, done = Store(), {}, []
    for number, (who, what, key) in enumerate(steps):
        mine, seen, wrote = open_ones.setdefault(who, (Transaction(store, 1.0), [], {}))
        if what == "r":
            seen.append((key, mine.get(key), dict(wrote)))
        elif what == "w":
            value = str(number).encode()
            mine.set(key, value)
            wrote[key] = value
        else:
            del open_ones[who]
            with suppress(FdbError):
                if mine.commit(1.0) >= 0:
                    done.append((seen, wrote))
    truth: dict[bytes, bytes] = {}
    for seen, wrote in done:
        for key, value, own in seen:
            assert value == own.get(key, truth.get(key))
        truth |= wrote
    assert dict(Transaction(store, 1.0).get_range(b"", b"\xff")) == truth
