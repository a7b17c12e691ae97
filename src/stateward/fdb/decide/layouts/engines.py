"""Whether data may go over to another storage engine: the database must be told how it goes."""

from __future__ import annotations

from typing import Final

from stateward.fdb.guards.guard import Refusal
from stateward.fdb.model.configuration import Configuration, engine_of
from stateward.fdb.views import ClusterView

_GUARD: Final = "engine_can_change"
_WHERE: Final = "databaseConfiguration"


def engine_can_change(
    _view: ClusterView, live: Configuration, step: Configuration
) -> Refusal | None:
    """Refuse another engine where no data would ever go over to it."""
    is_, shall = engine_of(live.storage_engine), engine_of(step.storage_engine)
    if is_ == shall:
        return None
    how = step.storage_migration_type or live.storage_migration_type or "disabled"
    back = f", or set {_WHERE}.storage_engine back to {is_}"
    if how == "disabled":
        return Refusal(
            _GUARD,
            f"storage_engine must stay {is_} while storage_migration_type is disabled: no data"
            f" would go over to {shall}",
            f"set {_WHERE}.storage_migration_type to aggressive, which rewrites all storage servers"
            " as fast as it can, or to gradual with perpetual_storage_wiggle: 1, which rewrites"
            f" one after another{back}",
        )
    wiggles = _first(step.perpetual_storage_wiggle, live.perpetual_storage_wiggle)
    if how == "gradual" and not wiggles:
        return Refusal(
            _GUARD,
            "perpetual_storage_wiggle must be 1 or more with storage_migration_type gradual: it is"
            f" what brings data over to {shall}",
            f"set {_WHERE}.perpetual_storage_wiggle to 1{back}",
        )
    return None


def _first(said: int | None, live: int | None) -> int:
    return (live or 0) if said is None else said
