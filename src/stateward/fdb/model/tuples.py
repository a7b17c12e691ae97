"""FoundationDB's tuple encoding, as far as operators write it: texts, bytes and whole numbers.

Byte for byte what the bindings write, so that operators in other languages read ours.
"""

from __future__ import annotations

from typing import Final, TypeAlias

Part: TypeAlias = str | bytes | int

_BYTES, _TEXT, _ZERO = 0x01, 0x02, 0x14
_LONGEST: Final = 8
_END: Final = 0x00
_ESCAPED: Final = 0xFF


def pack(*parts: Part) -> bytes:
    """Return the parts as one key or value.

    >>> pack("dc1", 1, 256).hex()
    '02646331001501160100'
    """
    return b"".join(map(_packed, parts))


def unpack(raw: bytes) -> tuple[Part, ...]:
    """Return the parts again; raise ValueError for what is none of ours."""
    parts, place = [], 0
    while place < len(raw):
        part, place = _unpacked(raw, place)
        parts.append(part)
    return tuple(parts)


def _packed(part: Part) -> bytes:
    match part:
        case bool():
            raise ValueError("a part must be a text, bytes or a whole number, got a truth value")
        case int():
            return _packed_number(part)
        case str():
            return bytes([_TEXT]) + _escaped(part.encode()) + bytes([_END])
        case bytes():
            return bytes([_BYTES]) + _escaped(part) + bytes([_END])


def _escaped(raw: bytes) -> bytes:
    return raw.replace(bytes([_END]), bytes([_END, _ESCAPED]))


def _packed_number(number: int) -> bytes:
    length = (abs(number).bit_length() + 7) // 8
    if length > _LONGEST:
        raise ValueError(f"a number must fit into {_LONGEST} bytes, got {number}")
    if number >= 0:
        return bytes([_ZERO + length]) + number.to_bytes(length)
    return bytes([_ZERO - length]) + (number + (1 << 8 * length) - 1).to_bytes(length)


def _unpacked(raw: bytes, place: int) -> tuple[Part, int]:
    code = raw[place]
    if code in (_BYTES, _TEXT):
        return _unpacked_bytes(raw, place + 1, is_text=code == _TEXT)
    length = abs(code - _ZERO)
    if length > _LONGEST:
        raise ValueError(f"a tuple must have texts, bytes and numbers only, got code {code:#04x}")
    end = place + 1 + length
    if end > len(raw):
        raise ValueError("a tuple must not end within a number")
    number = int.from_bytes(raw[place + 1 : end])
    return (number if code >= _ZERO else number - (1 << 8 * length) + 1), end


def _unpacked_bytes(raw: bytes, place: int, *, is_text: bool) -> tuple[Part, int]:
    found = bytearray()
    while place < len(raw):
        byte = raw[place]
        if byte != _END:
            found.append(byte)
            place += 1
        elif place + 1 < len(raw) and raw[place + 1] == _ESCAPED:
            found.append(_END)
            place += 2
        else:
            return (found.decode() if is_text else bytes(found)), place + 1
    raise ValueError("a tuple must not end within a text")
