"""Pods as controllers read them, who is given up first, who belongs to whom, and small words."""

from __future__ import annotations

import msgspec
import pytest

from stateward.core.errors import SpecInvalid
from stateward.core.moments import to_rfc3339
from stateward.kube.codec import Json, encode
from stateward.kube.meta import ObjectMeta, OwnerReference
from stateward.kube.resources import JOBS
from stateward.kube.selector import LabelSelector
from stateward.local import conditions
from stateward.local.controllers.workloads import custody
from stateward.local.controllers.workloads.pods import (
    Seen,
    from_template,
    next_available,
    owner_reference,
    selector_of,
)
from stateward.local.controllers.workloads.replica_sets import dispensable_first, plan, status
from stateward.local.documents import Document

NOW = 1_800_000_000.0


def document(
    metadata: ObjectMeta | None = None, spec: Json | None = None, state: Json | None = None
) -> Document:
    return Document(
        metadata=metadata or ObjectMeta(name="p", creation_timestamp=to_rfc3339(NOW - 100)),
        spec_text=msgspec.Raw(encode(spec or {})),
        status_text=msgspec.Raw(encode(state or {})),
    )


def ready(holds: str = "True", ago: float = 10) -> Json:
    return {"type": "Ready", "status": holds, "lastTransitionTime": to_rfc3339(NOW - ago)}


def container(**state: Json) -> Json:
    return {"name": "main", "state": state, "restartCount": 2}


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({}, "Pending active"),
        ({"phase": "Running", "conditions": [ready()]}, "Running active ready serves"),
        ({"phase": "Running", "conditions": [ready("False")]}, "Running active"),
        ({"phase": "Failed"}, "Failed finished"),
        ({"phase": "Succeeded", "conditions": [ready("False")]}, "Succeeded finished"),
    ],
    ids=str,
)
def test_what_is_read_of_a_pod(state, words):
    seen = Seen.of(document(state=state))
    said = [name for name in ("active", "finished", "ready", "serves") if getattr(seen, name)]
    assert " ".join([seen.phase, *said]) == words


@pytest.mark.parametrize(
    ("state", "ago"),
    [
        (
            {
                "containerStatuses": [
                    container(terminated={"finishedAt": to_rfc3339(NOW - 7)}),
                    container(terminated={"finishedAt": to_rfc3339(NOW - 9)}),
                ]
            },
            7,
        ),
        ({"conditions": [ready("False", 20)]}, 20),
        ({}, 100),
    ],
    ids=["its containers", "its condition", "its birth"],
)
def test_when_a_pod_ended(state, ago):
    assert Seen.of(document(state={"phase": "Failed", **state})).ended == NOW - ago


@pytest.mark.parametrize(
    ("state", "min_ready", "rest"),
    [
        ({"conditions": [ready()]}, 0, 0.0),
        ({"conditions": [ready(ago=10)]}, 10, 0.0),
        ({"conditions": [ready(ago=10)]}, 30, 20.0),
        ({"conditions": [ready("False")]}, 0, None),
        ({"conditions": [{"type": "Ready", "status": "True"}]}, 5, None),
    ],
)
def test_when_a_pod_is_available(state, min_ready, rest):
    seen = Seen.of(document(state={"phase": "Running", **state}))
    assert seen.available_in(min_ready, NOW) == rest
    assert next_available([seen], min_ready, NOW) == (rest or None)


def pod(name: str, **more) -> Seen:
    meta = {"creation_timestamp": to_rfc3339(NOW), **more.pop("meta", {})}
    known = {"phase": "Running", "node": "n1", "ready": True, "ready_since": NOW - 100, **more}
    return Seen(ObjectMeta(name=name, **meta), **known)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"node": ""}, {}),
        ({"phase": "Pending"}, {}),
        ({"ready": False, "ready_since": None}, {}),
        ({"meta": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "-5"}}}, {}),
        ({"ready_since": NOW - 5}, {}),
        ({"restarts": 3}, {}),
        ({}, {"meta": {"creation_timestamp": to_rfc3339(NOW - 50)}}),
        ({"phase": "Pending", "ready": False}, {"ready": False, "restarts": 9}),
        (
            {
                "node": "",
                "meta": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "9"}},
            },
            {"phase": "Pending"},
        ),
    ],
    ids=str,
)
def test_who_is_given_up_first(first, second):
    pods = [pod("b", **second), pod("a", **first)]
    assert [it.name for it in dispensable_first(pods)] == ["a", "b"]


def test_a_crowded_node_gives_first():
    pods = [pod("a", node="n1"), pod("b", node="n2"), pod("c", node="n2")]
    assert dispensable_first(pods)[-1].name == "a"


def test_as_many_pods_as_asked_for():
    leaving = pod("gone", meta={"deletion_timestamp": to_rfc3339(NOW)})
    pods = [pod("a"), pod("b", ready=False), pod("done", phase="Failed"), leaving]
    assert plan(5, pods).make == 3
    assert plan(2, pods) == plan(2, pods[:2])
    assert [it.name for it in plan(1, pods).end] == ["b"]
    assert len(plan(0, pods).end) == 2
    assert plan(1000, []).make == 50, "others shall have their turn, too"


def test_what_a_replica_set_says():
    owner = document(
        ObjectMeta(generation=4),
        {"template": {"metadata": {"labels": {"a": "1"}}}, "minReadySeconds": 60},
    )
    labelled = {"labels": {"a": "1"}}
    pods = [
        pod("a", meta=labelled),
        pod("b", ready_since=NOW - 5),
        pod("c", ready=False),
        pod("d", phase="Failed"),
    ]
    said = status(owner, pods, NOW, "no room")
    counts = [
        said[n] for n in ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas")
    ]
    assert counts == [3, 1, 2, 1]
    assert said["conditions"][0]["message"] == "no room"
    assert status(owner, [], NOW)["conditions"] is None


def owned(name: str, owner: str = "", **more) -> Document:
    owners = (
        (OwnerReference(kind="ReplicaSet", name=owner, uid=owner, controller=True),)
        if owner
        else ()
    )
    return document(
        ObjectMeta(name=name, owner_references=owners, **{"labels": {"app": "web"}, **more})
    )


def test_who_belongs_to_whom():
    me, selector = ObjectMeta(name="me", uid="me"), LabelSelector.parse("app=web")
    mine, lost = owned("mine", "me"), owned("lost", "me", labels={})
    orphan, stranger = owned("orphan"), owned("stranger", labels={"app": "x"})
    leaving, others = owned("leaving", deletion_timestamp="t"), owned("others", "you")
    judged = custody.judge(me, selector, [mine, lost], [orphan, stranger, leaving, others])
    assert judged == custody.Custody((mine,), (orphan,), (lost,))
    ending = ObjectMeta(name="me", uid="me", deletion_timestamp="t")
    assert custody.judge(ending, selector, [mine, lost], [orphan]) == custody.Custody((mine, lost))
    assert custody.without_owner(mine.metadata, "me") == []


def test_a_pod_is_its_template_and_more():
    template = {
        "metadata": {"labels": {"a": "1"}, "annotations": {"n": "1"}},
        "spec": {"x": 1, "hostname": "h"},
    }
    made = from_template(template, {"name": "p", "labels": {"b": "2"}}, {"hostname": "p"})
    assert made["metadata"] == {
        "name": "p",
        "labels": {"a": "1", "b": "2"},
        "annotations": {"n": "1"},
    }
    assert made["spec"] == {"x": 1, "hostname": "p"}
    reference = owner_reference(JOBS, ObjectMeta(name="j", uid="u"))
    assert (reference["apiVersion"], reference["controller"]) == ("batch/v1", True)


@pytest.mark.parametrize(
    "selector",
    [None, {}, {"matchLabels": {"app": "other"}}, {"matchWords": {}}],
    ids=str,
)
def test_a_selector_must_select_the_template(selector):
    spec = {"selector": selector, "template": {"metadata": {"labels": {"app": "web"}}}}
    with pytest.raises(SpecInvalid, match="selector"):
        selector_of(spec)


def test_conditions_move_their_times_only_for_a_reason():
    said = conditions.condition("Ready", "True", "R", "m")
    first = conditions.merged([], said, NOW, seen_field="seen")
    assert conditions.merged(first, said, NOW + 5, seen_field="seen") is first
    other = conditions.merged(first, {**said, "message": "n"}, NOW + 5, seen_field="seen")
    assert other[0]["lastTransitionTime"] == first[0]["lastTransitionTime"]
    assert other[0]["seen"] != first[0]["seen"]
    turned = conditions.merged(first, {**said, "status": "False"}, NOW + 5)
    assert turned[0]["lastTransitionTime"] == to_rfc3339(NOW + 5)
    assert conditions.is_true({"conditions": first}, "Ready")
    assert conditions.without(first, "Ready") == []
