"""What an operator says of the objects that it keeps: series that come and go with their object.

An operator names its families as plain data and hands in plain readings, so that the part of it
that judges need not know any library. Every series is labelled with the namespace and the name of
its object, and then with what the family adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeAlias, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge

from stateward.core.errors import HouseError
from stateward.kube.meta import ObjectKey

M = TypeVar("M", Gauge, Counter)

#: Name -> what it says, and the labels that tell its series apart.
Families: TypeAlias = Mapping[str, tuple[str, tuple[str, ...]]]

#: A family, and the values of the labels that it adds.
_Series: TypeAlias = tuple[str, tuple[str, ...]]

#: What comes before the labels of every family about objects.
OBJECT_LABELS = ("namespace", "name")
#: Series of one family that one object may have: a label must not grow without bound.
MOST = 200


class Reading(Protocol):
    """One value: of which family, under which of the family's own labels, and how much."""

    @property
    def family(self) -> str:
        """The name of the family."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The values of the labels that the family adds, in its order."""

    @property
    def value(self) -> float:
        """How much."""


class ObjectMetrics:
    """Gauges that show an object as it is, and counters of what was done to it."""

    def __init__(self, registry: CollectorRegistry, gauges: Families, counters: Families) -> None:
        self._gauges = {
            name: _made(Gauge, name, about, labels, registry)
            for name, (about, labels) in gauges.items()
        }
        self._counters = {
            name: _made(Counter, name, about, labels, registry)
            for name, (about, labels) in counters.items()
        }
        #: Which gauges each object has, and what they show.
        self._shown: dict[ObjectKey, dict[_Series, float]] = {}
        self._counted: dict[ObjectKey, set[_Series]] = {}

    def show(self, key: ObjectKey, readings: Iterable[Reading]) -> None:
        """Show these gauges of an object, and no others: what is not told any more is gone."""
        before, now = self._shown.get(key, {}), _with_room(readings)
        for (family, labels), value in now.items():
            if before.get((family, labels)) != value:
                self._gauges[family].labels(*key, *labels).set(value)
        for family, labels in before.keys() - now.keys():
            self._gauges[family].remove(*key, *labels)
        self._shown[key] = now

    def count(self, key: ObjectKey, family: str, *labels: str, by: float = 1.0) -> None:
        """Count something that was done to an object, or that befell it."""
        counted = self._counted.setdefault(key, set())
        if (family, labels) not in counted and sum(name == family for name, _ in counted) >= MOST:
            return
        counted.add((family, labels))
        self._counters[family].labels(*key, *labels).inc(by)

    def forget(self, key: ObjectKey) -> None:
        """Drop every series of an object that is gone; fine if there is none."""
        self.show(key, ())
        del self._shown[key]
        for family, labels in self._counted.pop(key, set()):
            self._counters[family].remove(*key, *labels)


def _with_room(readings: Iterable[Reading]) -> dict[_Series, float]:
    """Return the readings by their series, of each family no more than may be shown."""
    found: dict[_Series, float] = {}
    of_family: dict[str, int] = {}
    for reading in readings:
        series, many = (reading.family, reading.labels), of_family.get(reading.family, 0)
        if many < MOST:
            of_family[reading.family] = many + (series not in found)
            found[series] = reading.value
    return found


def _made(
    family: type[M], name: str, about: str, labels: tuple[str, ...], registry: CollectorRegistry
) -> M:
    if not name.startswith("stateward_"):
        raise HouseError(f"the name of a family must begin with stateward_, got {name}")
    try:
        return family(name, about, (*OBJECT_LABELS, *labels), registry=registry)
    except ValueError as error:  # the registry has it, or the name is none
        raise HouseError(f"{name} must be a new name for metrics: {error}") from error
