"""The words in which Kubernetes says what is wrong with a field."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stateward.kube.codec import encode
from stateward.kube.errors import Cause


def required(field: str, why: str = "") -> Cause:
    """Say that something must be there."""
    return _cause("FieldValueRequired", field, "Required value", why)


def invalid(field: str, value: Any, why: str) -> Cause:
    """Say that a value makes no sense."""
    return _cause("FieldValueInvalid", field, f"Invalid value: {text(value)}", why)


def wrong_type(field: str, value: Any, why: str) -> Cause:
    """Say that a value is of another type than it must be."""
    return _cause("FieldValueTypeInvalid", field, f"Invalid value: {text(value)}", why)


def unsupported(field: str, value: Any, options: Iterable[Any]) -> Cause:
    """Say that a value is none of those that are possible."""
    listed = ", ".join(text(option) for option in options)
    what = f"Unsupported value: {text(value)}"
    return _cause("FieldValueNotSupported", field, what, f"supported values: {listed}")


def duplicate(field: str, value: Any) -> Cause:
    """Say that something is there twice."""
    return _cause("FieldValueDuplicate", field, f"Duplicate value: {text(value)}", "")


def not_found(field: str, value: Any) -> Cause:
    """Say that what is referred to is not there."""
    return _cause("FieldValueNotFound", field, f"Not found: {text(value)}", "")


def forbidden(field: str, why: str) -> Cause:
    """Say that something may not be there."""
    return _cause("FieldValueForbidden", field, "Forbidden", why)


def too_long(field: str, why: str) -> Cause:
    """Say that a text is too long."""
    return _cause("FieldValueTooLong", field, "Too long", why)


def too_many(field: str, why: str) -> Cause:
    """Say that there are too many of something."""
    return _cause("FieldValueTooMany", field, "Too many", why)


def text(value: Any) -> str:
    """Write a value for people, and not more of it than they want to read."""
    written = encode(value).decode()
    return written if len(written) <= 200 else f"{written[:200]}..."


def _cause(reason: str, field: str, what: str, why: str) -> Cause:
    return Cause(reason=reason, message=f"{what}: {why}" if why else what, field=field)
