"""Custom objects as lines of a table."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.custom import NUMBER, OPEN, TEXT, fields, things
from contract.kubernetes.wire import Wire

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
SPEC = {
    "text": "x",
    "whole": 5,
    "half": 1.5,
    "yes": True,
    "list": ["p", "q"],
    "object": {"k": 1},
    "past": "2020-01-01T00:00:00Z",
    "conditions": [{"type": "Good", "status": "no"}, {"type": "Ready", "status": "yes"}],
}


@pytest.mark.parametrize(
    ("kind_of_cell", "path", "cell"),
    [
        ("string", ".spec.text", "x"),
        ("string", ".spec.whole", "5"),
        ("string", ".spec.yes", "true"),
        ("string", ".spec.list", '["p","q"]'),
        ("string", ".spec.object", '{"k":1}'),
        ("string", ".spec.list[1]", "q"),
        ("string", ".spec.list[*]", "p"),
        ("string", ".spec.conditions[?(@.type=='Ready')].status", "yes"),
        ("string", r".metadata.labels.a\.b/c", "label"),
        ("string", ".spec.nothing", None),
        ("string", ".spec.list[9]", None),
        ("integer", ".spec.whole", 5),
        ("integer", ".spec.half", 1),
        ("integer", ".spec.text", None),
        ("number", ".spec.half", 1.5),
        ("number", ".spec.whole", 5),
        ("boolean", ".spec.yes", True),
        ("boolean", ".spec.text", None),
        ("date", ".spec.text", "<invalid>"),
        ("date", ".spec.nothing", None),
    ],
)
async def test_what_a_cell_shows(wire: Wire, kind_of_cell: str, path: str, cell: Any) -> None:
    column = {"name": "It", "type": kind_of_cell, "jsonPath": path}
    async with things(wire, OPEN, additionalPrinterColumns=[column]) as kind:
        body = kind.body("a", metadata={"labels": {"a.b/c": "label"}}, spec=SPEC)
        (await wire.post(kind.at(), body)).made()

        table = (await wire.get(kind.at(), accept=TABLE)).ok()

        assert (table["rows.0.cells"], table["kind"]) == (["a", cell], "Table")
        assert table["rows.0.object.kind"] == "PartialObjectMetadata"


async def test_a_column_says_what_it_is(wire: Wire) -> None:
    terms = {"description": "how many", "priority": 1, "format": "int32"}
    column = {"name": "Size", "type": "integer", "jsonPath": ".spec.size", **terms}
    async with things(wire, fields(size=NUMBER), additionalPrinterColumns=[column]) as kind:
        table = (await wire.get(kind.at(), accept=TABLE)).ok()

        first, second = table["columnDefinitions"]
        assert (first["name"], first["format"]) == ("Name", "name")
        assert second == {"name": "Size", "type": "integer", **terms}
        assert table["rows"] == []


async def test_a_moment_is_shown_as_its_age(wire: Wire) -> None:
    column = {"name": "Past", "type": "date", "jsonPath": ".spec.past"}
    async with things(wire, OPEN, additionalPrinterColumns=[column]) as kind:
        await kind.made(SPEC)

        (_, age) = (await kind.get(accept=TABLE))["rows.0.cells"]

        assert age[0].isdigit()
        assert "y" in age


async def test_without_columns_a_line_is_a_name_and_an_age(wire: Wire) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        await kind.made({})

        table = await kind.get(accept=TABLE)

        assert [it["name"] for it in table["columnDefinitions"]] == ["Name", "Age"]


async def test_the_columns_change_with_the_definition(wire: Wire) -> None:
    async with things(wire, fields(a=TEXT)) as kind:
        column = {"name": "A", "type": "string", "jsonPath": ".spec.a"}
        await kind.made({"a": "x"})
        definition = (await wire.get(kind.definition)).body
        definition["spec"]["versions"][0]["additionalPrinterColumns"] = [column]
        (await wire.put(kind.definition, definition)).ok()

        async def shows() -> bool:
            return bool((await kind.get(accept=TABLE))["rows.0.cells"] == ["a", "x"])

        await wire.until(shows)
