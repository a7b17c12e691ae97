"""How much of a spec the cases touch: every property, and every kind of value that it can have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stateward.sim.etcd.pairs.cases import Class
from stateward.sim.etcd.pairs.samples import cases_of
from stateward.sim.etcd.pairs.schema import Property, properties, spec_schema
from stateward.sim.etcd.pairs.tables import EMBEDDED


@dataclass(frozen=True, slots=True)
class Coverage:
    """Properties, and kinds of values: how many there are, and which have no case."""

    properties: int
    without_case: tuple[str, ...]
    values: int
    without_value: tuple[str, ...]

    def __str__(self) -> str:
        touched = self.properties - len(self.without_case)
        given = self.values - len(self.without_value)
        return (
            f"{touched} of {self.properties} properties, {given} of {self.values} kinds of values"
        )


def coverage(bases: Iterable[str]) -> Coverage:
    """Return what the cases of some bases touch.

    Taking a property away that a base does not have is the way back from a case that gives it.
    """
    found: dict[str, set[Class]] = {}
    for base in bases:
        for case in cases_of(base).values():
            kinds = found.setdefault(case.about, set())
            kinds.add(case.kind)
            if case.kind in {Class.TYPICAL, Class.EMPTY}:
                kinds.add(Class.DELETE)
    every = tuple(properties(spec_schema(), EMBEDDED))
    wanted = [(str(it), kind) for it in every for kind in kinds_of(it)]
    return Coverage(
        len(every),
        tuple(str(it) for it in every if str(it) not in found),
        len(wanted),
        tuple(f"{it} {kind}" for it, kind in wanted if kind not in found.get(it, ())),
    )


def kinds_of(it: Property) -> tuple[Class, ...]:
    """Return the kinds of values that a property can have; an object's own are those inside."""
    kinds = [Class.DELETE, Class.INVALID]
    if it.shape not in {"boolean", "integer", "either", "choice"} or "" in it.node.get("enum", ()):
        kinds.append(Class.EMPTY)
    if it.shape != "object":
        kinds.append(Class.TYPICAL)
    if "minimum" in it.node:
        kinds.append(Class.LEAST)
    if "maximum" in it.node:
        kinds.append(Class.MOST)
    return tuple(kinds)
