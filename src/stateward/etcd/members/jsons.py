"""JSON as etcd's gateway writes it: 64-bit numbers are text, zeroes are left out, bytes are base64.

Fields that we do not know are passed over. What is of another type than it must be is refused with
PeerConfused, and nothing else is ever raised.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final, NoReturn

import msgspec

from stateward.core.errors import PeerConfused
from stateward.etcd.members.messages import Field, Kind, Message, Shape, blank, check_count

_RANGES: Final = {
    Kind.UNSIGNED: (0, 2**64 - 1),
    Kind.SIGNED: (-(2**63), 2**63 - 1),
    Kind.WORD: (-(2**31), 2**31 - 1),
}
#: Digits of the longest 64-bit number, with its sign.
_LONGEST_NUMBER: Final = 20


def encode(shape: Shape, message: Message) -> bytes:
    """Return a message in JSON; what is zero or missing is left out.

    >>> from stateward.etcd.members.messages import BY_ID
    >>> encode(BY_ID, {"ID": 300})
    b'{"ID":"300"}'
    """
    return msgspec.json.encode(_plain(shape, message))


def decode(shape: Shape, body: bytes) -> Message:
    """Return a message with every field of its shape; raise PeerConfused when it is none.

    >>> from stateward.etcd.members.messages import BY_ID
    >>> decode(BY_ID, b'{"ID":"300","news":[]}')
    {'ID': 300}
    """
    return understood(shape, parse(body))


def parse(body: bytes) -> dict[str, Any]:
    """Return an object of JSON; raise PeerConfused when it is none."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = None
    if not isinstance(value, dict):
        _refuse("it must be an object")
    return value


def understood(shape: Shape, value: object) -> Message:
    """Return a message of parsed JSON, with every field of its shape."""
    if not isinstance(value, dict):
        _refuse("a message must be an object")
    message = blank(shape)
    for field in shape:
        said = value.get(field.name)
        if said is not None:
            message[field.name] = _values(field, said)
    return message


def _plain(shape: Shape, message: Message) -> dict[str, Any]:
    said = [(field, message[field.name]) for field in shape if message.get(field.name)]
    return {
        field.name: [_spoken(field, it) for it in value]
        if field.repeated
        else _spoken(field, value)
        for field, value in said
    }


def _spoken(field: Field, value: Any) -> Any:
    match field.kind:
        case Kind.UNSIGNED | Kind.SIGNED:
            return str(value)
        case Kind.BYTES:
            return base64.b64encode(value).decode()
        case Kind.WORD:
            return field.words[value]
        case Kind.MESSAGE:
            return _plain(field.shape, value)
        case _:
            return value


def _values(field: Field, said: object) -> Any:
    if not field.repeated:
        return _value(field, said)
    if not isinstance(said, list):
        _refuse(f"{field.name} must be a list")
    check_count(field, len(said))
    return [_value(field, it) for it in said]


def _value(field: Field, said: object) -> Any:
    match field.kind:
        case Kind.MESSAGE:
            return understood(field.shape, said)
        case Kind.BYTES:
            return _bytes(field, said)
        case Kind.BOOL:
            return _of(bool, field, said)
        case Kind.TEXT:
            return _of(str, field, said)
        case _:
            return _number(field, said)


def _of(kind: type, field: Field, said: object) -> Any:
    if not isinstance(said, kind):
        _refuse(f"{field.name} must be a {kind.__name__}")
    return said


def _number(field: Field, said: object) -> int:
    if isinstance(said, str) and said in field.words:
        return field.words.index(said)
    number = said
    if isinstance(said, str) and len(said) <= _LONGEST_NUMBER and said.isascii():
        number = int(said) if said.removeprefix("-").isdigit() else None
    lowest, highest = _RANGES[field.kind]
    if isinstance(number, bool) or not isinstance(number, int) or not lowest <= number <= highest:
        _refuse(f"{field.name} must be a whole number of 64 bits")
    return number


def _bytes(field: Field, said: object) -> bytes:
    try:
        return base64.b64decode(_of(str, field, said), validate=True)
    except (binascii.Error, ValueError):
        _refuse(f"{field.name} must be base64")


def _refuse(sentence: str) -> NoReturn:
    raise PeerConfused(f"the answer must be JSON of etcd: {sentence}")
