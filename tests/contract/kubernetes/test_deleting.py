"""Deleting: what is answered, how much time a pod gets, and whole collections."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.shapes import CONTAINERS, HOLD, NODE, TEAM, WORK, claim, pod, thing
from contract.kubernetes.wire import Wire

WEB = {"ports": [{"port": 80}]}


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("configmaps", thing()),
        ("secrets", thing()),
        ("leases", thing()),
        ("statefulsets", thing(spec=TEAM)),
        ("poddisruptionbudgets", thing(spec={})),
    ],
)
async def test_of_most_things_it_is_said_that_they_are_gone(
    wire: Wire, kind: str, body: Any
) -> None:
    made = (await wire.post(kind, body)).made()

    gone = (await wire.delete(f"{kind}/a")).ok()

    assert (gone["kind"], gone["status"]) == ("Status", "Success")
    assert (gone["details.name"], gone["details.kind"]) == ("a", kind)
    assert gone["details.uid"] == made["metadata.uid"]
    assert gone["details.group"] == (made["apiVersion"].rpartition("/")[0] or None)
    (await wire.get(f"{kind}/a")).refused(404, "NotFound")


@pytest.mark.parametrize(
    ("kind", "body"), [("services", thing(spec=WEB)), ("serviceaccounts", thing()), ("pods", pod())]
)
async def test_some_things_are_shown_for_the_last_time(wire: Wire, kind: str, body: Any) -> None:
    made = (await wire.post(kind, body)).made()

    gone = (await wire.delete(f"{kind}/a")).ok()

    assert gone["kind"] == made["kind"]
    assert gone["metadata.uid"] == made["metadata.uid"]
    (await wire.get(f"{kind}/a")).refused(404, "NotFound")


async def test_what_is_held_is_shown(wire: Wire) -> None:
    (await wire.post("configmaps", thing(finalizers=[HOLD]))).made()

    held = (await wire.delete("configmaps/a")).ok()

    assert held["kind"] == "ConfigMap"
    assert held["metadata.deletionTimestamp"]
    assert held["metadata.deletionGracePeriodSeconds"] == 0
    assert held["metadata.finalizers"] == [HOLD]
    (await wire.patch("configmaps/a", {"metadata": {"finalizers": None}})).ok()


async def test_a_claim_is_protected(wire: Wire) -> None:
    (await wire.post("persistentvolumeclaims", claim())).made()

    going = (await wire.delete("persistentvolumeclaims/a")).ok()

    assert going["metadata.finalizers"] == ["kubernetes.io/pvc-protection"]


async def test_a_rehearsed_deletion_deletes_nothing(wire: Wire) -> None:
    made = (await wire.post("configmaps", thing())).made()

    answer = (await wire.delete("configmaps/a", dryRun="All")).ok()

    assert answer["details.uid"] == made["metadata.uid"]
    assert (await wire.get("configmaps/a")).ok().revision == made.revision


async def test_a_job_leaves_its_pods_unless_told_otherwise(wire: Wire) -> None:
    (await wire.post("jobs", thing(spec={"suspend": True, **WORK}))).made()

    answer = (await wire.delete("jobs/a")).ok()

    (warning,) = answer.warnings
    assert "child pods are preserved by default when jobs are deleted" in warning
    assert "orphan" in answer["metadata.finalizers"]
    await wire.gone("jobs/a")


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ({"propagationPolicy": "Sideways"}, "FieldValueNotSupported propagationPolicy"),
        (
            {"propagationPolicy": "Orphan", "orphanDependents": True},
            "FieldValueInvalid propagationPolicy",
        ),
        ({"dryRun": ["Some"]}, "FieldValueNotSupported dryRun"),
    ],
    ids=["policy", "two policies", "dry-run"],
)
async def test_options_must_make_sense(wire: Wire, options: Any, cause: str) -> None:
    (await wire.post("configmaps", thing())).made()

    answer = await wire.delete("configmaps/a", options)

    answer.refused(422, "Invalid", cause, says='DeleteOptions.meta.k8s.io "" is invalid: ')
    (await wire.get("configmaps/a")).ok()


async def test_options_may_be_in_the_query(wire: Wire) -> None:
    (await wire.post("configmaps", thing())).made()

    wrong = await wire.delete("configmaps/a", propagationPolicy="Sideways")
    (await wire.delete("configmaps/a", gracePeriodSeconds="soon")).refused(400, "BadRequest")

    wrong.refused(422, "Invalid", "FieldValueNotSupported propagationPolicy")


async def test_an_option_that_nobody_knows_does_not_matter(wire: Wire) -> None:
    (await wire.post("configmaps", thing())).made()

    (await wire.delete("configmaps/a", {"colour": "red", "gracePeriodSeconds": -1})).ok()

    (await wire.get("configmaps/a")).refused(404, "NotFound")


# ------------------------------------------------------------------ grace
async def test_a_pod_without_a_node_goes_at_once(wire: Wire) -> None:
    (await wire.post("pods", pod())).made()

    gone = (await wire.delete("pods/a", gracePeriodSeconds=20)).ok()

    assert gone["metadata.deletionGracePeriodSeconds"] == 0
    (await wire.get("pods/a")).refused(404, "NotFound")


async def test_grace_is_shortened_and_never_lengthened(wire: Wire) -> None:
    (await wire.post("pods", pod(node=NODE))).made()

    seen = [
        (await wire.delete("pods/a", gracePeriodSeconds=it)).ok()[
            "metadata.deletionGracePeriodSeconds"
        ]
        for it in (20, 60, 5, 0)
    ]

    assert seen == [20, 20, 5, 0]
    (await wire.get("pods/a")).refused(404, "NotFound")


async def test_a_pod_may_want_no_grace(wire: Wire) -> None:
    (await wire.post("pods", pod(node=NODE, terminationGracePeriodSeconds=0))).made()

    (await wire.delete("pods/a")).ok()

    (await wire.get("pods/a")).refused(404, "NotFound")


async def test_a_pod_that_is_going_can_still_be_labelled(wire: Wire) -> None:
    (await wire.post("pods", pod(node=NODE))).made()
    (await wire.delete("pods/a")).ok()

    changed = (await wire.patch("pods/a", {"metadata": {"labels": {"x": "y"}}})).ok()

    assert changed["metadata.deletionGracePeriodSeconds"] == 30
    (await wire.delete("pods/a", gracePeriodSeconds=0)).ok()


# ------------------------------------------------------------------ collections
async def test_a_collection_goes_as_it_is_selected(wire: Wire) -> None:
    for name, colour in (("a", "red"), ("b", "red"), ("c", "blue")):
        (await wire.post("configmaps", thing(name, labels={"colour": colour}))).made()

    answer = (await wire.delete("configmaps", labelSelector="colour=red")).ok()

    assert answer["kind"] == "ConfigMapList"
    assert answer.names == ["a", "b"]
    assert (await wire.get("configmaps")).names == ["c"]


async def test_a_collection_is_shown_as_it_was(wire: Wire) -> None:
    (await wire.post("configmaps", thing(finalizers=[HOLD]))).made()

    answer = (await wire.delete("configmaps", fieldSelector="metadata.name=a")).ok()

    assert answer["items.0.metadata.deletionTimestamp"] is None
    assert (await wire.get("configmaps/a"))["metadata.deletionTimestamp"]
    (await wire.patch("configmaps/a", {"metadata": {"finalizers": None}})).ok()


async def test_a_part_of_a_collection_goes(wire: Wire) -> None:
    for name in "abc":
        (await wire.post("leases", thing(name))).made()

    answer = (await wire.delete("leases", limit=2)).ok()

    assert answer.names == ["a", "b"]
    assert answer["metadata.continue"]
    assert (await wire.get("leases")).names == ["c"]


async def test_options_hold_for_each_of_a_collection(wire: Wire) -> None:
    for name in "ab":
        (await wire.post("pods", pod(name, node=NODE))).made()

    (await wire.delete("pods", gracePeriodSeconds=7)).ok()

    found = (await wire.get("pods")).ok()
    assert [it["metadata"]["deletionGracePeriodSeconds"] for it in found["items"]] == [7, 7]
    (await wire.delete("pods", gracePeriodSeconds=0)).ok()
    assert (await wire.get("pods")).names == []


async def test_a_collection_can_be_rehearsed(wire: Wire) -> None:
    (await wire.post("leases", thing())).made()

    assert (await wire.delete("leases", dryRun="All")).ok().names == ["a"]

    assert (await wire.get("leases")).names == ["a"]


async def test_a_bad_selector_deletes_nothing(wire: Wire) -> None:
    (await wire.post("pods", {**pod(), "spec": {**CONTAINERS, "schedulerName": "nobody"}})).made()

    (await wire.delete("pods", labelSelector="!!")).refused(400, "BadRequest")
    (await wire.delete("pods", fieldSelector="spec.colour=red")).refused(400, "BadRequest")

    assert (await wire.get("pods")).names == ["a"]


async def test_namespaces_go_one_by_one(wire: Wire) -> None:
    (await wire.delete("namespaces")).refused(405, "MethodNotAllowed")


async def test_of_an_old_list_some_are_gone_already(wire: Wire) -> None:
    for name in ("a", "b", "c"):
        (await wire.post("secrets", thing(name))).made()
    then = (await wire.get("secrets"))["metadata.resourceVersion"]
    (await wire.delete("secrets/b")).ok()

    (await wire.delete("secrets", {}, resourceVersion=then, resourceVersionMatch="Exact")).ok()

    assert (await wire.get("secrets")).names == []


@pytest.mark.parametrize("query", [{"uid": "x"}, {"resourceVersion": "1"}], ids=str)
async def test_without_a_body_the_query_says_what_is_meant(wire: Wire, query: Any) -> None:
    made = (await wire.post("configmaps", thing())).made()

    (await wire.delete("configmaps/a", **query)).refused(
        409, "Conflict", says="in the precondition"
    )
    (await wire.delete("configmaps/a", resourceVersion=made.revision)).ok()
