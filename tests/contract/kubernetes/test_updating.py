"""Updating: whose version counts, which object is meant, and what an update cannot say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from contract.kubernetes.bodies import Json, budget, claim, deployment, named, service
from contract.kubernetes.custom import NUMBER, fields, things
from contract.kubernetes.wire import Wire

MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


@pytest.mark.parametrize("revision", ["1", "999999999"])
async def test_another_version_is_a_conflict(wire: Wire, revision: str) -> None:
    (await wire.post("configmaps", named("a"))).made()

    answer = await wire.put(
        "configmaps/a", {"metadata": {"name": "a", "resourceVersion": revision}, "data": {"x": "1"}}
    )

    answer.refused(
        409, "Conflict", says=f'Operation cannot be fulfilled on configmaps "a": {MODIFIED}'
    )
    assert answer.about == {"name": "a", "kind": "configmaps"}
    assert answer.causes == []


async def test_the_group_is_told_too(wire: Wire) -> None:
    (await wire.post("deployments", deployment("a"))).made()

    stale = deployment("a") | {"metadata": {"name": "a", "resourceVersion": "1"}}
    answer = await wire.put("deployments/a", stale)

    answer.refused(409, "Conflict", says=f'on deployments.apps "a": {MODIFIED}')
    assert answer.about == {"name": "a", "group": "apps", "kind": "deployments"}


async def test_a_revision_is_a_number(wire: Wire) -> None:
    (await wire.post("configmaps", named("a"))).made()

    answer = await wire.put("configmaps/a", {"metadata": {"name": "a", "resourceVersion": "abc"}})

    answer.refused(500, "")
    assert answer.about == {}


async def test_most_may_be_replaced_unseen(wire: Wire) -> None:
    (await wire.post("configmaps", named("a", data={"x": "1"}))).made()

    answer = await wire.put("configmaps/a", named("a", data={"y": "2"}))

    assert answer.ok()["data"] == {"y": "2"}


@pytest.mark.parametrize(
    ("path", "body", "group"),
    [
        ("leases", named, "coordination.k8s.io"),
        ("poddisruptionbudgets", budget, "policy"),
    ],
)
async def test_but_not_all(wire: Wire, path: str, body: Callable[[str], Json], group: str) -> None:
    (await wire.post(path, body("a"))).made()

    answer = await wire.put(f"{path}/a", body("a"))

    answer.refused(
        422,
        "Invalid",
        "FieldValueInvalid metadata.resourceVersion",
        says="must be specified for an update",
    )
    assert answer.about == {"name": "a", "group": group, "kind": path}


async def test_custom_objects_must_have_been_seen(wire: Wire) -> None:
    async with things(wire, fields(size=NUMBER)) as kind:
        await kind.made({"size": 1})
        answer = await wire.put(kind.at("a"), kind.body("a", spec={"size": 2}))

    answer.refused(422, "Invalid", "FieldValueInvalid metadata.resourceVersion")
    assert answer.about == {"name": "a", "group": kind.group, "kind": "things"}


async def test_another_uid_is_another_object(wire: Wire) -> None:
    (await wire.post("configmaps", named("a"))).made()

    answer = await wire.put("configmaps/a", {"metadata": {"name": "a", "uid": "b"}})

    answer.refused(409, "Conflict", says="Precondition failed: UID in precondition: b")
    assert answer.about == {"name": "a", "kind": "configmaps"}


@pytest.mark.parametrize(
    ("path", "body"),
    [("configmaps", named), ("deployments", deployment), ("persistentvolumeclaims", claim)],
)
async def test_what_is_not_there_cannot_be_replaced(
    wire: Wire, path: str, body: Callable[[str], Json]
) -> None:
    answer = await wire.put(f"{path}/a", body("a"))

    answer.refused(404, "NotFound", says='"a" not found')
    (await wire.get(f"{path}/a")).refused(404, "NotFound")


@pytest.mark.parametrize(
    ("path", "body"), [("services", service), ("leases", named), ("roles", named)]
)
async def test_unless_its_kind_is_made_that_way(
    wire: Wire, path: str, body: Callable[[str], Json]
) -> None:
    made = await wire.put(f"{path}/a", body("a"))

    assert made.made()["metadata.uid"] == (await wire.get(f"{path}/a")).ok()["metadata.uid"]


async def test_but_not_if_a_certain_one_was_meant(wire: Wire) -> None:
    answer = await wire.put("leases/a", {"metadata": {"name": "a", "uid": "u"}})

    answer.refused(409, "Conflict")
    assert answer.about == {"name": "a", "group": "coordination.k8s.io", "kind": "leases"}


async def test_nor_where_there_is_no_namespace(wire: Wire) -> None:
    answer = await wire.put("/apis/coordination.k8s.io/v1/namespaces/nowhere/leases/a", named("a"))

    answer.refused(404, "NotFound", says='namespaces "nowhere" not found')


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"data": {}}, ""),
        (
            {"metadata": {"name": "b"}},
            "the name of the object (b) does not match the name on the URL (a)",
        ),
        (
            {"metadata": {"name": "a", "namespace": "default"}},
            "does not match the namespace sent on the request",
        ),
        ({"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "a"}}, ""),
        ("", ""),
        ("[]", ""),
    ],
    ids=str,
)
async def test_the_body_is_what_the_path_names(wire: Wire, body: Json | str, says: str) -> None:
    (await wire.post("configmaps", named("a"))).made()

    answer = await wire.put("configmaps/a", body)

    answer.refused(400, "BadRequest", says=says)
    assert answer.about == {}


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        ("creationTimestamp", "2001-01-01T00:00:00Z"),
        ("generation", 9),
        ("selfLink", "/mine"),
        ("managedFields", []),
    ],
)
async def test_what_is_the_servers_to_say_stays(wire: Wire, field: str, sent: Any) -> None:
    was = (await wire.post("configmaps", named("a"))).made()

    now = await wire.put("configmaps/a", {"metadata": {"name": "a", field: sent}})

    if field == "managedFields":
        assert (
            now.ok()["metadata.managedFields"] is None
        )  # emptied on purpose: nobody owns anything
    else:
        assert now.ok()[f"metadata.{field}"] == was[f"metadata.{field}"]


@pytest.mark.parametrize(
    ("field", "sent"),
    [("deletionTimestamp", "2001-01-01T00:00:00Z"), ("deletionGracePeriodSeconds", 4)],
)
async def test_nobody_writes_the_end_of_an_object(wire: Wire, field: str, sent: Any) -> None:
    (await wire.post("configmaps", named("a"))).made()

    answer = await wire.put("configmaps/a", {"metadata": {"name": "a", field: sent}})

    answer.refused(422, "Invalid", says=f"metadata.{field}: Invalid value")
    assert set(answer.causes) == {f"FieldValueInvalid metadata.{field}"}


async def test_a_service_keeps_its_address_when_replaced_without(wire: Wire) -> None:
    made = (await wire.post("services", service("a"))).made()

    now = (await wire.put("services/a", service("a", {"port": 81}))).ok()

    assert now["spec.clusterIP"] == made["spec.clusterIP"] is not None
    assert now["spec.ports.0.port"] == 81


@pytest.mark.parametrize("how", ["read", "sent again"])
async def test_a_change_of_nothing_writes_nothing(wire: Wire, how: str) -> None:
    sent = named("a", data={"x": "1"})
    made = (await wire.post("configmaps", sent)).made()

    now = (await wire.put("configmaps/a", made.body if how == "read" else sent)).ok()

    assert now.revision == made.revision == (await wire.get("configmaps/a")).revision
