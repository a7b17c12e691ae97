"""Kubernetes' own schemas, as ``tools/vendor_openapi.py`` wrote them.

The file is read once, when first asked for. What is handed out is shared by everybody: read it,
never change it. A reference inside a definition is ``{"$ref": name}``; keywords beside it win
over the target's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Final

import msgspec

from stateward.kube.codec import Json

FILE: Final = "kubernetes-1.35.json"


class Vendored(msgspec.Struct, frozen=True):
    """The definitions of one Kubernetes release, by name."""

    kubernetes: str
    definitions: dict[str, dict[str, Any]]


@cache
def vendored() -> Vendored:
    """Return the release and its definitions."""
    data = resources.files(__name__).joinpath(FILE).read_bytes()
    return msgspec.json.decode(data, type=Vendored)


def definitions() -> Mapping[str, Json]:
    """Return all the definitions, by name."""
    return MappingProxyType(vendored().definitions)


def name_of_kind(group: str, version: str, kind: str) -> str | None:
    """Return the name of the definition of a built-in kind, or None when we ship none.

    >>> name_of_kind("apps", "v1", "StatefulSet")
    'io.k8s.api.apps.v1.StatefulSet'
    """
    return _by_kind().get((group, version, kind))


@cache
def _by_kind() -> Mapping[tuple[str, str, str], str]:
    return MappingProxyType(
        {
            (gvk["group"], gvk["version"], gvk["kind"]): name
            for name, schema in definitions().items()
            for gvk in schema.get("x-kubernetes-group-version-kind", ())
        }
    )
