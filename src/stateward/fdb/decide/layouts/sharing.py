"""Several clusters that share a database: process groups are told apart by their prefix.

Two clusters with one prefix would each take the other's processes for its own: count them, exclude
them, and forget their exclusions. So who comes second waits, before it has made anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from stateward.core.facts import Known
from stateward.fdb.api import questions
from stateward.fdb.api.defaults import folded
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.listing import some_of
from stateward.fdb.model.names import ProcessGroupID
from stateward.fdb.status.processes import roster
from stateward.fdb.views import ClusterView

_SHOWN: Final = 3


def prefix_taken(view: ClusterView, rivals: Collection[str]) -> str:
    """Return who has the prefix of this cluster already; nothing: nobody, or it was here first.

    Who has made groups of the prefix goes on, whoever comes after; so does one whose groups only
    the status remembers: an operator of before made them.
    """
    prefix, mine = view.spec.process_group_id_prefix, {str(it.id) for it in view.groups}
    if any(it.id.prefix == prefix for it in view.groups):
        return ""
    joins = bool(view.spec.seed_connection_string) and not view.status.process_groups
    if not mine and not joins:
        return ""
    if rivals:
        return f"cluster {', '.join(sorted(rivals))} of the same database has it"
    found = roster(view.database)
    every = found.value.groups if isinstance(found, Known) else {}
    theirs = sorted(it for it in every.keys() - mine if prefix_of(it) == prefix)
    if not theirs:
        return ""
    return f"{some_of(theirs, _SHOWN)} of the database have it, and are another cluster's"


def rivals_of(cluster: FoundationDBCluster, every: Iterable[FoundationDBCluster]) -> list[str]:
    """Return the clusters that were there first, with the same prefix and the same database."""
    mine, prefix, born = _places(cluster), _wish(cluster), _age(cluster)
    return [
        str(it.metadata.key)
        for it in every
        if _age(it) < born and _wish(it) == prefix and mine & _places(it)
    ]


def locks_apart(cluster: FoundationDBCluster, every: Iterable[FoundationDBCluster]) -> list[str]:
    """Return the clusters of the same database that keep their lock elsewhere in it.

    Most of all clusters have it at the same place: of these nothing more is asked.
    """
    mine, places = cluster.spec.lock_options.lock_key_prefix, _places(cluster)
    return sorted(
        str(it.metadata.key)
        for it in every
        if it.spec.lock_options.lock_key_prefix != mine
        and not it.metadata.deleting
        and places & _places(it)
        and questions.uses_locks(folded(it.spec))
    )


def _wish(cluster: FoundationDBCluster) -> str:
    return folded(cluster.spec).process_group_id_prefix


def _age(cluster: FoundationDBCluster) -> tuple[str, str]:
    return str(cluster.metadata.creation_timestamp), cluster.metadata.uid


def _places(cluster: FoundationDBCluster) -> set[tuple[str, str]]:
    """Return by what a database is found: every description and id that is said of it."""
    found = set()
    for text in (cluster.status.connection_string, cluster.spec.seed_connection_string):
        try:
            read = ConnectionString.parse(text)
        except ValueError:
            continue
        found.add((read.description, read.id))
    return found


def prefix_of(name: str) -> str | None:
    """Return the prefix of an id; None: it is none."""
    try:
        return ProcessGroupID.parse(name).prefix
    except ValueError:
        return None
