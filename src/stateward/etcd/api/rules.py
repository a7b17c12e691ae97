"""What must be true of an EtcdCluster, in CEL: the API server asks it, at the door.

Everything is asked again in Python (validation.py), where more can be seen.
"""

from __future__ import annotations

from typing import Final

from stateward.etcd.api.options import FLAG, OWNED, OWNED_PREFIXES
from stateward.kube.crd.fields import Rule

#: The first etcd that is safe to grow and to replace members with.
OLDEST: Final = "3.5.0"
#: Before 3.6 a cluster must have run this: earlier ones may bring removed members back.
LAST_STOP: Final = 26

_OWNED: Final = f"[{', '.join(repr(name) for name in OWNED)}]"
_BEGINNINGS: Final = f"[{', '.join(repr(name) for name in OWNED_PREFIXES)}]"

OPTION_RULES: Final = (
    Rule(
        f"self.all(name, name.matches('{FLAG}'))",
        "the name of an option must be a flag of etcd without its dashes, as in snapshot-count",
    ),
    Rule(
        f"{_OWNED}.all(name, !(name in self))",
        message_expression=f"'the operator itself sets ' + {_OWNED}.filter(name, name in self)[0]",
    ),
    Rule(
        f"self.all(name, !{_BEGINNINGS}.exists(it, name.startsWith(it)))",
        "members find each other through the operator: discovery and proxy cannot be set",
    ),
)

# ------------------------------------------------------------------ versions
#: Three plain numbers; of a pre-release nobody could say what it may be upgraded to.
VERSION: Final = r"^[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}$"

VERSION_RULES: Final = (
    Rule(
        f"self == '' || self.matches('{VERSION}')",
        "version must be three numbers, as in 3.6.16",
    ),
    Rule(
        f"!self.matches('{VERSION}')"
        " || (int(self.split('.')[0]) == 3 && int(self.split('.')[1]) >= 5)",
        f"version must be {OLDEST} or a later one of etcd 3",
    ),
)


def _number(of: str, place: int) -> str:
    return f"int({of}.split('.')[{place}])"


def _named(of: str) -> str:
    """Say that a version is there and can be read. Only plain paths: their size is known."""
    whole, part, _ = of.split(".")
    return f"has({whole}.{part}) && has({of}) && {of}.matches('{VERSION}')"


_NOW: Final = "self.status.version"
_WAS: Final = "oldSelf.spec.version"
_TO: Final = "self.spec.version"
#: A change of version is judged, nothing else: the status must always be writable.
_CHANGED: Final = f"{_named(_TO)} && !({_named(_WAS)} && {_WAS} == {_TO})"
#: Where a cluster is: at its oldest member's version or, before anybody has said one, its spec's.
_STARTS: Final = (
    (_NOW, f"{_CHANGED} && {_named(_NOW)}"),
    (_WAS, f"{_CHANGED} && {_named(_WAS)} && !({_named(_NOW)})"),
)


def _step(allowed: str, message: str) -> tuple[Rule, ...]:
    """Return the rule once for each place that says where a cluster is."""
    return tuple(
        Rule(
            f"!({asked}) || "
            + allowed.format(
                minor=_number(_TO, 1), was_minor=_number(start, 1), was_patch=_number(start, 2)
            ),
            message,
        )
        for start, asked in _STARTS
    )


STEP_RULES: Final = (
    *_step(
        "{minor} >= {was_minor}",
        "version cannot go back by a minor release: etcd could not read its data",
    ),
    *_step("{minor} <= {was_minor} + 1", "version must go up by one minor release at a time"),
    *_step(
        f"{{minor}} != 6 || {{was_minor}} != 5 || {{was_patch}} >= {LAST_STOP}",
        f"version must be 3.5.{LAST_STOP} or later before it becomes 3.6",
    ),
)

# ------------------------------------------------------------------ certificates


def _has(name: str) -> str:
    return f"(has(self.{name}) && self.{name} != '')"


def _in_spec(name: str, of: str = "self") -> str:
    return f"({of}.?security.?tls.?{name}.orValue('') != '')"


TLS_RULES: Final = (
    Rule(
        f"{_has('peerSecret')} == {_has('peerTrustedCASecret')}",
        "peerSecret and peerTrustedCASecret must be given together",
    ),
    Rule(
        f"{_has('clientSecret')} == {_has('clientTrustedCASecret')}",
        "clientSecret and clientTrustedCASecret must be given together",
    ),
    Rule(
        f"!{_has('clientSecret')} || {_has('serverSecret')}",
        "clientSecret needs a serverSecret: only members with a certificate ask for one",
    ),
)
SECURITY_RULES: Final = (
    Rule(
        "!self.enableAuth || (self.?tls.?clientSecret.orValue('') != ''"
        " && self.?tls.?serverSecret.orValue('') != '')",
        "enableAuth needs tls.clientSecret and tls.serverSecret: users log in by certificate",
    ),
)

# ------------------------------------------------------------------ several fields at once
# Defaults are judged as they are written, before they are filled in: a field may be missing.
_REPLICAS: Final = "self.?replicas.orValue(3)"
_BUDGET: Final = "self.?podDisruptionBudgetTemplate.?spec"


def _within(name: str) -> str:
    value = f"self.podDisruptionBudgetTemplate.spec.{name}"
    return (
        f"{_REPLICAS} == 0 || !{_BUDGET}.?{name}.hasValue() || type({value}) != int"
        f" || int({value}) <= {_REPLICAS}"
    )


_RENAMED: Final = (
    "the headless service cannot be renamed: members know each other by names below it"
)
#: Where it has a name; whether it has one is asked in the spec.
HEADLESS_NAME_RULES: Final = (Rule("self == oldSelf", _RENAMED),)


def _is_named(of: str) -> str:
    template = f"{of}.headlessServiceTemplate"
    return f"(has({template}) && has({template}.metadata) && has({template}.metadata.name))"


SPEC_RULES: Final = (
    Rule(
        f"{_REPLICAS} > 0 || !self.?storage.?emptyDir.hasValue()",
        "replicas must not be 0 with an emptyDir: all data would be lost",
        field_path=".replicas",
    ),
    Rule(
        f"{_in_spec('peerSecret')} == {_in_spec('peerSecret', 'oldSelf')}",
        "peerSecret cannot be added or taken away: members would not understand each other",
    ),
    Rule(
        f"{_in_spec('serverSecret')} == {_in_spec('serverSecret', 'oldSelf')}",
        "serverSecret cannot be added or taken away: clients would not understand members",
    ),
    Rule(
        f"{_is_named('self')} == {_is_named('oldSelf')}",
        _RENAMED,
        field_path=".headlessServiceTemplate",
    ),
    Rule(
        _within("minAvailable"),
        "minAvailable must not be more than replicas: no node could ever be emptied",
    ),
    Rule(_within("maxUnavailable"), "maxUnavailable must not be more than replicas"),
)
BUDGET_RULES: Final = (
    Rule(
        "!(has(self.minAvailable) && has(self.maxUnavailable))",
        "minAvailable and maxUnavailable must not be given both",
    ),
    *(
        Rule(
            f"!has(self.{name}) || type(self.{name}) != string"
            f" || self.{name}.matches('^(100|[0-9]{{1,2}})%$')",
            f"{name} must be a number of members or a share from 0% to 100%",
        )
        for name in ("minAvailable", "maxUnavailable")
    ),
)
GRACE_RULES: Final = (
    Rule(
        r"self.matches('^([0-9]{1,9}(\\.[0-9]{1,9})?(ms|s|m|h))+$')"
        " && duration(self) >= duration('1s') && duration(self) <= duration('24h')",
        "unhealthyMemberGracePeriod must be a time from 1s to 24h, as in 60s or 5m",
    ),
)
RECOVERY_RULES: Final = (
    Rule(
        "self.acceptDataLoss",
        "acceptDataLoss must be true: what only the lost members had cannot come back",
    ),
)
ROOT_RULES: Final = (
    Rule(
        "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
        "metadata.name must be of a-z, 0-9 and '-', begin with a letter and not end with '-':"
        " services and pods are named after it",
    ),
    Rule(
        "!self.?spec.?quorumRecovery.hasValue() || self.spec.quorumRecovery.survivor == 'best'"
        " || (self.spec.quorumRecovery.survivor.matches('-(0|[1-9][0-9]?)$')"
        " && self.spec.quorumRecovery.survivor.substring("
        "0, self.spec.quorumRecovery.survivor.lastIndexOf('-')) == self.metadata.name)",
        "quorumRecovery.survivor must be best or one of the members, as in NAME-0",
    ),
    *STEP_RULES,
)
