"""Secrets and ConfigMaps: data of all types, what a type wants, and what is made to stay."""

from __future__ import annotations

from typing import Any, Final

import pytest

from contract.kubernetes.shapes import thing
from contract.kubernetes.wire import Wire


async def test_a_secret_is_opaque(wire: Wire) -> None:
    made = (await wire.post("secrets", thing())).made()

    assert (made["type"], made["data"]) == ("Opaque", None)


async def test_text_becomes_data_and_wins(wire: Wire) -> None:
    body = thing(data={"a": "YQ==", "b": "Yg=="}, stringData={"b": "other"})

    made = (await wire.post("secrets", body)).made()

    assert made["data"] == {"a": "YQ==", "b": "b3RoZXI="}
    assert "stringData" not in made.body


async def test_text_can_be_patched_in(wire: Wire) -> None:
    (await wire.post("secrets", thing(data={"a": "YQ=="}))).made()

    changed = (await wire.patch("secrets/a", {"stringData": {"b": "b"}})).ok()

    assert changed["data"] == {"a": "YQ==", "b": "Yg=="}


async def test_a_config_map_holds_text_and_bytes(wire: Wire) -> None:
    body = thing(data={"text": "grüße"}, binaryData={"bytes": "AP8="})

    made = (await wire.post("configmaps", body)).made()

    assert (made["data"], made["binaryData"]) == (body["data"], body["binaryData"])


TYPE: Final = "kubernetes.io/"
WRONG: Final[list[tuple[str, Any, tuple[str, ...]]]] = [
    ("secrets", {"type": f"{TYPE}tls"}, ("Required data[tls.crt]", "Required data[tls.key]")),
    (
        "secrets",
        {"type": f"{TYPE}basic-auth"},
        ("Required data[username]", "Required data[password]"),
    ),
    ("secrets", {"type": f"{TYPE}ssh-auth"}, ("Required data[ssh-privatekey]",)),
    ("secrets", {"type": f"{TYPE}dockerconfigjson"}, ("Required data[.dockerconfigjson]",)),
    (
        "secrets",
        {"type": f"{TYPE}dockerconfigjson", "stringData": {".dockerconfigjson": "{"}},
        ("Invalid data[.dockerconfigjson]",),
    ),
    (
        "secrets",
        {"type": f"{TYPE}service-account-token"},
        (f"Required metadata.annotations[{TYPE}service-account.name]",),
    ),
    ("secrets", {"stringData": {"a b": "x"}}, ("Invalid data[a b]",)),
    ("secrets", {"stringData": {"..": "x"}}, ("Invalid data[..]",)),
    ("configmaps", {"data": {"a/b": "x"}}, ("Invalid data[a/b]",)),
    ("configmaps", {"data": {"a": "x"}, "binaryData": {"a": "eA=="}}, ("Invalid data[a]",)),
]


@pytest.mark.parametrize(
    ("kind", "parts", "causes"), WRONG, ids=[f"{it[0]} {it[2][0]}" for it in WRONG]
)
async def test_what_makes_no_sense(
    wire: Wire, kind: str, parts: Any, causes: tuple[str, ...]
) -> None:
    answer = await wire.post(kind, thing(**parts))

    answer.refused(422, "Invalid", *(f"FieldValue{it}" for it in causes))


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("secrets", {"data": {"a": "!"}}),
        ("configmaps", {"binaryData": {"a": "!"}}),
        ("configmaps", {"data": {"a": 1}}),
    ],
    ids=["no base64", "no bytes", "no text"],
)
async def test_what_cannot_be_read(wire: Wire, kind: str, parts: Any) -> None:
    (await wire.post(kind, thing(**parts))).refused(400, "BadRequest")


async def test_a_type_with_all_it_wants(wire: Wire) -> None:
    body = thing(type=f"{TYPE}tls", stringData={"tls.crt": "", "tls.key": ""})

    assert (await wire.post("secrets", body)).made()["type"] == f"{TYPE}tls"


async def test_a_type_stays(wire: Wire) -> None:
    (await wire.post("secrets", thing())).made()

    answer = await wire.patch("secrets/a", {"type": "example.com/other"})

    answer.refused(422, "Invalid", "FieldValueInvalid type", says="field is immutable")


FROZEN: Final = "field is immutable when `immutable` is set"


@pytest.mark.parametrize(
    ("kind", "change", "field"),
    [
        ("secrets", {"stringData": {"a": "c"}}, "data"),
        ("configmaps", {"data": {"a": "c"}}, "data"),
        ("configmaps", {"binaryData": {"z": "eA=="}}, "binaryData"),
        ("secrets", {"immutable": False}, "immutable"),
        ("configmaps", {"immutable": None}, "immutable"),
    ],
    ids=["a secret", "a config map", "its bytes", "thawed", "forgotten"],
)
async def test_what_is_made_to_stay_stays(wire: Wire, kind: str, change: Any, field: str) -> None:
    (await wire.post(kind, thing(immutable=True, data={"a": "YQ=="}))).made()

    answer = await wire.patch(f"{kind}/a", change)

    answer.refused(422, "Invalid", f"FieldValueForbidden {field}", says=FROZEN)


@pytest.mark.parametrize("kind", ["secrets", "configmaps"])
async def test_it_can_still_be_labelled_and_go(wire: Wire, kind: str) -> None:
    (await wire.post(kind, thing(immutable=True, data={"a": "YQ=="}))).made()

    (await wire.patch(f"{kind}/a", {"metadata": {"labels": {"x": "y"}}})).ok()
    (await wire.delete(f"{kind}/a")).ok()
