"""Whether a cron schedule can be read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_MACROS: Final = frozenset(
    {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
)


def schedule_problem(schedule: str) -> str | None:
    """Say what is wrong with a schedule, or None."""
    from cronsim import CronSim, CronSimError  # noqa: PLC0415 - only those who serve need it

    if schedule in _MACROS:
        return None
    if schedule.startswith(("TZ", "CRON_TZ")):
        return "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
    try:
        CronSim(schedule, datetime(2000, 1, 1, tzinfo=UTC))
    except CronSimError as error:
        return f"must be five fields (minute hour day month weekday): {error}"
    return None


def zone_problem(zone: str) -> str | None:
    """Say what is wrong with a time zone, or None."""
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return f"the time zone must be one that is known here, got {zone!r}"
    return None
