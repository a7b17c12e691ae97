"""What is wrong with what a spec says of TLS: certificates not named, rules, authorities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from stateward.core.pems import are_certificates
from stateward.fdb.api.defaults import GENERAL, folded
from stateward.fdb.api.papers import ALTERNATIVES, Lack, Reader
from stateward.fdb.api.processes import ProcessSettings
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.model.addresses import Address, parse_all
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import MAIN_CONTAINER, SIDECAR_CONTAINER
from stateward.kube.crd.findings import Problem

#: One condition about who is on the other side, as in ``S.CN=name`` or ``Root.O<=example``.
_RULE: Final = re.compile(
    r"(?:(?:S|Subject|I|Issuer|R|Root)\.)?"
    r"(?:CN|C|L|ST|O|OU|UID|DC|subjectAltName)[<>]?=.*"
    r"|Check\.(?:Valid|Unexpired)=[01]",
    re.DOTALL,
)
_BEGINS: Final = "BEGIN CERTIFICATE"
_APART: Final = re.compile(r"(?<!\\)[,|;]")


def transport_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    """Yield what keeps processes or sidecars from speaking TLS as they shall."""
    spec = folded(spec)
    for field, options, container in (
        ("mainContainer", spec.main_container, MAIN_CONTAINER),
        ("sidecarContainer", spec.sidecar_container, SIDECAR_CONTAINER),
    ):
        where, sign = f"spec.{field}.peerVerificationRules", ALTERNATIVES[container]
        yield from _rule_problems(options.peer_verification_rules, where, sign)
    yield from _authority_problems(spec)
    yield from _kind_problems(spec)
    for key, settings in spec.processes.items():
        if settings.pod_template is not None:
            for it in lacks(spec, settings):
                where = f"spec.processes.{key}.podTemplate.spec.{it.field}"
                yield Problem(where, it.message, hint=it.hint)
    if not any(it.pod_template is not None for it in spec.processes.values()):
        where = f"spec.processes.{GENERAL}.podTemplate.spec"
        for it in lacks(spec, ProcessSettings()):
            yield Problem(f"{where}.{it.field}", it.message, hint=it.hint)


def readers(spec: FoundationDBClusterSpec, settings: ProcessSettings) -> Iterator[Reader]:
    """Yield who reads files of TLS in pods of some settings; nobody where none is asked for."""
    template = settings.pod_template
    pod = template.spec if template is not None else {}
    has_authority = bool(spec.trusted_cas)
    main, beside = spec.main_container, spec.sidecar_container
    if main.enable_tls:
        words, rules = settings.custom_parameters or (), main.peer_verification_rules
        yield Reader(pod, MAIN_CONTAINER, words, has_authority, rules=rules)
    if beside.enable_tls and spec.image_type == "split":
        yield Reader(
            pod,
            SIDECAR_CONTAINER,
            has_authority=has_authority,
            needs_authority=True,
            rules=beside.peer_verification_rules,
        )


def lacks(spec: FoundationDBClusterSpec, settings: ProcessSettings) -> Iterator[Lack]:
    """Yield what is missing for TLS in pods of some settings."""
    for reader in readers(spec, settings):
        yield from (it for it in reader.papers() if isinstance(it, Lack))


def _rule_problems(rules: str, where: str, sign: str) -> Iterator[Problem]:
    hint = f"alternatives stand between '{sign}' here; other ',', '|' and ';' have a '\\' before"
    for word in _APART.split(rules) if rules.strip() else ():
        if _RULE.fullmatch(word.strip()) is None or "\n" in word:
            message = f"must be conditions like S.CN=name between ',', got {word.strip()!r}"
            yield Problem(where, message, hint=hint)
    for other in sorted({*_APART.findall(rules)} - {",", sign}):
        yield Problem(where, f"must part alternatives by {sign!r}, got {other!r}", hint=hint)


def _authority_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    for number, text in enumerate(spec.trusted_cas):
        if _BEGINS in text and not are_certificates(text.encode()):
            yield Problem(
                f"spec.trustedCAs[{number}]",
                "must be certificates in PEM, whole",
                hint="as in the file ca.crt of who signed the certificates",
            )


def _kind_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    """Yield that some coordinators are with TLS and some without: nobody reaches all of them."""
    given: list[tuple[str, tuple[Address, ...]]] = []
    try:
        if spec.seed_connection_string:
            seed = ConnectionString.parse(spec.seed_connection_string)
            given.append(("spec.seedConnectionString", tuple(seed.coordinators)))
        named = [
            it for text in spec.partial_connection_string.coordinators for it in parse_all(text)
        ]
        given.append(("spec.partialConnectionString.coordinators", tuple(named)))
    except ValueError:
        return  # it is said where addresses are looked at
    for where, addresses in given:
        if len({it.tls for it in addresses}) > 1:
            yield Problem(where, "must all be with :tls, or all without")
