"""What a database is configured as, and which changes it refuses. Pure.

The real one refuses little: it counts zones before it wants more copies, and takes a layout for
which there are no data halls, with which nobody can write any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from stateward.emulate.fdb.configuration.tokens import COUNTS, Asked
from stateward.emulate.fdb.recruiting import Wanted

INVALID: Final = "ERROR: These changes would make the configuration invalid"
EXISTS: Final = "ERROR: Database already exists! To change configuration, don't say `new'"
NOT_NEW: Final = "ERROR: `only new databases can be configured as locked`"
FROZEN_ENGINE: Final = (
    "ERROR: Storage engine type cannot be changed because storage_migration_type=disabled.\n"
    "Type `configure perpetual_storage_wiggle=1 storage_migration_type=gradual' to enable gradual"
    " migration with the perpetual wiggle, or `configure storage_migration_type=aggressive' for"
    " aggressive migration."
)
TOO_FEW: Final = (
    "ERROR: Not enough processes exist to support the specified configuration\n"
    "Type `configure FORCE <TOKEN...>' to configure without this check"
)
WIGGLE_NEEDED: Final = (
    "WARN: To make progress toward the desired storage type with storage_migration_type=gradual,"
    " the Perpetual Wiggle must be enabled.\n"
    "Type `configure perpetual_storage_wiggle=1' to enable the perpetual wiggle, or `configure"
    " storage_migration_type=gradual' to set the gradual migration type."
)
#: By redundancy: copies of data, copies in logs, and zones that must be there.
_COPIES: Final[Mapping[str, tuple[int, int]]] = {
    "single": (1, 1),
    "double": (2, 2),
    "triple": (3, 3),
    "three_data_hall": (3, 4),
    "three_data_hall_fallback": (2, 4),
    "three_datacenter": (6, 4),
    "three_datacenter_fallback": (4, 4),
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
    def copies(self) -> int:
        """How many copies of data there are."""
        return _COPIES[self.redundancy][0]

    @property
    def log_copies(self) -> int:
        """How many copies of what was just written there are."""
        return _COPIES[self.redundancy][1]

    @property
    def halls(self) -> int:
        """How many data halls must be there; 0: it does not ask for any."""
        return 3 if self.redundancy == "three_data_hall" else 0

    def wanted(self) -> Wanted:
        """Return how many of each role there shall be."""
        return Wanted(
            logs=self.value("logs", _LOGS),
            log_replicas=self.log_copies,
            commit_proxies=self.value("commit_proxies", _COMMIT_PROXIES),
            grv_proxies=self.value("grv_proxies", _GRV_PROXIES),
            resolvers=self.value("resolvers", _RESOLVERS),
        )

    def changed(self, asked: Asked) -> Settings:
        """Return it with what was asked for."""
        kept = {name: it for name, it in asked.values.items() if name not in ("locked", "exclude")}
        return replace(self, values={**self.values, **kept})


def objection(before: Settings | None, asked: Asked, zones: int) -> str:
    """Return why a change is refused, as fdbcli says it; nothing: it is made.

    ``zones`` are those of processes that could store data, whether they run or not.
    """
    if asked.new:
        return EXISTS if before is not None else _nonsense(Settings().changed(asked))
    if "locked" in asked.values:
        return NOT_NEW
    if before is None:
        return ""
    after = before.changed(asked)
    if wrong := _nonsense(after):
        return wrong
    engine = after.values.get("storage_engine") != before.values.get("storage_engine")
    if engine and after.value("storage_migration_type", "disabled") == "disabled":
        return FROZEN_ENGINE
    if not asked.force and after.redundancy != before.redundancy and _spans(after) > zones:
        return TOO_FEW
    return ""


def _spans(settings: Settings) -> int:
    """Return how many zones are counted before copies are wanted; halls are not counted at all."""
    return 0 if settings.halls else settings.copies


def _nonsense(settings: Settings) -> str:
    for name in COUNTS:
        found = settings.values.get(name)
        if isinstance(found, int) and found < 1 and found != -1:
            return INVALID
    usable, regions = settings.value("usable_regions", 1), settings.values.get("regions") or []
    if usable > max(1, len(regions)):
        return INVALID
    if settings.values.get("tenant_mode") == "required_experimental":
        return INVALID
    return ""
