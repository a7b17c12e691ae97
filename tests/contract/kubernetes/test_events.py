"""Events: what happened to an object, told beside it."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.wire import Wire


def event(wire: Wire, name: str = "e", **change: Any) -> dict[str, Any]:
    involved = {"kind": "Pod", "name": "p", "namespace": wire.namespace}
    told = {
        "reason": "Tried",
        "message": "in vain",
        "type": "Normal",
        "source": {"component": "me"},
    }
    when = {"firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z"}
    return (
        {"metadata": {"name": name}, "involvedObject": involved, "count": 1} | told | when | change
    )


async def test_an_event_counts_how_often_it_happened(wire: Wire) -> None:
    (await wire.post("events", event(wire))).made()

    change = {"count": 2, "lastTimestamp": "2026-01-01T00:01:00Z"}
    again = (await wire.patch("events/e", change)).ok()

    assert (again["count"], again["lastTimestamp"]) == (2, "2026-01-01T00:01:00Z")
    assert again["firstTimestamp"] == "2026-01-01T00:00:00Z"
    assert again["metadata.generation"] is None


@pytest.mark.parametrize(
    "involved",
    [
        {"kind": "Pod", "name": "p", "namespace": "elsewhere"},
        {"kind": "Pod", "name": "p"},
        {"kind": "Node", "name": "n"},
        {"apiVersion": "example.com/v1", "kind": "Unicorn", "name": "u", "namespace": "elsewhere"},
        {},
    ],
    ids=["elsewhere", "nowhere", "node", "custom", "nothing"],
)
async def test_an_event_is_where_its_object_is(wire: Wire, involved: dict[str, Any]) -> None:
    answer = await wire.post("events", event(wire, involvedObject=involved))

    answer.refused(
        422,
        "Invalid",
        "FieldValueInvalid involvedObject.namespace",
        says="does not match event.namespace",
    )


async def test_what_happens_to_a_node_is_told_in_the_default_namespace(wire: Wire) -> None:
    body = event(wire, wire.namespace, involvedObject={"kind": "Node", "name": "n"})

    (await wire.post("/api/v1/namespaces/default/events", body)).made()
    (await wire.delete(f"/api/v1/namespaces/default/events/{wire.namespace}")).ok()


@pytest.mark.parametrize(
    "change",
    [{"type": "Odd"}, {"type": ""}, {"reason": ""}, {"message": "m" * 2000}],
    ids=["odd type", "no type", "no reason", "long message"],
)
async def test_an_event_may_say_anything(wire: Wire, change: dict[str, Any]) -> None:
    (await wire.post("events", event(wire, **change))).made()


_MOMENT = "2026-01-01T00:00:00.000000Z"
_REPORTER = {"reportingComponent": "example.com/me", "reportingInstance": "me-0", "action": "Try"}


async def test_an_event_of_the_new_kind(wire: Wire) -> None:
    made = (await wire.post("events", event(wire, eventTime=_MOMENT, **_REPORTER))).made()

    assert made["eventTime"] == _MOMENT


@pytest.mark.parametrize("missing", sorted(_REPORTER))
async def test_an_event_of_the_new_kind_says_who_reports_it(wire: Wire, missing: str) -> None:
    body = event(wire, eventTime=_MOMENT, **_REPORTER)
    del body[missing]

    answer = await wire.post("events", body)

    assert (answer.code, answer["reason"]) == (422, "Invalid")
    assert f"FieldValueRequired {missing}" in answer.causes


@pytest.mark.parametrize(
    "moment", ["yesterday", "2026-01-01T00:00:00Z"], ids=["word", "whole seconds"]
)
async def test_the_moment_of_the_new_kind_has_microseconds(wire: Wire, moment: str) -> None:
    answer = await wire.post("events", event(wire, eventTime=moment, **_REPORTER))

    answer.refused(400, "BadRequest", says='Event in version "v1" cannot be handled as a Event')


async def test_events_are_found_by_what_they_are_about(wire: Wire) -> None:
    other = {"kind": "Secret", "name": "s", "namespace": wire.namespace}
    (await wire.post("events", event(wire, "a"))).made()
    (await wire.post("events", event(wire, "b", involvedObject=other, type="Warning"))).made()

    for selector, found in {
        "involvedObject.kind=Pod,involvedObject.name=p": ["a"],
        "type=Warning": ["b"],
        "reason=Tried,type!=Warning": ["a"],
    }.items():
        assert (await wire.get("events", fieldSelector=selector)).ok().names == found


async def test_an_update_makes_an_event_that_is_not_there(wire: Wire) -> None:
    (await wire.put("events/e", event(wire))).made()


async def test_an_event_says_what_it_does_not_know(wire: Wire) -> None:
    made = (await wire.post("events", event(wire))).made()

    moments = {"firstTimestamp": None, "lastTimestamp": None, "eventTime": None}
    unknown = moments | {"source": {}, "reportingComponent": "", "reportingInstance": ""}
    given = event(wire)
    for name in unknown.keys() - given.keys():
        assert name in made.body
        assert made[name] == unknown[name]
