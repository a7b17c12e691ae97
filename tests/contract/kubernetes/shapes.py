"""Objects to tell stories about, as small as they can be."""

from __future__ import annotations

from typing import Any, Final

from contract.kubernetes.wire import Answer

#: What keeps an object from going until a story lets it.
HOLD: Final = "test.stateward.example/hold"
#: A node that no cluster has.
NODE: Final = "a-node-that-is-not-there"
CONTAINERS: Final = {"containers": [{"name": "main", "image": "none"}]}
LABELS: Final = {"app": "shop"}
SELECTOR: Final = {"matchLabels": LABELS}
TEMPLATE: Final = {"metadata": {"labels": LABELS}, "spec": CONTAINERS}
WORK: Final = {"template": {"spec": {"restartPolicy": "Never", **CONTAINERS}}}
TEAM: Final = {"replicas": 0, "selector": SELECTOR, "template": TEMPLATE}


def thing(name: str = "a", **parts: Any) -> Any:
    """Return an object; whatever is given beside its name is a part of it or of its metadata."""
    metadata = {key: parts.pop(key) for key in _METADATA & parts.keys()}
    return {"metadata": {"name": name, **metadata}, **parts}


_METADATA: Final = frozenset({"labels", "annotations", "finalizers", "ownerReferences"})


def pod(
    name: str = "a", *, node: str = "", labels: Any = None, finalizers: Any = None, **spec: Any
) -> Any:
    """Return a pod that nobody schedules; a cluster adds no volume to it."""
    quiet = {"schedulerName": "nobody", "automountServiceAccountToken": False}
    where = {"nodeName": node} if node else {}
    return thing(
        name,
        labels=labels or {},
        finalizers=finalizers or [],
        spec={**quiet, **CONTAINERS, **where, **spec},
    )


def claim(name: str = "a", **spec: Any) -> Any:
    """Return a claim that nobody provides for."""
    size = {"requests": {"storage": "1Gi"}}
    few = {"storageClassName": "nobody", "accessModes": ["ReadWriteOnce"], "resources": size}
    return thing(name, spec={**few, **spec})


def owner(of: Answer, **more: Any) -> Any:
    """Return the reference that makes an object somebody's."""
    head = {name: of.body[name] for name in ("apiVersion", "kind")}
    return {**head, "name": of.name, "uid": of["metadata.uid"], **more}
