"""Some of many, in words: a sentence names a few, and says how many more there are."""

from __future__ import annotations

from collections.abc import Sequence


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
