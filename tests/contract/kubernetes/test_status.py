"""Status has a door of its own: what goes through which."""

from __future__ import annotations

import pytest

from contract.kubernetes.bodies import (
    Json,
    budget,
    claim,
    deployment,
    named,
    pod,
    service,
    stateful_set,
)
from contract.kubernetes.custom import NUMBER, OPEN, TEXT, defined, fields, version, whole
from contract.kubernetes.wire import Wire

META: Json = {
    "labels": {"l": "1"},
    "annotations": {"n": "1"},
    "finalizers": ["a.b/c"],
}


async def test_nobody_is_born_with_a_status(wire: Wire) -> None:
    made = await wire.post("statefulsets", stateful_set() | {"status": {"replicas": 9}})

    assert made.made()["status.replicas"] in {None, 0}


async def test_the_status_door_takes_the_status_alone(wire: Wire) -> None:
    (await wire.post("pods", pod())).made()

    now = await wire.patch(
        "pods/a/status", {"spec": {"nodeName": "n"}, "status": {"phase": "Running", "message": "x"}}
    )

    assert (now.ok()["status.phase"], now["status.message"]) == ("Running", "x")
    assert now["spec.nodeName"] is None


async def test_the_main_door_takes_all_but_the_status(wire: Wire) -> None:
    (await wire.post("pods", pod())).made()

    now = await wire.patch(
        "pods/a", {"spec": {"activeDeadlineSeconds": 9}, "status": {"phase": "Failed"}}
    )

    assert (now.ok()["status.phase"], now["spec.activeDeadlineSeconds"]) == ("Pending", 9)


async def test_a_replaced_status_needs_no_spec(wire: Wire) -> None:
    (await wire.post("deployments", deployment())).made()

    now = await wire.put("deployments/a/status", named("a", status={"replicas": 4}))

    assert (now.ok()["status.replicas"], now["spec.paused"]) == (4, True)


async def test_the_status_door_shows_the_whole(wire: Wire) -> None:
    (await wire.post("pods", pod())).made()

    door, main = await wire.get("pods/a/status"), await wire.get("pods/a")

    assert (door.ok()["kind"], door["metadata.uid"]) == ("Pod", main["metadata.uid"])
    assert door["spec"] == main["spec"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("services", service()),
        ("persistentvolumeclaims", claim()),
        ("poddisruptionbudgets", budget()),
        ("statefulsets", stateful_set()),
        ("pods", pod()),
    ],
    ids=str,
)
async def test_metadata_of_built_in_kinds_goes_through_both(
    wire: Wire, path: str, body: Json
) -> None:
    (await wire.post(path, body)).made()

    now = (await wire.patch(f"{path}/a/status", {"metadata": META})).ok()

    assert now["metadata.labels"] == META["labels"]
    assert now["metadata.annotations"]["n"] == "1"
    assert "a.b/c" in now["metadata.finalizers"]
    (await wire.patch(f"{path}/a", {"metadata": {"finalizers": None}})).ok()


async def test_but_for_the_labels_of_a_deployment(wire: Wire) -> None:
    (await wire.post("deployments", deployment())).made()

    now = (await wire.patch("deployments/a/status", {"metadata": META})).ok()

    assert now["metadata.labels"] is None
    assert now["metadata.finalizers"] == ["a.b/c"]
    (await wire.patch("deployments/a", {"metadata": {"finalizers": None}})).ok()


async def test_nothing_of_a_custom_object_goes_through_both(wire: Wire) -> None:
    schema = version(whole(fields(size=NUMBER)), subresources={"status": {}})
    async with defined(wire, schema) as kind:
        made = await kind.made({"size": 1})
        sent = {"metadata": META, "spec": {"size": 2}, "status": {"phase": "x"}}
        now = (await wire.patch(kind.at("a/status"), sent)).ok()

    assert (now["spec"], now["status"]) == ({"size": 1}, {"phase": "x"})
    assert (now["metadata.labels"], now["metadata.finalizers"]) == (None, None)
    assert now["metadata.generation"] == made["metadata.generation"]


async def test_a_status_is_checked_by_its_schema(wire: Wire) -> None:
    schema = version(whole(fields(size=NUMBER), fields(phase=TEXT)), subresources={"status": {}})
    async with defined(wire, schema) as kind:
        await kind.made({"size": 1})
        answer = await wire.patch(kind.at("a/status"), {"status": {"phase": 1}})

    answer.refused(422, "Invalid", "FieldValueTypeInvalid status.phase")
    assert answer.about == {"name": "a", "group": kind.group, "kind": "Thing"}


async def test_where_there_is_no_door_it_is_a_field(wire: Wire) -> None:
    async with defined(wire, version(whole(OPEN))) as kind:
        await kind.made({})
        now = await wire.patch(kind.at("a"), {"status": {"phase": "x"}})
        door = await wire.get(kind.at("a/status"))

    assert now.ok()["status"] == {"phase": "x"}
    door.refused(404, "NotFound")


async def test_a_status_said_again_writes_nothing(wire: Wire) -> None:
    (await wire.post("pods", pod())).made()
    said = {"status": {"phase": "Running"}}
    one = (await wire.patch("pods/a/status", said)).ok()

    assert (await wire.patch("pods/a/status", said)).ok().revision == one.revision


@pytest.mark.parametrize(
    ("metadata", "code", "reason"),
    [
        ({"name": "a", "resourceVersion": "1"}, 409, "Conflict"),
        ({"name": "a", "uid": "u"}, 409, "Conflict"),
        ({"name": "b"}, 400, "BadRequest"),
    ],
    ids=str,
)
async def test_a_status_is_replaced_as_carefully(
    wire: Wire, metadata: Json, code: int, reason: str
) -> None:
    (await wire.post("pods", pod())).made()

    answer = await wire.put("pods/a/status", pod() | {"metadata": metadata})

    answer.refused(code, reason)


async def test_the_status_of_nothing(wire: Wire) -> None:
    answer = await wire.put("deployments/a/status", deployment())

    answer.refused(404, "NotFound", says='deployments.apps "a" not found')
    assert answer.about == {"name": "a", "group": "apps", "kind": "deployments"}


@pytest.mark.parametrize("verb", ["POST", "DELETE"])
async def test_a_status_is_neither_made_nor_removed(wire: Wire, verb: str) -> None:
    (await wire.post("pods", pod())).made()

    answer = await wire.ask(verb, "pods/a/status", pod() if verb == "POST" else None)

    answer.refused(405, "MethodNotAllowed")


@pytest.mark.parametrize(
    ("kind", "status", "wrong"),
    [
        ("deployments", {"replicas": 1, "updatedReplicas": 2}, ["updatedReplicas"]),
        ("deployments", {"replicas": 1, "availableReplicas": 1}, ["availableReplicas"]),
        ("deployments", {"observedGeneration": -1}, ["observedGeneration"]),
        ("statefulsets", {"replicas": 1, "readyReplicas": 2}, ["readyReplicas"]),
        ("statefulsets", {"replicas": 1, "currentReplicas": 2}, ["currentReplicas"]),
        ("statefulsets", {"observedGeneration": -1}, ["observedGeneration"]),
    ],
    ids=str,
)
async def test_numbers_of_pods_that_cannot_be(
    wire: Wire, kind: str, status: Json, wrong: list[str]
) -> None:
    team = deployment() if kind == "deployments" else stateful_set()
    (await wire.post(kind, team)).made()

    answer = await wire.patch(f"{kind}/a/status", {"status": status})

    answer.refused(422, "Invalid", *[f"FieldValueInvalid status.{it}" for it in wrong])
