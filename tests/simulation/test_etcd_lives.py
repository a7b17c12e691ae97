"""A slice of what `make simulate` does: every scenario and every family, evenly over all calls.

The plans are the first ones of each family's stride (docs/reliability.md), so the slice is the same
every time; and lives that once went wrong are lived again, always.
"""

from __future__ import annotations

from functools import cache

import pytest

from stateward.app.simulate.workers import Calm, Learn, Try, Worker
from stateward.cli.render.simulate import command
from stateward.sim.etcd.life import Ask
from stateward.sim.etcd.scenarios import SCENARIOS
from stateward.sim.explore import plans
from stateward.sim.explore.judging import Outcome
from stateward.sim.explore.scenes import Scene
from stateward.sim.mutants.clues import Clue

#: Every family in every second scenario, one plan each; three of four of them are long.
SLICE = [
    pytest.param(scenario, letter, marks=[pytest.mark.long] if (row + column) % 8 else [])
    for row, scenario in enumerate(SCENARIOS)
    for column, letter in enumerate(plans.LETTERS)
    if (row + column) % 2 == 0
]

#: What once went wrong: where (a fault at the nth call of a kind), and what it showed.
REGRESSIONS: dict[str, str] = {
    "grow x2 | create statefulsets | 1 | zombie:60": (
        "a leader that woke up late wrote its StatefulSet of one pod over that of three"
    ),
    "one | create leases | 1 | twice": (
        "who made the lease and did not hear of it led at once, and somebody might believe in the"
        " lease that was there before"
    ),
    "bootstrap | etcd status at 10.0.0.2 | 4 | act:delete-object:ConfigMap": (
        "what members start with was lost while they first met, and came back for members of old"
    ),
    "roll | delete pods ns/shop-2 | 1 | act:damage:1": (
        "a disk that broke in the middle of a roll was taken for a bad template, for ever"
    ),
    "larger | patch persistentvolumeclaims ns/data-shop-2 | 1 | act:wipe:1": (
        "a member lost while volumes grew got a small one, and all were restarted twice for that"
    ),
    "grow | add_learner https://shop-1 | 1 | act:no-room:40": (
        "a learner that waited long for a node lost the volume on which it had just started"
    ),
    "sleep | delete persistentvolumeclaims | 1 | stale:56:0": (
        "an operator that saw the past deleted the disruption budget, and made it again"
    ),
    "edit | get etcdclusters | 2 | stale:40:12": (
        "an operator that saw the past lowered the disruption budget of a cluster that grows"
    ),
    "recover | etcd members at 10.0.0.2 | 12 | stale:17:15": (
        "an operator that saw the status of the past told members to begin that had lost their data"
    ),
    "sleep | create poddisruptionbudgets | 1 | stall:PersistentVolumeClaim:20": (
        "a member was added to start on a removed one's volume, of which no watch had told"
    ),
    "replace | create poddisruptionbudgets | 1 | reorder:PersistentVolumeClaim:1": (
        "a learner's pod was deleted five times because of a claim that was gone for long"
    ),
    "kept | list persistentvolumeclaims ns/ | 2 | stale-kinds:PersistentVolumeClaim:1:30": (
        "an operator that saw no volumes called the wish to keep them observed, and they went"
    ),
    "kept | get persistentvolumeclaims | 1"
    " | stale-kinds:PersistentVolumeClaim:1:30 + act:recreate-cr": (
        "an operator that saw no volumes told members to begin beside those that were kept"
    ),
    "3to5 | add_learner https://shop-3 | 1 | act:foreign-claim:3:60": (
        "a learner's pod would have started on a claim without labels that was somebody else's"
    ),
    "bootstrap | create services | 1 | act:foreign-claim:1:60": (
        "a new cluster began on a claim without labels that was somebody else's"
    ),
    "grow | get persistentvolumeclaims ns/data-shop-2 | 2 | act:foreign-claim:1:60": (
        "a claim that came while its member was added was taken for a new one"
    ),
    "3to5 | patch configmaps | 2 | stall:Pod:120 + act:force-pod:leader": (
        "a member that was well elsewhere was removed, of whose new pod no watch had told"
    ),
    "lost-disk | delete persistentvolumeclaims | 1 | act:stranger:1:30": (
        "the new claims of a learner were deleted because of the pod that had been there before"
    ),
    "larger | patch pods ns/shop-1 | 1 | act:recreate-cr": (
        "a StatefulSet was parted from its pods when another cluster of that name was there already"
    ),
    "one | create statefulsets | 1 | act:delete-object:ConfigMap + zombie:60:1": (
        "the operator was blamed when a person took what members begin with as they were asked for"
    ),
    "larger | delete statefulsets | 1 | crash-before:16": (
        "pods were tied to their cluster that were tied to it already"
    ),
    "full | etcd alarms | 1 | stale-kinds:EtcdCluster:20:60": (
        "a full database was compacted again and again, since nobody could note that it had been"
    ),
    "roll | etcd members | 23 | act:kill-all": (
        "when all etcds ended at once in the middle of a roll, the first that was about to start"
        " again was stopped for its new template, and the quorum came back later"
    ),
    "roll | delete pods ns/shop-2 | 1 | act:oom-pod:1:60": (
        "a pod that did not run a moment ago was stopped for its new template while it was needed:"
        " it ran again, and the cache did not show it yet"
    ),
    "roll | etcd move_leader 81bf6d2f0130fa6a | 1 | act:corrupt:1": (
        "a member whose data was found to differ in the middle of a roll was called a fault of the"
        " template, and never replaced"
    ),
    "recreate | patch etcdclusters.etcd.aenix.io/status ns/shop | 11 | act:edit:version=3.6.16": (
        "a cluster took the version of an earlier one of its name for its own, and refused to begin"
    ),
    "bare | patch services ns/shop-headless | 2 | act:delete-cr:30": (
        "a cluster that took over pods on volumes that go with an earlier one said that all is well"
    ),
    "two | etcd status | 45 | upgrade:older": (
        "a status without a list of members cost three members their disruption budget"
    ),
    "lost-disk | delete persistentvolumeclaims ns/data-shop-1 | 1 | crash-after:4": (
        "a learner was listed before the volume that was to go, started on it, and joined twice"
    ),
    "full | etcd alarms | 1 | act:corrupt:1": (
        "a full database was to be compacted beside a corrupt member, which etcd refuses: so neither"
        " was ever mended"
    ),
}


@cache
def worker() -> Worker:
    return Worker()


@cache
def scene(scenario: str, operators: int) -> Scene:
    found = worker().answer(Calm(Ask(scenario, operators=operators)))
    assert isinstance(found, Scene)
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
def test_calm_lives_are_well(scenario):
    for operators in (1, 2):
        assert not scene(scenario, operators).calm.violations


@pytest.mark.parametrize(("scenario", "letter"), SLICE)
def test_lives_in_which_things_go_wrong_are_well(scenario, letter):
    (space,) = plans.spaces([scene(scenario, plans.operators(letter))], letter)
    told = wrong(space.ask(0))

    assert not told, "\n".join(told)


@pytest.mark.parametrize("text", REGRESSIONS)
def test_what_once_went_wrong_goes_well(text):
    clue = Clue.parse(text)
    told = wrong(clue.ask(scene(clue.scenario, clue.operators).calm))

    assert not told, "\n".join((REGRESSIONS[text], *told))
