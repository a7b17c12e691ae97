"""How many processes a cluster needs, as a table, and as laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.fdb.decide.counts import Share, Wish, process_counts
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.configuration import Configuration, DataCenter, Redundancy, Region

REGIONS = (
    Region((DataCenter("a", 1), DataCenter("b", satellite=True)), 4),
    Region((DataCenter("c"), DataCenter("b", satellite=True), DataCenter("a", satellite=True)), 6),
)


def config(**told: object) -> Configuration:
    return Configuration(**told)  # type: ignore[arg-type]


def two(data_center: str, **told: object) -> Wish:
    return Wish(config(usable_regions=2, regions=REGIONS, **told), data_center=data_center)


#: What is asked for, and pods of storage, log and stateless.
TABLE: dict[str, tuple[Wish, tuple[int, int, int]]] = {
    "single": (Wish(config(redundancy="single")), (1, 3, 8)),
    "double": (Wish(), (3, 4, 9)),
    "triple": (Wish(config(redundancy="triple")), (5, 5, 10)),
    "three data halls": (Wish(config(redundancy="three_data_hall")), (5, 6, 10)),
    "many proxies": (Wish(config(grv_proxies=4, commit_proxies=12), storage=5), (5, 4, 22)),
    "one kind of proxies": (Wish(config(grv_proxies=2)), (3, 4, 10)),
    "more logs": (Wish(config(logs=5)), (3, 6, 9)),
    "more resolvers": (Wish(config(resolvers=3)), (3, 4, 11)),
    "storage as it is said": (Wish(counts={ProcessClass.STORAGE: 10}), (10, 4, 9)),
    "no stateless": (Wish(counts={ProcessClass.STATELESS: -1}), (3, 4, 0)),
    "a master of its own": (Wish(counts={ProcessClass.MASTER: 1}), (3, 4, 8)),
    "some proxies of their own": (Wish(counts={ProcessClass.COMMIT_PROXY: 3}), (3, 4, 7)),
    "all proxies of their own": (Wish(counts={ProcessClass.PROXY: 3}), (3, 4, 6)),
    "proxies as one number": (Wish(config(proxies=10)), (3, 4, 16)),
    "resolvers of their own": (Wish(counts={ProcessClass.RESOLUTION: 1}), (3, 4, 8)),
    "two regions, the first": (two("a"), (3, 10, 9)),
    "two regions, the second": (two("c"), (3, 4, 9)),
    "two regions, a satellite": (two("b"), (0, 7, 0)),
    "many routers": (two("c", log_routers=30), (3, 4, 31)),
    "first of three clusters": (Wish(share=Share(0, 3)), (1, 2, 3)),
    "last of three clusters": (Wish(share=Share(2, 3)), (1, 1, 3)),
    "no part of it": (Wish(share=Share(-1, 3)), (0, 0, 0)),
}


@pytest.mark.parametrize("name", TABLE)
def test_pods_of_each_class(name: str) -> None:
    wish, wanted = TABLE[name]
    found = process_counts(wish)
    kinds = (ProcessClass.STORAGE, ProcessClass.LOG, ProcessClass.STATELESS)
    assert tuple(found.get(it, 0) for it in kinds) == wanted


@given(
    st.sampled_from(["single", "double", "triple", "three_data_hall"]),
    st.one_of(st.none(), st.integers(1, 20)),
    st.integers(1, 5),
)
def test_parts_of_several_clusters_are_the_whole(mode: str, logs: int | None, zones: int) -> None:
    told = config(redundancy=mode, logs=logs)
    whole = process_counts(Wish(told))
    parts = [process_counts(Wish(told, share=Share(it, zones))) for it in range(zones)]
    for name, count in whole.items():
        mine = [it.get(name, 0) for it in parts]
        assert sum(mine) == count
        assert max(mine) - min(mine) <= 1


@given(st.sampled_from(list(Redundancy)[:4]), st.integers(0, 30), st.integers(0, 30))
def test_what_may_be_lost_leaves_enough_for_every_role(
    mode: Redundancy, logs: int, resolvers: int
) -> None:
    told = config(redundancy=mode, logs=logs or None, resolvers=resolvers or None)
    found = process_counts(Wish(told))
    lost = mode.fault_tolerance
    assert found[ProcessClass.LOG] - lost >= max(logs, mode.log_replicas if logs == 0 else 1, 1)
    assert found[ProcessClass.STORAGE] - lost >= mode.fault_tolerance + 1
