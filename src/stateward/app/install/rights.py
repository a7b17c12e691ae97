"""What the operator may do, and what its users may: the rules of all roles that we install.

Tests hold the operator's to what it does in all simulated lives: neither more nor less.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple


class Right(NamedTuple):
    """One kind of object, and the verbs that are allowed."""

    group: str
    resource: str
    verbs: tuple[str, ...]

    def rule(self) -> dict[str, Any]:
        """Return it as a role says it."""
        return {
            "apiGroups": [self.group],
            "resources": [self.resource],
            "verbs": sorted(self.verbs),
        }


_READ: Final = ("get", "list", "watch")
_KEPT: Final = (*_READ, "create", "patch")

#: Of the objects around a cluster, wherever clusters are looked after.
OPERATOR: Final = (
    Right("", "configmaps", _KEPT),
    Right("", "events", ("create", "patch")),
    Right("", "persistentvolumeclaims", (*_READ, "patch", "delete")),
    Right("", "pods", (*_READ, "patch", "delete")),
    # Those that clusters name, one by one; never a list of all.
    Right("", "secrets", ("get",)),
    Right("", "services", _KEPT),
    Right("apps", "statefulsets", (*_KEPT, "delete")),
    Right("etcd.aenix.io", "etcdclusters", (*_READ, "patch")),
    Right("etcd.aenix.io", "etcdclusters/status", ("patch",)),
    Right("policy", "poddisruptionbudgets", (*_KEPT, "delete")),
)

#: Of the leases, where the operator itself runs.
LEASES: Final = (Right("coordination.k8s.io", "leases", ("get", "watch", "create", "patch")),)

#: Of people who may look, and of people who may change.
VIEW: Final = (
    Right("etcd.aenix.io", "etcdclusters", _READ),
    Right("etcd.aenix.io", "etcdclusters/status", ("get",)),
    Right("etcd.aenix.io", "etcdclusters/scale", ("get",)),
)
EDIT: Final = (
    Right(
        "etcd.aenix.io",
        "etcdclusters",
        ("create", "update", "patch", "delete", "deletecollection"),
    ),
    Right("etcd.aenix.io", "etcdclusters/scale", ("update", "patch")),
)

#: By the name under which the chart includes them.
ROLES: Final[Mapping[str, Iterable[Right]]] = {
    "stateward.rights": OPERATOR,
    "stateward.rights.leases": LEASES,
    "stateward.rights.view": VIEW,
    "stateward.rights.edit": EDIT,
}
