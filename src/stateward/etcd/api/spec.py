"""What a user asks for: the spec of an EtcdCluster.

Fields that the compatible operator has are spelled as it spells them; those at the end are ours,
and optional.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from stateward.core.naming import OPTIONAL_NAME
from stateward.etcd.api import rules
from stateward.etcd.api.storage import ClaimTemplate, Storage
from stateward.kube.codec import Part
from stateward.kube.crd.fields import Field, Rule, TemplateMetadata, shaped

DEFAULT_GRACE = "60s"
#: What a secret's name looks like; empty: there is none.
SecretName = Annotated[str, Meta(max_length=253, pattern=OPTIONAL_NAME)]


class PodTemplate(Part):
    """What is laid over the generated pod, by the rules of a strategic merge."""

    metadata: Annotated[TemplateMetadata, Field(description="Labels and annotations.")] = {}
    spec: Annotated[
        dict[str, Any],
        Field(
            description="A pod's spec, or part of one; the container of etcd is called `etcd`.",
            preserve_unknown=True,
        ),
    ] = {}


class ServiceTemplate(Part):
    """What is laid over the service for clients."""

    metadata: Annotated[TemplateMetadata, Field(description="Name, labels, annotations.")] = {}
    spec: Annotated[
        dict[str, Any], Field(description="A service's spec, or part.", preserve_unknown=True)
    ] = {}


class NamedMetadata(Part):
    """What may be said of the service by which members find each other."""

    name: Annotated[
        str,
        Meta(max_length=63),
        Field(description="Its name, for good.", rules=rules.HEADLESS_NAME_RULES),
    ] = ""
    labels: Annotated[dict[str, str], Field(description="More labels.")] = {}
    annotations: Annotated[dict[str, str], Field(description="More annotations.")] = {}


class HeadlessServiceTemplate(Part):
    """What is laid over the service by which members find each other."""

    metadata: Annotated[
        dict[str, Any],
        shaped(NamedMetadata),
        Field(description="Name, labels, annotations."),
    ] = {}


class BudgetSpec(Part):
    """How many members must stay when nodes are emptied."""

    RULES: ClassVar[tuple[Rule, ...]] = rules.BUDGET_RULES

    min_available: Annotated[
        Annotated[int, Meta(ge=0)] | Annotated[str, Meta(max_length=8)] | None,
        Field(description="At least so many stay: a number, or a share as in 50%."),
    ] = None
    max_unavailable: Annotated[
        Annotated[int, Meta(ge=0)] | Annotated[str, Meta(max_length=8)] | None,
        Field(description="At most so many go: a number, or a share as in 50%."),
    ] = None


class BudgetTemplate(Part):
    """What is laid over the disruption budget."""

    metadata: Annotated[TemplateMetadata, Field(description="Labels and annotations.")] = {}
    spec: Annotated[BudgetSpec, Field(description="Empty: a quorum stays.")] = BudgetSpec()


class TlsSecrets(Part):
    """Names of secrets of the same namespace, each with tls.crt and tls.key, or with ca.crt."""

    RULES: ClassVar[tuple[Rule, ...]] = rules.TLS_RULES

    peer_trusted_ca_secret: Annotated[
        SecretName, Field(description="Whom members believe: ca.crt. Goes with peerSecret.")
    ] = ""
    peer_secret: Annotated[
        SecretName,
        Field(description="Who a member is to others; without it they sign for themselves."),
    ] = ""
    server_trusted_ca_secret: Annotated[
        SecretName, Field(description="Who signed serverSecret: ca.crt.")
    ] = ""
    server_secret: Annotated[
        SecretName, Field(description="Who a member is to clients; without it they use http.")
    ] = ""
    client_trusted_ca_secret: Annotated[
        SecretName,
        Field(description="Which clients members believe: ca.crt. Goes with clientSecret."),
    ] = ""
    client_secret: Annotated[
        SecretName, Field(description="Who the operator is to members; with logins, root.")
    ] = ""


class Security(Part):
    """Certificates and logins."""

    RULES: ClassVar[tuple[Rule, ...]] = rules.SECURITY_RULES

    tls: Annotated[TlsSecrets, Field(description="Certificates.")] = TlsSecrets()
    enable_auth: Annotated[
        bool, Field(description="Clients must show a certificate of a user.", default=False)
    ] = False


class QuorumRecovery(Part):
    """A person's word that a cluster whose majority is lost may go on from one survivor."""

    RULES: ClassVar[tuple[Rule, ...]] = rules.RECOVERY_RULES

    survivor: Annotated[
        str,
        Meta(max_length=63),
        Field(
            description="The member to go on from, or `best`: who has most of the log.",
            default="best",
        ),
    ] = "best"
    accept_data_loss: Annotated[
        bool,
        Field(description="Must be true: what only the lost members had is gone.", default=False),
    ] = False


class EtcdClusterSpec(Part):
    """What a cluster is asked to be."""

    RULES: ClassVar[tuple[Rule, ...]] = rules.SPEC_RULES

    replicas: Annotated[
        int,
        Meta(ge=0, le=31),
        Field(
            description="How many members; 0 lets the cluster sleep and keeps its volumes.",
            default=3,
            format="int32",
        ),
    ] = 3
    options: Annotated[
        dict[str, Annotated[str, Meta(max_length=4096)]],
        Field(
            description="Flags of etcd, without dashes; empty: a bare flag.",
            max_properties=64,
            rules=rules.OPTION_RULES,
        ),
    ] = {}
    pod_template: Annotated[PodTemplate, Field(description="Laid over the pods.")] = PodTemplate()
    service_template: Annotated[
        ServiceTemplate, Field(description="Laid over the service for clients.")
    ] = ServiceTemplate()
    headless_service_template: Annotated[
        HeadlessServiceTemplate, Field(description="Laid over the service of the members.")
    ] = HeadlessServiceTemplate()
    pod_disruption_budget_template: Annotated[
        BudgetTemplate | None, Field(description="Laid over the disruption budget.")
    ] = None
    storage: Annotated[
        Storage,
        Field(
            description="Where members keep their data; not given: on volumes of 4Gi.",
            default={"volumeClaimTemplate": {}},
        ),
    ] = Storage(volume_claim_template=ClaimTemplate())
    security: Annotated[Security, Field(description="Certificates and logins.")] = Security()
    version: Annotated[
        str,
        Meta(max_length=11),
        Field(
            description="Which etcd, as in 3.6.16; the image follows.", rules=rules.VERSION_RULES
        ),
    ] = ""
    paused: Annotated[
        bool, Field(description="Only look and tell; change nothing.", default=False)
    ] = False
    unhealthy_member_grace_period: Annotated[
        str,
        Meta(max_length=32),
        Field(
            description="How long a member may be away until replaced, as in 60s.",
            default=DEFAULT_GRACE,
            rules=rules.GRACE_RULES,
        ),
    ] = DEFAULT_GRACE
    quorum_recovery: Annotated[
        QuorumRecovery | None, Field(description="Approval to go on from one survivor.")
    ] = None
    retain_volumes_on_delete: Annotated[
        bool, Field(description="Whether volumes outlive the cluster.", default=False)
    ] = False
