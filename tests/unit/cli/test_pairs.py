"""`stateward simulate --pairs` and `--pair`: words, exit codes, and time that is shared."""

from __future__ import annotations

import json

import pytest

from stateward.cli.commands import pairs
from stateward.core.errors import HouseError
from stateward.sim.etcd.pairs.bases import BASES
from stateward.sim.etcd.pairs.running import Broken, Report


def test_bases_share_the_time_in_their_order():
    shares = [pairs._share(base) for base in BASES]

    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.parametrize(
    ("broken", "idle", "code", "words"),
    [
        ([], [], 0, "laws: none broken"),
        ([Broken("S0:a:b", "it moved")], [], 1, "stateward simulate --pair S0:a:b"),
        ([], ["spec.colour"], 1, "spec.colour: nothing depends on it"),
    ],
    ids=["well", "broken", "inert"],
)
def test_what_was_found_is_told(monkeypatch, capsys, tmp_path, broken, idle, code, words):
    found = Report(cases=3, states=2, pairs=9, lived=4, broken=broken, idle=idle)
    monkeypatch.setattr(pairs, "run", lambda heard, **_: heard("S0", found, 0))
    report = tmp_path / "report.json"

    assert pairs.walk(1.0, 1, report) == code
    assert words in capsys.readouterr().out
    assert json.loads(report.read_text())["broken"] == [str(it) for it in broken]


def test_ctrl_c_tells_what_was_found_so_far(monkeypatch, capsys):
    def run(heard, **_):
        heard("S0", Report(lived=7), 3)
        raise KeyboardInterrupt

    monkeypatch.setattr(pairs, "run", run)

    assert pairs.walk(0.0, 1, None) == 130
    assert "7 pairs" in capsys.readouterr().out


def test_a_branch_that_was_killed_does_not_cost_what_was_found(monkeypatch, capsys, tmp_path):
    def run(heard, **_):
        heard("S0", Report(lived=7), 3)
        raise HouseError("a branch ended with 9")

    monkeypatch.setattr(pairs, "run", run)
    report = tmp_path / "report.json"

    assert pairs.walk(0.0, 1, report) == 1
    assert (
        "a branch ended with 9; until then:\nsimulate: 0 cases, 7 pairs" in capsys.readouterr().out
    )
    assert json.loads(report.read_text())["fell"] == "a branch ended with 9"


@pytest.mark.parametrize(("broken", "code"), [([], 0), (["it moved"], 1)])
def test_one_pair_is_told(monkeypatch, capsys, broken, code):
    told = {"broken": broken, "answers": ["ready", "door"], "seconds": 12.0}
    monkeypatch.setattr(pairs, "replay", lambda _: told)

    assert pairs.tell("S0:a:b") == code
    assert "answered ready and door" in capsys.readouterr().out
