"""A schema as a list of its properties, each with where it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from stateward.etcd.api.kind import ETCD_CLUSTER_KIND
from stateward.kube.codec import Json
from stateward.kube.crd.kind import crd

#: What a property is called inside a spec: the names of the objects around it, and its own.
Path = tuple[str, ...]

OPAQUE: Final = "x-kubernetes-preserve-unknown-fields"
EITHER: Final = "x-kubernetes-int-or-string"


@dataclass(frozen=True, slots=True)
class Property:
    """One property, wherever in a spec it is."""

    path: Path
    node: Json

    def __str__(self) -> str:
        return ".".join(self.path)

    @property
    def shape(self) -> str:
        """What kind of value it has: one word of those that cases.py knows."""
        node = self.node
        if node.get(EITHER):
            return "either"
        if node.get("enum"):
            return "choice"
        if node.get(OPAQUE):
            return "opaque"
        kind = str(node.get("type", ""))
        return "map" if kind == "object" and "additionalProperties" in node else kind


def properties(schema: Json, embedded: Collection[str] = ()) -> Iterator[Property]:
    """Yield every property below a schema; of what is embedded only the whole, not its parts."""
    yield from _below(schema, (), embedded)


def _below(schema: Json, path: Path, embedded: Collection[str]) -> Iterator[Property]:
    for name, node in schema.get("properties", {}).items():
        found = Property((*path, name), node)
        yield found
        if str(found) not in embedded:
            yield from _below(node, found.path, embedded)


@cache
def spec_schema() -> Json:
    """Return the schema of the spec of an EtcdCluster, as the API server has it."""
    version = crd(ETCD_CLUSTER_KIND)["spec"]["versions"][0]
    found: Json = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return found
