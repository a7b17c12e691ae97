"""Some of many, in words: a sentence names a few, and says how many more there are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

#: A process group or its pod, maybe with why it is named; and several of them.
_NAME: Final = r"[A-Za-z][\w.-]*-\d+(?: \([^()]*\))?"
_ONE: Final = re.compile(_NAME)
_LIST: Final = re.compile(rf"(?P<names>{_NAME}(?:, {_NAME})*)(?: and (?P<more>\d+) more)?")


def some_of(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many are not named.

    >>> some_of(["a", "b", "c", "d"], 3)
    'a, b, c and 1 more'
    >>> some_of(["a", "b", "c"], 3)
    'a, b, c'
    """
    more = len(names) - most
    shown = ", ".join(names[:most])
    return f"{shown} and {more} more" if more > 0 else shown


def counted(many: int, one: str) -> str:
    """Return how many there are of something.

    >>> counted(1, "client"), counted(0, "zone"), counted(12, "client")
    ('1 client', '0 zones', '12 clients')
    """
    return f"{many} {one}" if many == 1 else f"{many} {one}s"


def cut(sentence: str, most: int) -> str:
    """Cut a sentence that is too long: between words, and of a list say how many it leaves out.

    >>> cut("waiting for log-1, log-2, log-3 and 4 more", 32)
    'waiting for log-1 and 6 more'
    >>> cut("waiting for log-1, log-2; then for others", 30)
    'waiting for log-1, log-2…'
    """
    if len(sentence) <= most:
        return sentence
    for it in _LIST.finditer(sentence):
        if it.start() < most <= it.end() and (found := _with_fewer(sentence, it, most)):
            return found
    words = sentence[: most + 1]
    while len(words) >= most:
        words = words.rpartition(" ")[0].rstrip(" ;:,")
    return f"{words or sentence[: most - 1]}…"


def _with_fewer(sentence: str, found: re.Match[str], most: int) -> str:
    """Return a sentence that ends with a list of fewer names; nothing if not even one fits."""
    names = _ONE.findall(found["names"])
    every = len(names) + int(found["more"] or 0)
    rest = "…" if found.end() < len(sentence) else ""
    for many in range(len(names), 0, -1):
        left = f" and {every - many} more" if every > many else ""
        words = f"{sentence[: found.start()]}{', '.join(names[:many])}{left}{rest}"
        if len(words) <= most:
            return words
    return ""
