"""Is this manifest one that we could honour? Asked before anything reaches a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from stateward.app.kinds import REGISTRY, schema_of, structure_of
from stateward.core import naming
from stateward.core.errors import UsageError
from stateward.etcd.api import validation as etcd
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import settings_of
from stateward.etcd.build.kept import kept_problems
from stateward.fdb.api import validation as fdb
from stateward.fdb.api.backups.checks import backup_problems, restore_problems
from stateward.fdb.api.backups.kinds import FoundationDBBackup, FoundationDBRestore
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.backups import times
from stateward.kube.codec import Json
from stateward.kube.crd.shapes import shape_problems
from stateward.kube.manifests import Manifest, unknown_fields


def problems(manifest: Manifest) -> Iterator[str]:
    """Yield a sentence for everything that is wrong with a manifest, each with its place.

    Several ways of looking may see the same: of one place the first that says something counts.
    """
    said: dict[str, int] = {}
    for number, found in enumerate(_looks(manifest.body)):
        for problem in found:
            where = problem.partition(": ")[0]
            if said.setdefault(where, number) == number:
                yield problem


def _looks(body: Json) -> Iterator[Iterable[str]]:
    """Yield what each way of looking finds."""
    for name in ("apiVersion", "kind"):
        if not isinstance(body.get(name), str) or not body[name]:
            yield [f"{name}: must be given"]
            return
    try:
        resource = REGISTRY.of_kind(body["apiVersion"], body["kind"])
    except UsageError as error:
        yield [error.sentence()]
        return
    yield _name_problems(body.get("metadata"))
    if (structure := structure_of(resource)) is not None:
        yield unknown_fields(body, structure)
    misshapen = list(map(str, shape_problems(body, schema_of(resource))))
    yield misshapen
    try:
        typed = msgspec.convert(body, resource.type)
    except msgspec.ValidationError as error:
        yield [] if misshapen else [_placed(str(error))]
        return
    yield map(str, _judged(typed))


def _judged(typed: object) -> Iterable[object]:
    """Return what its operator finds wrong with an object."""
    match typed:
        case EtcdCluster():
            return etcd.problems(typed) or kept_problems(typed, settings_of(typed))
        case FoundationDBCluster():
            return fdb.problems(typed)
        case FoundationDBBackup():
            return (*backup_problems(typed), *times.problems(typed))
        case FoundationDBRestore():
            return restore_problems(typed)
        case _:
            return ()


def _placed(complaint: str) -> str:
    """Turn round what is said of a type that has no schema of ours: the place comes first.

    >>> _placed("Expected `object`, got `str` - at `$.data`")
    'data: must be object, got str'
    """
    said, _, place = complaint.replace("`", "").partition(" - at ")
    where = place.removeprefix("$").removeprefix(".") or "the manifest"
    return f"{where}: {said.replace('Expected ', 'must be ', 1)}"


def _name_problems(metadata: object) -> Iterator[str]:
    if not isinstance(metadata, dict):
        yield "metadata: must be given, with a name"
    elif metadata.get("generateName"):
        return
    elif not isinstance(name := metadata.get("name"), str) or not name:
        yield "metadata.name: must be given"
    elif (problem := naming.dns_subdomain_problem(name)) is not None:
        yield f"metadata.name: {problem}"
