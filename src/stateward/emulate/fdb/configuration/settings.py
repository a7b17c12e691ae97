"""What a database is configured as: everything that was ever set, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from stateward.emulate.fdb.configuration import regions
from stateward.emulate.fdb.configuration.regions import Region
from stateward.emulate.fdb.configuration.spreads import SPREADS, Spread
from stateward.emulate.fdb.configuration.tokens import Asked
from stateward.emulate.fdb.recruiting import Wanted

#: What is the same as if nobody had set it.
_UNSET: Final[Mapping[str, Any]] = {
    "usable_regions": 1,
    "storage_migration_type": "disabled",
    "perpetual_storage_wiggle": 0,
    "tenant_mode": "disabled",
    "regions": [],
}
#: What FoundationDB chooses where nobody does.
_LOGS, _COMMIT_PROXIES, _GRV_PROXIES, _RESOLVERS = 3, 3, 1, 1


@dataclass(frozen=True, slots=True)
class Settings:
    """A configuration: everything that was ever set, by name."""

    values: Mapping[str, Any] = field(default_factory=dict)

    def value(self, name: str, otherwise: Any = None) -> Any:
        """Return a setting; one that was set to -1 is as if it had not been."""
        found = self.values.get(name, otherwise)
        return otherwise if found == -1 else found

    @property
    def redundancy(self) -> str:
        """How many copies there are."""
        return str(self.values["redundancy_mode"])

    @property
    def spread(self) -> Spread:
        """How far apart the copies of data are, in one region."""
        return SPREADS[self.redundancy][0]

    @property
    def log_spread(self) -> Spread:
        """How far apart the copies of what was just written are."""
        return SPREADS[self.redundancy][1]

    @property
    def copies(self) -> int:
        """How many copies of data there are in a region."""
        return self.spread.copies

    @property
    def log_copies(self) -> int:
        """How many copies of what was just written there are."""
        return self.log_spread.copies

    @property
    def regions(self) -> tuple[Region, ...]:
        """The regions, those first that are wanted most; none: all processes are one."""
        return regions.read(self.values.get("regions"))

    @property
    def usable_regions(self) -> int:
        """How many regions have all data."""
        return int(self.value("usable_regions", 1))

    def wanted(self) -> Wanted:
        """Return how many of each role there shall be."""
        return Wanted(
            logs=self.value("logs", _LOGS),
            spread=self.log_spread,
            commit_proxies=self.value("commit_proxies", _COMMIT_PROXIES),
            grv_proxies=self.value("grv_proxies", _GRV_PROXIES),
            resolvers=self.value("resolvers", _RESOLVERS),
        )

    def changed(self, asked: Asked) -> Settings:
        """Return it with what was asked for."""
        kept = {name: it for name, it in asked.values.items() if name not in ("locked", "exclude")}
        return replace(self, values={**self.values, **kept})

    def differs(self, other: Settings) -> bool:
        """Tell whether another asks for anything else."""
        return self._chosen() != other._chosen()

    def _chosen(self) -> dict[str, Any]:
        return {
            name: it
            for name, it in self.values.items()
            if it != -1 and it != _UNSET.get(name, object())
        }
