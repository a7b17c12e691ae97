"""The words of Helm's templates: what stands between ``{{`` and ``}}``, and the text around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stateward.core.errors import HouseError

_TAG: Final = re.compile(r"\{\{(-\s)?(.*?)(\s-)?\}\}", re.DOTALL)
_WORD: Final = re.compile(
    r"""\s*(?:
      (?P<text>"(?:[^"\\]|\\.)*"|`[^`]*`)
    | (?P<number>-?\d+(?:\.\d+)?)
    | (?P<place>(?:\$[A-Za-z_]\w*|\$)?(?:\.[A-Za-z_]\w*)+|\$[A-Za-z_]\w*|\$|\.)
    | (?P<name>[A-Za-z_]\w*)
    | (?P<sign>:=|=|\||\(|\)|,)
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Word:
    """One word of an action: its kind (text, number, place, name, sign) and how it is written."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text, or the words of an action; one of them is empty."""

    text: str = ""
    words: tuple[Word, ...] = ()


def pieces(source: str) -> Iterator[Piece]:
    """Yield text and actions in turn; a dash beside the braces has eaten the space around."""
    place, eats = 0, False
    for tag in _TAG.finditer(source):
        text = source[place : tag.start()]
        text = text.lstrip() if eats else text
        yield Piece(text.rstrip() if tag[1] else text)
        place, eats = tag.end(), bool(tag[3])
        if not _is_comment(tag[2]):
            yield Piece(words=tuple(_words(tag[2])))
    rest = source[place:]
    yield Piece(rest.lstrip() if eats else rest)


def _is_comment(text: str) -> bool:
    return text.strip().startswith("/*") and text.strip().endswith("*/")


def _words(text: str) -> Iterator[Word]:
    place = 0
    while text[place:].strip():
        found = _WORD.match(text, place)
        if found is None or found.lastgroup is None:
            raise HouseError(f"a template must be of words that we know, got {text[place:]!r}")
        yield Word(found.lastgroup, found[found.lastgroup])
        place = found.end()
