"""Bugs about groups that stay: how they are made, changed, and told of."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterator
from itertools import chain
from typing import Any

import msgspec

from stateward.core.facts import Fact, Known
from stateward.core.outcome import Outcome
from stateward.fdb.api.kind import PROCESS_GROUPS
from stateward.fdb.cluster.observe import Observer
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.cluster.steps.acting import update_database_configuration as configuring
from stateward.fdb.decide import coordinating
from stateward.fdb.decide.groups import additions, pod_updates
from stateward.fdb.groups import performing
from stateward.fdb.groups.caches import GroupCaches
from stateward.fdb.groups.seen import GroupSeen
from stateward.fdb.guards import acts
from stateward.fdb.guards import database as guards
from stateward.fdb.guards.guard import Guard, Refusal
from stateward.fdb.model.names import ProcessGroupID
from stateward.fdb.status import health, processes
from stateward.fdb.status.processes import Roster
from stateward.fdb.status.reading import Status
from stateward.fdb.tell import generations as telling
from stateward.fdb.tell import status as told
from stateward.fdb.views import ClusterView
from stateward.kube.client import MergePatch
from stateward.sim.fdb.acts.people import FOREIGN
from stateward.sim.mutants.planting import Patch, bug


@bug(
    "M04",
    "a status without processes is taken for one in which nobody reports",
    "FoundationDB/fdb-kubernetes-operator#1794",
    *("fdb-watched:K:status json",),
)
def nobody_reports(patch: Patch) -> None:
    """Take what is not said for nothing."""
    inner = processes.roster

    def roster(status: Status) -> Fact[Roster]:
        found = inner(status)
        return found if isinstance(found, Known) else Known(Roster({}), status.at, "a bug")

    for module in _users_of("roster"):
        patch.put(module, "roster", roster)
    patch.put(processes, "roster", roster)


def _users_of(name: str) -> Iterator[Any]:
    """Yield every module of the operator that took a function by its name."""
    for module in [*sys.modules.values()]:
        ours = getattr(module, "__name__", "").startswith("stateward.fdb.")
        if ours and module is not processes and name in vars(module):
            yield module


@bug(
    "M07",
    "a new group gets a number that something still speaks of: the list of exclusions is not read,"
    " and chance does not choose",
    "FoundationDB/fdb-kubernetes-operator#2084",
    *("fdb-spare:K:patch foundationdbprocessgroups",),
)
def number_of_another(patch: Patch) -> None:
    """Begin with a number that is excluded, and look at groups alone."""
    inner = additions.new_ids

    def new_ids(
        view: ClusterView, numbers: Iterator[int], taken: Container[str]
    ) -> tuple[ProcessGroupID, ...]:
        first = [ProcessGroupID.parse(FOREIGN).number] if view.configured else []
        return inner(view, chain(first, numbers), taken)

    patch.put(additions, "new_ids", new_ids)
    patch.put(additions, "_named", lambda _view: set())


@bug(
    "M11",
    "whether a database is there is decided by what the status of the cluster says",
    "a release note of FoundationDB/fdb-kubernetes-operator: prevent reconfiguration",
    *("fdb-create:A:configure new",),
)
def trust_own_word(patch: Patch) -> None:
    """Do not ask the database whether it is."""
    inner = configuring.UpdateDatabaseConfiguration.run

    async def run(self: Any, seen: Seen) -> Outcome:
        if seen.admin is not None and not seen.cluster.status.configured:
            return await self._make(seen, seen.admin)  # type: ignore[no-any-return]
        return await inner(self, seen)

    patch.put(configuring.UpdateDatabaseConfiguration, "run", run)
    patch.put(health, "is_configured", _unmade)


def _unmade(status: Status) -> Fact[bool]:
    never = False
    return Known(never, status.at, "a bug")


@bug(
    "M12",
    "groups that are about to go may coordinate, and so may those that are excluded",
    "FoundationDB/fdb-kubernetes-operator#2526",
    *("fdb-replace",),
)
def whoever_coordinates(patch: Patch) -> None:
    """Ask nobody for how long it stays."""
    scene = coordinating._Scene  # noqa: SLF001 - that is where it is asked
    patch.put(scene, "_going", lambda _self, _instance: "")
    patch.put(coordinating, "_excluded", lambda _process: "")


@bug(
    "M14",
    "which zones are away is not counted; that all copies must be there is taken away too",
    "FoundationDB/fdb-kubernetes-operator#1666",
    *("fdb-image",),
)
def nobody_is_away(patch: Patch) -> None:
    """Begin with an empty set, and never fill it."""
    patch.put(pod_updates, "_unavailable", lambda _view: set())
    patch.put(pod_updates, "_away", lambda _view, _group: "")
    allowed: tuple[Guard, ...] = (guards.database_is_available, _anything)
    patch.put(acts, "UPDATE_PODS", allowed)


def _anything(_: ClusterView) -> Refusal | None:
    return None


@bug(
    "M15",
    "pods are made anew while others still terminate",
    "S000: not while a pod terminates",
    *("fdb-image",),
)
def wait_for_nobody(patch: Patch) -> None:
    """Go on as soon as a pod was told to go."""
    patch.put(pod_updates, "_away", lambda _view, _group: "")


@bug(
    "M37",
    "a generation is called reconciled while pods of the last one still run",
    "FoundationDB/fdb-kubernetes-operator#2341",
    *("fdb-image",),
)
def reconciled_too_soon(patch: Patch) -> None:
    """Leave pods out of what must be as asked."""
    inner = telling.generations

    def generations(view: ClusterView, differences: telling.Differences) -> Any:
        found = inner(view, differences)
        open_ = (found.needs_configuration_change, found.needs_coordinator_change)
        if any(open_) or found.missing_database_status:
            return found
        return msgspec.structs.replace(found, reconciled=view.generation)

    patch.put(told, "generations", generations)


@bug(
    "M39-fdb",
    "the groups of all clusters are taken for one's own, whoever owns them",
    "FoundationDB/fdb-kubernetes-operator 0.x",
    *("fdb-two",),
)
def everybodys_groups(patch: Patch) -> None:
    """Find groups without a look at whose they are."""

    def of_cluster(self: GroupCaches, _: object) -> list[Any]:
        return sorted(self.groups, key=lambda it: it.metadata.name)

    def groups(self: Observer, _: object) -> dict[str, Any]:
        found = self._sources.eyes.caches.of_cluster(_)  # type: ignore[arg-type]
        return {it.metadata.name: it for it in found}

    patch.put(GroupCaches, "of_cluster", of_cluster)
    patch.put(Observer, "_groups", groups)


@bug(
    "M40",
    "the controller of groups writes their specs, too",
    "S003, misread",
    *("fdb-replace",),
)
def write_both_halves(patch: Patch) -> None:
    """Put a word into the spec together with the last finalizer."""
    inner = performing.Performer._drop_finalizer  # noqa: SLF001 - a write of the controller

    async def drop(self: Any, seen: GroupSeen, act: Any) -> None:
        metadata = seen.group.metadata
        body = {"metadata": {"uid": metadata.uid}, "spec": {"logGroup": "left"}}
        await self._client.patch(PROCESS_GROUPS, metadata.key, MergePatch(body))
        await inner(self, seen, act)

    patch.put(performing.Performer, "_drop_finalizer", drop)


BUGS = (
    nobody_reports,
    number_of_another,
    trust_own_word,
    whoever_coordinates,
    nobody_is_away,
    wait_for_nobody,
    reconciled_too_soon,
    everybodys_groups,
    write_both_halves,
)
