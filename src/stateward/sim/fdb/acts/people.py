"""What people do to a cluster of FoundationDB, and to its objects and its database, by hand."""

from __future__ import annotations

from typing import Any, Final

from stateward.core.errors import PeerConfused, UsageError
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.model.exclusions import of_instance
from stateward.kube.client import Change, MergePatch
from stateward.kube.codec import Json, decode_json
from stateward.kube.errors import ApiError
from stateward.kube.resources import LEASES
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.local.store import Stored, StoreEvent
from stateward.sim.fdb.acts.targets import At

_USER: Final = Author("user")
_LEAVING: Final = b'"deletionTimestamp"'
#: Seconds in which a cluster that is deleted is gone.
_LONGEST_FAREWELL: Final = 600.0
#: Seconds after which a clock that was set wrong is right again.
_SET_RIGHT: Final = 120.0


#: Whom people exclude.
FOREIGN: Final = "storage-99998"


def edit(at: At) -> None:
    """Change what a cluster asks for: ``version=7.3.69``; with seconds, taken back after them."""
    cluster = at.cluster
    path, equals, text = at.target.partition("=")
    if not equals:
        raise UsageError(f"an edit must be written as FIELD=VALUE; got {at.target!r}")
    if cluster is None:
        return
    before: Any = cluster.document()["spec"]
    for part in path.split("."):
        before = before.get(part) if isinstance(before, dict) else None
    _write_spec(at, cluster, path, _value(text))
    if at.seconds:
        at.for_a_while(lambda: _write_spec(at, cluster, path, before))


def _write_spec(at: At, cluster: Stored, path: str, value: Any) -> None:
    body: Any = value
    for part in reversed(path.split(".")):
        body = {part: body}
    try:
        at.api.patch(CLUSTERS, cluster.key, MergePatch({"spec": body}), _USER)
    except ApiError as error:
        at.it.world.trace.note(f"the edit of {cluster.key} is refused: {error.reason}")


def _value(text: str) -> Any:
    try:
        return decode_json(text.encode())
    except PeerConfused:
        return text


def recreate_cr(at: At) -> None:
    """Delete a cluster, and make one like it as soon as it is gone."""
    cluster = at.cluster
    if cluster is None or _LEAVING in cluster.text:
        return
    world = at.it.world
    body: Json = {"metadata": {"name": cluster.key.name}, "spec": cluster.document()["spec"]}
    over = world.weather.trouble()
    world.later(_LONGEST_FAREWELL, over)

    def make() -> None:
        over()
        try:
            world.api.create(CLUSTERS, cluster.key.namespace, body, _USER)
        except ApiError:
            return  # somebody else was first

    def look(event: StoreEvent) -> None:
        if event.change is Change.DELETED and event.now.uid == cluster.uid:
            leave()
            world.later(1.0, make)

    leave = world.api.store.listen(look, CLUSTERS.name)
    world.api.delete(CLUSTERS, cluster.key, DeleteOptions(uid=cluster.uid))


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
