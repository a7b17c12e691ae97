"""Connection strings, which are what cluster files hold: ``description:id@coordinator,...``.

A change of coordinators makes a new random id each time, so a connection string is read back, never
put together from a list of addresses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self

from stateward.fdb.model.addresses import Address, parse_all

_SHAPE: Final = re.compile(r"(?P<description>[A-Za-z0-9_]+):(?P<id>[A-Za-z0-9]+)@(?P<rest>.+)")
#: No cluster has more coordinators than this; more is garbage.
_MOST: Final = 100
_NAME: Final = re.compile(r"[A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True)
class ConnectionString:
    """How to find a database: its coordinators, and which generation of them it is."""

    description: str
    id: str
    coordinators: tuple[Address, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a connection string, or the text of a cluster file; raise ValueError.

        >>> str(ConnectionString.parse("# kept by clients\\n shop:x1@10.0.0.1:4501\\n"))
        'shop:x1@10.0.0.1:4501'
        """
        lines = (line.partition("#")[0] for line in text.splitlines())
        bare = "".join("".join(lines).split())
        if not bare:
            raise ValueError("a connection string must not be empty")
        found = _SHAPE.fullmatch(bare)
        if found is None:
            raise ValueError(
                "a connection string must be DESCRIPTION:ID@HOST:PORT[,HOST:PORT...],"
                f" got {_shortened(bare)!r}"
            )
        coordinators = parse_all(found["rest"])
        if len(coordinators) > _MOST:
            raise ValueError(f"there must be at most {_MOST} coordinators, got {len(coordinators)}")
        return cls(found["description"], found["id"], coordinators)

    @property
    def quorum(self) -> int:
        """How many coordinators must answer."""
        return len(self.coordinators) // 2 + 1

    @property
    def all_tls(self) -> bool:
        """Whether only somebody with certificates can ask."""
        return all(it.tls for it in self.coordinators)

    def __str__(self) -> str:
        return f"{self.description}:{self.id}@{','.join(map(str, self.coordinators))}"


def description_of(name: str) -> str:
    """Return a name as a description, which may have letters, digits and underscores only.

    >>> description_of("sample-cluster")
    'sample_cluster'
    """
    found = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if not _NAME.fullmatch(found):
        raise ValueError("a description must not be empty")
    return found


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
