"""What steps ask of a normalized spec: settings of a class, images, zones, locks, labels.

Every question is answered from the spec alone. That it is normalized (defaults.py) is presumed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from stateward.core.duration import parse_seconds
from stateward.fdb.api import pods
from stateward.fdb.api.defaults import GENERAL
from stateward.fdb.api.processes import ImageConfig, ProcessSettings
from stateward.fdb.api.rules import STATEFUL
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.model import locks
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.names import (
    CLASS_LABEL,
    CLUSTER_LABEL,
    DOMAIN,
    GROUP_ID_LABEL,
    MAIN_CONTAINER,
    ProcessGroupID,
)

#: Keys of fault domains that are no labels of nodes.
EVERY_POD: Final = f"{DOMAIN}/none"
EVERY_CLUSTER: Final = f"{DOMAIN}/kubernetes-cluster"
_NODE_LABEL: Final = "kubernetes.io/hostname"
_ALL: Final = "*"
#: By preference, where nothing is said: data is safest with those that keep it.
_COORDINATORS: Final = {"storage": 2, "log": 1, "transaction": 0}
_NANOSECONDS: Final = 10**9


# ------------------------------------------------------------------ processes
def settings_for(spec: FoundationDBClusterSpec, process_class: ProcessClass) -> ProcessSettings:
    """Return what processes of a class are made from: each field its own, or the general one."""
    general = spec.processes[GENERAL]
    own = spec.processes.get(process_class, ProcessSettings())
    parameters = own.custom_parameters
    return ProcessSettings(
        pod_template=own.pod_template or general.pod_template,
        volume_claim_template=own.volume_claim_template or general.volume_claim_template,
        custom_parameters=general.custom_parameters if parameters is None else parameters,
    )


def servers_per_pod(spec: FoundationDBClusterSpec, process_class: ProcessClass) -> int:
    """Return how many processes a pod of a class has."""
    match process_class:
        case ProcessClass.STORAGE:
            return spec.storage_servers_per_pod
        case ProcessClass.LOG | ProcessClass.TRANSACTION:
            return spec.log_servers_per_pod
        case _:
            return 1


def keeps_data(process_class: ProcessClass) -> bool:
    """Tell whether processes of a class must find again what they wrote."""
    return process_class in STATEFUL


def has_volume(spec: FoundationDBClusterSpec, process_class: ProcessClass) -> bool:
    """Tell whether pods of a class have a claim; a size of 0 asks for none."""
    template = settings_for(spec, process_class).volume_claim_template
    return keeps_data(process_class) and not (template and pods.asks_for_nothing(template))


def coordinator_priority(spec: FoundationDBClusterSpec, process_class: str) -> int | None:
    """Return how soon a class is chosen for coordinators; None: never."""
    if not spec.coordinator_selection:
        return _COORDINATORS.get(process_class)
    said = {it.process_class: it.priority for it in spec.coordinator_selection}
    return said.get(process_class)


# ------------------------------------------------------------------ images
def image_of(
    spec: FoundationDBClusterSpec, process_class: ProcessClass, container: str, version: str
) -> str:
    """Return the image of a container for a version: the template's name for it, or ours.

    Of everything that is said of images, the first that says something counts, field by field.
    """
    overrides = spec.main_container if container == MAIN_CONTAINER else spec.sidecar_container
    template = settings_for(spec, process_class).pod_template
    given = str(pods.container_of(template, container).get("image") or "")
    said = (ImageConfig(base_image=given), *overrides.image_configs)
    fitting = [it for it in said if it.version in ("", version)]
    base = _first(it.base_image for it in fitting)
    tag = _first(it.tag for it in fitting)
    return f"{base}:{tag or version + _first(it.tag_suffix for it in fitting)}"


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")


# ------------------------------------------------------------------ fault domains
@dataclass(frozen=True, slots=True)
class FieldPath:
    """A value that a pod reads from its own object, as in ``spec.nodeName``."""

    path: str


@dataclass(frozen=True, slots=True)
class Variable:
    """A value that a pod has in a variable of its environment."""

    name: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """A value that is the same for all pods."""

    value: str


Source: TypeAlias = FieldPath | Variable | Fixed
_POD: Final = FieldPath("metadata.name")
_NODE: Final = FieldPath("spec.nodeName")


def zone_of(spec: FoundationDBClusterSpec) -> Source:
    """Return where a pod finds its zone."""
    domain = spec.fault_domain
    if domain.key == EVERY_POD:
        return _POD
    if domain.key == EVERY_CLUSTER:
        return Fixed(domain.value)
    if domain.value_from.startswith("$"):
        return Variable(domain.value_from.removeprefix("$"))
    return FieldPath(domain.value_from) if domain.value_from else _NODE


def machine_of(spec: FoundationDBClusterSpec) -> Source:
    """Return where a pod finds its machine."""
    return _POD if spec.fault_domain.key == EVERY_POD else _NODE


def spread_over(spec: FoundationDBClusterSpec) -> str | None:
    """Return the label of nodes that pods of a class would rather not share; None: any will do."""
    key = spec.fault_domain.key or _NODE_LABEL
    return None if key in (EVERY_POD, EVERY_CLUSTER) else key


def says_locality(spec: FoundationDBClusterSpec, name: str) -> bool:
    """Tell whether processes learn a locality by a parameter of their own."""
    every = (it.custom_parameters or () for it in spec.processes.values())
    return any(text.replace("-", "_").startswith(name) for some in every for text in some)


# ------------------------------------------------------------------ locks
def uses_locks(spec: FoundationDBClusterSpec) -> bool:
    """Tell whether other operators may act on the same database, so that turns must be taken."""
    if spec.lock_options.disable_locks is not None:
        return not spec.lock_options.disable_locks
    database = spec.database_configuration
    return (
        spec.fault_domain.zone_count > 1
        or max(database.usable_regions, len(database.regions)) > 1
        or database.redundancy_mode == "three_data_hall"
        or spec.automation_options.synchronization_mode == "global"
    )


def acts_together(spec: FoundationDBClusterSpec) -> bool:
    """Tell whether what concerns all operators of a database is done once, for all of them."""
    return spec.automation_options.synchronization_mode == "global"


def lock_owner(spec: FoundationDBClusterSpec) -> str:
    """Return who this operator is to the others of the same database."""
    return spec.process_group_id_prefix


def lock_prefix(spec: FoundationDBClusterSpec) -> bytes:
    """Return below which key locks are."""
    return locks.prefix_of(spec.lock_options.lock_key_prefix)


# ------------------------------------------------------------------ labels
def match_labels(name: str, spec: FoundationDBClusterSpec) -> dict[str, str]:
    """Return what all objects of a cluster are selected by."""
    return dict(spec.labels.match_labels) or {CLUSTER_LABEL: name}


def resource_labels(name: str, spec: FoundationDBClusterSpec) -> dict[str, str]:
    """Return what is said of all objects of a cluster; what selects wins."""
    return {**spec.labels.resource_labels, **match_labels(name, spec)}


def group_labels(name: str, spec: FoundationDBClusterSpec, group: ProcessGroupID) -> dict[str, str]:
    """Return what is said of all objects of a process group."""
    classes = dict.fromkeys(_class_keys(spec), str(group.process_class))
    ids = dict.fromkeys(_id_keys(spec), str(group))
    return {**spec.labels.resource_labels, **classes, **ids, **match_labels(name, spec)}


def group_id_of(spec: FoundationDBClusterSpec, labels: dict[str, str]) -> str | None:
    """Return which process group an object says that it belongs to; the first key counts."""
    return labels.get(_id_keys(spec)[0])


def _id_keys(spec: FoundationDBClusterSpec) -> tuple[str, ...]:
    return spec.labels.process_group_id_labels or (GROUP_ID_LABEL,)


def _class_keys(spec: FoundationDBClusterSpec) -> tuple[str, ...]:
    return spec.labels.process_class_labels or (CLASS_LABEL,)


# ------------------------------------------------------------------ times and limits
def pending_seconds(spec: FoundationDBClusterSpec) -> float:
    """Return for how long a pending pod holds others up; a bare number is of nanoseconds."""
    said = spec.automation_options.ignore_pending_pods_duration
    return said / _NANOSECONDS if isinstance(said, int) else parse_seconds(said)


def is_target(targets: Collection[str], group: ProcessGroupID) -> bool:
    """Tell whether a list of process groups names one, or all."""
    return bool(targets) and not {_ALL, str(group)}.isdisjoint(targets)


def crash_loops(spec: FoundationDBClusterSpec, group: ProcessGroupID) -> frozenset[str]:
    """Return the containers of a group that shall not start."""
    every = spec.buggify.crash_loop_containers
    return frozenset(it.container_name for it in every if is_target(it.targets, group))
