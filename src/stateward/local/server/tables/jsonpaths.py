"""The JSON paths of printer columns: names, numbers, stars and filters. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

_STEP = re.compile(
    r"""\.?\[\?\(@\.(?P<field>[\w.\\/-]+)\s*(?P<operator>==|!=)\s*
            (?P<value>"[^"]*"|'[^']*'|[\w.-]+)\)\]
      | \[(?P<index>-?\d+)\]
      | \[(?P<star>\*)\] | \.(?P<dot_star>\*)
      | \[(?P<quote>['"])(?P<quoted>.+?)(?P=quote)\]
      | \.(?P<name>(?:\\.|[^.\[\]\\])+)
    """,
    re.VERBOSE,
)


class Step(NamedTuple):
    """One step of a path."""

    name: str = ""
    place: int | None = None
    star: bool = False
    #: What a member must be (or not be) for an item to be taken.
    field: str = ""
    value: str = ""
    differs: bool = False


@lru_cache(maxsize=1024)
def steps(path: str) -> tuple[Step, ...] | None:
    """Return the steps of a path, or None when it is none that we understand.

    >>> [step.name for step in steps(".status.phase")]
    ['status', 'phase']
    """
    found: list[Step] = []
    text = path.strip().removeprefix("{").removesuffix("}").removeprefix("$")
    place = 0
    while place < len(text):
        match = _STEP.match(text, place)
        if match is None:
            return None
        found.append(_step(match))
        place = match.end()
    return tuple(found)


def _step(match: re.Match[str]) -> Step:
    if match["field"]:
        value = match["value"].strip("\"'")
        return Step(field=_plain(match["field"]), value=value, differs=match["operator"] == "!=")
    if match["index"]:
        return Step(place=int(match["index"]))
    if match["star"] or match["dot_star"]:
        return Step(star=True)
    return Step(name=match["quoted"] or _plain(match["name"]))


def _plain(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)


def values(document: Any, path: str) -> list[Any]:
    """Return everything that a path leads to.

    >>> ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    >>> values(ready, '.status.conditions[?(@.type=="Ready")].status')
    ['True']
    """
    found = [document]
    for step in steps(path) or ():
        found = [inner for value in found for inner in _taken(value, step)]
    return found if steps(path) is not None else []


def _taken(value: Any, step: Step) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from _of_object(value, step)
    elif isinstance(value, list):
        yield from _of_list(value, step)


def _of_object(value: dict[str, Any], step: Step) -> Iterator[Any]:
    if step.star:
        yield from value.values()
    elif step.name and step.name in value:
        yield value[step.name]


def _of_list(value: list[Any], step: Step) -> Iterator[Any]:
    if step.star:
        yield from value
    elif step.place is not None:
        yield from value[step.place :][:1] if -len(value) <= step.place < len(value) else ()
    elif step.field:
        yield from (it for it in value if _passes(it, step))


def _passes(item: Any, step: Step) -> bool:
    found: Any = item
    for name in step.field.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    text = str(found).lower() if isinstance(found, bool) else str(found)
    return (text == step.value) is not step.differs
