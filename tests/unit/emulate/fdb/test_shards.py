"""Data leaves excluded disks with all its copies, heals, and is lost only when nobody has it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stateward.emulate.fdb.configuration.spreads import Place, plain
from stateward.emulate.fdb.shards import Shards

ZONES = {f"d{it}": ("", f"z{it}") for it in range(1, 6)}


def made(size: int = 160_000_000, copies: int = 2) -> Shards:
    found = Shards()
    found.fill(size)
    found.place(ZONES, plain(copies))
    return found


def without(*disks: str) -> dict[str, Place]:
    return {disk: zone for disk, zone in ZONES.items() if disk not in disks}


def test_data_is_spread() -> None:
    shards = made()
    assert shards.fewest_copies(ZONES) == 2
    assert {shards.stored_on(it) > 0 for it in ZONES} == {True}
    assert sum(shards.stored_on(it) for it in ZONES) == 2 * shards.size


def test_a_planned_move_has_all_copies_all_the_time() -> None:
    shards = made()
    shards.plan(without("d5"), ZONES, plain(2))
    while shards.is_moving():
        assert shards.fewest_copies(ZONES) == 2
        assert "d5" in shards.holders()
        shards.advance(0.5, ZONES)
        shards.plan(without("d5"), ZONES, plain(2))
    assert "d5" not in shards.holders()
    assert shards.fewest_copies(ZONES) == 2


def test_what_was_lost_heals_from_what_is_left() -> None:
    shards, there = made(), without("d5")
    assert shards.fewest_copies(there) == 1
    shards.plan(there, there, plain(2))
    assert shards.moving > 0
    shards.advance(shards.seconds_left(), there)
    assert shards.fewest_copies(there) == 2


def test_nothing_moves_where_zones_lack() -> None:
    shards, there = made(), {"d1": ("", "z1")}
    shards.plan(there, ZONES, plain(2))
    assert not shards.is_moving()
    assert "d5" in shards.holders()


def test_what_nobody_has_is_lost_until_somebody_comes_back() -> None:
    shards = made(copies=1)
    there = without("d5")
    shards.plan(there, there, plain(1))
    assert shards.fewest_copies(there) == 0
    assert not any(it.moves for it in shards.pieces if it.team == ("d5",))
    assert shards.fewest_copies(ZONES) == 1


def test_nothing_is_copied_to_a_disk_that_is_not_there() -> None:
    """Whoever may come back keeps what it has and gets no more; others get it in its place."""
    shards, there, left = made(), without("d4"), without("d1", "d2")
    shards.plan(left, ZONES, plain(2))
    had = shards.stored_on("d4")
    for _ in range(3):
        shards.advance(100.0, there)
        assert shards.stored_on("d4") == had
        assert shards.fewest_copies(there) >= 1
        shards.plan(left, there, plain(2))
    assert not {"d1", "d2"} & shards.holders()
    assert not shards.is_moving()


def test_where_nobody_is_left_who_could_get_it_all_stays() -> None:
    shards, there = made(), without("d3", "d4", "d5")
    shards.plan(without("d1", "d2"), ZONES, plain(2))
    before = [it.team for it in shards.pieces]
    for _ in range(3):
        shards.advance(100.0, there)
        shards.plan(without("d1", "d2"), there, plain(2))
    assert [it.team for it in shards.pieces] == before


def test_nothing_is_copied_from_a_disk_that_is_not_there() -> None:
    shards, there = made(copies=1), without("d5")
    shards.plan(there, ZONES, plain(1))
    assert shards.is_moving()
    shards.advance(100.0, there)
    assert "d5" in shards.holders()
    shards.advance(100.0, ZONES)
    assert "d5" not in shards.holders()


def test_with_fewer_copies_those_stay_that_are_there() -> None:
    shards = made(copies=3)
    shards.plan(ZONES, without("d1"), plain(1))
    shards.advance(100.0, without("d1"))
    assert shards.fewest_copies(without("d1")) == 1
    assert not shards.is_moving()


def test_the_last_copy_that_is_there_stays_even_if_others_were_to_keep_theirs() -> None:
    """Who was to keep it was lost after that was planned."""
    for lost in ZONES:
        shards = made(copies=2)
        shards.plan(ZONES, ZONES, plain(1))
        shards.advance(100.0, without(lost))
        assert shards.fewest_copies(without(lost)) == 1


def test_an_empty_database_takes_its_time_too() -> None:
    shards = made(size=0)
    shards.plan(without("d5"), ZONES, plain(2))
    assert shards.is_moving()
    assert shards.moving == 0


@given(st.lists(st.sets(st.sampled_from(sorted(ZONES)), max_size=3), max_size=6))
def test_whatever_is_excluded_no_copy_goes_before_another_is_there(gone: list[set[str]]) -> None:
    shards = made()
    for it in gone:
        for _ in range(5):
            shards.plan(without(*it), ZONES, plain(2))
            shards.advance(1.0, ZONES)
            assert shards.fewest_copies(ZONES) == 2
            assert all(len({ZONES[disk] for disk in one.team}) == 2 for one in shards.pieces)
