"""Who owns which field: what is recorded in managedFields, who disputes what, and who lets go."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.custom import (
    NUMBER,
    TEXT,
    Things,
    fields,
    keyed,
    listed,
    things,
)
from contract.kubernetes.wire import Answer, Wire


def config(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}


def owners(answer: Answer) -> dict[str, Any]:
    """Return what each manager owns, by ``manager/operation`` and the subresource if any."""
    found = answer["metadata.managedFields"] or []
    return {_who(it): it["fieldsV1"] for it in found}


def _who(entry: dict[str, Any]) -> str:
    words = [entry["manager"], entry["operation"], entry.get("subresource")]
    return "/".join(filter(None, words))


def data(*names: str) -> dict[str, Any]:
    return {"f:data": {f"f:{name}": {} for name in names}}


# ------------------------------------------------------------------ what is recorded
async def test_a_record_says_who_how_and_in_which_version(wire: Wire) -> None:
    made = (await wire.apply("configmaps/a", config(x="1"))).made()

    (entry,) = made["metadata.managedFields"]
    assert entry.pop("time").endswith("Z")
    assert entry == {
        "manager": "me",
        "operation": "Apply",
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": data("x"),
    }


@pytest.mark.parametrize(
    ("agent", "manager"),
    [("story/1.2 (linux)", "story"), ("story", "story"), ("", "unknown")],
    ids=["version", "name", "none"],
)
async def test_who_gives_no_name_is_called_after_its_program(
    wire: Wire, agent: str, manager: str
) -> None:
    made = await wire.ask("POST", "configmaps", config(x="1"), headers={"User-Agent": agent})

    made.made()
    assert owners(made) == {f"{manager}/Update": {"f:data": {".": {}, "f:x": {}}}}


async def test_another_version_of_a_program_is_the_same_manager(wire: Wire) -> None:
    await wire.ask("POST", "configmaps", config(x="1"), headers={"User-Agent": "story/1"})

    changed = await wire.ask(
        "PUT", "configmaps/a", config(x="2", y="1"), headers={"User-Agent": "story/2"}
    )

    assert owners(changed) == {"story/Update": {"f:data": {".": {}, "f:x": {}, "f:y": {}}}}


async def test_an_update_takes_only_what_it_changes(wire: Wire) -> None:
    await wire.post("configmaps", config(x="1", y="1"), fieldManager="first")

    changed = await wire.put("configmaps/a", config(x="2", y="1"), fieldManager="second")

    assert owners(changed) == {
        "first/Update": {"f:data": {".": {}, "f:y": {}}},
        "second/Update": data("x"),
    }


async def test_the_status_has_records_of_its_own(wire: Wire) -> None:
    async with things(wire, fields(size=NUMBER), subresources={"status": {}}) as kind:
        await wire.apply(kind.at("a"), kind.body(spec={"size": 1}))

        told = await wire.apply(
            kind.at("a/status"), kind.body(spec={"size": 9}, status={"phase": "P"}), "other"
        )

        told.ok()
        assert (told["spec.size"], told["status.phase"]) == (1, "P")
        assert owners(told) == {
            "me/Apply": {"f:spec": {"f:size": {}}},
            "other/Apply/status": {"f:status": {"f:phase": {}}},
        }


async def test_items_are_named_by_their_keys(wire: Wire) -> None:
    port = {"containerPort": 80}
    container = {"name": "c", "image": "i", "env": [{"name": "A", "value": "1"}], "ports": [port]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}

    made = (await wire.apply("pods/p", pod | {"spec": {"containers": [container]}})).made()

    variable = {".": {}, "f:name": {}, "f:value": {}}
    assert owners(made)["me/Apply"]["f:spec"]["f:containers"] == {
        'k:{"name":"c"}': {
            ".": {},
            "f:name": {},
            "f:image": {},
            "f:env": {'k:{"name":"A"}': variable},
            "f:ports": {
                'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}
            },
        }
    }


async def test_metadata_that_can_be_owned(wire: Wire) -> None:
    meta = {"name": "a", "labels": {"l": "1"}, "annotations": {"n": "1"}, "finalizers": ["x.y/z"]}

    made = await wire.apply("configmaps/a", config() | {"metadata": meta})
    freed = await wire.apply("configmaps/a", config())

    assert owners(made)["me/Apply"]["f:metadata"] == {
        "f:annotations": {"f:n": {}},
        "f:finalizers": {'v:"x.y/z"': {}},
        "f:labels": {"f:l": {}},
    }
    assert not {"labels", "annotations", "finalizers"} & freed["metadata"].keys()


# ------------------------------------------------------------------ disputes
async def test_a_dispute_names_the_other_and_the_field(wire: Wire) -> None:
    await wire.apply("configmaps/a", config(x="1"))

    answer = await wire.apply("configmaps/a", config(x="2"), "other")

    answer.refused(
        409,
        "Conflict",
        "FieldManagerConflict .data.x",
        says='Apply failed with 1 conflict: conflict with "me": .data.x',
    )
    assert answer["details.causes.0.message"] == 'conflict with "me"'
    assert answer["details.name"] is None


async def test_a_dispute_with_one_who_does_not_apply(wire: Wire) -> None:
    await wire.post("configmaps", config(x="1", y="1"), fieldManager="it")

    answer = await wire.apply("configmaps/a", config(x="2", y="2"))

    answer.refused(
        409,
        "Conflict",
        "FieldManagerConflict .data.x",
        "FieldManagerConflict .data.y",
        says='Apply failed with 2 conflicts: conflicts with "it" using v1:\n- .data.x\n- .data.y',
    )


async def test_a_dispute_with_several(wire: Wire) -> None:
    await wire.apply("configmaps/a", config(x="1"), "first")
    await wire.apply("configmaps/a", config(y="1", z="1"), "second")

    answer = await wire.apply("configmaps/a", config(x="2", y="2", z="2"))

    assert answer.code == 409
    assert answer["message"] == (
        'Apply failed with 3 conflicts: conflicts with "first":\n- .data.x\n'
        'conflicts with "second":\n- .data.y\n- .data.z'
    )


async def test_a_dispute_about_a_status(wire: Wire) -> None:
    async with things(wire, fields(size=NUMBER), subresources={"status": {}}) as kind:
        await wire.apply(kind.at("a"), kind.body(spec={"size": 1}))
        await wire.apply(kind.at("a/status"), kind.body(status={"phase": "P"}))

        answer = await wire.apply(kind.at("a/status"), kind.body(status={"phase": "Q"}), "other")

        answer.refused(
            409,
            "Conflict",
            "FieldManagerConflict .status.phase",
            says='conflict with "me" with subresource "status": .status.phase',
        )


async def test_force_takes_the_field(wire: Wire) -> None:
    await wire.apply("configmaps/a", config(x="1"))

    taken = (await wire.apply("configmaps/a", config(x="2"), "other", force="true")).ok()

    assert owners(taken) == {"other/Apply": data("x")}
    (await wire.apply("configmaps/a", config(x="1"))).refused(409, "Conflict")


# ------------------------------------------------------------------ letting go
async def test_a_shared_field_outlives_one_of_its_owners(wire: Wire) -> None:
    await wire.apply("configmaps/a", config(x="1", y="1"))
    await wire.apply("configmaps/a", config(x="1"), "other")

    left = await wire.apply("configmaps/a", config(y="1"))
    gone = await wire.apply("configmaps/a", config(), "other")

    assert left["data"] == {"x": "1", "y": "1"}
    assert gone["data"] == {"y": "1"}


# ------------------------------------------------------------------ lists of custom kinds
_PARTS = keyed("name", name=TEXT, weight=NUMBER)
_TAGS = listed(TEXT) | {"x-kubernetes-list-type": "set"}
_GEAR = fields(size=NUMBER, color=TEXT, parts=_PARTS, tags=_TAGS, words=listed(TEXT))


async def _gear(kind: Things) -> None:
    spec = {"size": 1, "tags": ["x"], "words": ["w"], "parts": [{"name": "p", "weight": 1}]}
    (await kind.wire.apply(kind.at("a"), kind.body(spec=spec))).made()


async def test_lists_are_owned_as_the_schema_says(wire: Wire) -> None:
    async with things(wire, _GEAR) as kind:
        await _gear(kind)
        spec = {"tags": ["y"], "parts": [{"name": "q"}]}

        both = (await wire.apply(kind.at("a"), kind.body(spec=spec), "other")).ok()

        assert both["spec.tags"] == ["x", "y"]
        assert [it["name"] for it in both["spec.parts"]] == ["p", "q"]
        part = {".": {}, "f:name": {}}
        assert owners(both) == {
            "me/Apply": {
                "f:spec": {
                    "f:size": {},
                    "f:tags": {'v:"x"': {}},
                    "f:words": {},
                    "f:parts": {'k:{"name":"p"}': part | {"f:weight": {}}},
                }
            },
            "other/Apply": {
                "f:spec": {"f:tags": {'v:"y"': {}}, "f:parts": {'k:{"name":"q"}': part}}
            },
        }


async def test_a_dispute_tells_plain_fields_first(wire: Wire) -> None:
    async with things(wire, _GEAR) as kind:
        await _gear(kind)
        spec = {"size": 2, "words": ["v"], "parts": [{"name": "p", "weight": 2}]}

        answer = await wire.apply(kind.at("a"), kind.body(spec=spec), "other")

        assert [it["field"] for it in answer["details.causes"]] == [
            ".spec.size",
            ".spec.words",
            '.spec.parts[name="p"].weight',
        ]


async def test_a_dispute_about_a_port(wire: Wire) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}

    def ports(*names: str) -> dict[str, Any]:
        listed = [{"port": 80 + place, "name": name} for place, name in enumerate(names)]
        return service | {"spec": {"ports": listed}}

    (await wire.apply("services/s", ports("x"))).made()

    answer = await wire.apply("services/s", ports("y", "z"), "other")

    answer.refused(409, "Conflict", 'FieldManagerConflict .spec.ports[port=80,protocol="TCP"].name')


# ------------------------------------------------------------------ records that are written
@pytest.mark.parametrize("nothing", [[{}], []], ids=["one empty", "none"])
@pytest.mark.parametrize("verb", ["put", "merge"])
async def test_records_can_be_erased(wire: Wire, nothing: list[Any], verb: str) -> None:
    made = (await wire.post("configmaps", config(x="1"))).made()

    if verb == "put":
        body = made.body
        body["metadata"]["managedFields"] = nothing
        answer = await wire.put("configmaps/a", body)
    else:
        answer = await wire.patch("configmaps/a", {"metadata": {"managedFields": nothing}})

    assert owners(answer.ok()) == {}
    assert answer.revision != made.revision


async def _erased(wire: Wire) -> None:
    (await wire.post("configmaps", config(x="1", y="1"))).made()
    (await wire.patch("configmaps/a", {"metadata": {"managedFields": [{}]}})).ok()


async def test_nobody_is_recorded_where_nobody_was(wire: Wire) -> None:
    await _erased(wire)

    changed = await wire.patch("configmaps/a", {"data": {"x": "2"}}, fieldManager="it")

    assert owners(changed.ok()) == {}


async def test_an_object_born_empty_has_no_records_until_somebody_applies(wire: Wire) -> None:
    made = await wire.post("configmaps", {"metadata": {"name": "a"}}, fieldManager="it")
    filled = await wire.patch("configmaps/a", {"data": {"x": "1"}}, fieldManager="it")

    assert (owners(made), owners(filled)) == ({}, {})


async def test_what_was_there_before_the_first_apply_belongs_to_nobody_in_person(
    wire: Wire,
) -> None:
    await _erased(wire)

    refused = await wire.apply("configmaps/a", config(x="2"))
    taken = await wire.apply("configmaps/a", config(x="1"))

    refused.refused(409, "Conflict", says='conflict with "before-first-apply" using v1: .data.x')
    assert owners(taken.ok()) == {
        "me/Apply": data("x"),
        "before-first-apply/Update": {"f:data": {".": {}, "f:x": {}, "f:y": {}}},
    }


def _record(**change: Any) -> dict[str, Any]:
    known = {"manager": "z", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    return known | {"fieldsV1": data("x")} | change


async def test_records_can_be_written_and_count(wire: Wire) -> None:
    (await wire.post("configmaps", config(x="1", y="1"))).made()

    changed = await wire.patch("configmaps/a", {"metadata": {"managedFields": [_record()]}})
    freed = await wire.apply("configmaps/a", config(), "z")

    assert owners(changed.ok()) == {"z/Apply": data("x")}
    assert freed["data"] == {"y": "1"}


@pytest.mark.parametrize(
    "change",
    [{"operation": "Guess"}, {"fieldsType": "FieldsV2"}, {"apiVersion": ""}],
    ids=lambda it: next(iter(it)),
)
async def test_records_that_cannot_be_read_change_nothing(
    wire: Wire, change: dict[str, Any]
) -> None:
    made = (await wire.post("configmaps", config(x="1"), fieldManager="it")).made()

    answer = await wire.patch("configmaps/a", {"metadata": {"managedFields": [_record(**change)]}})

    assert answer["metadata.managedFields"] == made["metadata.managedFields"]


async def test_who_sends_no_records_keeps_them(wire: Wire) -> None:
    made = (await wire.post("configmaps", config(x="1"), fieldManager="it")).made()

    answer = await wire.put("configmaps/a", config(x="1"), fieldManager="other")

    assert answer["metadata.managedFields"] == made["metadata.managedFields"]
