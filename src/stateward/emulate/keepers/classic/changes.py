"""What a new configuration means for the processes that are kept. Pure.

The file is taken at its word: a section that is gone is a process that is not wanted, and a file
without sections wants none. Those that were there are seen to first, the youngest before the
others; then whatever is new is started, in the order of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from stateward.emulate.keepers.classic.commands import Command


@dataclass(frozen=True, slots=True)
class Drop:
    """Its section is gone."""

    name: str
    kills: bool


@dataclass(frozen=True, slots=True)
class Renew:
    """Its arguments are others, or what was held back is no longer to be."""

    command: Command
    kills: bool


@dataclass(frozen=True, slots=True)
class Keep:
    """It runs as it should; how it is kept may have changed."""

    command: Command


@dataclass(frozen=True, slots=True)
class Begin:
    """It is new."""

    command: Command


Change: TypeAlias = Drop | Renew | Keep | Begin


def changes(kept: Mapping[str, Command], wanted: Mapping[str, Command]) -> Iterator[Change]:
    """Yield what is to happen, in this order."""
    for name, before in reversed(tuple(kept.items())):
        now = wanted.get(name)
        if now is None:
            yield Drop(name, before.kills)
        elif now.argv != before.argv or (now.kills and not before.kills):
            yield Renew(now, now.kills)
        else:
            yield Keep(now)
    for name, command in wanted.items():
        if name not in kept:
            yield Begin(command)
