"""Who uses a database: programs tell of themselves, and are remembered a while after they left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from stateward.core.version import Version
from stateward.emulate.fdb.servers import VERSION
from stateward.fdb.model import versions

#: Seconds for which somebody who left is still counted.
REMEMBERED: Final = 120.0
#: No more than these are named; all are counted.
_NAMED: Final = 60
_FIRST_PORT, _PORTS = 32_768, 28_000
#: What a library was built from: nobody decides by it.
_SOURCE: Final = "0" * 40


@dataclass(frozen=True, slots=True)
class Client:
    """A program: where it is, which libraries it has, and what is wrong with it, if anything."""

    address: str
    libraries: tuple[Version, ...] = (VERSION,)
    log_group: str = "default"
    #: The name of what it complains of, and the sentence about that.
    issue: tuple[str, str] | None = None


@dataclass(slots=True)
class Clients:
    """All who use a database, or did lately, by their address."""

    here: dict[str, Client] = field(default_factory=dict)
    #: Those who left, and when.
    gone: dict[str, tuple[Client, float]] = field(default_factory=dict)
    #: How many addresses were given to programs that have none of their own.
    given: int = 0

    def next_address(self) -> str:
        """Return where one more program may be said to be."""
        self.given += 1
        return f"127.0.0.1:{_FIRST_PORT + self.given % _PORTS}"

    def comes(self, client: Client) -> None:
        """Have somebody more."""
        self.gone.pop(client.address, None)
        self.here[client.address] = client

    def goes(self, address: str, now: float) -> None:
        """Have somebody leave; who was never there does not."""
        if (client := self.here.pop(address, None)) is not None:
            self.gone[address] = (client, now)

    def counted(self, now: float) -> list[Client]:
        """Return who counts now; those who left long ago are forgotten."""
        self.gone = {at: it for at, it in self.gone.items() if now < it[1] + REMEMBERED}
        return [*self.here.values(), *(it for it, _ in self.gone.values())]


def section(every: list[Client]) -> dict[str, Any]:
    """Return what a status says of them, by the versions of their libraries."""
    if not every:
        return {"count": 0}
    libraries = sorted({it for client in every for it in client.libraries})
    return {
        "count": len(every),
        "supported_versions": [_of_version(every, it) for it in libraries],
    }


def _of_version(every: list[Client], version: Version) -> dict[str, Any]:
    having = [it for it in every if version in it.libraries]
    best = [it for it in having if _line(max(it.libraries)) == _line(version)]
    return {
        "client_version": str(version),
        "connected_clients": list(_named(having)),
        "count": len(having),
        "max_protocol_clients": list(_named(best)),
        "max_protocol_count": len(best),
        "protocol_version": versions.protocol_of(_line(version)),
        "source_version": _SOURCE,
    }


def _line(version: Version) -> tuple[int, int]:
    return version.major, version.minor


def _named(some: list[Client]) -> Iterator[dict[str, str]]:
    for it in some[:_NAMED]:
        yield {"address": it.address, "log_group": it.log_group}


def issues(every: list[Client]) -> list[dict[str, Any]]:
    """Return what clients complain of, with all who do."""
    found: dict[tuple[str, str], list[str]] = {}
    for it in every:
        if it.issue is not None:
            found.setdefault(it.issue, []).append(it.address)
    return [
        {"addresses": some, "count": len(some), "description": text, "name": name}
        for (name, text), some in found.items()
    ]
