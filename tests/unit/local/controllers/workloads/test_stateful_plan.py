"""What to do next for a StatefulSet, as pictures.

A pod is its state and its revision: ``rA`` is ready, ``nA`` not ready, ``xA`` ended, ``dA`` leaving,
``-`` missing. A move is ``+1B`` (make pod 1 by revision B) or ``-1`` (remove it).
"""

from __future__ import annotations

import msgspec
import pytest

from stateward.core.moments import to_rfc3339
from stateward.kube.codec import encode
from stateward.kube.meta import ObjectMeta, OwnerReference
from stateward.local.controllers.workloads.pods import Seen
from stateward.local.controllers.workloads.stateful import identity, revisions
from stateward.local.controllers.workloads.stateful.identity import Retention
from stateward.local.controllers.workloads.stateful.plan import Make, Rules, View, plan
from stateward.local.controllers.workloads.stateful.status import status
from stateward.local.documents import Document

NOW = 1_800_000_000.0
PHASES = {"r": "Running", "n": "Running", "x": "Failed", "d": "Running"}


def pod(ordinal: int, word: str, *, ready_for: float = 100.0) -> Seen:
    state, revision = word
    metadata = ObjectMeta(
        name=f"web-{ordinal}",
        uid=f"uid-{ordinal}",
        labels={"controller-revision-hash": revision},
        deletion_timestamp=to_rfc3339(NOW) if state == "d" else None,
    )
    ready = state in "rd"
    since = NOW - ready_for if ready else None
    return Seen(metadata, PHASES[state], ready=ready, ready_since=since)


def view(picture: str, revs: str = "AA", **rules) -> View:
    start = rules.get("start", 0)
    words = enumerate(picture.split(), start)
    pods = {ordinal: pod(ordinal, word) for ordinal, word in words if word != "-"}
    return View(Rules(**{"replicas": 3, **rules}), revs[0], revs[1], pods, NOW)


def drawn(seen: View) -> str:
    return " ".join(
        f"+{it.ordinal}{it.revision}" if isinstance(it, Make) else f"-{it.pod.name[4:]}"
        for it in plan(seen).moves
    )


@pytest.mark.parametrize(
    ("picture", "moves"),
    [
        ("", "+0A"),
        ("nA", ""),
        ("rA", "+1A"),
        ("rA rA rA", ""),
        ("rA - rA", "+1A"),
        ("nA - rA", ""),
        ("rA dA rA", ""),
        ("rA xA rA", "-1"),
        ("- xA rA", "+0A"),
        ("rA rA rA rA rA", "-4"),
        ("rA rA rA rA dA", ""),
        ("rA nA rA rA", ""),
        ("rA rA rA nA", "-3"),
        ("rA rA rA nA rA", "-4"),
        ("rA rA rA rA nA", "-4"),
        ("rA rA rA nA nA", ""),
        ("rA rA rA dA nA", ""),
    ],
)
def test_in_order(picture, moves):
    assert drawn(view(picture)) == moves


@pytest.mark.parametrize(
    ("picture", "moves"),
    [
        ("", "+0A +1A +2A"),
        ("nA - nA", "+1A"),
        ("xA dA -", "-0 +2A"),
        ("rA nA rA rA rA", "-4 -3"),
        ("rA rA rA rA dA", "-3"),
    ],
)
def test_in_parallel(picture, moves):
    assert drawn(view(picture, parallel=True)) == moves


@pytest.mark.parametrize(
    ("picture", "rules", "moves"),
    [
        ("rA rA rA", {}, "-2"),
        ("rA rA dA", {}, ""),
        ("rA rA -", {}, "+2B"),
        ("rA rA nB", {}, ""),
        ("rA rA rB", {}, "-1"),
        ("rB rB rB", {}, ""),
        ("nA rA rB", {}, ""),
        ("rA rA rA", {"update_from": 3}, ""),
        ("rA - rA", {"update_from": 2}, "+1A"),
        ("rA rA rB", {"update_from": 2}, ""),
        ("rA rA rA", {"rolling": False}, ""),
        ("rA - rA", {"rolling": False}, "+1B"),
        ("rA nA rA", {"parallel": True}, "-2"),
        ("rA rA nB", {"parallel": True}, ""),
        ("rA rA rC", {}, "-2"),
        ("rA rA nC", {}, ""),
        ("rA rA nC", {"parallel": True}, "-2"),
        ("nA - -", {}, ""),
    ],
)
def test_from_revision_a_to_b(picture, rules, moves):
    assert drawn(view(picture, "AB", **rules)) == moves


def test_ordinals_may_start_anywhere():
    assert drawn(view("rA", start=5)) == "+6A"
    below = {4: pod(4, "rA"), **{ordinal: pod(ordinal, "rA") for ordinal in (5, 6, 7)}}
    assert drawn(View(Rules(replicas=3, start=5), "A", "A", below, NOW)) == "-4"


def test_a_pod_must_stay_ready_for_a_while():
    young = {0: pod(0, "rA", ready_for=4.0)}
    decided = plan(View(Rules(replicas=2, min_ready=10), "A", "A", young, NOW))
    assert decided.moves == ()
    assert decided.wake == 6.0


@pytest.mark.parametrize(
    ("picture", "revs", "said"),
    [
        ("rA rA rA", "AA", "3 3 3 3 3 A A"),
        ("rA rA nB", "AB", "3 2 2 2 1 A B"),
        ("rB rB nB", "AB", "3 2 2 0 3 A B"),
        ("rB rB rB", "AB", "3 3 3 3 3 B B"),
        ("rB rB rB rB", "AB", "4 4 4 0 4 A B"),
        ("rA dA", "AA", "2 2 2 1 1 A A"),
        ("", "AA", "0 0 0 0 0 A A"),
    ],
)
def test_what_a_set_says(picture, revs, said):
    told = status(view(picture, revs), 7, 0)
    names = ("replicas", "readyReplicas", "availableReplicas", "currentReplicas", "updatedReplicas")
    counts = [told[name] or 0 for name in names]
    revisions_told = (told["currentRevision"], told["updateRevision"])
    assert " ".join(map(str, (*counts, *revisions_told))) == said
    assert told["observedGeneration"] == 7


@pytest.mark.parametrize(
    ("spec", "rules"),
    [
        ({}, Rules()),
        ({"replicas": 0}, Rules(replicas=0)),
        ({"updateStrategy": {"type": "OnDelete"}}, Rules(rolling=False)),
        ({"updateStrategy": {"rollingUpdate": {"partition": 2}}}, Rules(update_from=2)),
        (
            {"ordinals": {"start": 3}, "updateStrategy": {"rollingUpdate": {"partition": 2}}},
            Rules(start=3, update_from=5),
        ),
        (
            {"podManagementPolicy": "Parallel", "minReadySeconds": 4},
            Rules(parallel=True, min_ready=4),
        ),
    ],
    ids=str,
)
def test_what_a_spec_asks_for(spec, rules):
    assert Rules.of(spec) == rules


SET, POD = ObjectMeta(name="web", uid="set"), ObjectMeta(name="web-1", uid="pod")


@pytest.mark.parametrize(
    ("scaled", "deleted", "condemned", "owner"),
    [
        (False, False, False, ""),
        (False, False, True, ""),
        (True, False, False, ""),
        (True, False, True, "pod"),
        (False, True, False, "set"),
        (False, True, True, "set"),
        (True, True, False, "set"),
        (True, True, True, "pod"),
    ],
)
def test_with_whom_a_claim_ends(scaled, deleted, condemned, owner):
    retention = Retention(ends_with_set=deleted, ends_with_pod=scaled)
    wanted = identity.claim_owners(ObjectMeta(), SET, retention, POD, condemned=condemned)
    assert [it["uid"] for it in wanted or ()] == ([owner] if owner else [])


def test_other_owners_of_a_claim_stay_and_nothing_is_said_twice():
    other = OwnerReference(kind="Backup", name="b", uid="backup")
    mine = OwnerReference(kind="StatefulSet", name="web", uid="set")
    kept = ObjectMeta(owner_references=(other, mine))
    retention = Retention(ends_with_set=True)
    assert identity.claim_owners(kept, SET, retention, POD, condemned=False) is None
    wanted = identity.claim_owners(kept, SET, Retention(), POD, condemned=False)
    assert [it["uid"] for it in wanted or ()] == ["backup"]


def test_a_claim_that_somebody_else_controls_or_an_earlier_set_named_is_left_alone():
    other = OwnerReference(kind="Backup", name="b", uid="backup", controller=True)
    earlier = OwnerReference(kind="StatefulSet", name="web", uid="earlier", controller=True)
    retention = Retention(ends_with_set=True)
    for owner in (other, earlier):
        claim = ObjectMeta(owner_references=(owner,))
        assert identity.claim_owners(claim, SET, retention, POD, condemned=False) is None


@pytest.mark.parametrize(
    ("labels", "lost"),
    [
        ({}, {"statefulset.kubernetes.io/pod-name": "web-1", "apps.kubernetes.io/pod-index": "1"}),
        ({"statefulset.kubernetes.io/pod-name": "web-1"}, {}),
    ],
)
def test_which_labels_a_pod_has_lost(labels, lost):
    assert identity.lost_labels(ObjectMeta(name="web-1", labels=labels), 1) == lost


def revision(name: str, number: int, image: str) -> Document:
    spec = {"template": {"image": image, "$patch": "replace"}}
    text = encode({"spec": spec})
    return Document(metadata=ObjectMeta(name=name), revision=number, data_text=msgspec.Raw(text))


HISTORY = [revision("one", 1, "v1"), revision("two", 2, "v2"), revision("three", 3, "v3")]


@pytest.mark.parametrize(
    ("image", "found", "number"),
    [("v3", "three", 3), ("v1", "one", 4), ("v4", None, 4)],
)
def test_which_revision_a_template_is(image, found, number):
    seen = revisions.find({"image": image}, reversed(HISTORY))
    assert (seen.revision.metadata.name if seen.revision else None, seen.number) == (found, number)


@pytest.mark.parametrize(
    ("used", "limit", "forgotten"),
    [
        ("", 3, ""),
        ("", 1, "one two"),
        ("one", 1, "two"),
        ("one two three", 0, ""),
        ("three", 0, "one two"),
    ],
)
def test_which_revisions_are_forgotten(used, limit, forgotten):
    names = [it.metadata.name for it in revisions.superfluous(HISTORY, used.split(), limit)]
    assert " ".join(names) == forgotten
