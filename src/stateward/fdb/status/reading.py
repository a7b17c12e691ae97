"""Reads ``status json``: whole documents at once, and what is left of broken ones field by field.

Nothing that is missing, null or of another type becomes an answer. What was there and could not be
read is remembered by its path, so that whoever would conclude something from its absence can ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, Final, get_args, get_origin

import msgspec
from msgspec import UNSET, Struct, UnsetType

from stateward.fdb.status.document import Document

_WHOLE: Final = msgspec.json.Decoder(Document)
#: Enough to say what is wrong; a document of garbage has no end of it.
_MOST_FLAWS: Final = 200


@dataclass(frozen=True, slots=True)
class Status:
    """What a database said, when, and what of it could not be read (by path, why)."""

    at: float
    document: Document = field(default_factory=Document)
    flaws: Mapping[str, str] = field(default_factory=dict)

    def flaw(self, *paths: str) -> str:
        """Return what could not be read above, at or below some paths; nothing: all of it could."""
        for wrong, why in self.flaws.items():
            for path in paths:
                if not wrong or _is_within(wrong, path) or _is_within(path, wrong):
                    return f"{wrong}: {why}" if wrong else why
        return ""


def read(text: str | bytes, at: float) -> Status:
    """Read what ``status json`` printed, whatever it is: this never raises."""
    raw = _cut(text.encode(errors="replace") if isinstance(text, str) else text)
    try:
        return Status(at, _WHOLE.decode(raw))
    except msgspec.ValidationError:
        return _read_gently(raw, at)
    except (msgspec.DecodeError, RecursionError) as error:
        return Status(at, flaws={"": f"the status is no whole JSON document: {error}"})


def _cut(raw: bytes) -> bytes:
    """Leave warnings away that are printed before and after the document."""
    return raw[max(0, raw.find(b"{")) : raw.rfind(b"}") + 1]


def _read_gently(raw: bytes, at: float) -> Status:
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        return Status(at, flaws={"": f"the status is no whole JSON document: {error}"})
    flaws: dict[str, str] = {}
    found = _gently(value, Document, "", flaws)
    document = found if isinstance(found, Document) else Document()
    return Status(at, document, flaws)


def _gently(value: Any, wanted: Any, path: str, flaws: dict[str, str]) -> Any:
    """Return as much of a value as is of the wanted type; note the rest."""
    with suppress(msgspec.ValidationError):  # most of a broken document is not broken
        return msgspec.convert(value, wanted)
    origin = get_origin(wanted)
    if origin is UnionType:
        (wanted,) = (it for it in get_args(wanted) if it is not UnsetType)
        return _gently(value, wanted, path, flaws)
    if isinstance(wanted, type) and issubclass(wanted, Struct) and isinstance(value, dict):
        return _fields(value, wanted, path, flaws)
    if origin is list and isinstance(value, list):
        (inner,) = get_args(wanted)
        every = (_gently(it, inner, f"{path}.{n}", flaws) for n, it in enumerate(value))
        return [it for it in every if it is not UNSET]
    if origin is dict and isinstance(value, dict):
        inner = get_args(wanted)[1]
        pairs = ((key, _gently(it, inner, f"{path}.{key}", flaws)) for key, it in value.items())
        return {key: it for key, it in pairs if it is not UNSET}
    return _plainly(value, wanted, path, flaws)


def _fields(value: dict[str, Any], wanted: type[Struct], path: str, flaws: dict[str, str]) -> Any:
    found = {}
    for it in msgspec.structs.fields(wanted):
        if it.encode_name in value:
            inner = f"{path}.{it.encode_name}" if path else it.encode_name
            found[it.name] = _gently(value[it.encode_name], it.type, inner, flaws)
    return wanted(**found)


def _plainly(value: Any, wanted: Any, path: str, flaws: dict[str, str]) -> Any:
    try:
        return msgspec.convert(value, wanted)
    except msgspec.ValidationError as error:
        if len(flaws) < _MOST_FLAWS:
            flaws[path] = str(error)
        elif "" not in flaws:
            flaws[""] = "nearly nothing of the status can be read"
        return UNSET


def _is_within(path: str, outer: str) -> bool:
    return path == outer or path.startswith(f"{outer}.")
