"""What a writer is told although the write is fine: names and lists that often are a mistake."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stateward.kube.codec import Json
from stateward.local.kinds import Kind
from stateward.local.rules.validity import STANDARD_FINALIZERS

_LABEL_LIMIT: Final = 63
_IN_PODS: Final = "used in Pod names and hostnames"
#: What becomes of the name of an object.
_USED: Final = {
    "pods": "used in the Pod's hostname",
    "deployments.apps": _IN_PODS,
    "replicasets.apps": _IN_PODS,
    "jobs.batch": _IN_PODS,
    "cronjobs.batch": _IN_PODS,
}
_OTHERS: Final = "to avoid accidental conflicts with other finalizer writers"
_TWICE: Final = (
    "contains duplicate entries{when}; API server dedups owner references in 1.20+, and may reject"
    " such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {uids}"
)


def on_name(kind: Kind, name: str) -> Iterator[str]:
    """Yield what is odd about a name that ends up as the name of a machine."""
    used = _USED.get(kind.resource.name)
    found = [f"must be no more than {_LABEL_LIMIT} characters"] if len(name) > _LABEL_LIMIT else []
    if "." in name:
        found.append("must not contain dots")
    if used and found:
        yield (
            f"metadata.name: this is {used}, which can result in surprising behavior;"
            f" a DNS label is recommended: [{' '.join(found)}]"
        )


def on_owners(document: Json, *, patched: bool = False) -> Iterator[str]:
    """Yield that owners are there twice; they are kept once."""
    owners = _listed(document, "ownerReferences")
    twice = {
        str(owner.get("uid")): None
        for place, owner in enumerate(owners)
        if isinstance(owner, dict) and owner in owners[:place]
    }
    if twice:
        when = " after mutating admission happens" if patched else ""
        yield f".metadata.ownerReferences {_TWICE.format(when=when, uids=', '.join(twice))}"


def on_finalizers(kind: Kind, new: Json, old: Json | None = None) -> Iterator[str]:
    """Yield which new finalizers do not say whose they are; built-in kinds refuse those."""
    if kind.built_in:
        return
    before = {*STANDARD_FINALIZERS, *(_listed(old, "finalizers") if old else ())}
    for name in _listed(new, "finalizers"):
        if "/" not in name and name not in before:
            path = " including a path (/)" if "." in name else ""
            told = f"prefer a domain-qualified finalizer name{path} {_OTHERS}"
            yield f'metadata.finalizers: "{name}": {told}'


def _listed(document: Json, name: str) -> list[Any]:
    metadata = document.get("metadata")
    found = metadata.get(name) if isinstance(metadata, dict) else None
    return found if isinstance(found, list) else []
