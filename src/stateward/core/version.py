"""Ordered versions, so that upgrade and skew rules compare releases and never text.

The order is that of semantic versioning: 3.10 comes after 3.9, a pre-release before its release,
and the dotted parts of a pre-release compare as numbers where both are numbers. Which steps from
one version to another are allowed is the business of each database, not of this module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering
from typing import Self, TypeAlias

_NUMBER = r"(?:0|[1-9][0-9]{0,17})"
_PRE_PART = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_PRE = re.compile(rf"{_PRE_PART}(?:\.{_PRE_PART})*")
_SHAPE = re.compile(
    rf"v?(?P<major>{_NUMBER})\.(?P<minor>{_NUMBER})\.(?P<patch>{_NUMBER})"
    rf"(?:-(?P<pre>{_PRE.pattern}))?(?:\+[0-9A-Za-z.-]+)?"
)

_PrePart: TypeAlias = tuple[int, int, str]
_Order: TypeAlias = tuple[int, int, int, bool, tuple[_PrePart, ...]]


@total_ordering
@dataclass(frozen=True, slots=True)
class Version:
    """A release, or with ``pre`` a step towards one.

    >>> Version.parse("3.6.0-rc.2") < Version.parse("3.6.0-rc.10") < Version.parse("v3.6.0")
    True
    """

    major: int
    minor: int
    patch: int
    pre: str = ""

    def __post_init__(self) -> None:
        if min(self.major, self.minor, self.patch) < 0:
            raise ValueError(f"the numbers of a version must not be negative, got '{self}'")
        if self.pre and not _PRE.fullmatch(self.pre):
            raise ValueError(f"a pre-release must look like 'rc.1', got {self.pre!r}")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``7.3.79``, ``3.6.0-rc.1`` or ``v3.5.21``; raise ValueError for anything else.

        Build metadata (``+k3s1``) is read and dropped: it says nothing about order, and two
        versions that differ in it alone must be equal.
        """
        found = _SHAPE.fullmatch(text)
        if found is None:
            raise ValueError(f"a version must look like '7.3.79' or '3.6.0-rc.1', got {text!r}")
        major, minor, patch = (int(found[name]) for name in ("major", "minor", "patch"))
        return cls(major, minor, patch, found["pre"] or "")

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Version):
            return NotImplemented
        return _order(self) < _order(other)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}" + (f"-{self.pre}" if self.pre else "")


def same_minor(a: Version, b: Version) -> bool:
    """Tell whether both belong to one minor release line, whatever their patch."""
    return (a.major, a.minor) == (b.major, b.minor)


def minor_skew(a: Version, b: Version) -> int | None:
    """Return how many minor releases ``b`` is ahead of ``a``; None between two majors.

    No count of minor releases leads from one major to the next, so no number would be honest.

    >>> minor_skew(Version(3, 5, 21), Version(3, 6, 0))
    1
    """
    return b.minor - a.minor if a.major == b.major else None


def _order(version: Version) -> _Order:
    parts = version.pre.split(".") if version.pre else ()
    released = not version.pre
    return version.major, version.minor, version.patch, released, tuple(map(_pre_order, parts))


def _pre_order(part: str) -> _PrePart:
    return (0, int(part), "") if part.isdigit() else (1, 0, part)
