"""What users lay over objects that we make: parts of Kubernetes' own types, with directives.

A kind keeps such a part as it is written, because a schema cannot say all that a strategic merge
allows. So typing errors reach us, and are found here: unknown names, and values of another type.
Nothing is missed for being left out: an overlay says only what shall be different.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

from stateward.kube.codec import Json
from stateward.kube.crd import definitions
from stateward.kube.crd.problems import Problem
from stateward.kube.crd.shapes import value_problem

_DIRECTIVES: Final = ("$patch", "$retainKeys")
_ABOUT_LISTS: Final = ("$deleteFromPrimitiveList/", "$setElementOrder/")


def overlay_problems(overlay: Any, definition: str, path: str) -> Iterator[Problem]:
    """Yield what cannot be laid over an object of one of Kubernetes' own types, and where.

    >>> pod = "io.k8s.api.core.v1.PodSpec"
    >>> [str(it) for it in overlay_problems({"tolerationz": [], "hostIPC": 3}, pod, "spec")]
    ... # doctest: +NORMALIZE_WHITESPACE
    ['spec.tolerationz: there is no such field; did you mean tolerations?',
     'spec.hostIPC: must be true or false, got 3']
    """
    yield from _value_problems(overlay, _schema(definition), path)


@cache
def _schema(definition: str) -> Json:
    return definitions.inline(definition)


def _value_problems(value: Any, schema: Json, path: str) -> Iterator[Problem]:
    if value is None:
        return  # it is taken away
    if (said := value_problem(value, schema)) is not None:
        yield Problem(path, said)
    elif isinstance(value, dict):
        yield from _object_problems(value, schema, path)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            where = f"{path}[{number}]"
            if item is None:  # of a list nothing is taken away that way
                yield Problem(where, "must not be null: write what shall be there")
            yield from _value_problems(item, schema.get("items", {}), where)


def _object_problems(value: Json, schema: Json, path: str) -> Iterator[Problem]:
    known = schema.get("properties", {})
    others = schema.get("additionalProperties")
    for name, inner in value.items():
        where = f"{path}.{name}"
        if name in known:
            yield from _value_problems(inner, known[name], where)
        elif isinstance(others, dict):
            yield from _value_problems(inner, others, where)
        elif known and not _is_directive(name):
            close = get_close_matches(str(name), known, n=1)
            meant = f"; did you mean {close[0]}?" if close else ""
            yield Problem(where, f"there is no such field{meant}")


def _is_directive(name: str) -> bool:
    return name in _DIRECTIVES or name.startswith(_ABOUT_LISTS)
