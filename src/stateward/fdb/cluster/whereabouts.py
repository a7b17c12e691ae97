"""Where a database is, by what was written of it: the status may be lost, or be unreadable.

A status is wiped by people and by tools that restore objects without it. The config map says the
same, as pods read it there: whoever looked at the status alone would begin a second database.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from stateward.core.errors import UsageError
from stateward.core.version import Version
from stateward.fdb.api.kind import FoundationDBCluster, FoundationDBProcessGroup
from stateward.fdb.api.pods import container_of
from stateward.fdb.api.processes import PodTemplate
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.model import names
from stateward.fdb.model.connection import ConnectionString
from stateward.kube.meta import ObjectMeta
from stateward.kube.objects.configs import ConfigMap

#: The version that the tag of an image begins with; what follows may be anybody's.
_VERSION: Final = re.compile(r"\d+\.\d+\.\d+(-(rc|pre)[.\d]*)?")


class StatusUnreadable(UsageError):
    """Something says how the database is found, and nobody can read it."""

    reason = "StatusUnreadable"


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """How a database is found, None: nobody ever said; what ran last; and whether it was made."""

    connection: ConnectionString | None
    running: Version
    made: bool = False
    #: The version whose programs pods were being given when the config map was written last.
    staged: Version | None = None


def whereabouts(
    cluster: FoundationDBCluster,
    spec: FoundationDBClusterSpec,
    config: ConfigMap | None,
    groups: Iterable[FoundationDBProcessGroup] = (),
) -> Whereabouts:
    """Return the first that can be read: of the status, of the config map, of the spec.

    A spec may ask for another version than the one that runs: that one, images of groups tell.
    """
    status, metadata = cluster.status, cluster.metadata
    ours = config.data if config is not None and is_of(config, metadata.uid) else {}
    said = (status.connection_string, ours.get(names.CLUSTER_FILE_KEY, ""))
    texts = [it for it in (*said, spec.seed_connection_string) if it]
    connection = next((it for it in map(_connection, texts) if it is not None), None)
    if texts and connection is None:
        raise _unreadable(metadata, f"got {texts[0][:80]!r}")
    versions = (status.running_version, ours.get(names.RUNNING_VERSION_KEY, ""))
    found = next((it for it in map(_version, versions) if it is not None), None)
    made = status.configured or bool(ours.get(names.DATABASE_MADE_KEY))
    staged = _version(ours.get(names.STAGED_VERSION_KEY, ""))
    found = found or _by_images(groups) or Version.parse(spec.version)
    return Whereabouts(connection, found, made, staged)


def must_not_begin(
    cluster: FoundationDBCluster, groups: Iterable[FoundationDBProcessGroup]
) -> None:
    """Raise if nobody says where the database is, and groups know that there is one.

    Of processes only a database tells, so there was one to be asked; and a volume is taken over
    where a group had it before.
    """
    for it in groups:
        if it.status.processes or it.spec.adopt_volume_of:
            words = f"and nothing does, though {it.metadata.name} has been part of one"
            raise _unreadable(cluster.metadata, words)


def _unreadable(metadata: ObjectMeta, words: str) -> StatusUnreadable:
    return StatusUnreadable(
        f"status.connectionString must say how the database is found, {words}",
        hint="write the cluster file of the database there: kubectl -n"
        f" {metadata.namespace} edit foundationdbcluster {metadata.name} --subresource=status;"
        " its pods have it as fdb.cluster",
    )


def is_of(config: ConfigMap, uid: str) -> bool:
    """Tell whether a config map is of the very cluster with this UID, not of one before it."""
    metadata = config.metadata
    if metadata.labels.get(names.CLUSTER_UID_LABEL) == uid:
        return True
    return any(it.uid == uid for it in metadata.owner_references)


def has_cluster_file(config: ConfigMap | None, uid: str) -> bool:
    """Tell whether the config map of this very cluster says how its database is found."""
    return (
        config is not None and is_of(config, uid) and bool(config.data.get(names.CLUSTER_FILE_KEY))
    )


def _by_images(groups: Iterable[FoundationDBProcessGroup]) -> Version | None:
    """Return the version that most images of fdbserver name, of two the newer."""
    settings = (it.spec.process_settings.pod_template or PodTemplate() for it in groups)
    images = (str(container_of(it, names.MAIN_CONTAINER).get("image") or "") for it in settings)
    found = (_VERSION.match(it.rpartition(":")[2]) for it in images)
    told = Counter(it for it in (_version(it[0]) for it in found if it) if it is not None)
    return max(told, key=lambda it: (told[it], it), default=None)


def _connection(text: str) -> ConnectionString | None:
    try:
        return ConnectionString.parse(text)
    except ValueError:
        return None


def _version(text: str) -> Version | None:
    try:
        return Version.parse(text)
    except ValueError:
        return None
