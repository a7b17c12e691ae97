"""Write the part of Kubernetes' own OpenAPI documents that we ship, as one small file.

Why ship it: the embedded API server has to merge built-in objects as the real one does, and a
custom resource that embeds a pod template wants the template's full schema. Both need the list
types and merge keys that only Kubernetes' own documents have. Run this when the supported
Kubernetes changes, and commit what it wrote:

    go mod download -json k8s.io/kubernetes@v1.35.4        # prints "Dir", the folder of the module
    .venv/bin/python tools/vendor_openapi.py DIR/api/openapi-spec/v3 1.35.4

The result is ``src/stateward/kube/schemas/kubernetes-<minor>.json``: every definition that the
kinds below need, directly or not, without its prose. The same input gives the same bytes; one
definition a line, so that the next update can be read as a diff. A new minor needs a new ``FILE``
in ``src/stateward/kube/schemas/__init__.py``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]

KINDS: Final = {
    ("", "v1"): (
        "ConfigMap",
        "Endpoints",
        "Event",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "Pod",
        "PodTemplate",
        "Secret",
        "Service",
        "ServiceAccount",
    ),
    ("apiextensions.k8s.io", "v1"): ("CustomResourceDefinition",),
    ("apps", "v1"): ("ControllerRevision", "Deployment", "ReplicaSet", "StatefulSet"),
    ("batch", "v1"): ("CronJob", "Job"),
    ("coordination.k8s.io", "v1"): ("Lease",),
    ("discovery.k8s.io", "v1"): ("EndpointSlice",),
    ("policy", "v1"): ("Eviction", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io", "v1"): (
        "ClusterRole",
        "ClusterRoleBinding",
        "Role",
        "RoleBinding",
    ),
    ("storage.k8s.io", "v1"): ("StorageClass",),
}
#: Prose, and what neither merging nor validation reads.
DROPPED: Final = frozenset({"description", "x-kubernetes-unions"})
TARGET: Final = Path(__file__).parent.parent / "src/stateward/kube/schemas"


def main() -> None:
    """Read the folder that was named, write the file, say how large it is."""
    parser = argparse.ArgumentParser(description="vendor the OpenAPI definitions that we need")
    parser.add_argument("folder", type=Path, help="api/openapi-spec/v3 of the Kubernetes sources")
    parser.add_argument("release", help="the Kubernetes release the folder is of, such as 1.35.4")
    asked = parser.parse_args()
    release = asked.release.removeprefix("v")
    text = document(read_definitions(asked.folder), release)
    target = TARGET / f"kubernetes-{release.rpartition('.')[0]}.json"
    target.write_text(text, encoding="utf-8")
    print(f"wrote {target.name}: {len(text.encode())} bytes")


def read_definitions(folder: Path) -> dict[str, Json]:
    """Return all the definitions of all the documents in a folder, by name."""
    found: dict[str, Json] = {}
    for path in sorted(folder.glob("*.json")):
        components = json.loads(path.read_text(encoding="utf-8")).get("components", {})
        found.update(components.get("schemas", {}))
    if not found:
        raise SystemExit(f"{folder} must hold OpenAPI v3 documents; it holds no schemas")
    return found


def document(definitions: Mapping[str, Json], release: str) -> str:
    """Return the text of the file: what the kinds need, sorted, one definition a line."""
    chosen = {name: lean(schema) for name, schema in definitions.items()}
    names = sorted(closure(chosen, roots(chosen)))
    lines = ",\n".join(f"{compact(name)}:{compact(chosen[name])}" for name in names)
    head = {"kubernetes": release, "license": "Apache-2.0", "source": "api/openapi-spec/v3"}
    return f'{compact(head)[:-1]},"definitions":{{\n{lines}\n}}}}\n'


def roots(definitions: Mapping[str, Json]) -> Iterator[str]:
    """Yield the name of the definition of each kind; stop when one is missing."""
    by_kind = {
        (gvk["group"], gvk["version"], gvk["kind"]): name
        for name, schema in definitions.items()
        for gvk in schema.get("x-kubernetes-group-version-kind", ())
    }
    for (group, version), kinds in KINDS.items():
        for kind in kinds:
            if (group, version, kind) not in by_kind:
                raise SystemExit(f"the documents must define {group}/{version} {kind}")
            yield by_kind[group, version, kind]


def closure(definitions: Mapping[str, Json], start: Iterable[str]) -> set[str]:
    """Return the names that can be reached from some names by following references."""
    seen: set[str] = set()
    todo = list(start)
    while todo:
        if (name := todo.pop()) not in seen:
            seen.add(name)
            todo.extend(references(definitions[name]))
    return seen


def references(schema: Json) -> Iterator[str]:
    """Yield every name that a lean schema refers to."""
    if "$ref" in schema:
        yield schema["$ref"]
    for part in parts(schema):
        yield from references(part)


def parts(schema: Json) -> Iterator[Json]:
    """Yield the schemas directly inside a schema; a property may be called ``$ref`` and is none."""
    yield from schema.get("properties", {}).values()
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield schema[key]
    for key in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(key, ())


def lean(schema: Json) -> Json:
    """Return a schema without prose, its references as bare names beside what is said about them.

    >>> lean({"allOf": [{"$ref": "#/components/schemas/a.B"}], "default": {}, "description": "a B"})
    {'$ref': 'a.B', 'default': {}}
    """
    kept: Json = {}
    for key, value in schema.items():
        match key, value:
            case _ if key in DROPPED:
                continue
            case "$ref", str():
                kept[key] = value.rpartition("/")[2]
            case "allOf", [{"$ref": str()} as only]:
                kept |= lean(only)
            case "properties", dict():
                kept[key] = {name: lean(part) for name, part in value.items()}
            case (("items" | "additionalProperties"), dict()):
                kept[key] = lean(value)
            case (("allOf" | "anyOf" | "oneOf"), list()):
                kept[key] = [lean(part) for part in value]
            case _:
                kept[key] = value
    return kept


def compact(value: object) -> str:
    """Return the shortest JSON of a value, its keys sorted."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


if __name__ == "__main__":
    main()
