"""Everything that is wrong with an EtcdCluster, said before anything is done about it.

The API server asks the same of most fields. It is asked again here, because the definition that
a server has may be older than we are, or changed by hand; and templates only we can judge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from stateward.core.duration import parse_seconds
from stateward.core.naming import dns_subdomain_problem
from stateward.core.version import Version, minor_skew
from stateward.etcd.api.kind import LONGEST_NAME, EtcdCluster
from stateward.etcd.api.option_values import ELECTION, HEARTBEAT, pace_problem, value_problems
from stateward.etcd.api.options import flag_problem
from stateward.etcd.api.rules import LAST_STOP
from stateward.etcd.api.settings import etcd_container, tagged_version, version_of
from stateward.etcd.api.templates import template_problems
from stateward.etcd.model.names import ordinal_of
from stateward.kube.codec import plain
from stateward.kube.crd.findings import Problem

OLDEST: Final = Version(3, 5, 0)
SHORTEST_GRACE, LONGEST_GRACE = 1.0, 24 * 3600.0

_NAME: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_NUMBERS: Final = re.compile(r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}")
_SHARE: Final = re.compile(r"(100|[0-9]{1,2})%")


def problems(cluster: EtcdCluster) -> tuple[Problem, ...]:
    """Return all that must be otherwise before a cluster can be run; nothing: it can."""
    return tuple(problem for check in _CHECKS for problem in check(cluster))


def _name_problems(cluster: EtcdCluster) -> Iterator[Problem]:
    name = cluster.metadata.name
    if not name:
        return  # a server has yet to give it one
    if _NAME.fullmatch(name) is None:
        yield Problem(
            "metadata.name",
            f"must be of a-z, 0-9 and '-', begin with a letter and not end with '-', got {name!r}",
        )
    if len(name) > LONGEST_NAME:
        yield Problem(
            "metadata.name",
            f"must be at most {LONGEST_NAME} characters long, got {len(name)}",
            hint="pods, services, claims and labels are named after it",
        )


def _size_problems(cluster: EtcdCluster) -> Iterator[Problem]:
    spec = cluster.spec
    if spec.replicas == 0 and spec.storage.empty_dir is not None:
        yield Problem("spec.replicas", "must not be 0 with an emptyDir: all data would be lost")
    if spec.storage.empty_dir is not None and spec.storage.volume_claim_template is not None:
        yield Problem("spec.storage", "must be either an emptyDir or a volumeClaimTemplate")


def _option_problems(cluster: EtcdCluster) -> Iterator[Problem]:
    version = _readable_version(cluster)
    for name in cluster.spec.options:
        if problem := flag_problem(name, version):
            yield Problem(f"spec.options.{name}", problem)
    wrong = value_problems(cluster.spec.options, version)
    yield from wrong
    if not wrong and not _is_paced_elsewhere(cluster):
        pace = pace_problem(cluster.spec.options, version)
        yield from (pace,) if pace else ()


def _is_paced_elsewhere(cluster: EtcdCluster) -> bool:
    """Tell whether variables of the container may set what the options leave to etcd."""
    container = etcd_container(cluster.spec)
    some = container.get("env")
    every = some if isinstance(some, list) else []
    names = {str(it.get("name")) for it in every if isinstance(it, dict)}
    ours = {f"ETCD_{it.upper().replace('-', '_')}" for it in (HEARTBEAT, ELECTION)}
    return bool(names & ours or container.get("envFrom"))


def _readable_version(cluster: EtcdCluster) -> Version | None:
    try:
        return version_of(cluster.spec)
    except ValueError:
        return None


# ------------------------------------------------------------------ versions
def _version_problems(cluster: EtcdCluster) -> Iterator[Problem]:
    spec = cluster.spec
    if spec.version and not _NUMBERS.fullmatch(spec.version):
        yield Problem("spec.version", f"must be three numbers, as in 3.6.16, got {spec.version!r}")
        return
    wanted = version_of(spec)
    field = "spec.version" if spec.version else "spec.podTemplate.spec.containers[etcd].image"
    if wanted is not None and (wanted < OLDEST or wanted.major != OLDEST.major):
        yield Problem(field, f"must be {OLDEST} or a later one of etcd 3, got {wanted}")
    tagged = tagged_version(str(etcd_container(spec).get("image") or ""))
    if spec.version and tagged is not None and tagged != wanted:
        yield Problem(
            "spec.podTemplate.spec.containers[etcd].image",
            f"must be an image of the version, {wanted}, got one of {tagged}",
            hint="leave out spec.version or the image",
        )


def step_problem(now: str, wanted: Version) -> str | None:
    """Say why members that run one version must not be given another, or None.

    >>> step_problem("3.5.10", Version(3, 6, 1))
    'must be 3.5.26 or a later 3.5 before it becomes 3.6'
    """
    try:
        runs = Version.parse(now)
    except ValueError:
        return None  # nobody has said it yet
    skew = minor_skew(runs, wanted)
    if skew is None or skew < 0:
        return "cannot go back by a minor release: etcd could not read its data"
    if skew > 1:
        return "must go up by one minor release at a time"
    if (runs.minor, wanted.minor) == (5, 6) and runs < Version(3, 5, LAST_STOP):
        return f"must be 3.5.{LAST_STOP} or a later 3.5 before it becomes 3.6"
    return None


# ------------------------------------------------------------------ certificates
def _tls_problems(cluster: EtcdCluster) -> Iterator[Problem]:
    tls, where = cluster.spec.security.tls, "spec.security.tls"
    for name, secret in plain(tls).items():
        if secret and (problem := dns_subdomain_problem(secret)):
            yield Problem(f"{where}.{name}", problem)
    if bool(tls.peer_secret) != bool(tls.peer_trusted_ca_secret):
        yield Problem(where, "peerSecret and peerTrustedCASecret must be given together")
    if bool(tls.client_secret) != bool(tls.client_trusted_ca_secret):
        yield Problem(where, "clientSecret and clientTrustedCASecret must be given together")
    if tls.client_secret and not tls.server_secret:
        yield Problem(f"{where}.clientSecret", "needs a serverSecret beside it")
    if cluster.spec.security.enable_auth and not (tls.client_secret and tls.server_secret):
        yield Problem(
            "spec.security.enableAuth",
            "needs tls.clientSecret and tls.serverSecret: users log in by certificate",
        )


# ------------------------------------------------------------------ the rest
def _budget_problems(cluster: EtcdCluster) -> Iterator[Problem]:
    template, where = cluster.spec.pod_disruption_budget_template, "podDisruptionBudgetTemplate"
    if template is None:
        return
    spec, where = template.spec, f"spec.{where}.spec"
    if spec.min_available is not None and spec.max_unavailable is not None:
        yield Problem(where, "minAvailable and maxUnavailable must not be given both")
    for name, value in plain(spec).items():
        most = cluster.spec.replicas
        if isinstance(value, str) and not _SHARE.fullmatch(value):
            yield Problem(
                f"{where}.{name}",
                f"must be a number of members or a share from 0% to 100%, got {value!r}",
            )
        elif isinstance(value, int) and most and not 0 <= value <= most:
            yield Problem(f"{where}.{name}", f"must be from 0 to the replicas, {most}, got {value}")


def _grace_problems(cluster: EtcdCluster) -> Iterator[Problem]:
    field, said = "spec.unhealthyMemberGracePeriod", cluster.spec.unhealthy_member_grace_period
    try:
        seconds = parse_seconds(said)
    except ValueError as error:
        yield Problem(field, str(error))
        return
    if not SHORTEST_GRACE <= seconds <= LONGEST_GRACE:
        yield Problem(field, f"must be a time from 1s to 24h, got {said}")


def _recovery_problems(cluster: EtcdCluster) -> Iterator[Problem]:
    asked, where = cluster.spec.quorum_recovery, "spec.quorumRecovery"
    if asked is None:
        return
    if not asked.accept_data_loss:
        yield Problem(
            f"{where}.acceptDataLoss",
            "must be true: what only the lost members had cannot come back",
        )
    name = cluster.metadata.name
    if asked.survivor != "best" and name and ordinal_of(name, asked.survivor) is None:
        yield Problem(
            f"{where}.survivor",
            f"must be best or one of the members, as in {name}-0, got {asked.survivor!r}",
        )


_CHECKS: Final[tuple[Callable[[EtcdCluster], Iterator[Problem]], ...]] = (
    _name_problems,
    _size_problems,
    _option_problems,
    _version_problems,
    _tls_problems,
    _budget_problems,
    _grace_problems,
    _recovery_problems,
    template_problems,
)
