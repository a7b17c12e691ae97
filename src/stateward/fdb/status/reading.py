"""Reads ``status json``: whole documents at once, and what is left of broken ones field by field.

Nothing that is missing, null or of another type becomes an answer. What was there and could not be
read is remembered by its path, so that whoever would conclude something from its absence can ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from types import UnionType
from typing import Any, Final, TypeVar, get_args, get_origin

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import FieldInfo

from stateward.fdb.status.document import Document

A = TypeVar("A")

_WHOLE: Final = msgspec.json.Decoder(Document)
#: What is raised where something is no JSON, or no text.
_BROKEN: Final = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
#: Values of a document; entries that are looked at one by one; flaws of a list. Thousands of
#: processes have fewer, and garbage has no end of them.
_MOST_VALUES: Final = 500_000
_MOST_ENTRIES: Final = 20_000
_MOST_FLAWS: Final = 200


@dataclass(frozen=True, slots=True)
class Status:
    """What a database said, when, and what of it could not be read (by path, why)."""

    at: float
    document: Document = field(default_factory=Document)
    flaws: Mapping[str, str] = field(default_factory=dict)
    _answers: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, question: str, work_out: Callable[[Status], A]) -> A:
        """Return the answer to a question that many ask of one status, worked out once."""
        if question not in self._answers:
            self._answers[question] = work_out(self)
        found: A = self._answers[question]
        return found

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
    if raw.count(b",") > _MOST_VALUES:
        return _nothing(at, "too many values")
    try:
        return Status(at, _WHOLE.decode(raw))
    except msgspec.ValidationError:
        return _read_gently(raw, at)
    except _BROKEN as error:
        return _nothing(at, error)


def _nothing(at: float, why: object) -> Status:
    return Status(at, flaws={"": f"the status is no whole JSON document: {why}"})


def _cut(raw: bytes) -> bytes:
    """Leave warnings away that are printed before and after the document."""
    return raw[max(0, raw.find(b"{")) : raw.rfind(b"}") + 1]


def _read_gently(raw: bytes, at: float) -> Status:
    try:
        value = msgspec.json.decode(raw)
    except _BROKEN as error:
        return _nothing(at, error)
    reader = _Gently()
    found = reader.read(value, Document, "")
    document = found if isinstance(found, Document) else Document()
    return Status(at, document, reader.flaws)


@cache
def _fields_of(wanted: type[Struct]) -> tuple[FieldInfo, ...]:
    """Return the fields of a type; it is read anew each time otherwise, which takes longest."""
    return msgspec.structs.fields(wanted)


class _Gently:
    """Reads what can be read of a broken document, and gives up what is broken all over.

    Entries of a list are looked at one by one only where one of them is broken, so all that costs
    anything is bounded by how many flaws a list may have, and how many entries there may be.
    """

    def __init__(self) -> None:
        self.flaws: dict[str, str] = {}
        #: How many there were, also in what was given up; and how many entries are looked at yet.
        self._many = 0
        self._left = _MOST_ENTRIES

    def read(self, value: Any, wanted: Any, path: str) -> Any:
        """Return as much of a value as is of the wanted type; note the rest."""
        if get_origin(wanted) is UnionType:
            (wanted,) = (it for it in get_args(wanted) if it is not UnsetType)
        if isinstance(wanted, type) and issubclass(wanted, Struct) and isinstance(value, dict):
            return self._fields(value, wanted, path)
        try:  # most of a broken document is not broken
            return msgspec.convert(value, wanted)
        except msgspec.ValidationError as error:
            why = str(error)
        origin = get_origin(wanted)
        if origin is list and isinstance(value, list):
            found = self._entries(enumerate(value), len(value), get_args(wanted)[0], path)
            return UNSET if found is None else list(found.values())
        if origin is dict and isinstance(value, dict):
            found = self._entries(value.items(), len(value), get_args(wanted)[1], path)
            return UNSET if found is None else found
        return self._note(path, why)

    def _fields(self, value: dict[str, Any], wanted: type[Struct], path: str) -> Any:
        found = {}
        for it in _fields_of(wanted):
            if it.encode_name in value:
                inner = f"{path}.{it.encode_name}" if path else it.encode_name
                found[it.name] = self.read(value[it.encode_name], it.type, inner)
        return wanted(**found)

    def _entries(
        self, pairs: Iterable[tuple[Any, Any]], many: int, wanted: Any, path: str
    ) -> dict[Any, Any] | None:
        """Return the entries that can be read, by key; None: too much of it is broken."""
        if many > self._left:
            self._note(path, "it is too long, and not all of it can be read")
            return None
        self._left -= many
        flaws, before = dict(self.flaws), self._many
        found = {}
        for key, it in pairs:
            one = self._entry(it, wanted, f"{path}.{key}")
            if one is not UNSET:
                found[key] = one
            if self._many - before > _MOST_FLAWS:
                self.flaws = flaws  # of all of it nobody knows, so no need to say each
                self._note(path, "nearly nothing of it can be read")
                return None
        return found

    def _entry(self, value: Any, wanted: Any, path: str) -> Any:
        """Return the same of an entry; unlike the document itself, it is likely whole."""
        with suppress(msgspec.ValidationError):
            return msgspec.convert(value, wanted)
        return self.read(value, wanted, path)

    def _note(self, path: str, why: str) -> UnsetType:
        self.flaws[path] = why
        self._many += 1
        return UNSET


def _is_within(path: str, outer: str) -> bool:
    return path == outer or path.startswith(f"{outer}.")
