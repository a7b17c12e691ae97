"""Everything that is wrong with a FoundationDBCluster, said before anything is done about it.

The API server asks some of it already. It is asked again here, because the definition that a
server has may be another operator's, or changed by hand; and most of it only we can judge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from stateward.core import naming
from stateward.core.duration import parse_seconds
from stateward.core.version import Version
from stateward.fdb.api import rules
from stateward.fdb.api.checks.database import database_problems
from stateward.fdb.api.checks.jobs import WHERE as JOB
from stateward.fdb.api.checks.jobs import job_problems
from stateward.fdb.api.checks.kinds import kind_problems
from stateward.fdb.api.checks.surroundings import surroundings_problems
from stateward.fdb.api.checks.templates import (
    ANYTHING,
    PodPolicy,
    image_problems,
    metadata_problems,
    process_problems,
)
from stateward.fdb.api.checks.topology import topology_problems
from stateward.fdb.api.checks.transport import transport_problems
from stateward.fdb.api.defaults import folded
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.api.processes import ContainerOverrides
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.model.names import ProcessGroupID, is_own_key
from stateward.kube.codec import plain
from stateward.kube.crd.findings import Problem

#: What stays for the number of a pod, with the dashes around its class.
_ROOM: Final = len("--99999")
_KEY: Final = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TAG: Final = re.compile(r"[A-Za-z0-9_.-]*")
_SHARE: Final = re.compile(r"(100|[0-9]{1,2})%")
_GROUP_ID: Final = re.compile(rules.GROUP_ID.strip("^$"))
_PREFIX: Final = re.compile(rules.PREFIX.strip("^$"))


def problems(cluster: FoundationDBCluster, policy: PodPolicy = ANYTHING) -> tuple[Problem, ...]:
    """Return all that must be otherwise before a cluster can be run; nothing: it can."""
    spec = cluster.spec
    found = [
        *_name_problems(cluster),
        *process_problems(spec, policy),
        *(problem for check in _CHECKS for problem in check(spec)),
        *topology_problems(cluster),
    ]
    return tuple(found)


def hindering(cluster: FoundationDBCluster) -> tuple[Problem, ...]:
    """Return the same without what is wrong with a job that nothing else depends on."""
    return tuple(it for it in problems(cluster) if not it.field.startswith(JOB))


# ------------------------------------------------------------------ names
def _name_problems(cluster: FoundationDBCluster) -> Iterator[Problem]:
    name, spec = cluster.metadata.name, cluster.spec
    if not name:
        return  # a server has yet to give it one
    if problem := naming.dns_label_problem(name):
        yield Problem("metadata.name", problem, hint="pods and services are named after it")
    elif name[0].isdigit():
        yield Problem("metadata.name", f"must begin with a letter, as services do, got {name!r}")
    most = naming.LABEL_LIMIT - _ROOM - len(_longest_class(spec))
    if len(name) > most:
        yield Problem(
            "metadata.name",
            f"must be at most {most} characters long, got {len(name)}",
            hint=f"a pod of class {_longest_class(spec)} would have too long a name",
        )


def _longest_class(spec: FoundationDBClusterSpec) -> str:
    counts = plain(spec.process_counts)
    used = [name for name, count in counts.items() if count > 0]
    used += [name for name in ("storage", "log", "stateless") if counts.get(name, 0) == 0]
    return max(used, key=len, default="log")


def _prefix_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    if not _PREFIX.fullmatch(spec.process_group_id_prefix):
        yield Problem(
            "spec.processGroupIDPrefix",
            "must be of letters, digits, '-', '_' and '.', with a letter or digit at both ends,"
            f" got {spec.process_group_id_prefix!r}",
        )
    mode = folded(spec).automation_options.synchronization_mode
    if mode == "global" and not folded(spec).process_group_id_prefix:
        yield Problem(
            "spec.processGroupIDPrefix",
            "must be given when operators act together: they are told apart by it",
            hint="set it, or automationOptions.synchronizationMode: local",
        )


# ------------------------------------------------------------------ older words
def _older_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    """Yield where an older word says something else than the one that replaced it."""
    unified = {True: "unified", False: "split", None: None}[spec.use_unified_image]
    services, automation = spec.services, spec.automation_options
    pairs: tuple[tuple[str, object, str, object], ...] = (
        ("useUnifiedImage", unified, "imageType", spec.image_type),
        (
            "instanceIDPrefix",
            spec.instance_id_prefix,
            "processGroupIDPrefix",
            spec.process_group_id_prefix,
        ),
        (
            "services.headless",
            services.headless if services else None,
            "routing.headlessService",
            spec.routing.headless_service,
        ),
        (
            "services.publicIPSource",
            services.public_ip_source if services else None,
            "routing.publicIPSource",
            spec.routing.public_ip_source,
        ),
        (
            "automationOptions.synronizationMode",
            automation.synronization_mode,
            "automationOptions.synchronizationMode",
            automation.synchronization_mode,
        ),
        (
            "processCounts.tester",
            spec.process_counts.tester or None,
            "processCounts.test",
            spec.process_counts.test or None,
        ),
    )
    for older, before, newer, now in pairs:
        if before not in (None, "") and now not in (None, "") and before != now:
            yield Problem(
                f"spec.{older}",
                f"must say the same as {newer}, {now}, got {before}",
                hint=f"leave it out: {newer} has replaced it",
            )


# ------------------------------------------------------------------ process groups
def _removal_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    kept = set(folded(spec).automation_options.cancel_replacements_for_process_groups)
    lists = {
        "processGroupsToRemove": spec.process_groups_to_remove,
        "processGroupsToRemoveWithoutExclusion": spec.process_groups_to_remove_without_exclusion,
        "instancesToRemove": spec.instances_to_remove,
        "instancesToRemoveWithoutExclusion": spec.instances_to_remove_without_exclusion,
    }
    for name, ids in lists.items():
        for number, text in enumerate(ids):
            where = f"spec.{name}[{number}]"
            yield from _id_problems(text, where)
            if text == "*":
                yield Problem(where, "must name one process group: not all can be removed")
            elif text in kept or "*" in kept:
                yield Problem(
                    where,
                    f"must not name {text}, which is never to be removed",
                    hint="take it out of cancelReplacementsForProcessGroups first",
                )


def _target_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    """Yield which of the other lists of process groups name none."""
    buggify, automation = spec.buggify, spec.automation_options
    cancelled, older = "cancelReplacementsForProcessGroups", "cancelReplacementsForInstance"
    lists = {
        "buggify.noSchedule": buggify.no_schedule,
        "buggify.crashLoop": buggify.crash_loop,
        "buggify.ignoreDuringRestart": buggify.ignore_during_restart,
        "buggify.blockRemoval": buggify.block_removal,
        f"automationOptions.{cancelled}": automation.cancel_replacements_for_process_groups,
        f"automationOptions.{older}": automation.cancel_replacements_for_instance,
        older: spec.cancel_replacements_for_instance,
    }
    for number, container in enumerate(buggify.crash_loop_containers):
        where = f"buggify.crashLoopContainers[{number}]"
        lists[f"{where}.targets"] = container.targets
        if problem := naming.dns_label_problem(container.container_name):
            yield Problem(f"spec.{where}.containerName", problem)
    for path, ids in lists.items():
        for number, text in enumerate(ids):
            yield from _id_problems(text, f"spec.{path}[{number}]")


def _id_problems(text: str, where: str) -> Iterator[Problem]:
    if text == "*":
        return
    try:
        ProcessGroupID.parse(text)
    except ValueError as error:
        hint = "" if _GROUP_ID.fullmatch(text) else "ids end in a class and a number"
        yield Problem(where, str(error).removeprefix("a process group's id "), hint=hint)


# ------------------------------------------------------------------ containers
def _container_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    for name, container in (
        ("mainContainer", spec.main_container),
        ("sidecarContainer", spec.sidecar_container),
    ):
        yield from _override_problems(container, f"spec.{name}")
    for number, text in enumerate(spec.trusted_cas):
        if "-----BEGIN CERTIFICATE-----" not in text:
            yield Problem(f"spec.trustedCAs[{number}]", "must be a certificate, as PEM")
    for number, text in enumerate(spec.sidecar_variables):
        if not _VARIABLE.fullmatch(text):
            message = f"must be the name of a variable, as in RACK_ID, got {text!r}"
            yield Problem(f"spec.sidecarVariables[{number}]", message)


def _override_problems(container: ContainerOverrides, where: str) -> Iterator[Problem]:
    if not container.peer_verification_rules.isprintable():
        yield Problem(f"{where}.peerVerificationRules", "must be on one line")
    for number, image in enumerate(container.image_configs):
        path = f"{where}.imageConfigs[{number}]"
        yield from image_problems(image.base_image, f"{path}.baseImage")
        for field, text in (("tag", image.tag), ("tagSuffix", image.tag_suffix)):
            if not _TAG.fullmatch(text):
                message = f"must be of letters, digits, '_', '.' and '-', got {text!r}"
                yield Problem(f"{path}.{field}", message)
        try:
            if image.version:
                Version.parse(image.version)
        except ValueError as error:
            yield Problem(f"{path}.version", str(error).removeprefix("a version "))


def _config_map_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    template, where = spec.config_map, "spec.configMap"
    if template is None:
        return
    yield from metadata_problems(template.metadata, f"{where}.metadata")
    for field, keys in (("data", template.data), ("binaryData", template.binary_data)):
        for key in keys:
            if is_own_key(key):
                message = "must be another key: the operator itself writes this one"
                yield Problem(f"{where}.{field}.{key}", message)
            elif not _KEY.fullmatch(key):
                message = "must be of letters, digits, '-', '_' and '.'"
                yield Problem(f"{where}.{field}.{key}", message)
    if template.immutable:
        yield Problem(f"{where}.immutable", "must be false: it changes with the cluster")


# ------------------------------------------------------------------ automation
def _automation_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    automation, where = spec.automation_options, "spec.automationOptions"
    pending = automation.ignore_pending_pods_duration
    if isinstance(pending, str):
        yield from _time_problems(pending, f"{where}.ignorePendingPodsDuration")
    replacements, where = automation.replacements, f"{where}.replacements"
    share = replacements.max_fault_domains_with_tainted_process_groups
    if isinstance(share, str) and not _SHARE.fullmatch(share):
        yield Problem(
            f"{where}.maxFaultDomainsWithTaintedProcessGroups",
            f"must be a number of fault domains or a share from 0% to 100%, got {share!r}",
        )
    keys: set[str] = set()
    for number, option in enumerate(replacements.taint_replacement_options):
        path = f"{where}.taintReplacementOptions[{number}].key"
        if option.key != "*" and (problem := naming.label_key_problem(option.key)):
            yield Problem(path, problem)
        elif option.key in keys:
            yield Problem(path, f"must be said once, got {option.key!r} again")
        keys.add(option.key)
    yield from job_problems(spec)


def _time_problems(said: str, where: str) -> Iterator[Problem]:
    try:
        if parse_seconds(said) < 0:
            yield Problem(where, f"must not be less than 0, got {said}")
    except ValueError as error:
        yield Problem(where, str(error).removeprefix("a duration "))


_CHECKS: Final[tuple[Callable[[FoundationDBClusterSpec], Iterator[Problem]], ...]] = (
    _prefix_problems,
    database_problems,
    _older_problems,
    _removal_problems,
    _target_problems,
    surroundings_problems,
    transport_problems,
    _container_problems,
    _config_map_problems,
    _automation_problems,
    kind_problems,
)
