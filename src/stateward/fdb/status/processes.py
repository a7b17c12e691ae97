"""Which processes report, by the name of their process group; who does not report is not listed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from msgspec import UNSET

from stateward.core.facts import Fact, Unknown
from stateward.fdb.model import locality
from stateward.fdb.model.addresses import Address, parse_all
from stateward.fdb.status.document import Process
from stateward.fdb.status.facts import cluster, known, missing
from stateward.fdb.status.reading import Status

_PATH = "cluster.processes"
_PUBLIC = re.compile(r" --public[-_]address[= ](?P<several>[^ ]+,[^ ]+)")


@dataclass(frozen=True, slots=True)
class Reporting:
    """A process that reports: the key of its entry, where it listens, where it is, its entry."""

    key: str
    addresses: tuple[Address, ...]
    localities: Mapping[str, str]
    entry: Process

    @property
    def instance(self) -> str:
        """The process group that it belongs to; empty for a stranger."""
        return self.localities.get(locality.INSTANCE, "")


@dataclass(frozen=True, slots=True)
class Roster:
    """Everybody who reports, by process group; and who does not say whose it is."""

    groups: Mapping[str, tuple[Reporting, ...]]
    nameless: tuple[Reporting, ...] = ()


def roster(status: Status) -> Fact[Roster]:
    """Return who reports; a process group that is not there does not.

    Unknown when some process cannot be told from the others: it may be anybody's.
    """
    return status.once(_PATH, _roster)


def _roster(status: Status) -> Fact[Roster]:
    entries = cluster(status).processes
    if entries is UNSET or not entries:
        return missing(status, _PATH)
    if wrong := status.flaw(_PATH):
        return Unknown(f"the status cannot be read: {wrong}")
    groups: dict[str, tuple[Reporting, ...]] = {}
    for key, it in entries.items():
        if it.locality is UNSET:
            return missing(status, f"{_PATH}.{key}.locality")
        name = it.locality.get(locality.INSTANCE, "")
        groups[name] = (*groups.get(name, ()), _read(key, it))
    return known(status, Roster(groups, groups.pop("", ())))


def _read(key: str, entry: Process) -> Reporting:
    localities = {} if entry.locality is UNSET else entry.locality
    return Reporting(key, _addresses(entry), localities, entry)


def _addresses(entry: Process) -> tuple[Address, ...]:
    """Return where a process listens, the address that it is known by first.

    A status tells that one alone; of a second one, with TLS or without, only the command line does.
    """
    try:
        known_by = () if entry.address is UNSET else parse_all(entry.address)
    except ValueError:
        return ()
    others = () if entry.command_line is UNSET else _told(entry.command_line)
    return (*known_by, *(it for it in others if known_by and it not in known_by))


def _told(command_line: str) -> tuple[Address, ...]:
    """Return the addresses that a process was told to have, where there are several."""
    found = _PUBLIC.search(command_line) if "," in command_line else None
    try:
        return parse_all(found["several"]) if found is not None else ()
    except ValueError:
        return ()
