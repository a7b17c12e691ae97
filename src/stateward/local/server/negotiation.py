"""Which form of an object somebody wants to see: whole, as a table, or its metadata. Pure."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from stateward.kube.errors import ApiError


class Form(Enum):
    """How objects are shown."""

    WHOLE = ""
    TABLE = "Table"
    METADATA = "PartialObjectMetadata"
    METADATA_LIST = "PartialObjectMetadataList"
    GROUPS = "APIGroupDiscoveryList"


class Wanted(NamedTuple):
    """One form, and the version of it."""

    form: Form
    version: str = "v1"


_JSON = frozenset({"application/json", "*/*"})
_GROUPS = {
    Form.TABLE: "meta.k8s.io",
    Form.METADATA: "meta.k8s.io",
    Form.METADATA_LIST: "meta.k8s.io",
    Form.GROUPS: "apidiscovery.k8s.io",
}
_ONE_OR_MANY = (Form.METADATA, Form.METADATA_LIST)
_VERSIONS = {Form.GROUPS: {"v2", "v2beta1"}}


@lru_cache(maxsize=256)
def wanted(accept: str, forms: frozenset[Form]) -> Wanted:
    """Return the first form of those possible that an Accept header names.

    >>> wanted("application/json;as=Table;v=v1;g=meta.k8s.io", frozenset({Form.TABLE})).form
    <Form.TABLE: 'Table'>
    """
    for clause in accept.split(",") if accept.strip() else ("*/*",):
        media, *parameters = (part.strip() for part in clause.split(";"))
        named = dict(_pair(it) for it in parameters)
        if (found := _form(media.lower(), named, forms)) is not None:
            return found
    message = "only the following media types are accepted: application/json"
    raise ApiError(message, code=406)


def _form(media: str, named: dict[str, str], forms: frozenset[Form]) -> Wanted | None:
    # Only what describes the API takes this: as with a real server.
    if media not in _JSON and not (media == "application/*" and Form.GROUPS in forms):
        return None
    if "as" not in named:
        return Wanted(Form.WHOLE)
    _check_number(named, forms)
    for form in forms:
        version = named.get("v", "v1")
        versions = _VERSIONS.get(form, {"v1", "v1beta1"})
        if (named["as"], named.get("g")) == (form.value, _GROUPS[form]) and version in versions:
            return Wanted(form, version)
    return None


def _check_number(named: dict[str, str], forms: frozenset[Form]) -> None:
    """Raise when one is asked for and there are many, or the other way round."""
    for form, other in (_ONE_OR_MANY, _ONE_OR_MANY[::-1]):
        if (named["as"], named.get("g")) == (form.value, _GROUPS[form]) and other in forms:
            what = "a list" if form is Form.METADATA else "not a list"
            raise ApiError(
                f"you requested {form.value}, but the requested object is {what}", code=406
            )


def _pair(parameter: str) -> tuple[str, str]:
    name, _, value = parameter.partition("=")
    return name.strip(), value.strip()
