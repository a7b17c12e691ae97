"""Leases: who leads, since when, and that nobody takes over unseen."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.wire import Wire

_MOMENT = "2026-01-01T00:00:00.000000Z"
_LATER = "2026-01-01T00:00:05.000000Z"


def lease(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "l"}, "spec": spec}


async def test_a_lease_is_taken_and_renewed(wire: Wire) -> None:
    held = {"holderIdentity": "a", "leaseDurationSeconds": 15, "leaseTransitions": 0}
    taken = (
        await wire.post("leases", lease(**held, acquireTime=_MOMENT, renewTime=_MOMENT))
    ).made()

    body = taken.body
    body["spec"]["renewTime"] = _LATER
    renewed = (await wire.put("leases/l", body)).ok()

    assert (renewed["spec.acquireTime"], renewed["spec.renewTime"]) == (_MOMENT, _LATER)
    assert renewed["metadata.generation"] is None


async def test_of_two_who_saw_the_same_one_takes_it(wire: Wire) -> None:
    seen = (await wire.post("leases", lease(holderIdentity=""))).made().body

    (await wire.put("leases/l", seen | {"spec": {"holderIdentity": "a"}})).ok()
    late = await wire.put("leases/l", seen | {"spec": {"holderIdentity": "b"}})

    late.refused(
        409, "Conflict", says='leases.coordination.k8s.io "l": the object has been modified'
    )
    assert (await wire.get("leases/l"))["spec.holderIdentity"] == "a"
    assert late["details.group"] == "coordination.k8s.io"


async def test_nobody_takes_over_unseen(wire: Wire) -> None:
    (await wire.post("leases", lease(holderIdentity="a"))).made()

    answer = await wire.put("leases/l", lease(holderIdentity="b"))

    answer.refused(
        422,
        "Invalid",
        "FieldValueInvalid metadata.resourceVersion",
        says="must be specified for an update",
    )


async def test_an_update_makes_a_lease_that_is_not_there(wire: Wire) -> None:
    (await wire.put("leases/l", lease(holderIdentity="a"))).made()


@pytest.mark.parametrize("field", ["renewTime", "acquireTime"])
@pytest.mark.parametrize(
    "moment",
    [
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00.123Z",
        "2026-01-01T00:00:00.1234567Z",
        "2026-13-01T00:00:00.000000Z",
        "yesterday",
        "",
        5,
    ],
)
async def test_moments_have_exactly_six_digits(wire: Wire, field: str, moment: Any) -> None:
    answer = await wire.post("leases", lease(**{field: moment}))

    answer.refused(400, "BadRequest", says='Lease in version "v1" cannot be handled as a Lease')


@pytest.mark.parametrize(
    "spec", [{}, {"renewTime": None}, {"renewTime": "2026-01-01T00:00:00.123456Z"}], ids=str
)
async def test_moments_may_be_left_out(wire: Wire, spec: dict[str, Any]) -> None:
    made = (await wire.post("leases", lease(**spec))).made()

    assert made["spec.renewTime"] == spec.get("renewTime")


@pytest.mark.differs("Moments are kept as they were written, not turned into UTC.")
async def test_moments_are_told_in_one_zone(wire: Wire) -> None:
    made = (await wire.post("leases", lease(renewTime="2026-01-01T02:00:00.000001+02:00"))).made()

    assert made["spec.renewTime"] == "2026-01-01T00:00:00.000001Z"


@pytest.mark.parametrize(
    ("field", "number", "said"),
    [
        ("leaseDurationSeconds", 0, "Invalid value: 0: must be greater than 0"),
        ("leaseDurationSeconds", -1, "Invalid value: -1: must be greater than 0"),
        ("leaseTransitions", -1, "Invalid value: -1: must be greater than or equal to 0"),
    ],
)
async def test_numbers_that_make_sense(wire: Wire, field: str, number: int, said: str) -> None:
    answer = await wire.post("leases", lease(**{field: number}))

    answer.refused(422, "Invalid", f"FieldValueInvalid spec.{field}", says=said)


@pytest.mark.parametrize("spec", [{"leaseDurationSeconds": "5"}, {"holderIdentity": 7}], ids=str)
async def test_types_are_what_they_are(wire: Wire, spec: dict[str, Any]) -> None:
    (await wire.post("leases", lease(**spec))).refused(400, "BadRequest")


async def test_a_lease_has_no_strategy_yet(wire: Wire) -> None:
    asked = {"strategy": "OldestEmulationVersion", "preferredHolder": "x", "holderIdentity": "y"}

    made = (await wire.post("leases", lease(**asked), fieldValidation="Strict")).made()

    assert "strategy" not in made["spec"]
    assert "preferredHolder" not in made["spec"]
