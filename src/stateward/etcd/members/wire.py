"""Protobuf: as much of it as the messages of etcd need.

Fields that we do not know are passed over, as newer releases add some. What is cut, too long or no
protobuf at all is refused with PeerConfused, and nothing else is ever raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn, TypeAlias

from stateward.core.errors import PeerConfused
from stateward.etcd.members.messages import Field, Kind, Message, Shape, blank, check_count

#: Bytes that a message may have; a value of etcd is at most 1.5 MiB unless somebody allowed more.
LARGEST: Final = 4 * 2**20

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED: Final = {_FIXED64: 8, _FIXED32: 4}
_WORD64: Final = 1 << 64
_LONGEST_VARINT: Final = 10

#: A field's number, how it is written, and what is written: a number, or bytes.
_Part: TypeAlias = "tuple[int, int, int | bytes]"


def encode(shape: Shape, message: Message) -> bytes:
    """Return a message in protobuf; what is zero or missing is left out.

    >>> from stateward.etcd.members.messages import BY_ID
    >>> encode(BY_ID, {"ID": 300}).hex()
    '08ac02'
    """
    return b"".join(
        _encoded(field, message[field.name]) for field in shape if message.get(field.name)
    )


def decode(shape: Shape, data: bytes) -> Message:
    """Return a message with every field of its shape; raise PeerConfused when it is none.

    >>> from stateward.etcd.members.messages import BY_ID
    >>> decode(BY_ID, bytes.fromhex("08ac02"))
    {'ID': 300}
    """
    if len(data) > LARGEST:
        _refuse(f"a message must not be longer than {LARGEST} bytes")
    message = blank(shape)
    _read_into(message, shape, data)
    return message


# ------------------------------------------------------------------ writing
def _encoded(field: Field, value: Any) -> bytes:
    if not field.repeated:
        return _tagged(field, value)
    if field.kind in _NUMBERS:
        packed = b"".join(_varint(_to_number(it)) for it in value)
        return _varint(field.number << 3 | _BYTES) + _varint(len(packed)) + packed
    return b"".join(_tagged(field, it) for it in value)


def _tagged(field: Field, value: Any) -> bytes:
    if field.kind in _NUMBERS:
        return _varint(field.number << 3 | _VARINT) + _varint(_to_number(value))
    if field.kind is Kind.MESSAGE:
        body = encode(field.shape, value)
    else:
        body = value.encode() if field.kind is Kind.TEXT else bytes(value)
    return _varint(field.number << 3 | _BYTES) + _varint(len(body)) + body


def _to_number(value: int) -> int:
    return int(value) % _WORD64  # a negative one is written as its complement


def _varint(number: int) -> bytes:
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


# ------------------------------------------------------------------ reading
def _read_into(message: Message, shape: Shape, data: bytes) -> None:
    known = {it.number: it for it in shape}
    for number, form, value in _parts(data):
        if (field := known.get(number)) is not None:
            _set(message, field, form, value)


def _parts(data: bytes) -> Iterator[_Part]:
    at = 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        number, form = tag >> 3, tag & 7
        if not 0 < number < 1 << 29:
            _refuse("a field must have a number")
        value: int | bytes
        if form == _VARINT:
            value, at = _read_varint(data, at)
        else:
            size, at = _size(data, at, form)
            value, at = data[at : at + size], at + size
        yield number, form, value


def _size(data: bytes, at: int, form: int) -> tuple[int, int]:
    size, at = _read_varint(data, at) if form == _BYTES else (_FIXED.get(form, -1), at)
    if size < 0:
        _refuse(f"a field must not be of form {form}")
    if size > len(data) - at:
        _refuse("a field must end within its message")
    return size, at


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    number = 0
    for index, byte in enumerate(data[at : at + _LONGEST_VARINT]):
        number |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return number % _WORD64, at + index + 1
    raise _refused("a number must not be cut, or longer than 64 bits")


def _set(message: Message, field: Field, form: int, value: int | bytes) -> None:
    if isinstance(value, int):
        found = [_from_number(field, value)]
    elif field.kind in _NUMBERS and form == _BYTES and field.repeated:
        found = [_from_number(field, it) for it in _packed(value)]
    elif form == _BYTES and field.kind is Kind.MESSAGE and not field.repeated:
        _read_into(message[field.name], field.shape, value)  # sent in parts, it is one message
        return
    elif form == _BYTES:
        found = [_from_bytes(field, value)]
    else:
        _refuse(f"{field.name} must not be of form {form}")
    if field.repeated:
        message[field.name].extend(found)
        check_count(field, len(message[field.name]))
    else:
        message[field.name] = found[-1]


def _packed(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        number, at = _read_varint(data, at)
        yield number


def _from_number(field: Field, number: int) -> Any:
    if field.kind not in _NUMBERS:
        _refuse(f"{field.name} must not be a number")
    return _NUMBERS[field.kind](number)


def _from_bytes(field: Field, data: bytes) -> Any:
    if field.kind is Kind.MESSAGE:
        inner = blank(field.shape)
        _read_into(inner, field.shape, data)
        return inner
    if field.kind is Kind.BYTES:
        return data
    if field.kind is not Kind.TEXT:
        _refuse(f"{field.name} must be a number")
    try:
        return data.decode()
    except UnicodeDecodeError:
        _refuse(f"{field.name} must be text")


def _signed(number: int) -> int:
    return number - _WORD64 if number >= _WORD64 >> 1 else number


_NUMBERS: Final[dict[Kind, Callable[[int], int | bool]]] = {
    Kind.UNSIGNED: int,
    Kind.SIGNED: _signed,
    Kind.BOOL: bool,
    Kind.WORD: _signed,
}


def _refuse(sentence: str) -> NoReturn:
    raise _refused(sentence)


def _refused(sentence: str) -> PeerConfused:
    return PeerConfused(f"the answer must be protobuf: {sentence}")
