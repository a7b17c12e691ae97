"""Protobuf: the bytes that a client in Go writes, and what JSON would have been."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.local.server.protobuf.reading import MAGIC, NotProtobuf, document


def varint(value: int) -> bytes:
    found = bytearray()
    value &= (1 << 64) - 1
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    raw = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def message(*fields: bytes) -> bytes:
    return b"".join(fields)


def sent(api_version: str, kind: str, raw: bytes) -> bytes:
    return MAGIC + field(1, field(1, api_version) + field(2, kind)) + field(2, raw)


def named(name: str) -> bytes:
    """Metadata as Go writes it: with every field that is no pointer."""
    empty = [field(number, "") for number in (2, 3, 4, 5, 6)]
    return field(1, message(field(1, name), *empty, field(7, 0), field(8, b"")))


def pair(key: str, value: bytes | str) -> bytes:
    return field(1, key) + field(2, value)


METADATA = {"metadata": {"name": "a"}}
PORT = message(
    field(1, "http"),
    field(2, ""),
    field(3, 80),
    field(4, message(field(1, 0), field(2, 8080), field(3, ""))),
    field(5, 0),
)
PROBE = message(
    field(1, field(3, field(1, message(field(1, 1), field(2, 0), field(3, "http"))))), field(2, 0)
)


@pytest.mark.parametrize(
    ("api_version", "kind", "raw", "expected"),
    [
        ("v1", "Namespace", named("a") + field(2, b"") + field(3, field(1, "")), METADATA),
        (
            "v1",
            "ConfigMap",
            named("a") + field(2, pair("k", "v")) + field(2, pair("l", "w")),
            METADATA | {"data": {"k": "v", "l": "w"}},
        ),
        (
            "v1",
            "Secret",
            named("a") + field(2, pair("k", b"\x00\xff")) + field(3, "Opaque"),
            METADATA | {"data": {"k": "AP8="}, "type": "Opaque"},
        ),
        ("apps/v1", "Deployment", field(2, field(1, 0)), {"spec": {"replicas": 0}}),
        (
            "v1",
            "Service",
            field(2, field(1, PORT)),
            {"spec": {"ports": [{"name": "http", "port": 80, "targetPort": 8080}]}},
        ),
        (
            "v1",
            "Pod",
            field(2, field(2, field(1, "m") + field(10, PROBE))),
            {
                "spec": {
                    "containers": [{"name": "m", "livenessProbe": {"tcpSocket": {"port": "http"}}}]
                }
            },
        ),
        ("v1", "Pod", field(2, field(4, -1)), {"spec": {"terminationGracePeriodSeconds": -1}}),
        (
            "policy/v1",
            "PodDisruptionBudget",
            field(2, field(1, field(1, 1) + field(3, "50%"))),
            {"spec": {"minAvailable": "50%"}},
        ),
        (
            "coordination.k8s.io/v1",
            "Lease",
            field(2, field(3, message(field(1, 1_700_000_000), field(2, 5000)))),
            {"spec": {"acquireTime": "2023-11-14T22:13:20.000005Z"}},
        ),
        (
            "v1",
            "DeleteOptions",
            field(1, 0) + field(4, "Foreground"),
            {"gracePeriodSeconds": 0, "propagationPolicy": "Foreground"},
        ),
        ("v1", "ConfigMap", named("a") + field(999, "of a later version"), METADATA),
    ],
    ids=lambda it: it if isinstance(it, str) else "",
)
def test_what_go_writes(api_version: str, kind: str, raw: bytes, expected: Any) -> None:
    assert (
        document(sent(api_version, kind, raw))
        == {"apiVersion": api_version, "kind": kind} | expected
    )


def test_json_in_an_envelope() -> None:
    body = MAGIC + field(2, b'{"kind": "Widget"}') + field(4, "application/json")

    assert document(body) == {"kind": "Widget"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        MAGIC,
        sent("example.com/v1", "Widget", b""),
        sent("v1", "ConfigMap", b"\x0a\xff"),
        sent("v1", "ConfigMap", b"\x0b"),
        sent("v1", "ConfigMap", b"\x80" * 20),
        sent("v1", "ConfigMap", field(1, 7)),
        sent("v1", "ConfigMap", field(1, field(1, b"\xff\xfe"))),
        sent("apps/v1", "Deployment", field(2, field(1, "many"))),
    ],
)
def test_what_is_none(body: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - bad text inside is one, too
        document(body)


@given(st.binary(max_size=200))
def test_no_bytes_cause_anything_else(raw: bytes) -> None:
    try:
        document(sent("v1", "Pod", raw))
    except (NotProtobuf, UnicodeDecodeError):
        return
