"""What people do to a cluster of FoundationDB, and to its objects and its database, by hand."""

from __future__ import annotations

from typing import Final

from stateward.core.errors import UsageError
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.model.exclusions import of_instance
from stateward.kube.resources import LEASES
from stateward.local.rules.deletion import DeleteOptions
from stateward.sim import people
from stateward.sim.fdb.acts.targets import At

#: Seconds in which a cluster that is deleted is gone.
_LONGEST_FAREWELL: Final = 600.0


#: Whom people exclude.
FOREIGN: Final = "storage-99998"


def edit(at: At) -> None:
    """Change what a cluster asks for: ``version=7.3.69``; with seconds, taken back after them."""
    undo = people.edit(at.it.world, CLUSTERS, at.target)
    if at.seconds:
        at.for_a_while(undo)


def recreate_cr(at: At) -> None:
    """Delete a cluster, and make one like it as soon as it is gone."""
    world = at.it.world
    people.recreate(world, CLUSTERS, at.cluster, rest=1.0, longest=_LONGEST_FAREWELL)


def delete_object(at: At) -> None:
    """Delete all objects of a kind that belong to the first cluster; of leases, all."""
    resource, cluster = at.it.world.kinds.get(at.target), at.cluster
    if resource is None:
        raise UsageError(f"no kind is called {at.target!r}")
    for it in at.api.store.all(resource.name):
        ours = cluster is not None and cluster.uid in it.owners
        if ours or resource.kind == LEASES.kind:
            at.api.delete(resource, it.key, DeleteOptions(uid=it.uid))


def delete_group(at: At) -> None:
    """Delete the object of a process group by hand, which asks for its replacement."""
    pod = at.pod
    if pod is not None:
        group = at.api.store.get(PROCESS_GROUPS.name, pod.key)
        if group is not None:
            at.api.delete(PROCESS_GROUPS, group.key, DeleteOptions(uid=group.uid))


def exclude_other(at: At) -> None:
    """Exclude somebody who is not there, as people do; nobody but they may take that back."""
    for it in at.it.realm.databases:
        if it.settings is not None:
            it.exclude([of_instance(FOREIGN)])


def include_all(at: At) -> None:
    """Include everybody, as people do who do not know that a group is about to go."""
    for it in at.it.realm.databases:
        it.include([*it.excluded])
