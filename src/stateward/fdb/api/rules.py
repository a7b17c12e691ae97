"""What must be true of a FoundationDBCluster, in CEL: the API server asks it, at the door.

Everything is asked again in Python (validation.py), where more can be seen. Rules refuse only what
no operator could honour: whatever applied for the compatible operator must apply here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from stateward.fdb.api import database
from stateward.kube.crd.fields import Rule

#: An id of a process group, or all of them.
GROUP_ID: Final = r"^(([A-Za-z0-9_-]+)-([0-9]+)|\*)$"
#: What stands before the ids of one cluster's groups, and names the operator to others.
PREFIX: Final = r"^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$"
#: Three numbers, and perhaps which candidate for a release it is.
VERSION: Final = r"^[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}(-[A-Za-z0-9.-]{1,20})?$"
#: The key and the value of a locality; nothing that a command line would see.
WIGGLED: Final = r"^(0|[A-Za-z0-9_]+:[A-Za-z0-9_.-]+)$"
#: What may name a data center: it is written into commands.
WORD: Final = r"^[A-Za-z0-9_.-]+$"

#: What ``processes`` may have as keys.
PROCESS_KEYS: Final = (
    "general", "unset", "storage", "transaction", "resolution", "tester", "test", "proxy",
    "commit_proxy", "grv_proxy", "master", "stateless", "log", "cluster_controller", "router",
    "fast_restore", "data_distributor", "coordinator", "ratekeeper", "storage_cache", "backup",
)  # fmt: skip
#: Classes whose processes keep what they were told, and so may be coordinators.
STATEFUL: Final = ("storage", "log", "transaction", "coordinator")


def _quoted(words: Iterable[str]) -> str:
    return f"[{', '.join(repr(word) for word in words)}]"


def _raw(pattern: str) -> str:
    return f"'{pattern}'".replace("\\", "\\\\")


def _one_of(field: str, words: Iterable[str], *, empty: bool = False) -> Rule:
    choices = (*words, "") if empty else tuple(words)
    return Rule(
        f"!has(self.{field}) || self.{field} in {_quoted(choices)}",
        f"{field} must be one of {', '.join(filter(None, choices))}",
        field_path=f".{field}",
    )


#: A rule and no pattern: whoever writes 7.1 reads words, and the operator can read it to say so.
VERSION_RULES: Final = (
    Rule(
        f"self.matches({_raw(VERSION)})",
        "version must be three numbers with dots between, as in 7.3.63",
    ),
    Rule(
        f"!self.matches({_raw(VERSION)}) || int(self.split('.')[0]) > 7"
        " || (int(self.split('.')[0]) == 7 && int(self.split('.')[1]) >= 1)",
        "version must be 7.1.0 or later",
    ),
)
DATABASE_RULES: Final = (
    _one_of("redundancy_mode", database.REDUNDANCY_MODES),
    _one_of("storage_engine", database.STORAGE_ENGINES),
    _one_of("storage_migration_type", database.MIGRATION_TYPES, empty=True),
    _one_of("perpetual_storage_wiggle_engine", (*database.STORAGE_ENGINES, "none"), empty=True),
    Rule(
        "!has(self.perpetual_storage_wiggle_locality)"
        " || self.perpetual_storage_wiggle_locality == ''"
        f" || self.perpetual_storage_wiggle_locality.matches({_raw(WIGGLED)})",
        "perpetual_storage_wiggle_locality must be KEY:VALUE, or 0",
        field_path=".perpetual_storage_wiggle_locality",
    ),
    Rule(
        "!has(self.regions) || self.regions.all(region, !has(region.datacenters)"
        f" || region.datacenters.all(it, has(it.id) && it.id.matches({_raw(WORD)})))",
        "every data center must have an id of letters, digits, '_', '.' and '-'",
        field_path=".regions",
    ),
    Rule(
        "!has(self.regions) || self.regions.size() == 0"
        " || self.usable_regions <= self.regions.size()",
        "usable_regions must not be more than there are regions",
        field_path=".usable_regions",
    ),
)
PROCESS_RULES: Final = (
    Rule(
        f"self.all(name, name in {_quoted(PROCESS_KEYS)})",
        "the keys of processes must be general or process classes, as in storage or log",
    ),
)
SHARE_RULES: Final = (
    Rule(
        "type(self) != string || self.matches('^(100|[0-9]{1,2})%$')",
        "must be a number of fault domains or a share from 0% to 100%",
    ),
)
PENDING_RULES: Final = (
    Rule(
        "type(self) != string"
        r" || self.matches('^([0-9]{1,9}(\\.[0-9]{1,9})?(ms|s|m|h))+$')",
        "must be a time with its unit, as in 5m, or a number of nanoseconds",
    ),
)
COORDINATOR_RULES: Final = (
    Rule(
        f"self.all(it, it.processClass in {_quoted(STATEFUL)})",
        f"coordinators must be of a class that keeps data: {', '.join(STATEFUL)}",
    ),
)
FAULT_DOMAIN_RULES: Final = (
    Rule(
        "self.?key.orValue('') != 'foundationdb.org/kubernetes-cluster'"
        " || self.?value.orValue('') != ''",
        "value must be given when a whole Kubernetes cluster is one fault domain",
        field_path=".value",
    ),
)
SPEC_RULES: Final = (
    Rule(
        "self.?partialConnectionString.?coordinators.orValue([]).size() == 0"
        " || self.?seedConnectionString.orValue('') == ''",
        "seedConnectionString and coordinators of a partialConnectionString must not be given both",
        field_path=".seedConnectionString",
    ),
)
GROUP_RULES: Final = (
    Rule(
        "self.clusterName == oldSelf.clusterName",
        "clusterName cannot be changed: a process group is of one cluster for good",
        field_path=".clusterName",
    ),
    Rule(
        "self.processGroupID == oldSelf.processGroupID",
        "processGroupID cannot be changed: a process group is one for good",
        field_path=".processGroupID",
    ),
    Rule(
        "self.processClass == oldSelf.processClass",
        "processClass cannot be changed: make another process group instead",
        field_path=".processClass",
    ),
    Rule(
        "!has(self.removalTimestamp) || self.?remove.orValue(false)",
        "removalTimestamp must go with remove",
        field_path=".removalTimestamp",
    ),
    Rule(
        "!has(self.exclusionTimestamp) || self.?excluded.orValue(false)"
        " || self.?exclusionSkipped.orValue(false)",
        "exclusionTimestamp must go with excluded or exclusionSkipped",
        field_path=".exclusionTimestamp",
    ),
)
ROOT_RULES: Final = (
    Rule(
        "self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
        "metadata.name must be of a-z, 0-9 and '-', with a letter or digit at both ends:"
        " pods and services are named after it",
    ),
)
