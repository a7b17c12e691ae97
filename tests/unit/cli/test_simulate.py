"""`stateward simulate`: what it says, how it ends, and that Ctrl-C leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stateward.cli.commands import simulate as command
from stateward.cli.main import main
from stateward.cli.render import simulate as render
from stateward.sim.etcd.life import Ask, Violation
from stateward.sim.etcd.scenarios import SCENARIOS
from stateward.sim.explore.judging import Met, Outcome
from stateward.sim.explore.results import Results
from stateward.sim.faults import Plan

RUN = "from stateward.cli.entry import run; run()"
SHORT = ("simulate", "--scenario", "one", "--family", "AJ", "--jobs", "1")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--scenario", "nope"], "bootstrap, one"),
        (["--plan", "4=409"], "--plan must come with one --scenario"),
        (["--plan", "4=409", "--scenario", "one", "--scenario", "two"], "one --scenario"),
        (["--scenario", "one", "--plan", "4-409"], "CALL=FAULT"),
        (["--scenario", "one", "--plan", "4=408"], "a fault must be one of crash-before"),
        (["--scenario", "one", "--plan", "4=403:-1"], "403 must have seconds, from 0 to 3600,"),
        (["--scenario", "one", "--plan", "4=server:1:inf"], "at place 2: server:1:inf"),
        (["--scenario", "one", "--plan", "4=act:wipe"], "wipe must have a target"),
        (["--scenario", "one", "--plan", "4=act:cut:0:nan"], "a number of seconds, no more"),
        (["--scenario", "one", "--plan", "4=act:hang:0:inf"], "a number of seconds, no more"),
        (["--scenario", "one", "--plan", "4=act:wipe:0:1:2"], "got act:wipe:0:1:2"),
        (["--family", "AZ"], "'Z'"),
        (["--family", ""], "--family must not be empty"),
        (["--scenario", "one", "--plan", " "], "--plan must not be empty"),
        (["--report", ""], "--report must not be empty"),
        (["--scenario", "bootstrapp"], "did you mean bootstrap?"),
        (["--nonsense"], "see 'stateward simulate --help'"),
        (["--jobs", "0"], "--jobs"),
        (["--minutes", "-1"], "--minutes"),
        (["--seed", "x"], "--seed"),
        (["--report", "/nowhere/report.json"], "/nowhere/report.json"),
        (["--pairs", "--swarm"], "one of --swarm and --pairs must be chosen"),
        (["--mutants", "--plan", "3=409", "--scenario", "one"], "one of --plan and --mutants"),
        (["--pairs", "--scenario", "one"], "--scenario must be left out with --pairs"),
        (["--mutant", "M21", "--family", "A"], "--family must be left out with --mutant,"),
        (["--mutants", "--seed", "3"], "--seed must be left out with --mutants"),
        (["--swarm", "--covering"], "--covering must be left out with --swarm"),
        (["--plan", "1=409", "--covering"], "--covering must be left out with --plan"),
        (["--swarm", "--step", "1"], "--step must be left out with --swarm"),
        (["--scenario", "grow", "--step", "3"], "--step must be 1 to 2, the steps of grow; got 3"),
        (["--swarm", "--family", "A"], "--family must be left out with --swarm"),
        (["--swarm", "--seed", "3", "--report", "r"], "must be left out with --swarm with --seed"),
        (["--plan", "calm", "--scenario", "one", "--report", "r"], "--report must be left out"),
        (["--operators", "2"], "--operators must be left out with a campaign"),
        (["--pair", ""], "BASE:CASE:CASE"),
        (["--minutes", "nan"], "--minutes must be 0 to 525600, 0 for no end"),
        (["--minutes", "inf"], "--minutes must be 0 to 525600, 0 for no end"),
        (["--minutes", "1e308"], "--minutes must be 0 to 525600, 0 for no end"),
        (
            ["--scenario", "one", "--plan", "5=stale:1.5:5"],
            "stale must have a whole number at place 1",
        ),
        (
            ["--scenario", "one", "--plan", "5=zombie:1e7"],
            "zombie must have seconds, from 0 to 3600,",
        ),
        (["--scenario", "one", "--plan", "0=409"], "calls count from 1"),
        (
            ["--scenario", "one", "--plan", "5=stall:Pod:5:on:1"],
            "stall must have at most 3 details",
        ),
        (["--scenario", "one", "--plan", "5=zombie:5:7"], "a share, from 0 to 1, at place 2"),
        (["--pair", "S0:same"], "BASE:CASE:CASE"),
        (["--mutants", "--mutant", "M99"], "--mutant must be one of M01, M02"),
        (["--mutants", "--mutant", "G-x"], "there is no generated mutant G-x"),
    ],
)
def test_misuse_is_one_sentence(capsys, arguments, words):
    assert main(["simulate", *arguments]) == 2
    told = capsys.readouterr().err

    assert told.startswith("stateward: ")
    assert told.count("\n") == 1
    assert words in told


def test_a_plan_that_never_comes_is_said_to(capsys):
    assert main(["simulate", "--scenario", "one", "--plan", "3=409,9999=409"]) == 2

    told = capsys.readouterr().out
    assert told.endswith("simulate: never came, for want of such a call: 9999=409\n")


def test_scenarios_and_families_are_listed(capsys):
    assert main(["simulate", "--list"]) == 0
    told = capsys.readouterr().out

    assert all(name in told for name in SCENARIOS)
    assert "I  zombie" in told


def test_a_plan_is_told(capsys):
    arguments = ["simulate", "--scenario", "one", "--plan", "40=crash-after:4", "--seed", "3"]
    assert main(arguments) == 0
    told = capsys.readouterr().out

    assert told.startswith("stateward simulate --scenario one --plan 40=crash-after:4 --seed 3\n")
    assert "!!! op0.1" in told
    assert told.splitlines()[-1].startswith("simulate: laws: none broken")


def test_a_plan_that_breaks_a_law_ends_in_failure(capsys, monkeypatch):
    broken = (Violation("E1", "op0.1", 4.0, "two voters at once"),)
    monkeypatch.setattr(command, "broken", lambda *_: broken)

    assert main(["simulate", "--scenario", "one", "--plan", "calm"]) == 1
    assert "!!! E1 at 4.000 s by op0.1: two voters at once" in capsys.readouterr().out


def test_a_plan_that_comes_to_no_end_is_said_to(capsys, monkeypatch):
    def for_ever(_: Ask) -> None:
        while True:
            time.sleep(0.01)

    monkeypatch.setattr(command, "tell", for_ever)
    monkeypatch.setattr(command, "PATIENCE", 0.2)
    assert main(["simulate", "--scenario", "one", "--plan", "calm"]) == 1
    assert "!!! no end after 0.2 s" in capsys.readouterr().out


def test_a_plan_in_which_the_operator_ends_the_process_is_said_to(capsys, monkeypatch):
    def leave(_: Ask) -> None:
        raise SystemExit(0)

    monkeypatch.setattr(command, "tell", leave)
    assert main(["simulate", "--scenario", "one", "--plan", "calm"]) == 1
    assert "!!! the operator ended the process with code 0" in capsys.readouterr().out


def test_a_swarm_seed_is_told_alone(capsys):
    code = main(["simulate", "--scenario", "one", "--swarm", "--seed", "5"])
    told = capsys.readouterr().out

    assert code in {0, 1}
    assert "--seed 5" in told.splitlines()[0]


def test_what_is_drawn_and_never_comes_is_no_failure(capsys):
    assert main(["simulate", "--swarm", "--seed", "4"]) == 0
    assert "never came, for want of such a call" in capsys.readouterr().out


def started(*arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "COLUMNS": "200"}
    return subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        start_new_session=True,
    )


def test_a_campaign_ends_in_a_table_and_a_report(tmp_path: Path):
    report = tmp_path / "report.json"
    process = started(*SHORT, "--minutes", "0.05", "--report", str(report))
    out, err = process.communicate(timeout=110)

    assert process.returncode == 0, out + err
    assert "A  crash" in err, "how many plans there are is told first"
    assert "call sites x faults" in out
    assert out.splitlines()[-1].startswith("simulate: all well; ")
    told = json.loads(report.read_text())
    assert told["scenarios"]["one"]["plans"] == told["plans"] > 2
    assert told["families"]["A"]["plans"] > 0
    assert told["coverage"]["seen"] > 0


def test_the_report_is_written_though_nobody_listens(tmp_path: Path):
    report = tmp_path / "report.json"
    process = started(*SHORT, "--minutes", "0.05", "--report", str(report))
    assert process.stdout is not None
    process.stdout.close()
    process.communicate(timeout=110)

    assert json.loads(report.read_text())["plans"] > 0


def is_gone(group: int, patience: float = 20.0) -> bool:
    """Python's own bookkeeper of processes takes a moment longer than they do."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(
    "numbers",
    [[signal.SIGINT], [signal.SIGTERM], [signal.SIGTERM, signal.SIGTERM]],
    ids=["ctrl-c", "kill", "kills, as timeout sends them"],
)
def test_ctrl_c_ends_everything_and_tells_what_was_found(numbers):
    process = started(*SHORT, "--minutes", "0")
    assert process.stderr is not None
    for line in process.stderr:
        if "plans" in line:
            break
    for number in numbers:
        os.kill(process.pid, number)
    out, err = process.communicate(timeout=60)

    assert process.returncode == 130, err
    assert "call sites x faults" in out
    assert "Traceback" not in err
    assert is_gone(process.pid)


def test_what_was_found_comes_with_the_command_that_shows_it():
    found = Results()
    ask = Ask("grow", Plan.parse("9=zombie:60,12=409"), 1, 2)
    met = (Met("etcd/moves/members.py:add etcd add_learner", "zombie"),)
    blame = (Violation("E1", "op1.1", 61.5, "two at once"),)
    found.add("2", Outcome(ask, blame, met, "d", 3600.0, 1))
    lines = list(render.findings(found.ways()))

    assert lines == [
        "1. E1, 1 time: zombie at etcd/moves/members.py:add etcd add_learner",
        "   E1 at 61.500 s by op1.1: two at once",
        "   stateward simulate --scenario grow --plan 9=zombie:60,12=409 --seed 1 --operators 2",
    ]
    found.add("2", Outcome(ask, blame, (Met("elsewhere", "zombie"),), "d", 3600.0, 1))
    lines = list(render.findings(found.ways()))

    assert lines[0].startswith("1. E1, 2 times: zombie at etcd/moves/")
    assert lines[0].endswith(" and 1 more place")
    assert len(lines) == 3
    assert render.verdict(found, 60.0).startswith("simulate: 1 way to fail; 2 lives in 60 s")
