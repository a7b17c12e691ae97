"""Command lines as the real programs read them: ``--a-b V``, ``--a_b=V``, ``-a V``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field


class Misunderstood(Exception):
    """An option that nobody knows, or one that lacks its value."""


@dataclass(frozen=True, slots=True)
class Known:
    """Which options a program has."""

    #: Those with a value, by each way to write them, without dashes: their name.
    valued: Mapping[str, str]
    #: Those without.
    bare: frozenset[str]
    #: What options with any name may begin with.
    open_ended: tuple[str, ...] = ("knob_", "locality_")


@dataclass(slots=True)
class Told:
    """What a program was told."""

    values: dict[str, str] = field(default_factory=dict)
    bare: set[str] = field(default_factory=set)

    def starting_with(self, prefix: str) -> dict[str, str]:
        """Return options by the rest of their names."""
        return {
            name.removeprefix(prefix): it
            for name, it in self.values.items()
            if name.startswith(prefix)
        }


def read(words: Sequence[str], known: Known) -> Told:
    """Read a command line; raise Misunderstood with the words of the real programs."""
    told, rest = Told(), iter(words)
    for word in rest:
        typed, equals, value = word.partition("=")
        name = name_of(typed) if typed.startswith("-") else ""
        if name in known.bare and not equals:
            told.bare.add(name)
            continue
        meant = known.valued.get(name) or _open_ended(name, known)
        if meant is None:
            raise Misunderstood(f"ERROR: unknown option: `{typed}'")
        told.values[meant] = value if equals else _next(rest, typed)
    return told


def name_of(typed: str) -> str:
    """Return an option's name: dashes are as good as underscores, large letters as small ones.

    One dash is for single letters, whose size counts.
    """
    if typed.startswith("--"):
        return typed[2:].replace("-", "_").lower()
    return typed.removeprefix("-")


def _open_ended(name: str, known: Known) -> str | None:
    return name if any(name.startswith(it) and name != it for it in known.open_ended) else None


def _next(rest: Iterator[str], typed: str) -> str:
    try:
        return next(rest)
    except StopIteration:
        raise Misunderstood(f"ERROR: option `{typed}' requires an argument") from None
