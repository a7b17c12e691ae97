"""What the parts of a cluster are called: as the compatible operator calls them.

A class has no dash in it, so an id is taken apart from its end: whatever stands before the class
is the prefix, even when it looks like a class itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from stateward.core.naming import truncated_name
from stateward.fdb.model.classes import ProcessClass

GROUP: Final = "apps.foundationdb.org"
#: In front of labels, annotations and what stands for a fault domain.
DOMAIN: Final = "foundationdb.org"

CLUSTER_LABEL: Final = f"{DOMAIN}/fdb-cluster-name"
CLASS_LABEL: Final = f"{DOMAIN}/fdb-process-class"
GROUP_ID_LABEL: Final = f"{DOMAIN}/fdb-process-group-id"

#: Under which the operator finds whatever it made, however users name their labels.
INSTANCE_LABEL: Final = "app.kubernetes.io/instance"
_MANAGED: Final = ("app.kubernetes.io/managed-by", "stateward-fdb")
#: Selects all of it.
OURS: Final = "=".join(_MANAGED)
#: Of which cluster (its UID) a claim holds data; a claim of an earlier one has another.
CLUSTER_UID_LABEL: Final = "stateward.dev/cluster-uid"
#: In whose name fields are applied: as the process calls itself when it creates something.
FIELD_MANAGER: Final = "stateward-foundationdb"
#: As whom a database counts us among its clients.
LOG_GROUP: Final = "fdb-kubernetes-operator"
#: Keeps a process group's object until its pod, its claim and its service are gone.
FINALIZER: Final = f"{DOMAIN}/process-group"
#: Keeps a backup until it does not go on, and a restore: as the compatible operator calls it.
BACKUP_FINALIZER: Final = f"{DOMAIN}/fdb-kubernetes-operator"
#: On the Deployment of backup agents: the UID of its backup; and on their pods: its name.
BACKUP_FOR: Final = f"{DOMAIN}/backup-for"
DEPLOYMENT_NAME: Final = f"{DOMAIN}/deployment-name"
#: On all that a drill of a backup makes: which drill, by the second in which it began.
DRILL: Final = "stateward.dev/drill"
#: The longest name of a backup whose drill leaves room for names of pods: -drill-stateless-99999.
LONGEST_DRILLED: Final = 41
#: Keeps it longer still, until the database no longer excludes who is gone.
EXCLUSION_FINALIZER: Final = f"{DOMAIN}/exclusion"

# Annotations, by the compatible operator's names.
SPEC_HASH: Final = f"{DOMAIN}/last-applied-spec"
CONFIG_HASH: Final = f"{DOMAIN}/last-applied-config-map"
IMAGE_TYPE: Final = f"{DOMAIN}/image-type"
PUBLIC_IP: Final = f"{DOMAIN}/public-ip"
PUBLIC_IP_SOURCE: Final = f"{DOMAIN}/public-ip-source"
IP_FAMILY: Final = f"{DOMAIN}/ip-family"
ISOLATED: Final = f"{DOMAIN}/isolate-process-group"
#: What the monitor of a unified image writes on its own pod.
LAUNCHER_CONFIGURATION: Final = f"{DOMAIN}/launcher-current-configuration"
LAUNCHER_ENVIRONMENT: Final = f"{DOMAIN}/launcher-environment"
#: On a cluster: what becomes of volumes that an earlier one of its name left.
LEFT_VOLUMES: Final = f"{DOMAIN}/left-volumes"
#: On a cluster: when somebody saw last that processes of it are missing; the operator looks then.
MISSING_DETECTED: Final = f"{DOMAIN}/missing-processes-detected"
#: On pods of the job that looks for them: whose they are, by no label that pods of a cluster have.
DETECTS: Final = "stateward.dev/detects-missing"
#: On a pod: the certificate that its sidecar was last seen to show, by its SHA-256.
SIDECAR_CERTIFICATE: Final = "stateward.dev/sidecar-certificate"
#: The container that was the sidecar of a pod before its image was changed in place, and which
#: image it has: it runs on where that is asked for again.
SIDECAR_BEFORE: Final = "stateward.dev/sidecar-before"
#: Touched so that a node looks sooner for a config map that has changed.
OUTDATED: Final = f"{DOMAIN}/outdated-config-map-seen"

MAIN_CONTAINER: Final = "foundationdb"
SIDECAR_CONTAINER: Final = "foundationdb-kubernetes-sidecar"
INIT_CONTAINER: Final = "foundationdb-kubernetes-init"

_NUMBER: Final = r"(?P<number>0|[1-9][0-9]{0,8})"
_ID: Final = re.compile(rf"(?:(?P<prefix>.+)-)?(?P<kind>[a-z_]+)-{_NUMBER}", re.ASCII)
_POD: Final = re.compile(rf"(?P<kind>[a-z]+(?:-[a-z]+)*)-{_NUMBER}", re.ASCII)
#: How long the name of a CronJob may be.
_CRON_JOB: Final = 52
#: Ids of the same groups are read again and again.
_REMEMBERED: Final = 16_384
_CLASSES: Final = frozenset(ProcessClass)
_SPOKEN: Final = {it.value.replace("_", "-"): it for it in ProcessClass}


@dataclass(frozen=True, slots=True)
class ProcessGroupID:
    """Who a process group is, for as long as it lives: ``[PREFIX-]CLASS-NUMBER``."""

    process_class: ProcessClass
    number: int
    prefix: str = ""
    #: Told again and again, so it is put together once.
    _text: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        head = f"{self.prefix}-" if self.prefix else ""
        object.__setattr__(self, "_text", f"{head}{self.process_class}-{self.number}")

    @staticmethod
    def parse(text: str) -> ProcessGroupID:
        """Read an id; raise ValueError when it is none.

        >>> ProcessGroupID.parse("dc1-storage-3").prefix
        'dc1'
        """
        return _parsed(text)

    def __str__(self) -> str:
        return self._text


@lru_cache(maxsize=_REMEMBERED)
def _parsed(text: str) -> ProcessGroupID:
    found = _ID.fullmatch(text)
    if found is None or found["kind"] not in _CLASSES:
        raise ValueError(
            f"a process group's id must be CLASS-NUMBER, as in storage-1, got {text!r}"
        )
    return ProcessGroupID(ProcessClass(found["kind"]), int(found["number"]), found["prefix"] or "")


def pod_name(cluster: str, group: ProcessGroupID) -> str:
    """Return what the pod of a group is called, its service and its FoundationDBProcessGroup too.

    >>> pod_name("shop", ProcessGroupID.parse("dc1-cluster_controller-1"))
    'shop-cluster-controller-1'
    """
    return f"{cluster}-{group.process_class.replace('_', '-')}-{group.number}"


def group_of_pod(cluster: str, pod: str, prefix: str = "") -> ProcessGroupID | None:
    """Return which group of a cluster a pod belongs to by its name; None: to none.

    >>> str(group_of_pod("shop", "shop-grv-proxy-2", prefix="dc1"))
    'dc1-grv_proxy-2'
    """
    if not pod.startswith(f"{cluster}-"):
        return None
    found = _POD.fullmatch(pod.removeprefix(f"{cluster}-"))
    if found is None or found["kind"] not in _SPOKEN:
        return None
    return ProcessGroupID(_SPOKEN[found["kind"]], int(found["number"]), prefix)


def claim_name(pod: str) -> str:
    """Return what the claim of a pod is called, whatever its template is called."""
    return f"{pod}-data"


def pod_of_claim(claim: str) -> str | None:
    """Return whose data a claim holds; None when it is not named like one of ours."""
    return claim.removesuffix("-data") if claim.endswith("-data") else None


def headless_service_name(cluster: str) -> str:
    """Return what the service is called below which pods have names."""
    return cluster


def config_map_name(cluster: str) -> str:
    """Return where pods find the cluster file and how to start processes."""
    return f"{cluster}-config"


def agents_name(backup: str) -> str:
    """Return what the Deployment of the agents of a backup is called.

    >>> agents_name("nightly")
    'nightly-backup-agents'
    """
    return f"{backup}-backup-agents"


def drill_name(backup: str) -> str:
    """Return what the throw-away cluster of a drill is called, its agents and its restore.

    >>> drill_name("nightly")
    'nightly-drill'
    """
    return f"{backup}-drill"


def detection_job_name(cluster: str) -> str:
    """Return what the CronJob is called that looks for missing processes.

    Its jobs add eleven characters to it, and have names of 63 at most.

    >>> detection_job_name("shop")
    'shop-detect-missing'
    """
    return truncated_name(cluster, "detect-missing", limit=_CRON_JOB)


def dns_name(pod: str, cluster: str, namespace: str, domain: str) -> str:
    """Return the name by which a pod is found wherever it runs.

    >>> dns_name("shop-storage-1", "shop", "prod", "cluster.local")
    'shop-storage-1.shop.prod.svc.cluster.local'
    """
    return f"{pod}.{headless_service_name(cluster)}.{namespace}.svc.{domain}"


def process_id(group: ProcessGroupID, number: int) -> str:
    """Return who the k-th process of a group is; the first is 1.

    >>> process_id(ProcessGroupID.parse("storage-1"), 2)
    'storage-1-2'
    """
    if number < 1:
        raise ValueError(f"the processes of a group must be counted from 1, got {number}")
    return f"{group}-{number}"


def group_of_process(text: str) -> tuple[ProcessGroupID, int]:
    """Return whose process it is and its number; raise ValueError when it names none."""
    group, dash, number = text.rpartition("-")
    if not dash or not re.fullmatch("[1-9][0-9]{0,8}", number, re.ASCII):
        raise ValueError(f"a process must be GROUP-NUMBER, as in storage-1-2, got {text!r}")
    return ProcessGroupID.parse(group), int(number)


def instance_labels(cluster: str) -> dict[str, str]:
    """Return what is on everything that is made for a cluster, whatever else is.

    >>> instance_labels("shop")["app.kubernetes.io/instance"]
    'shop'
    """
    return dict([_MANAGED, (INSTANCE_LABEL, cluster)])


# ------------------------------------------------------------------ keys of the config map
CLUSTER_FILE_KEY: Final = "cluster-file"
RUNNING_VERSION_KEY: Final = "running-version"
#: There once the database was made; for good.
DATABASE_MADE_KEY: Final = "database-made"
#: The version whose programs pods are given before all processes change to it at once.
STAGED_VERSION_KEY: Final = "staged-version"
CA_FILE_KEY: Final = "ca-file"
SIDECAR_CONF_KEY: Final = "sidecar-conf"
_MONITOR_KEY: Final = "fdbmonitor-conf-"
_CERTIFICATE_KEY: Final = "sidecar-certificate-"


def unified_conf_key(process_class: ProcessClass) -> str:
    """Return under which key the monitor of a unified image finds its configuration."""
    return f"{_MONITOR_KEY}{process_class}-json"


def split_conf_key(process_class: ProcessClass, servers: int = 1) -> str:
    """Return under which key the sidecar of a split image finds the monitor's file.

    >>> split_conf_key(ProcessClass.STORAGE), split_conf_key(ProcessClass.STORAGE, 2)
    ('fdbmonitor-conf-storage', 'fdbmonitor-conf-storage-density-2')
    """
    density = f"-density-{servers}" if servers > 1 else ""
    return f"{_MONITOR_KEY}{process_class}{density}"


def certificate_key(process_class: ProcessClass | str) -> str:
    """Return under which key it is said which certificate sidecars of a class shall show."""
    return f"{_CERTIFICATE_KEY}{process_class}"


def is_own_key(key: str) -> bool:
    """Tell whether the operator itself writes a key of the config map."""
    ours = {
        *(CLUSTER_FILE_KEY, RUNNING_VERSION_KEY, DATABASE_MADE_KEY, STAGED_VERSION_KEY),
        *(CA_FILE_KEY, SIDECAR_CONF_KEY),
    }
    return key in ours or key.startswith((_MONITOR_KEY, _CERTIFICATE_KEY))
