"""What people do at a call: to clusters, and to what the operator made for them."""

from __future__ import annotations

from typing import Any, Final

from stateward.core.errors import PeerConfused, UsageError
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.kube.client import Change, MergePatch, Propagation
from stateward.kube.codec import Json, decode_json
from stateward.kube.errors import ApiError, Forbidden
from stateward.kube.resources import LEASES, PODS, Resource
from stateward.local.kinds import Kind
from stateward.local.rules.admission import Admission
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.local.store import Stored, StoreEvent
from stateward.sim.etcd.acts import Act, Scene

_USER = Author("user")
#: What a quota counts.
_COUNTED: Final = frozenset({"Pod", "PersistentVolumeClaim", "ConfigMap", "Service"})
#: Seconds in which a cluster that is deleted is gone.
_LONGEST_FAREWELL: Final = 300.0
_LEAVING = b'"deletionTimestamp"'


# -------------------------------------------------------------------------- clusters


def _edit(at: Scene) -> None:
    """Change what a cluster asks for: ``replicas=5``; with seconds, it is taken back after them."""
    cluster = at.cluster
    path, equals, text = at.target.partition("=")
    if not equals:
        raise UsageError(f"an edit must be written as FIELD=VALUE; got {at.target!r}")
    if cluster is None:
        return
    before: Any = cluster.document()["spec"]
    for part in path.split("."):
        before = before.get(part) if isinstance(before, dict) else None
    # Options of etcd are texts, whatever they look like.
    _write_spec(at, cluster, path, text if path.startswith("options.") else _value(text))
    if at.seconds:
        at.for_a_while(lambda: _write_spec(at, cluster, path, before))


def _write_spec(at: Scene, cluster: Stored, path: str, value: Any) -> None:
    body: Any = value
    for part in reversed(path.split(".")):
        body = {part: body}
    try:
        patch = MergePatch({"spec": body})
        at.api.patch(ETCD_CLUSTERS, cluster.key, patch, _USER)
    except ApiError as error:
        at.it.world.trace.note(f"the edit of {cluster.key} is refused: {error.reason}")


def _value(text: str) -> Any:
    try:
        return decode_json(text.encode())
    except PeerConfused:
        return text


def _delete_cr(at: Scene) -> None:
    """Delete a cluster, and make one like it a while later."""
    _delete_cluster(at, at.seconds)


def _recreate_cr(at: Scene) -> None:
    """Delete a cluster, and make one like it as soon as it is gone."""
    _delete_cluster(at, 0.0)


def _delete_cluster(at: Scene, rest: float) -> None:
    cluster = at.cluster
    if cluster is None or _LEAVING in cluster.text:
        return
    world = at.it.world
    old = cluster.document()
    body: Json = {"metadata": {"name": cluster.key.name}, "spec": old["spec"]}
    over = world.weather.trouble()
    # Who waits for the end of all trouble must not wait for ever if the cluster does not go.
    world.later(_LONGEST_FAREWELL, over)

    def make() -> None:
        over()
        try:
            world.api.create(ETCD_CLUSTERS, cluster.key.namespace, body, _USER)
        except ApiError:
            return  # somebody else was first

    def look(event: StoreEvent) -> None:
        if event.change is Change.DELETED and event.now.uid == cluster.uid:
            leave()
            world.later(rest, make)

    leave = world.api.store.listen(look, ETCD_CLUSTERS.name)
    world.api.delete(ETCD_CLUSTERS, cluster.key, DeleteOptions(uid=cluster.uid))


# -------------------------------------------------------------------------- what is made for them


def _of_kind(at: Scene) -> list[tuple[Resource[Any], Stored]]:
    """Return the objects of a kind that belong to the first cluster; of leases, all."""
    resource = at.it.world.kinds.get(at.target)
    if resource is None:
        raise UsageError(f"no kind is called {at.target!r}")
    cluster, store = at.cluster, at.api.store
    found = store.all(resource.name)
    if resource.kind != LEASES.kind:
        uid = cluster.uid if cluster is not None else ""
        found = [it for it in found if uid in it.owners]
    return [(resource, it) for it in found]


def _delete_object(at: Scene) -> None:
    _delete_objects(at, Propagation.BACKGROUND)


def _orphan_object(at: Scene) -> None:
    """Delete what owns something, and let that stay."""
    _delete_objects(at, Propagation.ORPHAN)


def _delete_objects(at: Scene, propagation: Propagation) -> None:
    for resource, it in _of_kind(at):
        options = DeleteOptions(uid=it.uid, propagation=propagation)
        at.api.delete(resource, it.key, options)


def _edit_object(at: Scene) -> None:
    """Scale a StatefulSet to so many, by default to one less; write nonsense into anything else."""
    for resource, it in _of_kind(at):
        document = it.document()
        if resource.kind == "StatefulSet":
            scale = int(at.seconds) or max(document["spec"].get("replicas", 1) - 1, 0)
            body: Json = {"spec": {"replicas": scale}}
        elif "data" in document:
            body = {"data": dict.fromkeys(document["data"], "nonsense")}
        else:
            body = {"metadata": {"annotations": {"note": "a person was here"}}}
        at.api.patch(resource, it.key, MergePatch(body), _USER)


def _relabel(at: Scene) -> None:
    """Take all labels of a pod, or of the objects of a kind, and put them back after a while."""
    if at.target.isdecimal():
        found = [(PODS, at.pod)] if at.pod is not None else []
    else:
        found = [(resource, it) for resource, it in _of_kind(at)]
    for resource, it in found:
        _set_labels(at, resource, it, dict.fromkeys(it.labels))

    def put_back() -> None:
        for resource, it in found:
            _set_labels(at, resource, it, it.labels)

    at.for_a_while(put_back)


def _set_labels(at: Scene, resource: Resource[Any], of: Stored, labels: Json) -> None:
    api = at.api
    now = api.store.get(resource.name, of.key)
    if now is not None and now.uid == of.uid:
        api.patch(resource, of.key, MergePatch({"metadata": {"labels": labels}}), _USER)


# -------------------------------------------------------------------------- quota


class _Quota:
    """An admission in which nothing new comes in that a quota counts."""

    def __init__(self, inner: Admission) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        """Return what a quota does not change."""
        return getattr(self.inner, name)

    def admit_new(self, kind: Kind, document: Json) -> None:
        """Refuse what the quota counts."""
        if kind.resource.kind in _COUNTED:
            name = document["metadata"].get("name", "")
            raise Forbidden(f"{kind.resource.plural} {name!r} is forbidden: exceeded quota: small")
        self.inner.admit_new(kind, document)


def _quota(at: Scene) -> None:
    """Let nothing new come in for a while."""
    writes: Any = at.api._writes  # noqa: SLF001 - the server has no door for quotas
    quota = _Quota(writes._admission)  # noqa: SLF001
    writes._admission = quota  # noqa: SLF001

    def end() -> None:
        quota.admit_new = quota.inner.admit_new  # type: ignore[method-assign]

    at.for_a_while(end)


HUMANS: Final[dict[str, Act]] = {
    "edit": Act(_edit),
    "delete-cr": Act(_delete_cr, targeted=False, seconds=30),
    "recreate-cr": Act(_recreate_cr, targeted=False),
    "delete-object": Act(_delete_object),
    "orphan-object": Act(_orphan_object),
    "edit-object": Act(_edit_object),
    "relabel": Act(_relabel, seconds=30),
    "quota": Act(_quota, targeted=False, seconds=30),
}
