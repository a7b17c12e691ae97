"""What a database shall be, and how it gets there. ``u2 a1 b-1`` are two usable regions.

A region is written as its data center and priority; ``a1/c`` has a satellite beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.fdb_views import spec
from stateward.emulate.fdb.configuration import tokens
from stateward.emulate.fdb.configuration.refusals import Seen, objection
from stateward.emulate.fdb.configuration.settings import Settings
from stateward.fdb.decide.configuration import (
    differs,
    in_order,
    model_of,
    next_step,
    setting_of,
    wanted,
)
from stateward.fdb.model.configuration import Configuration, DataCenter, Region

#: More steps than any way takes.
MOST = 15


def layout(text: str, **fields: Any) -> Configuration:
    usable, *words = text.split()
    regions = tuple(map(_region, words))
    return Configuration(usable_regions=int(usable[1:]), regions=regions, **fields)


def _region(word: str) -> Region:
    head, _, satellite = word.partition("/")
    mains = (DataCenter(head[0], int(head[1:])),)
    if not satellite:
        return Region(mains)
    centers = (*mains, DataCenter(satellite, 1, satellite=True))
    return Region(centers, 2, "one_satellite_double")


def said(it: Configuration) -> str:
    words = [f"u{it.usable_regions}"]
    for region in in_order(it.regions):
        beside = [one.id for one in region.data_centers if one.satellite]
        assert region.main is not None
        words.append("/".join([f"{region.main.id}{region.priority}", *beside]))
    return " ".join(words)


def steps(live: Configuration, target: Configuration) -> Iterator[Configuration]:
    for _ in range(MOST):
        if not differs(live, target):
            return
        live = next_step(live, target)
        yield live
    raise AssertionError("there is no end of steps")


#: From, to, and every step between.
TRACES = {
    "first regions": ("u1", "u2 a1 b0", ["u1 a1 b-1", "u2 a1 b-1", "u2 a1 b0"]),
    "one region less": ("u2 a1 b0", "u1 a1", ["u2 a1 b-1", "u1 a1 b-1", "u1 a1"]),
    "another region": (
        "u1 a1",
        "u1 b1",
        ["u1 a1 b-1", "u2 a1 b-1", "u2 b1 a-1", "u1 b1 a-1", "u1 b1"],
    ),
    "the other one writes": ("u2 a1 b0", "u2 a0 b1", ["u2 b1 a0"]),
    "the second is another": (
        "u2 a1 b0",
        "u2 a1 c0",
        ["u2 a1 b-1", "u1 a1 b-1", "u1 a1", "u1 a1 c-1", "u2 a1 c-1", "u2 a1 c0"],
    ),
    "the first is another": (
        "u2 a1 b0",
        "u2 c1 b0",
        ["u2 b1 a-1", "u1 b1 a-1", "u1 b1", "u1 b1 c-1", "u2 b1 c-1", "u2 c1 b0"],
    ),
    "both are others": (
        "u2 a1 b0",
        "u2 c1 d0",
        [
            *["u2 a1 b-1", "u1 a1 b-1", "u1 a1"],
            *["u1 a1 c-1", "u2 a1 c-1", "u2 c1 a-1", "u1 c1 a-1", "u1 c1"],
            *["u1 c1 d-1", "u2 c1 d-1", "u2 c1 d0"],
        ],
    ),
    "no regions any more": ("u2 a1 b0", "u1", ["u2 a1 b-1", "u1 a1 b-1", "u1 a1", "u1"]),
    "one of two has data, and the other shall write": (
        "u1 a1 b-1",
        "u1 a-1 b1",
        ["u2 a1 b-1", "u2 b1 a-1", "u1 b1 a-1"],
    ),
    "both may write, and one has data": (
        "u1 a1 b0",
        "u2 a1 b0",
        ["u1 a1 b-1", "u2 a1 b-1", "u2 a1 b0"],
    ),
    "satellites": ("u2 a1/c b0/c", "u2 a1/d b0/d", ["u2 a1/d b0/d"]),
    "satellites, and one more region": (
        "u1 a1/c",
        "u2 a1/d b0/d",
        ["u1 a1/d b-1/d", "u2 a1/d b-1/d", "u2 a1/d b0/d"],
    ),
}


@pytest.mark.parametrize("name", TRACES)
def test_regions_change_one_step_after_another(name: str) -> None:
    live, target, way = TRACES[name]
    assert [said(it) for it in steps(layout(live), layout(target))] == way


def test_all_else_is_changed_at_once() -> None:
    live = Configuration(logs=3, commit_proxies=2, redundancy="double")
    target = Configuration(logs=4, commit_proxies=5, redundancy="triple", storage_engine="ssd")
    assert next_step(live, target) == target


def test_all_else_waits_for_regions() -> None:
    live = layout("u1 a1", logs=3, redundancy="double", log_spill=2)
    target = layout("u1 a1 b-1", logs=5, redundancy="triple")
    first = next_step(live, target)
    assert (first.logs, first.redundancy) == (3, "double")
    assert next_step(first, target) == target


def test_what_nobody_asks_for_is_not_set_on_the_way() -> None:
    live = layout("u1", logs=3, resolvers=1, log_spill=2, storage_migration_type="disabled")
    found = next_step(live, layout("u1 a1", logs=3))
    assert (found.resolvers, found.log_spill, found.storage_migration_type) == (None, None, "")


def test_a_database_without_a_writer_is_never_made() -> None:
    target = layout("u2 a-1 b-2", logs=5)
    for live in (layout("u1"), layout("u1 a1"), layout("u2 a1 b0")):
        found = next_step(live, target)
        assert (found.regions, found.usable_regions, found.logs) == (
            live.regions,
            live.usable_regions,
            5,
        )


# ------------------------------------------------------------------ laws
@st.composite
def layouts(draw: st.DrawFn) -> Configuration:
    names = draw(st.lists(st.sampled_from("abcd"), unique=True, max_size=2))
    first = draw(st.integers(0, 2))
    beside = draw(st.sampled_from(["", "/x", "/y"]))
    rest = [f"{it}{draw(st.integers(-2, 2))}{beside}" for it in names[1:]]
    usable = draw(st.integers(1, max(1, len(names))))
    mine = [f"{names[0]}{first}{beside}"] if names else []
    return layout(" ".join([f"u{usable}", *mine, *rest]), logs=draw(st.sampled_from([3, 4])))


def leader(it: Configuration) -> str:
    best = max(it.regions, key=lambda one: one.priority)
    assert best.main is not None
    assert best.priority >= 0, "nobody may write"
    return best.main.id


def mains(it: Configuration) -> frozenset[str]:
    return frozenset(one.main.id for one in it.regions if one.main is not None)


@given(layouts(), layouts())
def test_every_way_ends_and_no_region_writes_without_data(
    live: Configuration, target: Configuration
) -> None:
    with_data = mains(live) if live.usable_regions > 1 else _leaders(live)
    for step in steps(live, target):
        assert step.usable_regions <= max(1, len(step.regions))
        if step.regions:
            assert not with_data or leader(step) in with_data
            with_data = mains(step) if step.usable_regions > 1 else frozenset({leader(step)})
        live = step
    assert differs(live, target) == ()


def _leaders(it: Configuration) -> frozenset[str]:
    """Return who may have the data: of several that want to write alike, nobody knows."""
    most = max((one.priority for one in it.regions), default=0)
    return frozenset(
        one.main.id for one in it.regions if one.main is not None and one.priority == most
    )


@given(layouts(), layouts())
def test_the_database_takes_every_step(live: Configuration, target: Configuration) -> None:
    """By its own rules: regions or their number, and the number only with one that may write."""
    before = Settings().changed(tokens.read(["new", *live.tokens()]))
    for step in steps(live, target):
        asked = tokens.read(step.tokens())
        seen = Seen(zones=5, centers=mains(step))
        assert objection(before, asked, seen) == ""
        before = before.changed(asked)


@given(layouts())
def test_what_is_as_wanted_takes_no_step(it: Configuration) -> None:
    assert next_step(it, it) == it
    shuffled = replace(it, regions=tuple(reversed(it.regions)))
    assert differs(shuffled, it) == ()


@given(layouts())
def test_there_and_back(it: Configuration) -> None:
    assert model_of(setting_of(it)) == it


# ------------------------------------------------------------------ what is wanted
#: What the spec says of roles, and what is asked for.
ROLES: list[tuple[dict[str, int], dict[str, int | None]]] = [
    ({}, {"logs": 3, "resolvers": 1, "commit_proxies": 2, "grv_proxies": 1, "proxies": None}),
    ({"logs": 5}, {"logs": 5}),
    ({"logs": -1, "resolvers": -1}, {"logs": None, "resolvers": None}),
    ({"proxies": 6}, {"proxies": 6, "commit_proxies": None, "grv_proxies": None}),
    ({"proxies": -1}, {"proxies": None, "commit_proxies": None, "grv_proxies": None}),
    ({"commit_proxies": 4}, {"proxies": None, "commit_proxies": 4, "grv_proxies": 1}),
    ({"grv_proxies": 3}, {"proxies": None, "commit_proxies": 2, "grv_proxies": 3}),
    ({"grv_proxies": -1, "proxies": 6}, {"proxies": None, "grv_proxies": None}),
    ({"remote_logs": 4, "log_routers": 4}, {"remote_logs": None, "log_routers": None}),
    ({"log_version": 0, "log_spill": 2}, {"log_version": None, "log_spill": 2}),
]


@pytest.mark.parametrize(("roles", "asked"), ROLES)
def test_numbers_of_roles(roles: dict[str, int], asked: dict[str, int | None]) -> None:
    found = wanted(spec(databaseConfiguration=dict(roles)))
    assert {name: getattr(found, name) for name in asked} == asked


def test_logs_between_regions_where_there_are_several() -> None:
    regions = [{"datacenters": [{"id": it, "priority": n}]} for n, it in enumerate("ab")]
    said_of = {"usable_regions": 2, "regions": regions, "logs": 4, "log_routers": -1}
    found = wanted(spec(databaseConfiguration=said_of))
    assert (found.remote_logs, found.log_routers) == (4, None)


def test_three_data_halls_have_four_logs() -> None:
    halls = {"redundancy_mode": "three_data_hall"}
    assert wanted(spec(databaseConfiguration=halls)).logs == 4


# ------------------------------------------------------------------ what differs
LIVE = Configuration(
    redundancy="double",
    storage_engine="ssd-2",
    logs=3,
    proxies=3,
    commit_proxies=2,
    grv_proxies=1,
    resolvers=1,
    log_spill=2,
    storage_migration_type="disabled",
    perpetual_storage_wiggle=0,
    perpetual_storage_wiggle_locality="0",
    perpetual_storage_wiggle_engine="none",
)


def test_only_what_is_asked_for_counts() -> None:
    assert differs(LIVE, Configuration(logs=3)) == ()
    assert differs(LIVE, Configuration()) == ()


def test_a_fresh_database_is_as_a_plain_spec_wants_it() -> None:
    assert differs(LIVE, wanted(spec())) == ()


@pytest.mark.parametrize(
    ("is_", "asked"),
    [
        ("ssd-2", "ssd"),
        ("memory", "memory-2"),
        ("memory", "memory-1"),
        ("memory-radixtree", "memory-radixtree-beta"),
    ],
)
def test_one_engine_has_several_names(is_: str, asked: str) -> None:
    assert differs(replace(LIVE, storage_engine=is_), replace(LIVE, storage_engine=asked)) == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"redundancy": "triple"},
        {"storage_engine": "ssd-redwood-1"},
        {"logs": 4},
        {"proxies": 5},
        {"usable_regions": 2},
        {"perpetual_storage_wiggle": 1},
        {"storage_migration_type": "gradual"},
        {"regions": (Region((DataCenter("a", 1),)),)},
    ],
)
def test_what_differs_is_said(changes: dict[str, Any]) -> None:
    (found,) = differs(LIVE, replace(LIVE, **changes))
    assert next(iter(changes)) in found
    assert "shall be" in found
