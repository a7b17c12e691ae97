"""Labels, annotations, owners and finalizers: what they may be, and where what is wrong is told."""

from __future__ import annotations

import pytest

from contract.kubernetes.bodies import Json, deployment, named
from contract.kubernetes.wire import Answer, Wire

OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}
#: Bytes that all annotations of an object may have together.
MOST = 256 * 1024


async def written(wire: Wire, **metadata: object) -> Answer:
    return await wire.post("configmaps", {"metadata": {"name": "a", **metadata}}, dryRun="All")


@pytest.mark.parametrize(
    "key", ["a b", "a" * 64, f"x/{'a' * 64}", "/a", "a/b/c", "ü", f"{'x' * 254}/a", "-a"]
)
async def test_an_odd_key_of_a_label_or_note(wire: Wire, key: str) -> None:
    labelled, noted = (
        await written(wire, labels={key: "x"}),
        await written(wire, annotations={key: "x"}),
    )

    labelled.refused(422, "Invalid", "FieldValueInvalid metadata.labels")
    noted.refused(422, "Invalid", "FieldValueInvalid metadata.annotations")


async def test_the_domain_of_a_note_may_be_in_capitals(wire: Wire) -> None:
    (await written(wire, annotations={"X.y/a": "x"})).made()
    (await written(wire, labels={"X.y/a": "x"})).refused(
        422, "Invalid", "FieldValueInvalid metadata.labels"
    )


@pytest.mark.parametrize("value", ["c d", "c" * 64, "-c", "c-", "ü", "a/b"])
async def test_a_label_is_a_word_and_a_note_anything(wire: Wire, value: str) -> None:
    (await written(wire, labels={"a": value})).refused(
        422, "Invalid", "FieldValueInvalid metadata.labels"
    )
    (await written(wire, annotations={"a": value})).made()


@pytest.mark.parametrize(
    "labels", [{"a": ""}, {"a_b.C-d": "E_f.9"}, {"x.y/" + "a" * 63: "c" * 63}], ids=str
)
async def test_plain_labels(wire: Wire, labels: Json) -> None:
    assert (await written(wire, labels=labels)).made()["metadata.labels"] == labels


async def test_each_wrong_word_is_a_cause(wire: Wire) -> None:
    answer = await written(wire, labels={"a b": "c d", "e f": "x"})

    answer.refused(422, "Invalid", *["FieldValueInvalid metadata.labels"] * 3)


async def test_all_places_are_told_at_once(wire: Wire) -> None:
    answer = await written(
        wire, name="A", labels={"a b": "c"}, annotations={"a b": "c"}, finalizers=["nobody"]
    )

    places = ("name", "labels", "annotations", "finalizers[0]")
    answer.refused(422, "Invalid", *(f"FieldValueInvalid metadata.{it}" for it in places))


@pytest.mark.parametrize("path", ["configmaps", "deployments"])
async def test_notes_have_a_size_together(wire: Wire, path: str) -> None:
    body = named("a") if path == "configmaps" else deployment("a")
    half = "x" * (MOST // 2)

    fits = body | {"metadata": {"name": "a", "annotations": {"a": half, "b": half[:-2]}}}
    more = body | {"metadata": {"name": "a", "annotations": {"a": half, "b": half[:-1]}}}

    (await wire.post(path, fits, dryRun="All")).made()
    (await wire.post(path, more, dryRun="All")).refused(
        422,
        "Invalid",
        "FieldValueTooLong metadata.annotations",
        says=f"metadata.annotations: Too long: may not be more than {MOST} bytes",
    )


@pytest.mark.parametrize("field", list(OWNER))
async def test_an_owner_is_told_whole(wire: Wire, field: str) -> None:
    answer = await written(wire, ownerReferences=[OWNER | {field: ""}])

    answer.refused(422, "Invalid", f"FieldValueInvalid metadata.ownerReferences.{field}")


@pytest.mark.parametrize(
    ("owners", "field"),
    [
        ([OWNER | {"apiVersion": "a/b/c"}], "ownerReferences.apiVersion"),
        ([OWNER | {"kind": "Event"}], "ownerReferences"),
        ([OWNER | {"uid": it, "controller": True} for it in "uv"], "ownerReferences"),
    ],
    ids=["version", "event", "two controllers"],
)
async def test_who_cannot_own(wire: Wire, owners: list[Json], field: str) -> None:
    answer = await written(wire, ownerReferences=owners)

    answer.refused(422, "Invalid", f"FieldValueInvalid metadata.{field}")


async def test_an_owner_told_twice_is_one(wire: Wire) -> None:
    made = (await written(wire, ownerReferences=[OWNER, OWNER | {"uid": "v"}, OWNER])).made()

    assert [it["uid"] for it in made["metadata.ownerReferences"]] == ["u", "v"]


@pytest.mark.parametrize("finalizer", ["a.b/c", "orphan", "foregroundDeletion", "kubernetes"])
async def test_a_finalizer_is_a_known_one_or_has_a_domain(wire: Wire, finalizer: str) -> None:
    assert (await written(wire, finalizers=[finalizer])).made()["metadata.finalizers"] == [
        finalizer
    ]


@pytest.mark.parametrize(
    ("finalizers", "fields"),
    [
        (["a.b/c", "nobody"], ["finalizers[1]"]),
        (["a b"], ["finalizers", "finalizers[0]"]),
        (["a/b/c"], ["finalizers"]),
        (["A.b/c"], ["finalizers"]),
        (["orphan", "foregroundDeletion"], ["finalizers"]),
    ],
    ids=str,
)
async def test_other_finalizers_are_none(
    wire: Wire, finalizers: list[str], fields: list[str]
) -> None:
    answer = await written(wire, finalizers=finalizers)

    answer.refused(422, "Invalid", *(f"FieldValueInvalid metadata.{it}" for it in fields))
