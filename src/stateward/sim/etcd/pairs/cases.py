"""What may be done to a property, by its type: each case makes a whole spec from another one.

A case never looks at what a cluster was asked before: it begins with the spec of its base. So it
names a state, and every way into that state must end alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from stateward.kube.codec import Json, plain
from stateward.sim.etcd.pairs.schema import Path, Property

Mutate = Callable[[Json], Json]


class Class(StrEnum):
    """Which kind of value a case puts there."""

    DELETE = "delete"
    EMPTY = "empty"
    LEAST = "min"
    MOST = "max"
    TYPICAL = "typical"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Case:
    """One change of a spec."""

    name: str
    #: The property that it is about, dotted; empty: none.
    about: str
    kind: Class
    mutate: Mutate

    def spec(self, base: Json) -> Json:
        """Return the spec that is asked for."""
        return self.mutate(plain(base))


#: Nothing is changed: from any other state this is the way back to the base.
SAME: Final = Case("same", "", Class.TYPICAL, lambda spec: spec)


def put(path: Path, value: Any) -> Mutate:
    """Return what writes a value somewhere, with all that must be around it."""

    def mutate(spec: Json) -> Json:
        here = spec
        for name in path[:-1]:
            if not isinstance(here.get(name), dict):
                here[name] = {}
            here = here[name]
        here[path[-1]] = plain({"it": value})["it"]
        return spec

    return mutate


def drop(path: Path) -> Mutate:
    """Return what takes a property away."""

    def mutate(spec: Json) -> Json:
        here: Any = spec
        for name in path[:-1]:
            here = here.get(name) or {}
        here.pop(path[-1], None)
        return spec

    return mutate


def has(spec: Json, path: Path) -> bool:
    """Tell whether a spec says anything of a property."""
    here: Any = spec
    for name in path:
        if not isinstance(here, dict) or name not in here:
            return False
        here = here[name]
    return True


# -------------------------------------------------------------------------- by type

#: What a generator yields: the end of a case's name, its class, and the value.
_Made = Iterator[tuple[str, Class, Any]]
#: Longer than any text or list that a schema limits may be.
_TOO_MANY: Final = 65


def generated(
    every: Iterator[Property], base: Json, examples: Mapping[str, tuple[Any, ...]]
) -> Iterator[Case]:
    """Yield the cases that follow from the types of properties.

    ``examples`` has values that make sense, for types that do not tell one.
    """
    for it in every:
        if has(base, it.path):
            yield Case(f"{it}.drop", str(it), Class.DELETE, drop(it.path))
        for ending, kind, value in _values(it, examples.get(str(it), ())):
            yield Case(f"{it}.{ending}", str(it), kind, put(it.path, value))


def _values(it: Property, examples: tuple[Any, ...]) -> _Made:
    yield from _BY_SHAPE[it.shape](it.node)
    for number, value in enumerate(examples):
        yield f"change{number or ''}", Class.TYPICAL, value
    wrong = [1] if it.shape in {"string", "choice"} else "mistyped"
    yield "mistyped", Class.INVALID, [wrong] if it.shape == "either" else wrong


def _boolean(_: Json) -> _Made:
    yield "on", Class.TYPICAL, True
    yield "off", Class.TYPICAL, False


def _integer(node: Json) -> _Made:
    if "minimum" in node:
        yield "min", Class.LEAST, node["minimum"]
        yield "below", Class.INVALID, node["minimum"] - 1
    if "maximum" in node:
        yield "max", Class.MOST, node["maximum"]
        yield "above", Class.INVALID, node["maximum"] + 1


def _string(node: Json) -> _Made:
    yield "empty", Class.EMPTY, ""
    if "maxLength" in node:
        yield "long", Class.INVALID, "a" * (node["maxLength"] + 1)
    if "pattern" in node:
        yield "odd", Class.INVALID, "No Name!"


def _choice(node: Json) -> _Made:
    for value in node["enum"]:
        kind = Class.TYPICAL if value else Class.EMPTY
        yield f"is-{value or 'empty'}", kind, value
    yield "unknown", Class.INVALID, "Unknown"


def _either(node: Json) -> _Made:
    if "minimum" in node:
        yield "min", Class.LEAST, node["minimum"]
        yield "below", Class.INVALID, node["minimum"] - 1
    yield "odd", Class.INVALID, "many"


def _array(node: Json) -> _Made:
    yield "empty", Class.EMPTY, []
    if "maxItems" in node:
        yield "many", Class.INVALID, ["it"] * _TOO_MANY


def _map(node: Json) -> _Made:
    yield "empty", Class.EMPTY, {}
    if "maxProperties" in node:
        yield "many", Class.INVALID, {f"key-{n}": "1" for n in range(_TOO_MANY)}


def _object(_: Json) -> _Made:
    yield "empty", Class.EMPTY, {}


_BY_SHAPE: Final[Mapping[str, Callable[[Json], _Made]]] = {
    "boolean": _boolean,
    "integer": _integer,
    "string": _string,
    "choice": _choice,
    "either": _either,
    "array": _array,
    "map": _map,
    "object": _object,
    "opaque": _object,
}
