"""What a writer is told although the write is fine."""

from __future__ import annotations

import pytest

from contract.kubernetes.bodies import Json, cron_job, deployment, job, named, pod
from contract.kubernetes.custom import (
    OPEN,
    TEXT,
    definition,
    fields,
    listed,
    own_group,
    ruled,
    things,
    version,
    whole,
)
from contract.kubernetes.shapes import owner
from contract.kubernetes.wire import Wire

LONG = "a" * 64
DOTS = "must not contain dots"
LENGTH = "must be no more than 63 characters"


@pytest.mark.parametrize(
    ("kind", "body", "why"),
    [
        ("pods", pod("a.b"), f"used in the Pod's hostname|{DOTS}"),
        ("pods", pod(LONG), f"used in the Pod's hostname|{LENGTH}"),
        ("pods", pod(f"{LONG}.b"), f"used in the Pod's hostname|{LENGTH} {DOTS}"),
        ("deployments", deployment("a.b"), f"used in Pod names and hostnames|{DOTS}"),
        ("jobs", job("a.b"), f"used in Pod names and hostnames|{DOTS}"),
        ("cronjobs", cron_job("a.b"), f"used in Pod names and hostnames|{DOTS}"),
    ],
)
async def test_a_name_becomes_that_of_a_machine(
    wire: Wire, kind: str, body: Json, why: str
) -> None:
    answer = (await wire.post(kind, body, dryRun="All")).made()

    used, problem = why.split("|")
    (said,) = answer.warnings
    assert said.startswith(
        f"metadata.name: this is {used}, which can result in surprising behavior;"
    )
    assert said.endswith(f"a DNS label is recommended: [{problem}]")


async def test_a_good_name_is_no_reason_to_speak(wire: Wire) -> None:
    assert (await wire.post("pods", pod("a-b"), dryRun="All")).made().warnings == ()
    assert (await wire.post("configmaps", named("a.b"), dryRun="All")).made().warnings == ()


async def test_an_owner_that_is_there_twice_is_kept_once(wire: Wire) -> None:
    mine = owner((await wire.post("configmaps", named("owner"))).made())
    body = {"metadata": {"name": "a", "ownerReferences": [mine, mine]}}

    made = (await wire.post("configmaps", body)).made()
    updated = (await wire.put("configmaps/a", body)).ok()
    patched = (await wire.patch("configmaps/a", body)).ok()

    for answer, when in ((made, ""), (updated, ""), (patched, " after mutating admission happens")):
        assert answer["metadata.ownerReferences"] == [mine]
        (said,) = answer.warnings
        assert said.startswith(f".metadata.ownerReferences contains duplicate entries{when};")
        assert said.endswith(f"duplicate UID(s) observed: {mine['uid']}")


async def test_an_owner_that_is_told_differently_is_kept_twice(wire: Wire) -> None:
    mine = owner((await wire.post("configmaps", named("owner"))).made())
    both = [mine, mine | {"controller": True}]

    made = await wire.post("configmaps", {"metadata": {"name": "a", "ownerReferences": both}})

    assert made.made()["metadata.ownerReferences"] == both
    assert made.warnings == ()


@pytest.mark.parametrize(
    ("finalizer", "hint"),
    [("x", ""), ("x.y", " including a path (/)"), ("x.y/z", None), ("orphan", None)],
)
async def test_a_finalizer_of_a_custom_object_says_whose_it_is(
    wire: Wire, finalizer: str, hint: str | None
) -> None:
    async with things(wire, OPEN) as kind:
        body = kind.body(metadata={"finalizers": [finalizer]})
        told = (await wire.post(kind.at(), body, dryRun="All")).made().warnings

    said = (
        f'metadata.finalizers: \\"{finalizer}\\": prefer a domain-qualified finalizer name{hint}'
        " to avoid accidental conflicts with other finalizer writers"
    )
    assert told == ((said,) if hint is not None else ())


async def test_only_a_new_finalizer_is_spoken_of(wire: Wire) -> None:
    async with things(wire, OPEN) as kind:
        (await wire.post(kind.at(), kind.body(metadata={"finalizers": ["x"]}))).made()
        other = (await kind.change({"a": 1})).ok()
        added = (await wire.patch(kind.at("a"), {"metadata": {"finalizers": ["x", "y"]}})).ok()
        (await wire.patch(kind.at("a"), {"metadata": {"finalizers": None}})).ok()

    assert other.warnings == ()
    assert [it.split('"')[1].rstrip("\\") for it in added.warnings] == ["y"]


async def test_what_is_told_is_told_in_any_script(wire: Wire) -> None:
    answer = await wire.post("configmaps", named("a", größe=1), dryRun="All")

    assert answer.made().warnings == ('unknown field \\"größe\\"',)


@pytest.mark.differs("A rule that is let pass because its value is the old one is not told of")
async def test_a_rule_that_is_let_pass_is_told_of(wire: Wire) -> None:
    async with things(wire, fields(a=TEXT, b=TEXT)) as kind:
        await kind.made({"a": "old", "b": "x"})
        (await kind.redefine(version(whole(fields(a=ruled(TEXT, "self == 'new'"), b=TEXT))))).ok()
        await kind.refuses({"a": "other"})

        answer = (await kind.change({"b": "y"})).ok()

        assert len(answer.warnings) == 1
        assert answer.warnings[0].endswith("failed rule: self == 'new'")


@pytest.mark.since("1.35")
async def test_nobody_looks_at_a_format_that_is_not_known(wire: Wire) -> None:
    odd = {name: {"type": "string", "format": name} for name in ("odd", "int32", "date", "mac")}
    schema = fields(**odd, number={"type": "integer", "format": "odd-too"}, all=listed(odd["odd"]))
    body = definition(own_group(), version(whole(schema)))

    answer = (await wire.post("customresourcedefinitions", body, dryRun="All")).made()

    assert sorted(answer.warnings) == [
        r"unrecognized format \"int32\"",
        r"unrecognized format \"odd\"",
    ]


@pytest.mark.parametrize(
    ("count", "length", "told", "cut"),
    [
        (40, 50, 40, 72),
        (100, 80, 41, 102),
        (20, 300, 16, 256),
        (1, 4000, 1, 4022),
        (1, 9000, 1, 256),
    ],
)
async def test_headers_hold_not_all_warnings(
    wire: Wire, count: int, length: int, told: int, cut: int
) -> None:
    odd = {f"odd{number:03d}{'x' * length}": 1 for number in range(count)}

    answer = (await wire.post("configmaps", named("a") | odd)).made()

    lengths = {len(it.replace("\\", "")) for it in answer.warnings}
    assert (len(answer.warnings), lengths) == (told, {cut})
