"""Which changes of a configuration the database refuses, in fdbcli's words. Pure.

The real one refuses little: it counts zones before it wants more copies, and takes a layout for
which there are no data halls, with which nobody can write any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stateward.emulate.fdb.configuration import regions
from stateward.emulate.fdb.configuration.settings import Settings
from stateward.emulate.fdb.configuration.tokens import COUNTS, Asked

INVALID: Final = "ERROR: These changes would make the configuration invalid"
EXISTS: Final = "ERROR: Database already exists! To change configuration, don't say `new'"
NOT_NEW: Final = "ERROR: `only new databases can be configured as locked`"
FROZEN_ENGINE: Final = (
    "ERROR: Storage engine type cannot be changed because storage_migration_type=disabled.\n"
    "Type `configure perpetual_storage_wiggle=1 storage_migration_type=gradual' to enable gradual"
    " migration with the perpetual wiggle, or `configure storage_migration_type=aggressive' for"
    " aggressive migration."
)
_FORCE: Final = "\nType `configure FORCE <TOKEN...>' to configure without this check"
TOO_FEW: Final = f"ERROR: Not enough processes exist to support the specified configuration{_FORCE}"
OUTSIDE: Final = f"ERROR: All storage servers must be in one of the known regions{_FORCE}"
NOT_REPLICATED: Final = (
    "ERROR: When usable_regions > 1, all regions with priority >= 0 must be fully replicated before"
    f" changing the configuration{_FORCE}"
)
TWO_WANTED: Final = (
    "ERROR: When changing usable_regions, only one region can have priority >= 0" + _FORCE
)
BOTH: Final = (
    "ERROR: The region configuration cannot be changed while simultaneously changing"
    f" usable_regions{_FORCE}"
)
NO_REGIONS: Final = (
    f"ERROR: `three_datacenter' replication is incompatible with region configuration{_FORCE}"
)
NOBODY_THERE: Final = f"ERROR: `No storage servers in one of the specified regions{_FORCE}"
SEALED: Final = (
    "ERROR: A cluster cannot change its encryption_at_rest state after database creation."
)
WIGGLE_NEEDED: Final = (
    "WARN: To make progress toward the desired storage type with storage_migration_type=gradual,"
    " the Perpetual Wiggle must be enabled.\n"
    "Type `configure perpetual_storage_wiggle=1' to enable the perpetual wiggle, or `configure"
    " storage_migration_type=gradual' to set the gradual migration type."
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What the database knows of processes that could store data, whether they run or not."""

    #: How many zones they are in, and in which data centers those are that do store data.
    zones: int
    centers: frozenset[str] = frozenset()
    #: Data centers that shall have all data, and have not yet.
    lacking: frozenset[str] = frozenset()


def objection(before: Settings | None, asked: Asked, seen: Seen) -> str:
    """Return why a change is refused; nothing: it is made."""
    if asked.new:
        return EXISTS if before is not None else _nonsense(Settings().changed(asked))
    if "locked" in asked.values:
        return NOT_NEW
    if before is None:
        return ""
    after = before.changed(asked)
    if wrong := _nonsense(after) or _sealed(before, after):
        return wrong
    return "" if asked.force else next(_avoidable(before, after, seen), "")


def _sealed(before: Settings, after: Settings) -> str:
    """Return what cannot be changed even by force."""
    mode = "encryption_at_rest_mode"
    if after.value(mode, "disabled") != before.value(mode, "disabled"):
        return SEALED
    engine = after.values.get("storage_engine") != before.values.get("storage_engine")
    is_frozen = after.value("storage_migration_type", "disabled") == "disabled"
    return FROZEN_ENGINE if engine and is_frozen else ""


def _avoidable(before: Settings, after: Settings, seen: Seen) -> Iterator[str]:
    """Yield what is refused unless it is forced."""
    moved = after.regions != before.regions
    resized = after.usable_regions != before.usable_regions
    if moved and resized:
        yield BOTH
    if resized and sum(it.is_wanted for it in after.regions) > 1:
        yield TWO_WANTED
    if after.usable_regions > 1 and any(
        it.is_wanted and it.center in seen.lacking for it in after.regions
    ):
        yield NOT_REPLICATED
    if after.regions and after.redundancy.startswith("three_datacenter"):
        yield NO_REGIONS
    if after.regions:
        yield from _misplaced(before, after, seen)
    if after.redundancy != before.redundancy and _spans(after) > seen.zones:
        yield TOO_FEW


def _misplaced(before: Settings, after: Settings, seen: Seen) -> Iterator[str]:
    """Yield where data is that must not be; data centers count only where they are no regions."""
    centers = {it.center for it in after.regions}
    by_centers = before.redundancy.startswith("three_datacenter")
    if len(seen.centers - centers) > int(by_centers):
        yield OUTSIDE
    if by_centers and after.usable_regions > 1 and centers - seen.centers:
        yield NOBODY_THERE


def _spans(settings: Settings) -> int:
    """Return how many zones are counted before copies are wanted; halls are not counted at all."""
    return 0 if settings.redundancy == "three_data_hall" else settings.copies


def _nonsense(settings: Settings) -> str:
    for name in COUNTS:
        found = settings.values.get(name)
        if isinstance(found, int) and found < 1 and found != -1:
            return INVALID
    documents = settings.values.get("regions") or []
    too_many = settings.usable_regions > max(1, len(documents)) or len(documents) > regions.MOST
    if too_many or regions.is_nonsense(documents):
        return INVALID
    return INVALID if settings.values.get("tenant_mode") == "required_experimental" else ""
