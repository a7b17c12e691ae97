"""What people do at a call: to clusters, and to what the operator made for them."""

from __future__ import annotations

from typing import Any, Final

from stateward.core.errors import UsageError
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.kube.client import MergePatch, Propagation
from stateward.kube.codec import Json
from stateward.kube.errors import Forbidden
from stateward.kube.resources import LEASES, PODS, Resource
from stateward.local.kinds import Kind
from stateward.local.rules.admission import Admission
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.store import Stored
from stateward.sim import people
from stateward.sim.etcd.acts import Act, Scene

#: What a quota counts.
_COUNTED: Final = frozenset({"Pod", "PersistentVolumeClaim", "ConfigMap", "Service"})
#: Seconds in which a cluster that is deleted is gone.
_LONGEST_FAREWELL: Final = 300.0


# -------------------------------------------------------------------------- clusters


def _edit(at: Scene) -> None:
    """Change what a cluster asks for: ``replicas=5``; with seconds, it is taken back after them."""
    undo = people.edit(at.it.world, ETCD_CLUSTERS, at.target, _value_of)
    if at.seconds:
        at.for_a_while(undo)


def _value_of(path: str, text: str) -> Any:
    """Return what is written; options of etcd are texts, whatever they look like."""
    return text if path.startswith("options.") else people.json_of(text)


def _delete_cr(at: Scene) -> None:
    """Delete a cluster, and make one like it a while later."""
    _delete_cluster(at, at.seconds)


def _recreate_cr(at: Scene) -> None:
    """Delete a cluster, and make one like it as soon as it is gone."""
    _delete_cluster(at, 0.0)


def _delete_cluster(at: Scene, rest: float) -> None:
    world = at.it.world
    people.recreate(world, ETCD_CLUSTERS, at.cluster, rest=rest, longest=_LONGEST_FAREWELL)


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
        at.api.patch(resource, it.key, MergePatch(body), people.USER)


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
        api.patch(resource, of.key, MergePatch({"metadata": {"labels": labels}}), people.USER)


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
