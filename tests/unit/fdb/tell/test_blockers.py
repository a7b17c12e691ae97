"""Whatever holds a step back is told: by its guards, or by what the step itself waits for."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from fakes.fdb_views import NOW, cluster, healthy, status_of
from stateward.core.outcome import DONE, Blocked, Outcome, Retry, Stop, Wait
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.api.status import FoundationDBClusterStatus
from stateward.fdb.cluster import steps as package
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.pipeline import steps
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.tell.blockers import blockers
from stateward.fdb.tell.broken import status_without_look
from stateward.fdb.tell.status import Told
from stateward.fdb.tell.status import status_of as told_of
from stateward.kube.crd.blockers import Blocker
from stateward.kube.meta import ObjectMeta

_NOTHING = cast("Any", None)
NAMES = [it.name for it in steps(Tools(_NOTHING, _NOTHING, _NOTHING, _NOTHING))]
#: Each way in which a step says that it waits.
WAITING: dict[str, Outcome] = {
    "for an event": Wait("PodsMissing", "three have no pod yet"),
    "for a timer": Retry(15.0, "RemovalWaits", "waiting for data to leave storage-3"),
    "for a person": Blocked("NameTaken", "somebody has it", "delete it"),
}
WHOLE = "s1 s2 s3 l1 l2 l3 x1"


@pytest.mark.parametrize("step", NAMES)
@pytest.mark.parametrize("way", WAITING)
def test_what_any_step_waits_for_is_told(step: str, way: str) -> None:
    outcome = cast("Any", WAITING[way])
    status = told_of(cluster(WHOLE), Told(said=[("Before", DONE), (step, outcome)]))
    (found,) = status.blockers
    assert (found.step, found.guard, found.message) == (step, outcome.reason, outcome.message)
    assert found.hint == getattr(outcome, "hint", "")
    assert found.since


def test_what_was_done_is_not_waited_for() -> None:
    status = told_of(cluster(WHOLE), Told(said=[("A", DONE), ("B", Stop(0.0, "Excluded", "done"))]))
    assert status.blockers == ()
    assert status.doing == "done"


def test_what_ended_the_pass_to_be_waited_for_is_told() -> None:
    waits = Stop(15.0, "WaitingForPods", "pods must run in three zones")
    held = ("A", Refusal(waits.reason, waits.message))
    status = told_of(cluster(WHOLE), Told(said=[("A", waits)], refused=[held]))
    assert [it.guard for it in status.blockers] == ["WaitingForPods"]
    (progressing,) = [it for it in status.conditions if it.type == "Progressing"]
    assert progressing.status == "True", "nobody has to act for that"


def test_a_pass_that_ended_until_a_person_acts_is_blocked() -> None:
    waits = Stop(15.0, "VolumesLeft", "volumes are left")
    held = ("A", Refusal(waits.reason, waits.message, "adopt them"))
    status = told_of(cluster(WHOLE), Told(said=[("A", waits)], refused=[held]))
    (progressing,) = [it for it in status.conditions if it.type == "Progressing"]
    assert (progressing.status, progressing.reason) == ("False", "VolumesLeft")


def test_guards_say_why_each_for_itself_and_the_step_not_once_more() -> None:
    said = [("A", Retry(10.0, "AHeld", "x; y")), ("B", Retry(10.0, "BWaits", "z"))]
    refused = [("A", Refusal("x_is_so", "x")), ("A", Refusal("y_is_so", "y"))]
    found = blockers((), said, [*refused, ("B", Refusal("w_is_so", "w"))], NOW)
    assert [(it.step, it.guard) for it in found] == [
        ("B", "BWaits"),
        ("A", "x_is_so"),
        ("A", "y_is_so"),
        ("B", "w_is_so"),
    ]


def test_what_passes_by_itself_may_have_a_hint_nevertheless() -> None:
    """Who waits is not blocked, and yet a person may do something about it."""
    waits = Retry(15.0, "ZoneUnderMaintenance", "zone b is")
    hinted = ("A", Refusal(waits.reason, waits.message, "maintenance off"))
    status = told_of(cluster(WHOLE), Told(said=[("A", waits)], refused=[hinted]))
    assert [(it.guard, it.hint) for it in status.blockers] == [
        ("ZoneUnderMaintenance", "maintenance off")
    ]
    (progressing,) = [it for it in status.conditions if it.type == "Progressing"]
    assert progressing.status == "True"


def test_since_when_is_told_once() -> None:
    before = (Blocker(step="A", guard="Waits", message="for 3 s", since="1970-01-01T00:00:01Z"),)
    (found,) = blockers(before, [("A", Wait("Waits", "for 9 s"))], (), NOW)
    assert (found.message, found.since) == ("for 9 s", "1970-01-01T00:00:01Z")


@pytest.mark.parametrize("way", WAITING)
def test_a_cluster_that_cannot_be_looked_at_says_so_too(way: str) -> None:
    it = FoundationDBCluster(
        metadata=ObjectMeta(name="shop"), spec=FoundationDBClusterSpec(version="7.3.63")
    )
    found = status_without_look(it, [("Watch", WAITING[way])], NOW)
    assert [one.step for one in found.blockers] == ["Watch"]


def test_a_step_ends_a_pass_by_what_it_did_or_by_what_it_waits_for() -> None:
    """With a bare Stop nobody could tell which of both it is, and the wait would not be told."""
    for path in Path(str(package.__file__)).parent.glob("**/*.py"):
        calls = (it for it in ast.walk(ast.parse(path.read_text())) if isinstance(it, ast.Call))
        named = {it.func.id for it in calls if isinstance(it.func, ast.Name)}
        assert "Stop" not in named, path.name


# ------------------------------------------------------------------ what goes on
GOING: dict[str, tuple[list[Outcome], dict[str, Any], str]] = {
    "the first that is not over": (
        [DONE, Retry(15.0, "RemovalWaits", "waiting for the pods of storage-3 to go")],
        {},
        "waiting for the pods of storage-3 to go",
    ),
    "what nobody has anything to do for": (
        [DONE],
        {},
        "waiting until these are well: storage-1, storage-2, storage-3 and 4 more",
    ),
    "paused": ([], {"skip": True}, "paused: only looking"),
}


@pytest.mark.parametrize("name", GOING)
def test_what_goes_on(name: str) -> None:
    outcomes, spec, doing = GOING[name]
    said = [(f"Step{number}", it) for number, it in enumerate(outcomes)]
    assert told_of(cluster(WHOLE, **spec), Told(said=said)).doing == doing


def test_groups_that_no_step_has_anything_to_do_for_are_waited_for_nevertheless() -> None:
    failing = {GroupConditionType.POD_FAILING: NOW}
    view = cluster(WHOLE)
    groups = [replace(it, conditions={GroupConditionType.READY: NOW}) for it in view.groups]
    groups[1] = replace(groups[1], conditions=failing)
    status = told_of(replace(view, groups=tuple(groups)), Told(said=[("A", DONE)]))
    (found,) = status.blockers
    assert (found.step, found.guard) == ("UpdateStatus", "GroupsUnwell")
    assert found.message == "waiting until these are well: storage-2 (PodFailing)"
    assert status.doing == "waiting until these are well: storage-2"


def test_what_is_not_worth_a_word_leaves_what_was_said() -> None:
    before = told_of(cluster(WHOLE), Told(said=[("A", Wait("PodsMissing", "no pod yet"))]))
    view = replace(cluster(WHOLE), status=before)
    after = told_of(view, Told(said=[("B", DONE)], hushed=True))
    assert after.doing == "no pod yet"
    assert after.conditions == before.conditions


# ------------------------------------------------------------------ by what
def test_a_stand_in_is_told_of_beside_the_version() -> None:
    assert told_of(cluster(WHOLE), Told()).runs == "7.3.79 EMULATED"
    assert told_of(cluster(WHOLE), Told()).running_version == "7.3.79"


def test_a_real_one_is_none() -> None:
    tree = healthy()
    tree["client"]["messages"] = []
    assert told_of(cluster(WHOLE, tree), Told()).runs == "7.3.79"


def test_whoever_does_not_answer_is_what_it_was() -> None:
    silent = status_of(json.loads("{}"))
    for runs in ("7.3.79 EMULATED", "7.3.79"):
        before = msgspec.structs.replace(FoundationDBClusterStatus(), runs=runs)
        view = replace(cluster(WHOLE), database=silent, status=before)
        assert told_of(view, Told()).runs == runs
