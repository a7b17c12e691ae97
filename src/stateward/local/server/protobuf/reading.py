"""From Kubernetes' protobuf to the document that JSON would have been. Pure.

The numbers of the fields are data that ``tools/vendor_protobuf.py`` wrote. A writer in Go sends
every field that is not a pointer, if only as zero; zeros are left out here as JSON leaves them out.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any, Final, NamedTuple

import msgspec

from stateward.core.moments import to_rfc3339, to_rfc3339_micro
from stateward.kube.codec import Json, decode_json

FILE: Final = "fields-1.35.json"
MAGIC: Final = b"k8s\x00"
#: No message of Kubernetes is nested deeper.
_DEEPEST: Final = 64


class NotProtobuf(ValueError):
    """The bytes are not the message that they should be."""


class Field(NamedTuple):
    """One field of a message."""

    #: As JSON spells it; empty when its fields stand among those of the message itself.
    name: str
    #: ``o``: a zero is left out.
    omitted: str
    #: ``o``, ``r`` or ``m``: one, many, or a map from texts.
    label: str
    #: A scalar, or the name of another message.
    type: str


@cache
def _messages() -> dict[str, dict[int, Field]]:
    data = resources.files(__package__).joinpath(FILE).read_bytes()
    return msgspec.json.decode(data, type=dict[str, dict[int, Field]])


def document(body: bytes) -> Json:
    """Return the object in a body; raise NotProtobuf when there is none that we know."""
    if not body.startswith(MAGIC):
        raise NotProtobuf("the body must begin with k8s and a zero")
    envelope = dict(_fields(body[len(MAGIC) :]))
    head = dict(_fields(_bytes(envelope.get(1, b""))))
    api_version, kind = (_bytes(head.get(n, b"")).decode() for n in (1, 2))
    raw = _bytes(envelope.get(2, b""))
    if envelope.get(4) == b"application/json":
        found: Json = decode_json(raw)
        return found
    message = _message_of(api_version, kind)
    if message not in _messages():
        raise NotProtobuf(f"{api_version} {kind} is not known as protobuf here; send JSON")
    read: Json = _message(raw, message, 0)
    return {"apiVersion": api_version, "kind": kind} | read


def _message_of(api_version: str, kind: str) -> str:
    if kind == "DeleteOptions":
        return "meta.v1.DeleteOptions"
    group, _, version = api_version.rpartition("/")
    return f"{group.partition('.')[0] or 'core'}.{version}.{kind}"


def _message(raw: bytes, message: str, depth: int) -> Any:
    if depth > _DEEPEST:
        raise NotProtobuf("the message is nested too deep")
    if message in _SPECIAL:
        return _SPECIAL[message](dict(_fields(raw)), raw)
    known = _messages().get(message, {})
    found: Json = {}
    for number, sent in _fields(raw):
        if (field := known.get(number)) is not None:
            _take(found, field, sent, depth)
    for name in {it.name for it in known.values() if it.omitted and not found.get(it.name, 1)}:
        del found[name]
    return found


def _take(found: Json, field: Field, sent: int | bytes, depth: int) -> None:
    if field.label == "m":
        entry = dict(_fields(_bytes(sent)))
        key = _bytes(entry.get(1, b"")).decode()
        found.setdefault(field.name, {})[key] = _value(entry.get(2, b""), field.type, depth)
        return
    value = _value(sent, field.type, depth)
    if field.label == "r":
        found.setdefault(field.name, []).append(value)
    elif not field.name:
        found.update(value)
    elif value is not None:
        found[field.name] = value


def _value(sent: int | bytes, kind: str, depth: int) -> Any:
    match kind:
        case "string":
            return _bytes(sent).decode()
        case "bytes":
            return b64encode(_bytes(sent)).decode()
        case "bool":
            return bool(_number(sent))
        case "int32" | "int64":
            return _signed(_number(sent))
        case _:
            return _message(_bytes(sent), kind, depth + 1)


def _time(fields: dict[int, int | bytes], _: bytes) -> str | None:
    return to_rfc3339(_signed(_number(fields[1]))) if fields.get(1) else None


def _micro_time(fields: dict[int, int | bytes], _: bytes) -> str | None:
    if not fields.get(1):
        return None
    return to_rfc3339_micro(_signed(_number(fields[1])) + _number(fields.get(2, 0)) / 1e9)


def _int_or_string(fields: dict[int, int | bytes], _: bytes) -> int | str:
    if fields.get(1):
        return _bytes(fields.get(3, b"")).decode()
    return _signed(_number(fields.get(2, 0)))


def _text(fields: dict[int, int | bytes], _: bytes) -> str:
    return _bytes(fields.get(1, b"")).decode()


def _raw_json(fields: dict[int, int | bytes], _: bytes) -> Any:
    return decode_json(_bytes(fields[1])) if fields.get(1) else None


def _texts(_: dict[int, int | bytes], raw: bytes) -> list[str]:
    return [_bytes(sent).decode() for number, sent in _fields(raw) if number == 1]


_SPECIAL: Final = {
    "meta.v1.Time": _time,
    "meta.v1.MicroTime": _micro_time,
    "intstr.IntOrString": _int_or_string,
    "resource.Quantity": _text,
    "runtime.RawExtension": _raw_json,
    "meta.v1.FieldsV1": _raw_json,
    "authentication.v1.ExtraValue": _texts,
    "authorization.v1.ExtraValue": _texts,
}


def _fields(raw: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield numbers and values as they stand on the wire: whole numbers, or bytes."""
    place = 0
    while place < len(raw):
        tag, place = _varint(raw, place)
        match tag & 7:
            case 0:
                value, place = _varint(raw, place)
                yield tag >> 3, value
            case 1 | 5 as fixed:
                end = place + (8 if fixed == 1 else 4)
                yield tag >> 3, raw[place:end]
                place = end
            case 2:
                size, place = _varint(raw, place)
                if size > len(raw) - place:
                    raise NotProtobuf("the message ends in the middle of a field")
                yield tag >> 3, raw[place : place + size]
                place += size
            case other:
                raise NotProtobuf(f"there is no wire type {other}")


def _varint(raw: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if place >= len(raw) or shift > 63:
            raise NotProtobuf("the message ends in the middle of a number")
        byte = raw[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _bytes(sent: int | bytes) -> bytes:
    if not isinstance(sent, bytes):
        raise NotProtobuf("a field must be text and is a number")
    return sent


def _number(sent: int | bytes) -> int:
    if not isinstance(sent, int):
        raise NotProtobuf("a field must be a number and is text")
    return sent
