"""Paths of the API: which resource, object and subresource a request is about. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from stateward.kube.meta import ObjectKey

#: What a namespace has beside the resources that live in it.
_OF_NAMESPACES: Final = frozenset({"status", "finalize"})
_SERVER: Final = re.compile(r"\Ahttps?://[^/?]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Address:
    """What a path names; what it does not name is empty."""

    group: str
    version: str
    plural: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def key(self) -> ObjectKey:
        """Where the object is found in its resource."""
        return ObjectKey(self.namespace, self.name)


def target(text: str) -> tuple[str, str]:
    """Return the path and the query that a request names; it may name the server as well.

    >>> target("http://127.0.0.1:6443/api/v1/pods?watch=1")
    ('/api/v1/pods', 'watch=1')
    """
    path, _, query = _SERVER.sub("", text, count=1).partition("?")
    return path or "/", query


def parsed(path: str) -> Address | None:
    """Return what a path names, or None when it is none of the API's.

    >>> parsed("/apis/apps/v1/namespaces/shop/statefulsets/orders/scale").subresource
    'scale'
    """
    match [unquote(part) for part in path.removesuffix("/").split("/")]:
        case ["", "api", "v1" as version, *rest]:
            return _below("", version, rest)
        case ["", "apis", group, version, *rest] if group and version:
            return _below(group, version, rest)
        case _:
            return None


def _below(group: str, version: str, rest: list[str]) -> Address | None:
    if not all(rest) or any("/" in part for part in rest):
        return None  # no name is empty or has a slash in it
    namespace = ""
    if rest[:1] == ["namespaces"] and len(rest) > 2 and not _is_of_namespace(group, rest):
        _, namespace, *rest = rest
    if len(rest) > 3:
        return None
    plural, name, subresource = (*rest, "", "", "")[:3]
    return Address(group, version, plural, namespace, name, subresource)


def _is_of_namespace(group: str, rest: list[str]) -> bool:
    return not group and len(rest) == 3 and rest[2] in _OF_NAMESPACES
