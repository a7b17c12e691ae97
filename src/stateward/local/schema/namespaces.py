"""The life of namespaces: what is in none, or in one that ends, cannot come to be."""

from __future__ import annotations

from typing import Final

from stateward.kube.codec import Json
from stateward.kube.errors import Cause, Details, Forbidden, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import NAMESPACES
from stateward.local.kinds import Kind
from stateward.local.store import Store

#: Those that every cluster has.
STANDARD: Final = ("default", "kube-node-lease", "kube-public", "kube-system")
_FOR_EVER: Final = frozenset({"default", "kube-public", "kube-system"})


def check_open(store: Store, kind: Kind, metadata: Json) -> None:
    """Raise when a namespace is not there, or is on its way out."""
    name = metadata["namespace"]
    found = store.get(NAMESPACES.name, ObjectKey("", name))
    if found is None:
        about = Details(name=name, kind=NAMESPACES.plural)
        raise NotFound(f'namespaces "{name}" not found', about=about)
    if b'"deletionTimestamp"' in found.text and "deletionTimestamp" in _metadata(found.document()):
        why = f"namespace {name} is being terminated"
        raise Forbidden(
            f'{kind.resource} "{metadata["name"]}" is forbidden: unable to create new content in'
            f" namespace {name} because it is being terminated",
            causes=(Cause(reason="NamespaceTerminating", message=why, field="metadata.namespace"),),
        )


def check_deletion(namespace: Json) -> None:
    """Raise Forbidden for a namespace without which there is no cluster."""
    name = _metadata(namespace)["name"]
    if name in _FOR_EVER:
        raise Forbidden(f'namespaces "{name}" is forbidden: this namespace may not be deleted')


def _metadata(document: Json) -> Json:
    metadata: Json = document["metadata"]
    return metadata
