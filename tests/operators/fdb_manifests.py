"""FoundationDBClusters as people write them: what is refused, by whom, and what is fine."""

from __future__ import annotations

from typing import Any, NamedTuple

from stateward.kube.codec import Json


class Bad(NamedTuple):
    """A manifest with something wrong, where we say so, and words that we say."""

    title: str
    spec: Any
    field: str
    says: str
    #: Words that a server refuses it with; none: only the operator sees it.
    door: str = ""
    name: str = "shop"


def manifest(spec: Any, name: str = "shop") -> Json:
    return {
        "apiVersion": "apps.foundationdb.org/v1beta2",
        "kind": "FoundationDBCluster",
        "metadata": {"name": name},
        "spec": spec,
    }


def says(whole: Any, part: Any) -> bool:
    """Tell whether a document says all that a part of it says."""
    if isinstance(part, dict):
        return all(name in whole and says(whole[name], value) for name, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(says, whole, part))
    return bool(whole == part)


def spec(**more: Any) -> Json:
    return {"version": "7.3.63", **more}


BAD: list[Bad] = []

COMPATIBLE: dict[str, Json] = {
    "a first cluster": spec(),
}
