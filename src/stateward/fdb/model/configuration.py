"""What a database is configured as: redundancy, engines, how many of each role, regions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Redundancy(StrEnum):
    """How many copies there are, and how far apart."""

    SINGLE = "single"
    DOUBLE = "double"
    TRIPLE = "triple"
    THREE_DATA_HALL = "three_data_hall"
    THREE_DATA_HALL_FALLBACK = "three_data_hall_fallback"
    THREE_DATACENTER = "three_datacenter"
    THREE_DATACENTER_FALLBACK = "three_datacenter_fallback"

    @property
    def fault_tolerance(self) -> int:
        """How many fault domains may be lost with nothing lost."""
        return _SHAPES[self].fault_tolerance

    @property
    def storage_replicas(self) -> int:
        """How many copies of data there are."""
        return _SHAPES[self].storage_replicas

    @property
    def log_replicas(self) -> int:
        """How many copies of what was just written there are."""
        return _SHAPES[self].log_replicas

    @property
    def fault_domains(self) -> int:
        """How many fault domains are needed at least."""
        return _SHAPES[self].fault_domains

    @property
    def coordinators(self) -> int:
        """How many coordinators lose no majority before anything else is lost."""
        return _SHAPES[self].coordinators


@dataclass(frozen=True, slots=True)
class _Shape:
    fault_tolerance: int
    storage_replicas: int
    log_replicas: int
    fault_domains: int
    coordinators: int


_SHAPES: Final = {
    #                                            tolerates, storage, log, domains, coordinators
    Redundancy.SINGLE: _Shape(0, 1, 1, 1, 1),
    Redundancy.DOUBLE: _Shape(1, 2, 2, 2, 3),
    Redundancy.TRIPLE: _Shape(2, 3, 3, 3, 5),
    Redundancy.THREE_DATA_HALL: _Shape(2, 3, 4, 3, 9),
    Redundancy.THREE_DATA_HALL_FALLBACK: _Shape(1, 2, 4, 2, 9),
    Redundancy.THREE_DATACENTER: _Shape(2, 6, 4, 3, 9),
    Redundancy.THREE_DATACENTER_FALLBACK: _Shape(1, 4, 4, 2, 9),
}

#: Names that stand for others, as the database itself writes them.
_ENGINES: Final = {"ssd": "ssd-2", "memory": "memory-2"}


def engine_of(name: str) -> str:
    """Return an engine by the name that a status shows.

    >>> engine_of("ssd")
    'ssd-2'
    """
    return _ENGINES.get(name, name)


@dataclass(frozen=True, slots=True)
class DataCenter:
    """A data center of a region; a satellite has only logs."""

    id: str
    priority: int = 0
    satellite: bool = False


@dataclass(frozen=True, slots=True)
class Region:
    """A data center with data, and the satellites near it."""

    data_centers: tuple[DataCenter, ...]
    satellite_logs: int = 0
    satellite_redundancy: str = ""

    @property
    def main(self) -> DataCenter | None:
        """The data center that has data."""
        return next((it for it in self.data_centers if not it.satellite), None)

    @property
    def priority(self) -> int:
        """How much it wants to be the one that writes; below 0: it must not."""
        return self.main.priority if self.main is not None else -1


# -------------------------------------------------------------------------- all of it

#: Names of redundancies, engines and the like; nothing that fdbcli's own tokenizer would see.
_WORD: Final = re.compile(r"[A-Za-z0-9_.-]+")
_WIGGLED: Final = re.compile(r"0|[A-Za-z0-9_]+:[A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What a database shall be; None: what it is, or what FoundationDB chooses."""

    redundancy: str = Redundancy.DOUBLE
    storage_engine: str = "ssd-2"
    usable_regions: int = 1
    regions: tuple[Region, ...] = ()
    logs: int | None = None
    proxies: int | None = None
    commit_proxies: int | None = None
    grv_proxies: int | None = None
    resolvers: int | None = None
    log_routers: int | None = None
    remote_logs: int | None = None
    log_version: int | None = None
    log_spill: int | None = None
    storage_migration_type: str = ""
    perpetual_storage_wiggle: int | None = None
    perpetual_storage_wiggle_locality: str = ""
    perpetual_storage_wiggle_engine: str = ""

    def tokens(self) -> list[str]:
        """Return it as ``configure`` takes it; raise ValueError for what would be another command.

        >>> Configuration(logs=3).tokens()
        ['double', 'ssd-2', 'usable_regions=1', 'logs=3', 'regions=[]']
        """
        return list(self._tokens())

    def _tokens(self) -> Iterator[str]:
        yield _word("redundancy_mode", self.redundancy)
        yield _word("storage_engine", self.storage_engine)
        yield f"usable_regions={self.usable_regions}"
        for name in _COUNTS:
            value = getattr(self, name)
            if value is not None:
                yield f"{name}={value}"
        for name in ("log_version", "log_spill"):
            value = getattr(self, name)
            if value is not None:
                yield f"{name}:={value}"
        yield "regions=" + json.dumps(_regions_json(self.regions), separators=(",", ":"))
        yield from self._movement()

    def _movement(self) -> Iterator[str]:
        """How data goes to another engine."""
        if self.storage_migration_type:
            name = "storage_migration_type"
            yield f"{name}={_word(name, self.storage_migration_type)}"
        if self.perpetual_storage_wiggle is not None:
            yield f"perpetual_storage_wiggle={self.perpetual_storage_wiggle}"
        if self.perpetual_storage_wiggle_locality:
            if not _WIGGLED.fullmatch(self.perpetual_storage_wiggle_locality):
                raise ValueError("perpetual_storage_wiggle_locality must be KEY:VALUE, or 0")
            yield f"perpetual_storage_wiggle_locality={self.perpetual_storage_wiggle_locality}"
        if self.perpetual_storage_wiggle_engine:
            name = "perpetual_storage_wiggle_engine"
            yield f"{name}={_word(name, self.perpetual_storage_wiggle_engine)}"


_COUNTS: Final = (
    "logs",
    "resolvers",
    "log_routers",
    "remote_logs",
    "proxies",
    "commit_proxies",
    "grv_proxies",
)


def _word(name: str, value: str) -> str:
    if not _WORD.fullmatch(value):
        raise ValueError(f"{name} must be one word, got {value!r}")
    return str(value)


def _regions_json(regions: tuple[Region, ...]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for region in regions:
        centers = [
            {"id": it.id, "priority": it.priority} | ({"satellite": 1} if it.satellite else {})
            for it in region.data_centers
        ]
        one: dict[str, object] = {"datacenters": centers}
        if region.satellite_logs:
            one["satellite_logs"] = region.satellite_logs
        if region.satellite_redundancy:
            one["satellite_redundancy_mode"] = region.satellite_redundancy
        found.append(one)
    return found
