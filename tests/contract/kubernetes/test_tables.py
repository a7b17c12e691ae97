"""Tables: objects as lines for people, with the columns that a kind has."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.custom import NUMBER, TEXT, fields, things
from contract.kubernetes.wire import Answer, Wire

TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"


async def _pod(wire: Wire) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    (await wire.post("pods", {"metadata": {"name": "p"}, "spec": spec})).made()


def columns(answer: Answer) -> str:
    """Return the columns in a line: those of wide tables in brackets, types that are not text after a colon."""
    return ", ".join(map(_column, answer["columnDefinitions"]))


def _column(it: dict[str, Any]) -> str:
    named = it["name"] if it["type"] == "string" else f"{it['name']}:{it['type']}"
    return f"[{named}]" if it["priority"] else named


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (
            "pods",
            "Name, Ready, Status, Restarts, Age, [IP], [Node], [Nominated Node], [Readiness Gates]",
        ),
        ("statefulsets", "Name, Ready, Age, [Containers], [Images]"),
        (
            "deployments",
            "Name, Ready, Up-to-date, Available, Age, [Containers], [Images], [Selector]",
        ),
        (
            "replicasets",
            "Name, Desired:integer, Current:integer, Ready:integer, Age, [Containers], [Images], [Selector]",
        ),
        ("controllerrevisions", "Name, Controller, Revision, Age"),
        ("jobs", "Name, Status, Completions, Duration, Age, [Containers], [Images], [Selector]"),
        (
            "cronjobs",
            (
                "Name, Schedule, Timezone, Suspend:boolean, Active:integer, Last Schedule, Age,"
                " [Containers], [Images], [Selector]"
            ),
        ),
        ("configmaps", "Name, Data, Age"),
        ("secrets", "Name, Type, Data, Age"),
        ("services", "Name, Type, Cluster-IP, External-IP, Port(s), Age, [Selector]"),
        (
            "events",
            "Last Seen, Type, Reason, Object, [Subobject], [Source], Message, [First Seen], [Count], [Name]",
        ),
        ("leases", "Name, Holder, Age"),
        (
            "persistentvolumeclaims",
            "Name, Status, Volume, Capacity, Access Modes, StorageClass, VolumeAttributesClass, Age, [VolumeMode]",
        ),
        (
            "poddisruptionbudgets",
            "Name, Min Available, Max Unavailable, Allowed Disruptions:integer, Age",
        ),
        ("namespaces", "Name, Status, Age"),
        (
            "nodes",
            (
                "Name, Status, Roles, Age, Version, [Internal-IP], [External-IP], [OS-Image], [Kernel-Version],"
                " [Container-Runtime]"
            ),
        ),
        (
            "storageclasses",
            "Name, Provisioner, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion, Age",
        ),
        ("customresourcedefinitions", "Name, Created At:date"),
        ("roles", "Name, Created At:date"),
        ("rolebindings", "Name, Role, Age, [Users], [Groups], [ServiceAccounts]"),
        ("endpointslices", "Name, AddressType, Ports, Endpoints, Age"),
    ],
)
async def test_columns(wire: Wire, path: str, told: str) -> None:
    answer = (await wire.get(path, accept=TABLE)).ok()

    assert columns(answer) == told
    names = [it["name"] for it in answer["columnDefinitions"] if it["format"] == "name"]
    assert names == ["Name"]


async def test_a_list_as_a_table(wire: Wire) -> None:
    await _pod(wire)

    answer = (await wire.get("pods", accept=TABLE)).ok()

    assert (answer["kind"], answer["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert int(answer.revision) > 0
    cells = answer["rows.0.cells"]
    assert cells[:4] == ["p", "0/1", "Pending", "0"]
    assert cells[5:] == ["<none>"] * 4


async def test_one_object_as_a_table(wire: Wire) -> None:
    await _pod(wire)

    answer = (await wire.get("pods/p", accept=TABLE)).ok()

    assert [it["cells"][0] for it in answer["rows"]] == ["p"]


async def test_an_older_version_of_tables(wire: Wire) -> None:
    answer = (await wire.get("pods", accept=TABLE.replace("v=v1", "v=v1beta1"))).ok()

    assert answer["apiVersion"] == "meta.k8s.io/v1beta1"


@pytest.mark.parametrize(
    ("include", "kind", "parts"),
    [
        ("", "PartialObjectMetadata", {"kind", "apiVersion", "metadata"}),
        ("Metadata", "PartialObjectMetadata", {"kind", "apiVersion", "metadata"}),
        ("Object", "Pod", {"kind", "apiVersion", "metadata", "spec", "status"}),
        ("None", None, None),
    ],
)
async def test_what_a_line_carries(
    wire: Wire, include: str, kind: str | None, parts: set[str] | None
) -> None:
    await _pod(wire)
    query = {"includeObject": include} if include else {}

    answer = (await wire.get("pods", accept=TABLE, **query)).ok()

    carried = answer["rows.0.object"]
    assert answer["rows.0.object.kind"] == kind
    assert (carried and carried.keys()) == parts


async def test_a_line_carries_nothing_else(wire: Wire) -> None:
    (await wire.get("pods", accept=TABLE, includeObject="All")).refused(400, "BadRequest")


async def test_tables_have_pages_and_selections(wire: Wire) -> None:
    for name in "abc":
        (await wire.post("secrets", {"metadata": {"name": name, "labels": {"l": name}}})).made()

    page = (await wire.get("secrets", accept=TABLE, limit=2)).ok()
    query = {"continue": page["metadata.continue"]}
    rest = (await wire.get("secrets", accept=TABLE, limit=2, **query)).ok()
    one = (await wire.get("secrets", accept=TABLE, labelSelector="l=b")).ok()

    found = [[row["cells"][0] for row in it["rows"]] for it in (page, rest, one)]
    assert found == [["a", "b"], ["c"], ["b"]]
    assert page["metadata.remainingItemCount"] == 1


async def test_what_is_not_there_is_no_table(wire: Wire) -> None:
    (await wire.get("pods/p", accept=TABLE)).refused(404, "NotFound")


_COLUMNS = [
    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
    {
        "name": "Color",
        "type": "string",
        "jsonPath": ".spec.color",
        "priority": 1,
        "description": "how it looks",
    },
    {"name": "Made", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]


async def test_a_custom_kind_has_the_columns_that_it_asks_for(wire: Wire) -> None:
    spec = fields(size=NUMBER, color=TEXT)
    async with things(wire, spec, additionalPrinterColumns=_COLUMNS) as kind:
        await kind.made({"size": 3, "color": "red"}, "a")
        await kind.made({}, "b")

        answer = (await wire.get(kind.at(), accept=TABLE)).ok()

        assert columns(answer) == "Name, Size:integer, [Color], Made:date"
        assert [row["cells"][:3] for row in answer["rows"]] == [["a", 3, "red"], ["b", None, None]]
        described = {it["name"]: it["description"] for it in answer["columnDefinitions"]}
        assert described["Color"] == "how it looks"
        assert described["Size"].endswith("(in JSONPath format): .spec.size")


async def test_a_custom_kind_that_asks_for_none_has_two(wire: Wire) -> None:
    async with things(wire, fields(size=NUMBER)) as kind:
        answer = (await wire.get(kind.at(), accept=TABLE)).ok()

        assert columns(answer) == "Name, Age:date"
