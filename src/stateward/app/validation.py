"""Is this manifest one that we could honour? Asked before anything reaches a cluster."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from stateward.app.kinds import REGISTRY, structure_of
from stateward.core import naming
from stateward.core.errors import UsageError
from stateward.etcd.api import validation as etcd
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import settings_of
from stateward.etcd.build.kept import kept_problems
from stateward.kube.manifests import Manifest, unknown_fields


def problems(manifest: Manifest) -> Iterator[str]:
    """Yield a sentence for everything that is wrong with a manifest, each with its place."""
    yield from dict.fromkeys(_problems(manifest))  # two ways of looking may see the same


def _problems(manifest: Manifest) -> Iterator[str]:
    body = manifest.body
    for name in ("apiVersion", "kind"):
        if not isinstance(body.get(name), str) or not body[name]:
            yield f"{name}: must be given"
            return
    try:
        resource = REGISTRY.of_kind(body["apiVersion"], body["kind"])
    except UsageError as error:
        yield error.sentence()
        return
    yield from _name_problems(body.get("metadata"))
    if (structure := structure_of(resource)) is not None:
        yield from unknown_fields(body, structure)
    try:
        typed = msgspec.convert(body, resource.type)
    except msgspec.ValidationError as error:
        yield str(error)
        return
    if isinstance(typed, EtcdCluster):
        found = etcd.problems(typed) or kept_problems(typed, settings_of(typed))
        yield from map(str, found)


def _name_problems(metadata: object) -> Iterator[str]:
    if not isinstance(metadata, dict):
        yield "metadata: must be given, with a name"
    elif metadata.get("generateName"):
        return
    elif not isinstance(name := metadata.get("name"), str) or not name:
        yield "metadata.name: must be given"
    elif (problem := naming.dns_subdomain_problem(name)) is not None:
        yield f"metadata.name: {problem}"
