"""`stateward simulate --mutants`: what it says, how it ends, and that Ctrl-C tells the score."""

from __future__ import annotations

import json

import pytest

from stateward.cli.commands import mutants as command
from stateward.cli.main import INTERRUPTED, main
from stateward.sim.mutants.hunt import Verdict

KILLED = Verdict("M26", "by name", "K1", "--scenario 5to3")
ALIVE = Verdict("M27", "on sight")


def pretend(monkeypatch, *verdicts: Verdict, end: BaseException | None = None) -> list[object]:
    """Have the hunt come to some verdicts; return what was asked for."""
    asked: list[object] = []

    def run(score, tell, *, say, mutants, jobs):
        asked.extend([mutants, jobs])
        say("lives without bugs come first")
        score.wanted = len(verdicts)
        for it in verdicts:
            score.verdicts.append(it)
            tell(it)
        if end is not None:
            raise end

    monkeypatch.setattr(command, "run", run)
    return asked


ENDS = {
    # verdicts: exit code, what is told
    (KILLED,): (
        0,
        (
            "M26 killed by K1 in --scenario 5to3\n"
            "simulate: mutants: named 1/1, generated 0/0; 0 of the survivors are no bugs\n"
        ),
    ),
    (KILLED, ALIVE): (
        1,
        (
            "M26 killed by K1 in --scenario 5to3\n"
            "M27 alive (on sight): nobody knows why\n"
            "simulate: all named mutants must die, and M27 live\n"
            "simulate: mutants: named 1/2, generated 0/0; 0 of the survivors are no bugs\n"
        ),
    ),
}


@pytest.mark.parametrize("verdicts", ENDS, ids=len)
def test_each_mutant_has_a_line_and_all_have_the_last(verdicts, capsys, monkeypatch):
    pretend(monkeypatch, *verdicts)
    code, words = ENDS[verdicts]

    assert main(["simulate", "--mutants", "--jobs", "1"]) == code
    assert capsys.readouterr().out == words


def test_some_mutants_are_chosen_and_a_report_is_written(monkeypatch, tmp_path):
    asked = pretend(monkeypatch, KILLED)
    report = tmp_path / "report.json"
    chosen = ["--mutant", "M26", "--mutant", "M27"]

    assert main(["simulate", "--mutants", *chosen, "--jobs", "3", "--report", str(report)]) == 0
    assert asked == [("M26", "M27"), 3]
    assert json.loads(report.read_text())["mutants"][0]["law"] == "K1"


def test_how_far_it_is_is_told_now_and_then(capsys, monkeypatch):
    pretend(monkeypatch, KILLED, ALIVE)
    monkeypatch.setattr(command, "_EVERY", -1.0)
    main(["simulate", "--mutants", "--jobs", "1"])

    told = capsys.readouterr().err

    assert told.startswith("simulate: lives without bugs come first\n")
    assert "simulate: 1 of 2 mutants, 0 alive, about 0 min left\n" in told
    assert "simulate: 2 of 2 mutants, 1 alive, about 0 min left\n" in told


def test_who_is_interrupted_hears_the_score_so_far(capsys, monkeypatch):
    pretend(monkeypatch, ALIVE, end=KeyboardInterrupt())

    assert main(["simulate", "--mutants", "--jobs", "1"]) == INTERRUPTED
    assert capsys.readouterr().out.endswith("generated 0/0; 0 of the survivors are no bugs\n")


def test_a_mutant_is_hunted(capsys):
    assert main(["simulate", "--mutants", "--mutant", "M35", "--jobs", "1"]) == 0
    told = capsys.readouterr().out

    assert told.startswith("M35 killed by E-S13 in --scenario bootstrap --plan calm --seed 1\n")
