"""Names: who gives them, which are allowed, and that each is given once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from contract.kubernetes.bodies import (
    Json,
    budget,
    cron_job,
    job,
    named,
    pod,
    service,
    stateful_set,
)
from contract.kubernetes.wire import Wire

LONG = "a" * 64


async def test_a_name_is_given_once(wire: Wire) -> None:
    (await wire.post("configmaps", named("a"))).made()

    again = await wire.post("configmaps", named("a"))

    again.refused(409, "AlreadyExists", says='configmaps "a" already exists')
    assert again.about == {"name": "a", "kind": "configmaps"}


async def test_the_group_of_what_is_there_is_told(wire: Wire) -> None:
    (await wire.post("poddisruptionbudgets", budget("a"))).made()

    again = await wire.post("poddisruptionbudgets", budget("a"))

    again.refused(409, "AlreadyExists", says='poddisruptionbudgets.policy "a" already exists')
    assert again.about == {"name": "a", "group": "policy", "kind": "poddisruptionbudgets"}


@pytest.mark.parametrize(
    "name",
    [
        "Upper",
        "under_score",
        "-dash",
        "dash-",
        "a..b",
        "a b",
        "a/b",
        "a%b",
        ".",
        "ümlaut",
        "a" * 254,
    ],
)
async def test_an_odd_name_is_refused(wire: Wire, name: str) -> None:
    answer = await wire.post("configmaps", named(name))

    answer.refused(422, "Invalid", "FieldValueInvalid metadata.name")
    assert answer.about == {"name": name, "kind": "ConfigMap"}


@pytest.mark.parametrize("name", ["1", "a.b", "0.0", "a" * 253])
async def test_a_plain_name_is_taken(wire: Wire, name: str) -> None:
    made = (await wire.post("configmaps", named(name))).made()

    assert made.name == name


@pytest.mark.parametrize(
    ("path", "body", "name"),
    [
        ("services", service, "a.b"),
        ("services", service, "1a"),
        ("services", service, LONG),
        ("namespaces", named, "a.b"),
        ("statefulsets", stateful_set, "a.b"),
        ("statefulsets", stateful_set, LONG),
        ("cronjobs", cron_job, "a" * 53),
        ("pods", pod, "A"),
        ("roles", named, "a/b"),
        ("roles", named, "a%b"),
        ("roles", named, ".."),
    ],
)
async def test_kinds_have_names_of_their_own(
    wire: Wire, path: str, body: Callable[[str], Json], name: str
) -> None:
    answer = await wire.post(path, body(name), dryRun="All")

    answer.refused(422, "Invalid", "FieldValueInvalid metadata.name")


@pytest.mark.parametrize(
    ("path", "body", "name"),
    [
        ("services", service, "a" * 63),
        ("namespaces", named, "1a"),
        ("cronjobs", cron_job, "a" * 52),
        ("jobs", job, "a" * 63),
        ("pods", pod, LONG),
        ("roles", named, "system:a b"),
        ("roles", named, "ÄÖ"),
    ],
)
async def test_and_what_others_refuse_may_be_fine(
    wire: Wire, path: str, body: Callable[[str], Json], name: str
) -> None:
    (await wire.post(path, body(name), dryRun="All")).made()


async def test_a_name_can_be_left_to_the_server(wire: Wire) -> None:
    one, other = [await wire.post("configmaps", {"metadata": {"generateName": "a-"}}) for _ in "ab"]

    assert one.made().name != other.made().name
    assert [it.name[:2] for it in (one, other)] == ["a-", "a-"]
    assert len(one.name) == len("a-") + 5
    assert one["metadata.generateName"] == "a-"


async def test_a_long_beginning_is_cut(wire: Wire) -> None:
    made = (await wire.post("configmaps", {"metadata": {"generateName": "a" * 100}})).made()

    assert len(made.name) == 63
    assert made["metadata.generateName"] == "a" * 100


@pytest.mark.parametrize(
    ("path", "body", "prefix"),
    [
        ("configmaps", named, "a" * 254),
        ("services", service, "a" * 64),
    ],
)
async def test_but_it_must_be_the_beginning_of_a_name(
    wire: Wire, path: str, body: Callable[[str], Json], prefix: str
) -> None:
    answer = await wire.post(path, body("") | {"metadata": {"generateName": prefix}})

    answer.refused(422, "Invalid", "FieldValueInvalid metadata.generateName")


async def test_an_odd_beginning_makes_an_odd_name(wire: Wire) -> None:
    answer = await wire.post("configmaps", {"metadata": {"generateName": "A_"}})

    wrong = "FieldValueInvalid metadata.generateName", "FieldValueInvalid metadata.name"
    answer.refused(422, "Invalid", *wrong)
    assert answer.about["name"].startswith("A_")


@pytest.mark.parametrize("metadata", [{}, {"name": ""}, {"generateName": ""}, None])
async def test_there_must_be_some_name(wire: Wire, metadata: Json | None) -> None:
    answer = await wire.post("configmaps", {"metadata": metadata})

    answer.refused(
        422,
        "Invalid",
        "FieldValueRequired metadata.name",
        says='ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    )
    assert answer.about == {"kind": "ConfigMap"}


@pytest.mark.parametrize("written", ["a%2Eb", "%61.%62", "a.b/"])
async def test_a_path_may_write_a_name_in_other_ways(wire: Wire, written: str) -> None:
    made = (await wire.post("configmaps", named("a.b"))).made()

    found = await wire.get(f"configmaps/{written}")

    assert found.ok()["metadata.uid"] == made["metadata.uid"]


async def test_a_name_of_many_tongues_is_found_by_its_bytes(wire: Wire) -> None:
    made = (await wire.post("roles", named("a:b ü"))).made()

    found = await wire.get("roles/a:b%20%C3%BC")

    assert found.ok()["metadata.uid"] == made["metadata.uid"]


@pytest.mark.parametrize("name", ["A", "ü", "a b", "a" * 300])
async def test_a_name_that_nothing_can_have_is_just_not_there(wire: Wire, name: str) -> None:
    answer = await wire.get(f"configmaps/{name}")

    answer.refused(404, "NotFound", says=f'configmaps "{name}" not found')
    assert answer.about == {"name": name, "kind": "configmaps"}


async def test_a_namespace_that_nothing_can_be_called_is_empty(wire: Wire) -> None:
    assert (await wire.get("/api/v1/namespaces/UPPER/configmaps")).ok().names == []
