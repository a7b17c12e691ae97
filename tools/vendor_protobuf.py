"""Write the field numbers of Kubernetes' protobuf messages that we read, as one small file.

Why ship it: some commands of kubectl (``create namespace``, ``auth can-i``, ``drain``) send protobuf
and nothing else, so the embedded API server has to read it. Numbers are in ``generated.proto``; how a
field is spelled in JSON and whether an absent one differs from zero is in ``types.go``. Run this when
the supported Kubernetes changes, and commit what it wrote:

    go mod download -json k8s.io/api@v0.35.4 k8s.io/apimachinery@v0.35.4      # prints "Dir" of both
    .venv/bin/python tools/vendor_protobuf.py API_DIR APIMACHINERY_DIR 1.35

The same input gives the same bytes; one message a line, so that the next update can be read as a diff.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

Table = dict[str, dict[str, list[Any]]]

KINDS: Final = (
    *(
        f"core.v1.{it}"
        for it in ("Binding", "ConfigMap", "Event", "Namespace", "Node", "Pod", "Secret")
    ),
    *(
        "core.v1.PersistentVolume",
        "core.v1.PersistentVolumeClaim",
        "core.v1.Service",
        "core.v1.ServiceAccount",
    ),
    *(f"apps.v1.{it}" for it in ("ControllerRevision", "Deployment", "ReplicaSet", "StatefulSet")),
    *("batch.v1.CronJob", "batch.v1.Job", "coordination.v1.Lease", "discovery.v1.EndpointSlice"),
    *(
        "policy.v1.Eviction",
        "policy.v1.PodDisruptionBudget",
        "storage.v1.StorageClass",
        "autoscaling.v1.Scale",
    ),
    *(f"rbac.v1.{it}" for it in ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")),
    *(f"authentication.v1.{it}" for it in ("SelfSubjectReview", "TokenReview")),
    *(f"authorization.v1.{it}SubjectAccessReview" for it in ("", "Local", "Self")),
    *("authorization.v1.SelfSubjectRulesReview", "meta.v1.DeleteOptions"),
)
TARGET: Final = Path(__file__).parents[1] / "src/stateward/local/server/protobuf"

MESSAGE: Final = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD: Final = re.compile(
    r"^  (optional|repeated|map<string, *([\w.]+)>) *([\w.]*) +(\w+) = (\d+)", re.MULTILINE
)
STRUCT: Final = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
MEMBER: Final = re.compile(
    r'^\s+(?:\w+\s+)?(\S+)\s+`.*?json:"([^"]*)".*?protobuf:"\w+,(\d+),', re.MULTILINE
)


def short(package: str) -> str:
    """Return how we call a package: ``core.v1``, ``meta.v1``, ``resource``."""
    return ".".join(
        it
        for it in package.strip(".").split(".")
        if it not in {"k8s", "io", "api", "apimachinery", "pkg", "apis", "util"}
    )


def tables(folder: Path) -> Table:
    """Return the messages of a package."""
    text = (folder / "generated.proto").read_text()
    package = re.search(r"^package ([\w.]+);", text, re.MULTILINE)
    if package is None:
        raise SystemExit(f"{folder}/generated.proto must name its package")
    members = dict(spelled(folder))
    found: Table = {}
    for name, body in MESSAGE.findall(text):
        known = members.get(name, {})
        found[f"{short(package[1])}.{name}"] = {
            number: [*known.get(number, (field, "")), label[0], wire(kind or of, package[1])]
            for label, of, kind, field, number in FIELD.findall(body)
        }
    return found


def wire(kind: str, package: str) -> str:
    """Return the type of a field: a scalar, or a message by its short name."""
    if kind[0].islower() and "." not in kind:
        return kind
    place, _, name = kind.rpartition(".")
    return f"{short(place or package)}.{name}"


def spelled(folder: Path) -> Iterator[tuple[str, dict[str, tuple[str, str]]]]:
    """Yield for each struct the JSON names of its fields, with what becomes of a zero: o, it is left out."""
    for path in sorted(folder.glob("*.go")):
        for name, body in STRUCT.findall(path.read_text()):
            fields = {}
            for kind, tag, number in MEMBER.findall(body):
                json_name, *rest = tag.split(",")
                omitted = "omitempty" in rest and not kind.startswith("*")
                fields[number] = (json_name, "o" if omitted else "")
            if fields:
                yield name, fields


def reached(messages: Table) -> Table:
    """Return the messages of our kinds, and all that they mention."""
    found: Table = {}
    open_ = list(KINDS)
    while open_:
        name = open_.pop()
        if name not in found and name in messages:
            found[name] = messages[name]
            open_ += [field[3] for field in messages[name].values()]
    return found


def main() -> None:
    """Read both modules and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("api", type=Path)
    parser.add_argument("machinery", type=Path)
    parser.add_argument("version")
    asked = parser.parse_args()
    folders = [
        path.parent
        for path in [*asked.api.rglob("generated.proto"), *asked.machinery.rglob("generated.proto")]
    ]
    messages = {name: table for folder in sorted(folders) for name, table in tables(folder).items()}
    missing = [kind for kind in KINDS if kind not in messages]
    if missing:
        raise SystemExit(f"these messages are not in the modules: {', '.join(missing)}")
    lines = [
        f"{json.dumps(name)}: {json.dumps(table)}"
        for name, table in sorted(reached(messages).items())
    ]
    target = TARGET / f"fields-{asked.version}.json"
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
