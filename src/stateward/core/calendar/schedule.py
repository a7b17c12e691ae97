"""When what comes again is due: a schedule in its time zone, as moments since the epoch."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from stateward.core import duration
from stateward.core.errors import SpecInvalid

_SHORT = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY = "@every "


@dataclass(frozen=True, slots=True)
class Schedule:
    """Moments that come again: of a calendar, or every so many seconds since the last."""

    expression: str = ""
    zone: tzinfo = UTC
    every: float = 0.0

    @classmethod
    def parse(cls, text: str, zone: str | None = None) -> Schedule:
        """Read a schedule; raise SpecInvalid when it is none, or its zone is not known."""
        found = _zone(zone)
        if text.startswith(_EVERY):
            return cls(every=_period(text.removeprefix(_EVERY)))
        expression = _SHORT.get(text, text).replace("?", "*")
        if len(expression.split()) != 5:
            raise _broken(text, "it must have five fields, or be one of @hourly, @daily, ...")
        try:
            next(CronSim(expression, datetime(2000, 1, 1, tzinfo=UTC)))
        except (CronSimError, StopIteration) as error:
            raise _broken(text, str(error) or "it never comes") from error
        return cls(expression, found)

    def last(self, since: float, now: float) -> float | None:
        """Return the last moment after ``since`` up to now, or None when there was none."""
        if self.every:
            periods = int((now - since) // self.every)
            return since + periods * self.every if periods > 0 else None
        # One that is due this very second counts; the search begins before where it stands.
        found = next(CronSim(self.expression, self._date(int(now) + 1), reverse=True), None)
        moment = found.timestamp() if found is not None else since
        return moment if moment > since else None

    def next(self, since: float, now: float) -> float:
        """Return the first moment after now."""
        if self.every:
            return since + (int((now - since) // self.every) + 1) * self.every
        found: datetime = next(CronSim(self.expression, self._date(now)))
        return found.timestamp()

    def _date(self, moment: float) -> datetime:
        return datetime.fromtimestamp(moment, self.zone)


def _period(text: str) -> float:
    try:
        seconds = duration.parse_seconds(text.strip())
    except ValueError as error:
        raise _broken(f"{_EVERY}{text}", str(error)) from error
    if seconds < 1:
        raise _broken(f"{_EVERY}{text}", "it must be a second or longer")
    return float(int(seconds))


def _zone(name: str | None) -> tzinfo:
    if not name:
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError) as error:
        raise SpecInvalid(
            "spec.timeZone",
            f"unknown time zone {name!r}",
            hint="write a name as in Europe/Vienna",
        ) from error


def _broken(text: str, why: str) -> SpecInvalid:
    hint = "write it as in '*/5 * * * *' or @hourly"
    return SpecInvalid("spec.schedule", f"unparseable schedule {text!r}: {why}", hint=hint)
