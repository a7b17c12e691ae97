"""Copies are as far apart as the layout wants, whoever is there; where that cannot be, nobody is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.emulate.fdb.configuration.spreads import SPREADS, Spread
from stateward.emulate.fdb.recruiting import Lacking, Wanted, log_servers, storage_servers
from stateward.emulate.fdb.servers import Disk, Server
from stateward.emulate.fdb.shards import Shards
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass

CLASSES = [ProcessClass.STORAGE, ProcessClass.LOG, ProcessClass.UNSET, ProcessClass.STATELESS]
#: A process: its class, where it is, and whether it is slow.
ONE = st.tuples(
    st.sampled_from(CLASSES), st.integers(1, 3), st.integers(1, 3), st.integers(1, 4), st.booleans()
)


def made(some: list[tuple[ProcessClass, int, int, int, bool]]) -> list[Server]:
    found = []
    for number, (kind, center, hall, zone, slow) in enumerate(some):
        name = f"dc{center}-h{hall}-z{zone}"
        where = {"dcid": f"dc{center}", "data_hall": f"h{hall}", "zoneid": name}
        address = Address(f"10.0.{number}.1", 4501)
        found.append(Server((address,), Disk(f"{number:032x}"), kind, where, degraded=slow))
    return found


def is_spread(spread: Spread, servers: list[Server]) -> bool:
    return spread.is_met_by(spread.places(servers).values())


@pytest.mark.parametrize("mode", SPREADS)
@given(st.lists(ONE, max_size=14), st.integers(1, 6))
def test_logs_are_as_far_apart_as_they_must_be(
    mode: str, some: list[tuple[ProcessClass, int, int, int, bool]], many: int
) -> None:
    servers, spread = made(some), SPREADS[mode][1]
    found = log_servers(servers, Wanted(many, spread, 1, 1, 1))
    able = [it for it in servers if it.process_class.may_log]
    assert isinstance(found, Lacking) == (not is_spread(spread, able))
    if not isinstance(found, Lacking):
        assert is_spread(spread, found)
        assert len(found) == min(max(many, spread.copies), len(able))
        assert len({it.disk.process_id for it in found}) == len(found)


@pytest.mark.parametrize("mode", SPREADS)
@given(st.lists(ONE, max_size=14))
def test_data_is_where_it_can_be(
    mode: str, some: list[tuple[ProcessClass, int, int, int, bool]]
) -> None:
    servers, spread = made(some), SPREADS[mode][0]
    chosen = storage_servers(servers, spread)
    able = [it for it in servers if it.process_class.may_store]
    assert is_spread(spread, chosen) == is_spread(spread, able)
    made_for = [it for it in servers if it.process_class is ProcessClass.STORAGE]
    assert {it.disk.process_id for it in made_for} <= {it.disk.process_id for it in chosen}
    shards, zones = Shards(), dict[str, set[str]]()
    places = spread.places(chosen)
    for group, zone in places.values():
        zones.setdefault(group, set()).add(zone)
    full = {disk: it for disk, it in places.items() if len(zones[it[0]]) >= spread.each}
    shards.place(full, spread)
    for piece in shards.pieces:
        where = [full[it] for it in piece.team]
        assert len(set(where)) == len(where)
        assert (len(where) == spread.copies) == is_spread(spread, chosen)


def test_a_coordinator_may_be_called_by_its_name() -> None:
    (one,) = made([(ProcessClass.STORAGE, 1, 1, 1, False)])
    one.localities = {**one.localities, "dns_name": "shop-1.shop"}
    for text, is_it in {
        "10.0.0.1:4501": True,
        "shop-1.shop:4501": True,
        "10.0.0.1:4501:tls": False,
        "shop-1.shop:4502": False,
        "10.0.0.2:4501": False,
    }.items():
        assert one.listens_at(Address.parse(text)) is is_it, text
