"""A slice of what `make simulate` does with FoundationDB: lives in calm, and a few in which things
go wrong.

The slice is the same every time and small: a life of FoundationDB takes a second. Lives that once
went wrong are lived again, always.
"""

from __future__ import annotations

from functools import cache

import pytest

from stateward.app.simulate.workers import Calm, Learn, Try, Worker
from stateward.cli.render.simulate import command
from stateward.sim.explore import plans
from stateward.sim.explore.judging import Outcome
from stateward.sim.explore.scenes import Scene
from stateward.sim.fdb.scenarios import SCENARIOS
from stateward.sim.lives import Ask
from stateward.sim.mutants.clues import Clue

#: One plan of every family in the shortest scenario that has all kinds of calls.
FAMILIES = "ABCDEFGHIJKL"

#: What once went wrong: where (a fault at the nth call of a kind), and what it showed.
REGRESSIONS: dict[str, str] = {
    "fdb-knob | patch leases | 50 | stale-kinds:FoundationDBProcessGroup+Pod:61:60": (
        "an operator with an old view of groups told every second anew since when something is"
        " wrong with them, was woken by that, and wrote all of them in vain"
    ),
    "fdb-create | configure new | 1 | crash-after:0": (
        "who comes after a crash finds the database made, and does not make it again"
    ),
    "fdb-create | configure new | 1 | lost-answer": (
        "a database that was made without an answer is there, and is not made again"
    ),
    "fdb-spare | exclude no_wait | 1 | lost-answer": (
        "an exclusion whose answer was lost is seen in the status"
    ),
    "fdb-spare | delete persistentvolumeclaims | 1 | crash-after:0": (
        "whoever comes after the claim was deleted goes on with the removal, and includes"
    ),
    "fdb-knob | kill; kill | 1 | crash-after:16": (
        "processes that were started anew before a crash are not started anew once more"
    ),
    "fdb-maintenance | maintenance on | 1 | crash-after:0": (
        "whoever comes after a crash knows whose maintenance it finds, and ends it"
    ),
    "fdb-maintenance | maintenance off | 1 | lost-answer": (
        "an end whose answer was lost is seen in the status, and the record goes"
    ),
    "fdb-spare | configure new | 1 | act:recreate-cr": (
        "whoever makes a cluster anew is asked what becomes of its volumes, and nobody answers"
    ),
    "fdb-global x2 | fdbkeys reads | 53 | zombie:30:0": (
        "who slept between reading keys and writing them wrote them though another led by then"
    ),
    "fdb-names | coordinators 10. | 1 | act:delete-object:Service": (
        "a service that nobody asks for any more, but by which coordinators are found, was lost"
        " and not made again"
    ),
    "fdb-backup | fdbbackup start | 1 | lost-answer": (
        "a backup that was begun without an answer goes on, and is not begun again"
    ),
    "fdb-backup-delete | fdbbackup delete | 1 | crash-after:0": (
        "whoever comes after a crash deletes what is left of the files, and lets the object go"
    ),
    "fdb-restore | fdbrestore start | 1 | crash-after:0": (
        "whoever comes after a crash looks up that a restore was begun, and begins no other"
    ),
    "fdb-restore | fdbrestore start | 1 | lost-answer": (
        "a restore that was begun without an answer is followed"
    ),
    "fdb-restore-abort | fdbrestore abort | 1 | crash-before:0": (
        "a restore that its object asks to end may come to its own end before anybody ends it"
    ),
}


@cache
def worker() -> Worker:
    return Worker()


@cache
def scene(scenario: str, operators: int) -> Scene:
    found = worker().answer(Calm(Ask(scenario, operators=operators)))
    assert isinstance(found, Scene), found
    worker().answer(Learn(found))
    return found


def wrong(ask: Ask) -> list[str]:
    """Live a plan; return what was wrong with it, with the command that shows it."""
    scene(ask.scenario, ask.operators)
    outcome = worker().answer(Try(ask))
    assert isinstance(outcome, Outcome)
    told = [str(it) for it in outcome.violations]
    return [command(ask), *told] if told else []


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_calm_lives_of_foundationdb_are_well(scenario):
    assert not scene(scenario, 1).calm.violations


@pytest.mark.parametrize("letter", FAMILIES)
def test_lives_of_foundationdb_in_which_things_go_wrong_are_well(letter):
    (space,) = plans.spaces([scene("fdb-create", plans.operators(letter))], letter)
    told = wrong(space.ask(1))

    assert not told, "\n".join(told)


@pytest.mark.parametrize("text", REGRESSIONS)
def test_what_once_went_wrong_with_foundationdb_goes_well(text):
    clue = Clue.parse(text)
    told = wrong(clue.ask(scene(clue.scenario, clue.operators).calm))

    assert not told, "\n".join((REGRESSIONS[text], *told))
