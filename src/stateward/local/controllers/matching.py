"""Whether a node is one that a pod means, and whether a pod bears what a node has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stateward.kube.codec import Json

#: Effects of a taint that keep a pod from being placed.
KEEPS_OUT = frozenset({"NoSchedule", "NoExecute"})


def tolerates(tolerations: Iterable[Json], taint: Json) -> bool:
    """Tell whether one of the tolerations covers a taint."""
    return any(covers(toleration, taint) for toleration in tolerations)


def covers(toleration: Json, taint: Json) -> bool:
    """Tell whether a toleration covers a taint: empty parts of it cover everything."""
    effect, key = toleration.get("effect"), toleration.get("key")
    if effect and effect != taint["effect"]:
        return False
    if key and key != taint["key"]:
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(key) and (toleration.get("value") or "") == (taint.get("value") or "")


def matches_terms(terms: Iterable[Json], name: str, labels: Mapping[str, str]) -> bool:
    """Tell whether a node meets one of the terms of a node selector."""
    return any(matches_term(term, name, labels) for term in terms)


def matches_term(term: Json, name: str, labels: Mapping[str, str]) -> bool:
    """Tell whether a node meets all of one term; an empty term is met by none."""
    by_label = term.get("matchExpressions") or ()
    by_field = term.get("matchFields") or ()
    if not by_label and not by_field:
        return False
    fields = {"metadata.name": name}
    return all(_meets(it, labels) for it in by_label) and all(_meets(it, fields) for it in by_field)


def _meets(expression: Json, labels: Mapping[str, str]) -> bool:
    found = labels.get(expression["key"])
    values: list[Any] = expression.get("values") or []
    match expression["operator"]:
        case "In":
            return found in values
        case "NotIn":
            return found not in values
        case "Exists":
            return found is not None
        case "DoesNotExist":
            return found is None
        case "Gt" | "Lt" as sign:
            return _compares(sign, found, values)
        case _:
            return False


def _compares(sign: str, found: str | None, values: list[Any]) -> bool:
    try:
        have, wanted = int(found or ""), int(values[0])
    except (ValueError, IndexError):
        return False
    return have > wanted if sign == "Gt" else have < wanted
