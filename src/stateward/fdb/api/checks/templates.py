"""What is wrong with the templates and arguments of processes: nobody but the operator sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from stateward.core import naming
from stateward.core.quantity import Quantity
from stateward.fdb.api.processes import (
    MOST_PARAMETERS,
    ClaimTemplate,
    PodTemplate,
    ProcessSettings,
)
from stateward.fdb.api.rules import PROCESS_KEYS
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.model.names import INIT_CONTAINER, MAIN_CONTAINER, SIDECAR_CONTAINER
from stateward.kube.codec import Json
from stateward.kube.crd.findings import Problem
from stateward.kube.overlays import overlay_problems

_CORE: Final = "io.k8s.api.core.v1."
_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_OURS: Final = (MAIN_CONTAINER, SIDECAR_CONTAINER, INIT_CONTAINER)

_PARAMETER: Final = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_-]*)\s*=(?P<value>.*)")
#: What the operator itself tells a process: another word would make it another process.
_TOLD: Final = (
    "datadir", "command", "cluster_file", "seed_cluster_file", "public_address", "listen_address",
    "class", "locality_instance_id", "locality_process_id",
)  # fmt: skip
#: What fdbmonitor takes for its own, wherever it is written.
_MONITOR: Final = (
    "restart_delay", "initial_restart_delay", "restart_backoff", "restart_delay_reset_interval",
    "user", "group", "delete_envvars", "kill_on_configuration_change", "disable_lifecycle_logging",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PodPolicy:
    """What templates of pods may ask for; None: anything. Whoever runs the operator says it."""

    host_network: bool = True
    host_pid: bool = True
    host_ipc: bool = True
    automount_token: bool = True
    service_accounts: frozenset[str] | None = None
    #: Kinds of volumes, as in ``hostPath``.
    volume_sources: frozenset[str] | None = None
    #: Names of volumes that more mounts may use.
    volume_mounts: frozenset[str] | None = None


ANYTHING: Final = PodPolicy()


def process_problems(spec: FoundationDBClusterSpec, policy: PodPolicy) -> Iterator[Problem]:
    """Yield what is wrong with what processes are made from, class by class."""
    for name, settings in spec.processes.items():
        where = f"spec.processes.{name}"
        if name not in PROCESS_KEYS:
            yield Problem(
                where,
                "must be general or a process class, as in storage or log",
                hint="settings under any other name would never be used",
            )
        yield from _parameter_problems(settings, f"{where}.customParameters")
        if (template := settings.pod_template) is not None:
            yield from template_problems(template, f"{where}.podTemplate")
            yield from _policy_problems(template.spec, policy, f"{where}.podTemplate.spec")
        if (claim := settings.volume_claim_template) is not None:
            yield from _claim_problems(claim, f"{where}.volumeClaimTemplate")


# ------------------------------------------------------------------ arguments of fdbserver
def _parameter_problems(settings: ProcessSettings, where: str) -> Iterator[Problem]:
    said = settings.custom_parameters or ()
    if len(said) > MOST_PARAMETERS:
        yield Problem(where, f"must be at most {MOST_PARAMETERS}, got {len(said)}")
    seen: set[str] = set()
    for number, text in enumerate(said):
        name = text.partition("=")[0].strip().lower().replace("-", "_")
        if problem := _parameter_problem(text, name, seen):
            yield Problem(f"{where}[{number}]", *problem)
        seen.add(name)


def _parameter_problem(text: str, name: str, seen: set[str]) -> tuple[str, str] | None:
    if text.startswith("-"):
        return f"must be without dashes, got {text!r}", f"write {text.lstrip('-')}"
    if _PARAMETER.fullmatch(text) is None:
        return f"must be NAME=VALUE on one line, got {text!r}", "as in knob_min_trace_severity=10"
    if name in _TOLD:
        return f"must leave {name} to the operator, which tells it to every process", ""
    if name in _MONITOR:
        return f"must be an argument of fdbserver, and {name} is one of its monitor", ""
    if name in seen:
        return f"must say {name} once", "the last of two would silently win"
    return None


# ------------------------------------------------------------------ pods
def template_problems(template: PodTemplate, where: str) -> Iterator[Problem]:
    """Yield what pods could not be made from, whatever runs in them."""
    pod = template.spec
    yield from metadata_problems(template.metadata, f"{where}.metadata")
    yield from _overlaid(pod, f"{_CORE}PodSpec", f"{where}.spec")
    if pod.get("restartPolicy", "Always") != "Always":
        yield Problem(f"{where}.spec.restartPolicy", "must be Always: processes are started again")
    names: set[str] = set()
    for kind in ("containers", "initContainers"):
        for number, container in enumerate(_objects(pod.get(kind))):
            path = f"{where}.spec.{kind}[{number}]"
            yield from _container_problems(container, path, names)


def _container_problems(container: Json, where: str, names: set[str]) -> Iterator[Problem]:
    name = container.get("name")
    if not isinstance(name, str) or not name:
        yield Problem(f"{where}.name", "must be given: containers are told apart by it")
        return
    if name in names:
        yield Problem(f"{where}.name", f"must be another one: there is a container {name} already")
    names.add(name)
    if name in _OURS:
        yield from image_problems(str(container.get("image") or ""), f"{where}.image")
        yield from _amount_problems(_object(container.get("resources")), f"{where}.resources")


def image_problems(image: str, where: str) -> Iterator[Problem]:
    """Yield that an image says which one of its versions it is, which the cluster's version does.

    >>> [str(it) for it in image_problems("host:5000/fdb", "image")]
    []
    """
    if "@" in image or ":" in image.rpartition("/")[2]:
        yield Problem(
            where,
            f"must be without a tag or digest, got {image!r}",
            hint="the tag follows spec.version; imageConfigs can give another",
        )


def _amount_problems(resources: Json, where: str) -> Iterator[Problem]:
    requests, limits = _object(resources.get("requests")), _object(resources.get("limits"))
    for name in requests.keys() & limits.keys():
        asked, most = _quantity(requests[name]), _quantity(limits[name])
        if asked is not None and most is not None and asked > most:
            yield Problem(
                f"{where}.requests.{name}",
                f"must be at most the limit, {limits[name]}, got {requests[name]}",
            )


def _policy_problems(pod: Json, policy: PodPolicy, where: str) -> Iterator[Problem]:
    switches = (
        ("hostNetwork", policy.host_network),
        ("hostPID", policy.host_pid),
        ("hostIPC", policy.host_ipc),
        ("automountServiceAccountToken", policy.automount_token),
    )
    for name, allowed in switches:
        if pod.get(name) is True and not allowed:
            yield Problem(f"{where}.{name}", "must be false: this operator does not allow it")
    account, accounts = pod.get("serviceAccountName"), policy.service_accounts
    if accounts is not None and account and account not in accounts:
        allowed_ones = ", ".join(sorted(accounts)) or "none"
        yield Problem(
            f"{where}.serviceAccountName",
            f"must be one that this operator allows ({allowed_ones}), got {account!r}",
        )
    yield from _volume_problems(pod, policy, where)


def _volume_problems(pod: Json, policy: PodPolicy, where: str) -> Iterator[Problem]:
    for number, volume in enumerate(_objects(pod.get("volumes"))):
        for kind in sorted(volume.keys() - {"name"}):
            if policy.volume_sources is not None and kind not in policy.volume_sources:
                yield Problem(
                    f"{where}.volumes[{number}].{kind}",
                    "must be of a kind that this operator allows",
                )
    if policy.volume_mounts is None:
        return
    for number, container in enumerate(_objects(pod.get("containers"))):
        for place, mount in enumerate(_objects(container.get("volumeMounts"))):
            if mount.get("name") not in policy.volume_mounts:
                yield Problem(
                    f"{where}.containers[{number}].volumeMounts[{place}].name",
                    f"must be a volume that this operator allows, got {mount.get('name')!r}",
                )


# ------------------------------------------------------------------ claims
def _claim_problems(template: ClaimTemplate, where: str) -> Iterator[Problem]:
    claim = template.spec
    yield from metadata_problems(template.metadata, f"{where}.metadata")
    yield from _overlaid(claim, f"{_CORE}PersistentVolumeClaimSpec", f"{where}.spec")
    if claim.get("volumeName"):
        yield Problem(f"{where}.spec.volumeName", "must not be given: every pod has its own volume")
    if claim.get("volumeMode") not in (None, "Filesystem"):
        yield Problem(f"{where}.spec.volumeMode", "must be Filesystem: fdbserver writes files")
    requests = _object(_object(claim.get("resources")).get("requests"))
    size = _quantity(requests.get("storage"))
    if size is not None and size < 0:
        yield Problem(
            f"{where}.spec.resources.requests.storage",
            f"must not be less than nothing, got {requests['storage']}",
            hint="0 keeps data in its pod only",
        )


# ------------------------------------------------------------------ what all of them have
def metadata_problems(metadata: Json, where: str) -> Iterator[Problem]:
    """Yield what cannot be said of an object: names of labels and annotations, and their values."""
    yield from _overlaid(metadata, _META, where)
    for name, value in _object(metadata.get("labels")).items():
        yield from label_problems(name, value, f"{where}.labels")
    for name in _object(metadata.get("annotations")):
        if problem := naming.label_key_problem(name):
            yield Problem(f"{where}.annotations.{name}", problem)


def label_problems(name: str, value: Any, where: str) -> Iterator[Problem]:
    """Yield what is wrong with a label."""
    problem = naming.label_key_problem(name)
    if problem is None and isinstance(value, str):
        problem = naming.label_value_problem(value)
    if problem:
        yield Problem(f"{where}.{name}", problem)


def _overlaid(overlay: Json, definition: str, path: str) -> Iterator[Problem]:
    for found in overlay_problems(overlay, definition, path):
        yield Problem(found.path, found.message)


def _quantity(said: Any) -> int | None:
    """Return an amount; None: it is none, which was said with its type."""
    try:
        return None if said is None else Quantity.parse(str(said)).nano
    except ValueError:
        return None


def _objects(some: Any) -> list[Json]:
    return [it for it in some if isinstance(it, dict)] if isinstance(some, list) else []


def _object(some: Any) -> Json:
    return some if isinstance(some, dict) else {}
