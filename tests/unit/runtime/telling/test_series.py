"""Series about objects come with their object, follow it, and go with it."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from fakes.hand_clock import HandClock
from stateward.core.errors import HouseError
from stateward.kube.meta import ObjectKey
from stateward.runtime.telling.metrics import Metrics
from stateward.runtime.telling.series import MOST, ObjectMetrics

GAUGES = {
    "stateward_etcd_quorum": ("1 while there is one.", ()),
    "stateward_etcd_db_bytes": ("How large it is.", ("member",)),
}
COUNTERS = {"stateward_etcd_moves_total": ("Moves made.", ("move",))}
SHOP, BANK = ObjectKey("shop", "db"), ObjectKey("bank", "db")


class Said(NamedTuple):
    family: str
    labels: tuple[str, ...]
    value: float


def quorum(value: float) -> Said:
    return Said("stateward_etcd_quorum", (), value)


def size(member: str, value: float) -> Said:
    return Said("stateward_etcd_db_bytes", (member,), value)


def told(metrics: Metrics) -> list[str]:
    lines = metrics.render()[0].decode().splitlines()
    return [
        line.removeprefix("stateward_etcd_") for line in lines if line.startswith("stateward_etcd_")
    ]


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(HandClock())


@pytest.fixture
def series(metrics: Metrics) -> ObjectMetrics:
    return metrics.objects(GAUGES, COUNTERS)


def test_an_object_is_shown_as_it_is_and_no_more(metrics, series):
    series.show(SHOP, [quorum(1), size("db-0", 10), size("db-1", 20)])
    series.show(BANK, [quorum(0)])
    assert told(metrics) == [
        'quorum{name="db",namespace="shop"} 1.0',
        'quorum{name="db",namespace="bank"} 0.0',
        'db_bytes{member="db-0",name="db",namespace="shop"} 10.0',
        'db_bytes{member="db-1",name="db",namespace="shop"} 20.0',
    ]
    series.show(SHOP, [quorum(1), size("db-1", 21)])
    assert told(metrics)[2:] == ['db_bytes{member="db-1",name="db",namespace="shop"} 21.0']


def test_a_value_is_shown_again_after_it_was_gone_and_after_it_was_another(metrics, series):
    for readings in ([size("db-0", 7)], [], [size("db-0", 7)], [size("db-0", 8)]):
        series.show(SHOP, readings)
        lines = [
            f'db_bytes{{member="db-0",name="db",namespace="shop"}} {it.value:.1f}'
            for it in readings
        ]
        assert told(metrics) == lines
    series.show(SHOP, [size("db-0", 8), size("db-0", 9)])
    assert told(metrics) == ['db_bytes{member="db-0",name="db",namespace="shop"} 9.0'], "the last"


def test_what_was_done_is_counted_on(metrics, series):
    for move in ("Add", "Add", "Promote"):
        series.count(SHOP, "stateward_etcd_moves_total", move)
    series.count(BANK, "stateward_etcd_moves_total", "Add", by=2.5)
    series.show(SHOP, [])
    assert told(metrics) == [
        'moves_total{move="Add",name="db",namespace="shop"} 2.0',
        'moves_total{move="Promote",name="db",namespace="shop"} 1.0',
        'moves_total{move="Add",name="db",namespace="bank"} 2.5',
    ]


def test_what_is_gone_leaves_nothing_and_comes_again_from_nothing(metrics, series):
    series.forget(SHOP)  # fine: it was never there
    for _ in range(2):
        series.show(SHOP, [quorum(1), size("db-0", 10)])
        series.count(SHOP, "stateward_etcd_moves_total", "Add")
        series.count(BANK, "stateward_etcd_moves_total", "Add")
        series.forget(SHOP)
        series.forget(SHOP)
    assert told(metrics) == ['moves_total{move="Add",name="db",namespace="bank"} 2.0']
    assert (series._shown, set(series._counted)) == ({}, {BANK})


def test_no_object_has_series_without_end(metrics, series):
    series.show(SHOP, [size(str(number), 1) for number in range(MOST + 50)] + [quorum(1)])
    for number in range(MOST + 50):
        series.count(BANK, "stateward_etcd_moves_total", str(number))
    series.count(BANK, "stateward_etcd_moves_total", "0")
    lines = told(metrics)

    assert sum(line.startswith("db_bytes") for line in lines) == MOST
    assert 'quorum{name="db",namespace="shop"} 1.0' in lines
    assert sum(line.startswith("moves_total") for line in lines) == MOST
    assert 'moves_total{move="0",name="db",namespace="bank"} 2.0' in lines


def test_families_have_names_of_ours_and_are_asked_for_once(metrics, series):
    with pytest.raises(HouseError, match="must begin with stateward_, got etcd_up"):
        metrics.objects({"etcd_up": ("Up.", ())})
    with pytest.raises(HouseError, match="stateward_etcd_quorum"):
        metrics.objects(GAUGES)


def test_the_process_itself(metrics):
    assert b"process_resident_memory_bytes" not in metrics.render()[0]
    metrics.tell_of_process()
    text = metrics.render()[0].decode()

    assert all(
        f"\nprocess_{it} " in text
        for it in ("resident_memory_bytes", "cpu_seconds_total", "open_fds")
    )


def test_requests_by_how_they_ended(metrics):
    for method, code in (
        ("GET", "200"),
        ("GET", "PeerUnreachable"),
        ("WATCH", "200"),
        ("PATCH", "409"),
    ):
        metrics.rest().observed(method, code, 0.1)
    text = metrics.render()[0].decode()

    assert [
        line for line in text.splitlines() if line.startswith("rest_client_requests_total")
    ] == [
        'rest_client_requests_total{code="200",method="GET"} 1.0',
        'rest_client_requests_total{code="<error>",method="GET"} 1.0',
        'rest_client_requests_total{code="200",method="WATCH"} 1.0',
        'rest_client_requests_total{code="409",method="PATCH"} 1.0',
    ]
