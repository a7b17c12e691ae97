"""Clusters in pictures: ``s1 s2 s3- l1?`` are process groups, with their class and zone.

Behind a group stands what is true of it:

    ``-`` marked    ``!`` marked, and proved to hold nothing    ``~`` marked, goes with what it has
    ``?`` does not report    ``>`` its object is being deleted    ``@`` its number, as in ``s1@7``

Groups of a class are numbered as they stand there. Whoever wants a real status gets one from the
stand-in with ``told``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import msgspec

from fakes.fdb_databases import configured
from stateward.core.facts import Known
from stateward.core.version import Version
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.telling import document
from stateward.fdb.api.defaults import normalized
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.api.status import FoundationDBClusterStatus
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import ProcessGroupID, dns_name
from stateward.fdb.status import coordinators
from stateward.fdb.status.processes import roster
from stateward.fdb.status.reading import Status, read
from stateward.fdb.views import ClusterView, GroupView, PodSeen
from stateward.kube.meta import ObjectKey

KINDS = {
    "s": ProcessClass.STORAGE,
    "l": ProcessClass.LOG,
    "x": ProcessClass.STATELESS,
    "t": ProcessClass.TRANSACTION,
    "T": ProcessClass.TEST,
}
NOW = 10_000.0
KEY = ObjectKey("prod", "shop")
_WORD = re.compile(r"(?P<kind>[slxtT])(?P<zone>[a-z0-9]*)(?:@(?P<number>\d+))?(?P<marks>[-!~?>]*)")


# ------------------------------------------------------------------ specs
def spec(version: str = "7.3.79", **fields: Any) -> FoundationDBClusterSpec:
    """Return a normalized spec; fields as they are written in a manifest."""
    return normalized(msgspec.convert({"version": version, **fields}, FoundationDBClusterSpec))


# ------------------------------------------------------------------ statuses
def told(database: Database) -> dict[str, Any]:
    """Return what a database of the stand-in says, as a tree that may be changed."""
    found: dict[str, Any] = document.status(database, database.string, "fdb.cluster")
    return found


def status_of(tree: Mapping[str, Any] | Database, at: float = NOW) -> Status:
    """Read a tree, or what a database of the stand-in says."""
    return read(json.dumps(told(tree) if isinstance(tree, Database) else tree), at)


@cache
def _healthy() -> str:
    return json.dumps(told(configured(seconds=3600.0)))


def healthy(**changes: Any) -> dict[str, Any]:
    """Return a status of a database that is well; ``a__b=1`` sets a value of cluster.a.b."""
    tree: dict[str, Any] = json.loads(_healthy())
    for path, value in changes.items():
        *above, last = path.split("__")
        around = tree["cluster"]
        for it in above:
            around = around[it]
        if value is ...:
            del around[last]
        else:
            around[last] = value
    return tree


# ------------------------------------------------------------------ groups
def group(
    text: str,
    number: int = 1,
    conditions: Mapping[str, float] | None = None,
    **fields: Any,
) -> GroupView:
    """Read one group; conditions by their names, with since when."""
    found = _WORD.fullmatch(text)
    assert found is not None, text
    kind, marks = KINDS[found["kind"]], found["marks"]
    mine = ProcessGroupID(kind, int(found["number"] or number))
    name = f"{KEY.name}-{mine}"
    return GroupView(
        name=name,
        uid=f"uid-{mine}",
        id=mine,
        conditions={GroupConditionType(it): at for it, at in (conditions or {}).items()},
        marked=any(it in marks for it in "-!~"),
        excluded="!" in marks,
        skipped="~" in marks,
        leaving=">" in marks,
        pod=PodSeen(uid=f"pod-{mine}"),
        has_claim=kind is not ProcessClass.STATELESS,
        addresses=(host(mine),),
        zone=f"z{found['zone']}" if found["zone"] else "",
        proved_at=NOW if any(it in marks for it in "!~") else None,
        **fields,
    )


def host(mine: ProcessGroupID) -> str:
    """Return the address of a group's pod."""
    return f"10.{list(ProcessClass).index(mine.process_class) + 1}.0.{mine.number}"


def entry(it: GroupView, number: int = 1, **fields: Any) -> dict[str, Any]:
    """Return what a status says of a process of a group."""
    address = f"{host(it.id)}:{4499 + 2 * number}"
    return {
        "address": address,
        "class_type": str(it.process_class),
        "excluded": False,
        "uptime_seconds": 3000.0,
        "roles": [],
        "command_line": "fdbserver",
        "locality": {
            "instance_id": str(it.id),
            "process_id": f"{it.id}-{number}",
            "zoneid": it.zone or it.name,
            "machineid": it.name,
            "dcid": "dc1",
            "dns_name": dns_name(it.name, KEY.name, KEY.namespace, "cluster.local"),
        },
        **fields,
    }


# ------------------------------------------------------------------ clusters
def cluster(
    picture: str,
    tree: dict[str, Any] | None = None,
    *,
    counts: Mapping[str, int] | None = None,
    coordinating: str = "",
    change: Callable[[GroupView], GroupView] = lambda it: it,
    entries: Mapping[str, Mapping[str, Any]] | None = None,
    strangers: Mapping[str, Mapping[str, Any]] | None = None,
    **fields: Any,
) -> ClusterView:
    """Return a cluster with a database that says what the picture says; counts by letters.

    ``coordinating`` names groups by their ids; ``entries`` is what else a status says of a group,
    ``strangers`` are processes of nobody in the picture.
    """
    groups, silent = [], set()
    numbers: Counter[str] = Counter()
    for word in picture.split():
        numbers[word[0]] += 1
        made = change(group(word, numbers[word[0]]))
        groups.append(made)
        silent |= {made.name} if "?" in word else set()
    tree = healthy() if tree is None else tree
    processes = {
        f"{it.id}-{n}": entry(it, n, **(entries or {}).get(str(it.id), {}))
        for it in groups
        for n in range(1, it.servers + 1)
        if it.name not in silent
    }
    tree["cluster"]["processes"] = {**processes, **(strangers or {})}
    string = _string(coordinating, groups)
    if string:
        tree["cluster"]["connection_string"] = string
    database = status_of(tree)
    return ClusterView(
        key=KEY,
        generation=1,
        spec=spec(**fields),
        status=FoundationDBClusterStatus(),
        now=NOW,
        database=database,
        groups=tuple(replace(it, processes=_reporting(database, it)) for it in groups),
        counts={KINDS[it]: many for it, many in (counts or {}).items()},
        running_version=Version(7, 3, 79),
        connection=ConnectionString.parse(string) if string else None,
        configured=True,
    )


def _reporting(database: Status, it: GroupView) -> tuple[Any, ...]:
    found = roster(database)
    return found.value.groups.get(str(it.id), ()) if isinstance(found, Known) else ()


def _string(names: str, groups: list[GroupView]) -> str:
    """Return a connection string of groups by their ids, or of addresses as they are."""
    by_id = {str(it.id): it for it in groups}
    parts = [
        f"{host(by_id[it].id)}:4501" if it in by_id else str(Address.parse(it))
        for it in names.split()
    ]
    return f"shop:abcdefgh@{','.join(parts)}" if parts else ""


def coordinators_of(view: ClusterView) -> frozenset[Address]:
    """Return who coordinates by the status."""
    found = coordinators.connection_string(view.database)
    assert isinstance(found, Known)
    return frozenset(found.value.coordinators)


def names(groups: Any) -> list[str]:
    """Return ids of groups, or of those that are held, in order."""
    found = [getattr(it, "group", it) for it in groups]
    return [it if isinstance(it, str) else str(it.id) for it in found]
