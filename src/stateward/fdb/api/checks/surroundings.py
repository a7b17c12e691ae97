"""What is wrong with how a cluster lies in its surroundings: addresses, zones, labels, locks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from stateward.core import naming
from stateward.fdb.api import questions, rules
from stateward.fdb.api.checks.templates import label_problems
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.model.addresses import parse_all
from stateward.fdb.model.connection import ConnectionString
from stateward.kube.crd.findings import Problem

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FIELD: Final = re.compile(
    r"metadata\.(name|namespace|uid)|metadata\.(labels|annotations)\['[^']+'\]"
    r"|spec\.(nodeName|serviceAccountName)|status\.(hostIP|podIP)"
)
#: What names an operator to others, and how long that may be.
_OPERATOR: Final = re.compile(rules.PREFIX.strip("^$"))
_LONGEST: Final = 43


def surroundings_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    """Yield what could not be found, told apart, or taken turns with."""
    yield from _connection_problems(spec)
    yield from _routing_problems(spec)
    yield from _domain_problems(spec)
    yield from _label_problems(spec)
    yield from _lock_problems(spec)
    yield from _coordinator_problems(spec)


def _connection_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    if spec.seed_connection_string:
        try:
            ConnectionString.parse(spec.seed_connection_string)
        except ValueError as error:
            yield Problem("spec.seedConnectionString", str(error))
    partial, where = spec.partial_connection_string, "spec.partialConnectionString"
    if not re.fullmatch(r"[A-Za-z0-9_]*", partial.database_name):
        message = f"must be of letters, digits and '_', got {partial.database_name!r}"
        yield Problem(f"{where}.databaseName", message)
    if not re.fullmatch(r"[A-Za-z0-9]*", partial.generation_id):
        message = f"must be of letters and digits, got {partial.generation_id!r}"
        yield Problem(f"{where}.generationID", message)
    for number, text in enumerate(partial.coordinators):
        try:
            parse_all(text)
        except ValueError as error:
            yield Problem(f"{where}.coordinators[{number}]", str(error))
    if partial.coordinators and spec.seed_connection_string:
        yield Problem(
            "spec.seedConnectionString",
            "must not be given beside coordinators: there would be two first databases",
        )


def _routing_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    domain = spec.routing.dns_domain
    if domain and (problem := naming.dns_subdomain_problem(domain)):
        yield Problem("spec.routing.dnsDomain", problem)


def _domain_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    domain, where = spec.fault_domain, "spec.faultDomain"
    if domain.key and (problem := naming.label_key_problem(domain.key)):
        yield Problem(f"{where}.key", problem)
    if domain.key == questions.EVERY_CLUSTER and not domain.value:
        yield Problem(
            f"{where}.value",
            "must be given: it is the zone of everything in this Kubernetes cluster",
        )
    source = domain.value_from
    named = source.startswith("$") and _VARIABLE.fullmatch(source[1:])
    if source and not named and not _FIELD.fullmatch(source):
        yield Problem(
            f"{where}.valueFrom",
            f"must be a field of pods, as in spec.nodeName, or $VARIABLE, got {source!r}",
        )
    if domain.zone_count and domain.zone_index >= domain.zone_count:
        yield Problem(
            f"{where}.zoneIndex",
            f"must be below zoneCount, {domain.zone_count}, got {domain.zone_index}",
            hint="the first zone is 0",
        )


def _label_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    labels, where = spec.labels, "spec.labels"
    for name, value in labels.match_labels.items():
        yield from label_problems(name, value, f"{where}.matchLabels")
    for name, value in labels.resource_labels.items():
        yield from label_problems(name, value, f"{where}.resourceLabels")
        if labels.match_labels.get(name, value) != value:
            yield Problem(
                f"{where}.resourceLabels.{name}",
                f"must be as in matchLabels, {labels.match_labels[name]}, got {value}",
            )
    keys = {
        "processGroupIDLabels": labels.process_group_id_labels,
        "processClassLabels": labels.process_class_labels,
    }
    taken = set(labels.match_labels)
    for field, names in keys.items():
        for number, name in enumerate(names):
            path = f"{where}.{field}[{number}]"
            if problem := naming.label_key_problem(name):
                yield Problem(path, problem)
            elif name in taken:
                yield Problem(path, f"must be a key that says nothing else, got {name!r}")
            taken.add(name)


def _lock_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    said: dict[str, bool] = {}
    for number, entry in enumerate(spec.lock_options.deny_list):
        where = f"spec.lockOptions.denyList[{number}]"
        if not entry.id:
            yield Problem(f"{where}.id", "must be given: whom is it about?")
        elif not _OPERATOR.fullmatch(entry.id) or len(entry.id) > _LONGEST:
            shown = entry.id if len(entry.id) <= _LONGEST else f"{entry.id[:_LONGEST]}..."
            yield Problem(
                f"{where}.id",
                "must be as a processGroupIDPrefix is, of at most"
                f" {_LONGEST} letters, digits, '-', '_' and '.', got {shown!r}",
                hint="operators are denied the lock by the processGroupIDPrefix of their cluster",
            )
        elif said.setdefault(entry.id, entry.allow) != entry.allow:
            yield Problem(f"{where}.allow", f"must be said once of {entry.id}, got both")


def _coordinator_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    seen: set[str] = set()
    for number, choice in enumerate(spec.coordinator_selection):
        where = f"spec.coordinatorSelection[{number}].processClass"
        if choice.process_class not in rules.STATEFUL:
            yield Problem(
                where,
                f"must be a class that keeps data, one of {', '.join(rules.STATEFUL)},"
                f" got {choice.process_class!r}",
            )
        elif choice.process_class in seen:
            yield Problem(where, f"must be said once, got {choice.process_class} again")
        seen.add(choice.process_class)
