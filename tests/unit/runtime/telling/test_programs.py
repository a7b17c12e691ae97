"""What programs cost: their seconds, how they ended, how long they waited; and no label grows."""

from __future__ import annotations

import re

import pytest

from fakes.hand_clock import HandClock
from stateward.fdb.admin.costs import End, Meter, Uncounted, command_of
from stateward.runtime.telling.metrics import Metrics


def series(metrics: Metrics) -> dict[str, float]:
    text, _ = metrics.render()
    lines = (line.rsplit(" ", 1) for line in text.decode().splitlines() if "fdb" in line)
    return {name: float(value) for name, value in lines if "_bucket" not in name and name[0] != "#"}


def test_what_calls_cost_and_how_they_ended() -> None:
    metrics = Metrics(HandClock())
    meter: Meter = metrics.programs("fdb")
    meter.waited(1.5)
    meter.ended("fdbcli", "status", End.OK, 0.5, 0.25)
    meter.ended("fdbcli", "status", End.TIMEOUT, 50.0, 0.5)
    where = 'command="status",program="fdbcli"'
    assert series(metrics) == {
        f"stateward_fdb_program_seconds_count{{{where}}}": 2,
        f"stateward_fdb_program_seconds_sum{{{where}}}": 50.5,
        f"stateward_fdb_program_cpu_seconds_total{{{where}}}": 0.75,
        'stateward_fdb_program_ends_total{command="status",end="ok",program="fdbcli"}': 1,
        'stateward_fdb_program_ends_total{command="status",end="timeout",program="fdbcli"}': 1,
        "stateward_fdb_program_wait_seconds_count": 1,
        "stateward_fdb_program_wait_seconds_sum": 1.5,
    }


def test_no_label_grows_without_bound() -> None:
    metrics = Metrics(HandClock(), max_reasons=3)
    meter = metrics.programs("fdb")
    for number in range(50):
        meter.ended(f"p{number}", f"c{number}", End.OK, 0.1, 0.0)
    values = set(re.findall(r'command="(\w+)"', "".join(series(metrics))))
    assert values == {"c0", "c1", "c2", "other"}


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["-C", "/f", "--exec", "status json", "--timeout", "40"], "status"),
        (["-C", "/f", "--exec", "exclude no_wait 10.0.0.1", "--timeout", "40"], "exclude"),
        (["-C", "/f", "--exec", "kill; kill 10.0.0.1:1; sleep 5"], "kill"),
        (["status", "-C", "/f"], "status"),
        ([], ""),
    ],
)
def test_a_command_is_one_word_and_names_nobody(words: list[str], command: str) -> None:
    assert command_of(words) == command
    Uncounted().ended("fdbcli", command_of(words), End.OK, 1.0, 1.0)
    Uncounted().waited(1.0)
