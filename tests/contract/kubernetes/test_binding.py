"""Binding: how a pod gets its node, and that it gets one once."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.shapes import HOLD, pod
from contract.kubernetes.wire import Wire


def binding(name: str = "a", node: str = "n1", **metadata: Any) -> Any:
    return {"metadata": {"name": name, **metadata}, "target": {"kind": "Node", "name": node}}


async def test_a_pod_is_bound(wire: Wire) -> None:
    (await wire.post("pods", pod())).made()

    done = (await wire.post("pods/a/binding", binding())).made()

    assert (done["kind"], done["status"], done["code"]) == ("Status", "Success", 201)
    found = await wire.get("pods/a")
    assert found["spec.nodeName"] == "n1"
    (condition,) = found["status.conditions"]
    assert (condition["type"], condition["status"]) == ("PodScheduled", "True")
    assert condition["lastTransitionTime"]
    assert found["status.phase"] == "Pending"


async def test_a_binding_may_bring_annotations(wire: Wire) -> None:
    (await wire.post("pods", pod())).made()

    (await wire.post("pods/a/binding", binding(annotations={"x": "y"}))).made()

    assert (await wire.get("pods/a"))["metadata.annotations"] == {"x": "y"}


async def test_a_binding_can_be_rehearsed(wire: Wire) -> None:
    (await wire.post("pods", pod())).made()

    (await wire.post("pods/a/binding", binding(), dryRun="All")).made()

    assert (await wire.get("pods/a"))["spec.nodeName"] is None


async def test_no_pod_is_bound_twice(wire: Wire) -> None:
    (await wire.post("pods", pod())).made()
    (await wire.post("pods/a/binding", binding())).made()

    for node in ("n1", "n2"):
        again = await wire.post("pods/a/binding", binding(node=node))
        why = 'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"'
        again.refused(409, "Conflict", says=why)


async def test_a_pod_that_is_going_gets_no_node(wire: Wire) -> None:
    (await wire.post("pods", pod(finalizers=[HOLD]))).made()
    (await wire.delete("pods/a")).ok()

    late = await wire.post("pods/a/binding", binding())

    late.refused(409, "Conflict", says="pod a is being deleted, cannot be assigned to a host")
    (await wire.patch("pods/a", {"metadata": {"finalizers": None}})).ok()


async def test_a_gated_pod_gets_no_node(wire: Wire) -> None:
    (await wire.post("pods", pod(schedulingGates=[{"name": "example.com/wait"}]))).made()

    early = await wire.post("pods/a/binding", binding())

    early.refused(409, "Conflict", says="pod a has non-empty .spec.schedulingGates")


@pytest.mark.parametrize(
    ("meant", "says"),
    [
        ({"uid": "x"}, "UID in precondition: x, UID in object meta: "),
        (
            {"resourceVersion": "1"},
            "ResourceVersion in precondition: 1, ResourceVersion in object meta: ",
        ),
    ],
    ids=["another UID", "another version"],
)
async def test_a_binding_may_insist_on_a_pod(wire: Wire, meant: Any, says: str) -> None:
    (await wire.post("pods", pod())).made()

    answer = await wire.post("pods/a/binding", binding(**meant))

    answer.refused(409, "Conflict", says=says)
    assert (await wire.get("pods/a"))["spec.nodeName"] is None


@pytest.mark.parametrize(
    ("sent", "code", "says"),
    [
        (
            {"metadata": {"name": "b"}, "target": {"name": "n1"}},
            400,
            "name in URL does not match name in Binding",
        ),
        ({"target": {"name": "n1"}}, 400, "name in URL does not match name in Binding"),
        ({"metadata": {"name": "a"}, "target": {}}, 500, "target.name: Required value"),
        (
            {"metadata": {"name": "a"}, "target": {"kind": "Pod", "name": "b"}},
            500,
            "target.kind: Unsupported value",
        ),
    ],
    ids=["another name", "no name", "no node", "to a pod"],
)
async def test_a_binding_must_make_sense(wire: Wire, sent: Any, code: int, says: str) -> None:
    (await wire.post("pods", pod())).made()

    answer = await wire.post("pods/a/binding", sent)

    assert answer.code == code, answer.body
    assert says in answer["message"]


async def test_nobody_cannot_be_bound(wire: Wire) -> None:
    answer = await wire.post("pods/none/binding", binding("none"))

    answer.refused(404, "NotFound", says='pods "none" not found')


async def test_a_binding_cannot_be_read(wire: Wire) -> None:
    (await wire.post("pods", pod())).made()

    (await wire.get("pods/a/binding")).refused(405, "MethodNotAllowed")


@pytest.mark.parametrize("before", ["", "n0"], ids=["without a node", "with a node"])
async def test_the_node_of_a_pod_is_not_written(wire: Wire, before: str) -> None:
    (await wire.post("pods", pod(node=before))).made()

    answer = await wire.patch("pods/a", {"spec": {"nodeName": "n1"}})

    says = (
        "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`"
    )
    answer.refused(422, "Invalid", "FieldValueForbidden spec", says=says)
