"""Why an object of a custom kind cannot be scaled to what it asks for, or has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stateward.kube.codec import Json
from stateward.kube.errors import Cause
from stateward.local.kinds import ScalePaths
from stateward.local.schema import causes
from stateward.local.schema.complaints import at, type_name

_MOST: Final = 2**31 - 1


def scale_problems(paths: ScalePaths | None, document: Json) -> Iterator[Cause]:
    """Yield which of the fields that a scale is made of cannot be such."""
    if paths is None:
        return
    for path in (paths.spec, paths.status):
        yield from _number_problems(path, _found(document, path))
    selector = _found(document, paths.selector) if paths.selector else None
    if selector is not None and not isinstance(selector, str):
        yield causes.invalid(paths.selector, "", _mistyped(paths.selector, selector, "string"))


def _number_problems(path: str, value: Any) -> Iterator[Cause]:
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool):
        yield causes.invalid(path, 0, _mistyped(path, value, "int64"))
    elif value < 0:
        yield causes.invalid(path, value, "should be a non-negative integer")
    elif value > _MOST:
        yield causes.invalid(path, value, f"should be less than or equal to {_MOST}")


def _mistyped(path: str, value: Any, wanted: str) -> str:
    return f"{path} accessor error: it is of the type {type_name(value)}, expected {wanted}"


def _found(document: Json, path: str) -> Any:
    return at(document, path.strip(".").split("."))
