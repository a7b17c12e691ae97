"""What operators ask for by keys of a database, as calls on the wire and as it would be typed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stateward.fdb.admin import commands
from stateward.fdb.admin.keyed.optimistic import Order
from stateward.fdb.admin.keys import COORDINATORS, excluded_by
from stateward.fdb.model.addresses import parse_all
from stateward.fdb.model.exclusions import Exclusion


@dataclass(frozen=True, slots=True)
class KeysCall:
    """One run of the program for keys."""

    order: Order
    database: str

    @property
    def writes(self) -> bool:
        """Whether it may change something."""
        return bool(self.order.writes or self.order.clears)

    def __str__(self) -> str:
        keys = [it for it, _ in self.order.writes] or [
            it.begin for it in (self.order.read,) if it is not None
        ]
        names = " ".join(it.decode(errors="backslashreplace") for it in keys)
        verb = "writes" if self.writes else "reads" if names else "compares"
        return f"fdbkeys {verb} {names}".rstrip() + f" at {self.database}"


def acts_of(order: Order) -> Iterator[str]:
    """Yield what keys of management ask for, as it would be typed."""
    excluded, included = list[Exclusion](), list[Exclusion]()
    for key, value in order.writes:
        if key == COORDINATORS and value is not None:
            yield commands.coordinators(parse_all(value.decode()))
        elif (target := excluded_by(key)) is not None:
            (included if value is None else excluded).append(target)
    if excluded:
        yield commands.exclude(excluded)
    if included:
        yield commands.include(included)
