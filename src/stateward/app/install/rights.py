"""What the operator may do, and what its users may: the rules of all roles that we install.

Tests hold each operator's to what it does in all simulated lives: neither more nor less.
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
_CHANGE: Final = ("create", "update", "patch", "delete", "deletecollection")
_FDB: Final = "apps.foundationdb.org"

#: Of etcd's operator: the objects around a cluster, wherever clusters are looked after.
ETCD: Final = (
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

#: Of FoundationDB's.
FOUNDATIONDB: Final = (
    Right("", "configmaps", _KEPT),
    Right("", "events", ("create", "patch")),
    Right("", "persistentvolumeclaims", (*_KEPT, "delete")),
    Right("", "pods", (*_KEPT, "delete")),
    # Those that templates of pods name for TLS, one by one; never a list of all.
    Right("", "secrets", ("get",)),
    Right("", "services", (*_KEPT, "delete")),
    Right("batch", "cronjobs", (*_KEPT, "delete")),
    Right(_FDB, "foundationdbclusters", _READ),
    Right(_FDB, "foundationdbclusters/status", ("patch",)),
    Right(_FDB, "foundationdbprocessgroups", (*_KEPT, "delete")),
    Right(_FDB, "foundationdbprocessgroups/status", ("patch",)),
    # Nothing is sent there: some servers ask for this right before they let objects be owned.
    Right(_FDB, "foundationdbclusters/finalizers", ("update",)),
    Right(_FDB, "foundationdbprocessgroups/finalizers", ("update",)),
)

#: And of its backups and restores, without which clusters go on.
BACKUPS: Final = (
    Right("apps", "deployments", (*_KEPT, "delete")),
    # What a drill makes: a throw-away cluster, agents for it, a restore into it.
    Right(_FDB, "foundationdbclusters", ("create", "delete")),
    Right(_FDB, "foundationdbbackups", (*_KEPT, "delete")),
    Right(_FDB, "foundationdbbackups/status", ("patch",)),
    Right(_FDB, "foundationdbbackups/finalizers", ("update",)),
    Right(_FDB, "foundationdbrestores", (*_KEPT, "delete")),
    Right(_FDB, "foundationdbrestores/status", ("patch",)),
)

#: By which jobs that look for missing processes tell a cluster so.
_TELL: Final = Right(_FDB, "foundationdbclusters", ("patch",))
#: Of those jobs, where they have an account of their own.
DETECTION: Final = (
    *(
        Right("", it, ("list",))
        for it in ("configmaps", "persistentvolumeclaims", "pods", "services")
    ),
    Right("", "secrets", ("get",)),
    Right(_FDB, "foundationdbclusters", ("get",)),
    Right(_FDB, "foundationdbprocessgroups", ("list",)),
    _TELL,
)

#: Of the leases, where the operator itself runs.
LEASES: Final = (Right("coordination.k8s.io", "leases", ("get", "watch", "create", "patch")),)

#: Of nodes, which are in no namespace: for replacements because of taints, where these are wanted.
NODES: Final = (Right("", "nodes", ("list",)),)

#: Of people who may look, and of people who may change.
VIEW: Final = (
    Right("etcd.aenix.io", "etcdclusters", _READ),
    Right("etcd.aenix.io", "etcdclusters/status", ("get",)),
    Right("etcd.aenix.io", "etcdclusters/scale", ("get",)),
    Right(_FDB, "foundationdbbackups", _READ),
    Right(_FDB, "foundationdbbackups/status", ("get",)),
    Right(_FDB, "foundationdbclusters", _READ),
    Right(_FDB, "foundationdbclusters/status", ("get",)),
    Right(_FDB, "foundationdbprocessgroups", _READ),
    Right(_FDB, "foundationdbprocessgroups/status", ("get",)),
    Right(_FDB, "foundationdbrestores", _READ),
    Right(_FDB, "foundationdbrestores/status", ("get",)),
)
EDIT: Final = (
    Right("etcd.aenix.io", "etcdclusters", _CHANGE),
    Right("etcd.aenix.io", "etcdclusters/scale", ("update", "patch")),
    Right(_FDB, "foundationdbbackups", _CHANGE),
    Right(_FDB, "foundationdbclusters", _CHANGE),
    # What they shall be is the operator's; to delete one is to ask for another in its place.
    Right(_FDB, "foundationdbprocessgroups", ("delete",)),
    Right(_FDB, "foundationdbrestores", _CHANGE),
)

#: By the name under which the chart includes them.
ROLES: Final[Mapping[str, Iterable[Right]]] = {
    "stateward.rights.etcd": ETCD,
    # Where the operator itself runs, such jobs have its account.
    "stateward.rights.foundationdb": (*FOUNDATIONDB, *BACKUPS, _TELL),
    "stateward.rights.detection": DETECTION,
    "stateward.rights.leases": LEASES,
    "stateward.rights.nodes": NODES,
    "stateward.rights.view": VIEW,
    "stateward.rights.edit": EDIT,
}
