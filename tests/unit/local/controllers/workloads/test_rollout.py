"""How a Deployment replaces and sizes its ReplicaSets, as tables.

A crew is ``wanted/available``; the new one comes last. Moves are the sizes that crews get.
"""

from __future__ import annotations

import pytest

from stateward.core.errors import SpecInvalid
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectMeta
from stateward.local.controllers.workloads.deployments.crews import (
    Crew,
    revision_notes,
    split,
    template_hash,
)
from stateward.local.controllers.workloads.deployments.rollout import (
    Dismiss,
    Hire,
    Resize,
    Rules,
    View,
    decide,
    proportional,
    share,
)
from stateward.local.controllers.workloads.deployments.status import Told, deadline_in, status


def crew(number: int, word: str, **more) -> Crew:
    replicas, available = map(int, word.split("/"))
    meta = ObjectMeta(name=f"c{number}", creation_timestamp=f"2026-01-01T00:00:{number:02d}Z")
    known = {"has": replicas, "ready": available, "available": available, **more}
    return Crew(meta, replicas, **known)


def view(picture: str, *, rules: Rules, has_new: bool = True, **more) -> View:
    crews = [crew(number, word) for number, word in enumerate(picture.split())]
    new = crews.pop() if has_new else None
    return View(rules, new, tuple(crews), **more)


def drawn(seen: View) -> str:
    words = []
    for move in decide(seen):
        match move:
            case Hire(replicas=replicas):
                words.append(f"new={replicas}")
            case Resize(crew=it, replicas=replicas):
                words.append(f"{it.name}={replicas}")
            case Dismiss(crew=it):
                words.append(f"-{it.name}")
    return " ".join(words)


ONE_MORE = Rules(replicas=3, surge=1)
ONE_LESS = Rules(replicas=3, unavailable=1)
BOTH = Rules(replicas=10, surge=3, unavailable=2)


@pytest.mark.parametrize(
    ("rules", "picture", "moves"),
    [
        (ONE_MORE, "3/3 0/0", "c1=1"),
        (ONE_MORE, "3/3 1/0", ""),
        (ONE_MORE, "3/3 1/1", "c0=2"),
        (ONE_MORE, "2/2 1/1", "c1=2"),
        (ONE_MORE, "0/0 3/3", ""),
        (ONE_MORE, "3/2 1/0", ""),
        (ONE_MORE, "3/2 1/1", "c0=2"),
        (ONE_LESS, "3/3 0/0", "c0=2"),
        (ONE_LESS, "2/2 0/0", "c1=1"),
        (ONE_LESS, "2/2 1/0", ""),
        (ONE_LESS, "2/2 1/1", "c0=1"),
        (ONE_LESS, "3/0 0/0", "c0=2"),
        (BOTH, "10/10 0/0", "c1=3"),
        (BOTH, "10/10 3/0", "c0=8"),
        (BOTH, "8/8 3/0", "c1=5"),
        (BOTH, "8/8 5/0", ""),
        (BOTH, "8/8 5/4", "c0=4"),
        (BOTH, "3/0 8/8 0/0", "c2=2"),
        (BOTH, "3/0 8/8 2/0", "c0=0"),
        (Rules(replicas=2), "0/0 5/5", "c1=2"),
    ],
)
def test_one_step_of_a_rollout(rules, picture, moves):
    assert drawn(view(picture, rules=rules)) == moves


@pytest.mark.parametrize(
    ("rules", "picture", "moves"),
    [
        (ONE_MORE, "", "new=3"),
        (ONE_MORE, "3/3", "new=1"),
        (ONE_LESS, "3/3", "new=0"),
        (BOTH, "10/10", "new=3"),
    ],
)
def test_a_new_template_gets_a_crew_of_what_there_is_room_for(rules, picture, moves):
    assert drawn(view(picture, rules=rules, has_new=False)) == moves


def test_a_place_is_free_when_its_pod_is_gone():
    old = crew(0, "2/2", has=3)
    assert drawn(View(ONE_MORE, crew(1, "1/1"), (old,))) == ""


def test_an_old_report_does_not_spare_a_pod_twice():
    stale = crew(0, "2/3", has=3)
    assert drawn(View(ONE_MORE, crew(1, "2/1"), (stale,))) == ""
    assert drawn(View(ONE_MORE, crew(1, "2/2"), (stale,))) == "c0=1"


@pytest.mark.parametrize(
    ("picture", "runs", "moves"),
    [
        ("3/3 0/0", True, "c0=0"),
        ("0/0 0/0", True, ""),
        ("0/0 0/0", False, "c1=3"),
        ("0/0 3/3", False, ""),
    ],
)
def test_recreate(picture, runs, moves):
    assert drawn(view(picture, rules=Rules(replicas=3, recreate=True), old_pods_run=runs)) == moves


@pytest.mark.parametrize(
    ("sizes", "most", "rules", "shared"),
    [
        ("8 5", 13, Rules(replicas=15, surge=3), [11, 7]),
        ("8 5", 13, Rules(replicas=5, surge=3), [5, 3]),
        ("8 5", 13, Rules(replicas=0, surge=3), [0, 0]),
        ("1 1 1", 3, Rules(replicas=5), [1, 2, 2]),
        ("3 3", 6, Rules(replicas=7), [3, 4]),
    ],
)
def test_a_new_size_is_shared_in_proportion(sizes, most, rules, shared):
    crews = [crew(i, f"{n}/{n}", desired=1, most=most) for i, n in enumerate(sizes.split())]
    got = {it.crew.name: it.replicas for it in proportional(crews, rules)}
    assert list(got.values()) == shared


def test_a_paused_one_changes_its_size_only():
    rules = Rules(replicas=5, surge=1, paused=True)
    assert drawn(View(rules, None, (crew(0, "3/3"),))) == "c0=5"
    assert drawn(View(rules, None, (crew(0, "5/5", desired=5),))) == ""
    assert drawn(View(rules, None, ())) == ""


def test_history_beyond_the_limit_is_forgotten_when_all_is_done():
    olds = tuple(crew(n, "0/0", revision=n) for n in (1, 2, 3))
    rules = Rules(replicas=1, surge=1, history=1)
    assert drawn(View(rules, crew(4, "1/1"), olds)) == "-c1 -c2"
    assert drawn(View(rules, crew(4, "1/0"), olds)) == ""


@pytest.mark.parametrize(
    ("value", "of", "up", "number"),
    [
        (None, 4, True, 1),
        (None, 3, True, 1),
        (None, 3, False, 0),
        (2, 4, True, 2),
        ("0%", 4, True, 0),
        ("100%", 4, False, 4),
        ("30%", 10, False, 3),
    ],
)
def test_a_share(value, of, up, number):
    assert share(value, of, up=up) == number


@pytest.mark.parametrize("value", ["a lot", "-1%", "1.5%"])
def test_what_is_no_share(value):
    with pytest.raises(SpecInvalid, match="number or a percentage"):
        share(value, 3, up=True)


@pytest.mark.parametrize(
    ("spec", "least", "most"),
    [
        ({}, 1, 2),
        ({"replicas": 10}, 8, 13),
        ({"replicas": 0}, 0, 0),
        (
            {"replicas": 2, "strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "1%"}}},
            1,
            2,
        ),
        ({"replicas": 3, "strategy": {"type": "Recreate"}}, 3, 3),
    ],
    ids=str,
)
def test_the_bounds_that_a_spec_sets(spec, least, most):
    rules = Rules.of(spec)
    assert (rules.least, rules.most) == (least, most)


def test_revisions_count_up_and_an_older_template_becomes_the_newest():
    owner = ObjectMeta(
        annotations={
            "kubernetes.io/change-cause": "more",
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
        }
    )
    first = revision_notes(owner, None, [])
    assert first == {"deployment.kubernetes.io/revision": "1", "kubernetes.io/change-cause": "more"}
    olds = [crew(1, "0/0", revision=1), crew(2, "3/3", revision=2)]
    assert revision_notes(owner, None, olds)["deployment.kubernetes.io/revision"] == "3"
    back = revision_notes(owner, olds[0], olds[1:])
    assert back["deployment.kubernetes.io/revision"] == "3"
    assert back["deployment.kubernetes.io/revision-history"] == "1"
    newest = revision_notes(owner, olds[1], olds[:1])
    assert newest["deployment.kubernetes.io/revision"] == "2"


def test_the_crew_of_a_template_is_found_by_what_it_says_or_by_its_hash():
    template: Json = {"spec": {"image": "v1"}}
    labelled = ObjectMeta(name="b", labels={"pod-template-hash": template_hash(template, 0)})
    same, hashed, other = (
        Crew(ObjectMeta(name="a"), template=template),
        Crew(labelled),
        Crew(ObjectMeta(name="c")),
    )
    assert split([other, hashed, same], template, 0) == (same, (hashed, other))
    assert split([other, hashed], template, 0) == (hashed, (other,))
    assert split([other], template, 0) == (None, (other,))
    assert template_hash(template, 0) != template_hash(template, 1)


NOW = 1_800_000_000.0


def progress(old: Json, seen: View, *, now: float = NOW, made: str = "") -> Json:
    said = status(seen, Told(old, {"progressDeadlineSeconds": 60}, 3, now, made))
    assert said["observedGeneration"] == 3
    return said


def words(said: Json, kind: str = "Progressing") -> str:
    found = next(it for it in said["conditions"] if it["type"] == kind)
    return f"{found['status']} {found['reason']}"


def test_the_story_of_a_rollout_that_hangs_and_then_ends():
    rules = Rules(replicas=2, surge=1)
    first = progress({}, View(rules), made="c0")
    assert words(first) == "True NewReplicaSetCreated"
    assert words(first, "Available") == "False MinimumReplicasUnavailable"
    grown = progress(first, view("2/1", rules=rules), now=NOW + 10)
    assert words(grown) == "True ReplicaSetUpdated"
    assert deadline_in({"progressDeadlineSeconds": 60}, grown, NOW + 10) == 61
    quiet = progress(grown, view("2/1", rules=rules), now=NOW + 50)
    assert quiet["conditions"] == grown["conditions"]
    late = progress(quiet, view("2/1", rules=rules), now=NOW + 71)
    assert words(late) == "False ProgressDeadlineExceeded"
    assert deadline_in({}, late, NOW + 71) is None
    done = progress(late, view("2/2", rules=rules), now=NOW + 100)
    assert words(done) == "True NewReplicaSetAvailable"
    assert words(done, "Available") == "True MinimumReplicasAvailable"
    assert deadline_in({}, done, NOW + 100) is None
    lost = progress(done, view("2/1", rules=rules), now=NOW + 9000)
    assert words(lost) == "True NewReplicaSetAvailable", "it has progressed, whatever comes later"


def test_progress_moves_the_deadline_and_not_the_transition():
    rules = Rules(replicas=3, surge=1)
    one = progress({}, view("3/1", rules=rules))
    two = progress(one, view("3/2", rules=rules), now=NOW + 30)
    before, after = (
        next(it for it in s["conditions"] if it["type"] == "Progressing") for s in (one, two)
    )
    assert before["lastTransitionTime"] == after["lastTransitionTime"]
    assert before["lastUpdateTime"] < after["lastUpdateTime"]


def test_a_pause_is_told_and_its_end_too():
    paused = progress({}, view("1/1", rules=Rules(replicas=1, paused=True)))
    assert words(paused) == "Unknown DeploymentPaused"
    resumed = progress(paused, view("1/0", rules=Rules(replicas=1)))
    assert words(resumed) == "Unknown DeploymentResumed"


def test_what_a_crew_cannot_do_is_told():
    failing = View(Rules(), crew(0, "1/0", failure="quota exceeded"))
    assert words(progress({}, failing), "ReplicaFailure") == "True FailedCreate"
