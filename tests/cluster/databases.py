"""What stories of FoundationDB ask for, and look at on the way."""

from __future__ import annotations

import json
import subprocess
from contextlib import suppress
from typing import Any, Final

from cluster import certificates
from cluster.site import SHOP, Site
from fakes import fdb_tls
from stateward.fdb.model.names import CLUSTER_LABEL
from stateward.fdb.model.names import LOG_GROUP as OPERATORS

#: The cluster that they are about, and whom its pods act as.
NAME: Final = "orders"
ACCOUNT: Final = "fdb"
FDB: Final = "foundationdbclusters.apps.foundationdb.org"
GROUPS: Final = "foundationdbprocessgroups.apps.foundationdb.org"
MAIN: Final = "foundationdb"
#: Clients of this group are not asked whether they follow an upgrade: a pod has programs of one
#: version, and its successor those of the next.
LOG_GROUP: Final = "shoppers"
_GROUP: Final = "rbac.authorization.k8s.io"
_CLASS: Final = "foundationdb.org/fdb-process-class"
#: A starved machine takes long, and a database that is real rests before it is disturbed.
PATIENCE: Final = 420.0
_REAL_PATIENCE: Final = 1800.0


# ------------------------------------------------------------------ what is applied
def rights() -> dict[str, Any]:
    """Return what pods of unified images need, as users write it (docs/foundationdb/operations.md).

    With certificates, for the day on which TLS is asked for.
    """
    own = {"name": ACCOUNT, "namespace": SHOP}
    rule = {
        "apiGroups": [""],
        "resources": ["pods"],
        "verbs": ["get", "list", "watch", "update", "patch"],
    }
    some: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "ServiceAccount"},
        {"apiVersion": f"{_GROUP}/v1", "kind": "Role", "rules": [rule]},
        {
            "apiVersion": f"{_GROUP}/v1",
            "kind": "RoleBinding",
            "roleRef": {"apiGroup": _GROUP, "kind": "Role", "name": ACCOUNT},
            "subjects": [{"kind": "ServiceAccount", **own}],
        },
    ]
    items = [{**it, "metadata": own} for it in some]
    return {"apiVersion": "v1", "kind": "List", "items": [*items, certificates.secret(SHOP)]}


def manifest(version: str) -> dict[str, Any]:
    """Return a double cluster that fits on three small nodes, which are its zones."""
    container = {
        "resources": {
            "requests": {"cpu": "10m", "memory": "64Mi"},
            "limits": {"memory": "512Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    pod = {
        "serviceAccountName": ACCOUNT,
        "terminationGracePeriodSeconds": 5,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65_532,
            "fsGroup": 65_532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            fdb_tls.container(MAIN, **container),
            {"name": "foundationdb-kubernetes-sidecar", **container},
        ],
        "volumes": fdb_tls.template()["spec"]["volumes"],
    }
    general = {
        "podTemplate": {"spec": pod},
        "volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "1G"}}}},
    }
    return {
        "apiVersion": "apps.foundationdb.org/v1beta2",
        "kind": "FoundationDBCluster",
        "metadata": {"name": NAME, "namespace": SHOP},
        "spec": {
            "version": version,
            "automationOptions": {
                "ignoreLogGroupsForUpgrade": [LOG_GROUP, OPERATORS],
                "waitBetweenRemovalsSeconds": 0,
            },
            "minimumUptimeSecondsForBounce": 20,  # processes are as old as they are
            "databaseConfiguration": {"redundancy_mode": "double", "logs": 2},
            "processCounts": {"storage": 3, "log": 3, "stateless": 3},
            "processes": {"general": general},
        },
    }


def knob(site: Site, text: str) -> None:
    """Ask for a parameter of all processes."""
    _edit(site, {"processes": {"general": {"customParameters": [text]}}})


def upgrade(site: Site, version: str) -> None:
    """Ask for another version."""
    _edit(site, {"version": version})


def secure(site: Site, *, tls: bool) -> None:
    """Ask for TLS, or for none."""
    _edit(site, {"mainContainer": {"enableTls": tls}})


def route(site: Site, **routing: Any) -> None:
    """Ask for other addresses, or names."""
    _edit(site, {"routing": routing})


def _edit(site: Site, spec: dict[str, Any]) -> None:
    patch = json.dumps({"spec": spec})
    site.kubectl("-n", SHOP, "patch", FDB, NAME, "--type=merge", f"--patch={patch}")


# ------------------------------------------------------------------ what is seen
def shown(site: Site) -> Any:
    return site.asked("-n", SHOP, FDB, NAME)


def pods(site: Site, process_class: str = "") -> dict[str, Any]:
    """Return the pods of the cluster, or of a class, by their names."""
    chosen = f"app.kubernetes.io/instance={NAME},{_CLASS}" + (process_class and f"={process_class}")
    found = site.listed("-n", SHOP, "pods", f"--selector={chosen}")
    return {it["metadata"]["name"]: it for it in found}


def claims(site: Site) -> set[str]:
    found = site.listed("-n", SHOP, "pvc", f"--selector=app.kubernetes.io/instance={NAME}")
    return {it["metadata"]["name"] for it in found}


def services(site: Site) -> dict[str, str]:
    """Return the services of the cluster, and the address of each."""
    found = site.listed("-n", SHOP, "services", f"--selector=app.kubernetes.io/instance={NAME}")
    return {it["metadata"]["name"]: it["spec"]["clusterIP"] for it in found}


def addresses(site: Site) -> set[str]:
    """Return where processes of the groups that stay are."""
    found = site.listed("-n", SHOP, GROUPS, f"--selector={CLUSTER_LABEL}={NAME}")
    staying = [it for it in found if not it["spec"].get("remove")]
    return {one for it in staying for one in it["status"]["addresses"]}


def coordinators(site: Site) -> list[str]:
    """Return where coordinators are looked for: addresses, or names, without their ports."""
    found = shown(site)["status"]["connectionString"].partition("@")[2].split(",")
    return [it.removesuffix(":tls").rpartition(":")[0] for it in found]


def place(pod: Any) -> str:
    return str(pod["spec"].get("nodeName", ""))


def is_well(found: Any) -> bool:
    """Tell whether the cluster is as its spec says, and nothing is on its way out."""
    if found is None or "status" not in found:
        return False
    generations = found["status"].get("generations", {})
    conditions = {it["type"]: it["status"] for it in found["status"].get("conditions", [])}
    return (
        generations.get("reconciled") == found["metadata"]["generation"]
        and not generations.get("hasPendingRemoval")
        and conditions.get("Ready") == "True"
    )


def until_well(site: Site) -> None:
    until(site, f"{NAME} is well", lambda: is_well(shown(site)))


def until(site: Site, what: str, is_so: Any) -> None:
    site.until(what, is_so, PATIENCE if site.database.is_emulated else _REAL_PATIENCE)


def ready(site: Site, number: int) -> bool:
    """Tell whether so many pods are there, each with all of its containers."""
    found = pods(site)
    return len(found) == number and all(map(_is_ready, found.values()))


def _is_ready(pod: Any) -> bool:
    conditions = pod["status"].get("conditions", [])
    is_ending = "deletionTimestamp" in pod["metadata"]
    return not is_ending and any(
        it["type"] == "Ready" and it["status"] == "True" for it in conditions
    )


# ------------------------------------------------------------------ the database itself
def fdbcli(site: Site, line: str, away: str = "") -> str:
    """Return what fdbcli in a pod answers; in one that is not on a node that is away."""
    return site.kubectl(*_typing(_places(site, away)[0], line, 30))


def tried(site: Site, line: str, turn: int, away: str = "") -> str:
    """Return the same, from the pod whose turn it is; nothing, where none answers."""
    with suppress(AssertionError, subprocess.TimeoutExpired):
        places = _places(site, away)
        return site.kubectl(*_typing(places[turn % len(places)], line, 20)) if places else ""
    return ""


def _places(site: Site, away: str) -> list[str]:
    """Return the pods in which something can be typed."""
    return [it for it, pod in sorted(pods(site).items()) if _is_ready(pod) and place(pod) != away]


def _typing(pod: str, line: str, seconds: int) -> list[str]:
    words = ["fdbcli", "--log-group", LOG_GROUP, "--timeout", str(seconds), "--exec", line]
    return ["-n", SHOP, "exec", pod, f"--container={MAIN}", "--", *words]


def keep(site: Site) -> None:
    """Write what must be there at the end."""
    assert "Committed" in fdbcli(site, "writemode on; set kept here")


def is_kept(site: Site, away: str = "") -> bool:
    """Tell whether it is there; not, where nobody answers in time."""
    return "`kept' is `here'" in tried(site, "get kept", 0, away)


def until_found(site: Site) -> None:
    """Wait until pods have the cluster file of now: where all coordinators are new, no other helps.

    A kubelet shows what changed in a config map after a minute or so.
    """
    until(site, "the database is found from a pod", lambda: is_kept(site))


def starts(site: Site) -> dict[str, int]:
    """Return how many times the process of each pod was started, as its monitor tells."""
    word = '"msg": "starting fdbserver"'
    return {
        name: site.kubectl("-n", SHOP, "logs", name, f"--container={MAIN}").count(word)
        for name in pods(site)
    }


def bounces(site: Site) -> int:
    """Return how many times processes were restarted by the operator, all that had to at once."""
    chosen = f"--field-selector=reason=ProcessesBounced,involvedObject.name={NAME}"
    return sum(it.get("count") or 1 for it in site.listed("-n", SHOP, "events", chosen))
