"""What a user asks for: the spec of an EtcdCluster.

Fields that the compatible operator has are spelled as it spells them; those at the end are ours,
and optional.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec

from stateward.kube.codec import Part
from stateward.kube.crd.fields import Field, Rule, TemplateMetadata

#: What a cluster gets whose manifest says nothing about storage.
DEFAULT_STORAGE: dict[str, Any] = {
    "volumeClaimTemplate": {
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "4Gi"}}}
    }
}
DEFAULT_GRACE = "60s"


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


class HeadlessServiceTemplate(Part):
    """What is laid over the service by which members find each other."""

    metadata: Annotated[TemplateMetadata, Field(description="Name, labels, annotations.")] = {}


class BudgetSpec(Part):
    """How many members must stay when nodes are emptied."""

    min_available: Annotated[int | str | None, Field(description="At least so many stay.")] = None
    max_unavailable: Annotated[int | str | None, Field(description="At most so many go.")] = None


class BudgetTemplate(Part):
    """What is laid over the disruption budget."""

    metadata: Annotated[TemplateMetadata, Field(description="Labels and annotations.")] = {}
    spec: Annotated[BudgetSpec, Field(description="Empty: a quorum stays.")] = BudgetSpec()


class ClaimTemplate(Part):
    """The claim that every member gets."""

    metadata: Annotated[TemplateMetadata, Field(description="Name, labels, annotations.")] = {}
    spec: Annotated[
        dict[str, Any], Field(description="A claim's spec, or part.", preserve_unknown=True)
    ] = {}


class Storage(Part):
    """Where members keep their data: one of two kinds, for good."""

    empty_dir: Annotated[
        dict[str, Any] | None,
        Field(description="A folder that goes with its pod.", preserve_unknown=True),
    ] = None
    volume_claim_template: Annotated[
        ClaimTemplate | None, Field(description="A volume of its own for every member.")
    ] = None


class TlsSecrets(Part):
    """Names of secrets of the same namespace, each with tls.crt and tls.key, or with ca.crt."""

    peer_trusted_ca_secret: Annotated[str, Field(description="Whom members believe.")] = ""
    peer_secret: Annotated[str, Field(description="Who a member is to others.")] = ""
    server_trusted_ca_secret: Annotated[str, Field(description="Who signed serverSecret.")] = ""
    server_secret: Annotated[str, Field(description="Who a member is to clients.")] = ""
    client_trusted_ca_secret: Annotated[str, Field(description="Which clients to believe.")] = ""
    client_secret: Annotated[str, Field(description="Who the operator is to members.")] = ""


class Security(Part):
    """Certificates and logins."""

    tls: Annotated[TlsSecrets, Field(description="Certificates.")] = TlsSecrets()
    enable_auth: Annotated[
        bool, Field(description="Clients must show a certificate of a user.", default=False)
    ] = False


class QuorumRecovery(Part):
    """A person's word that a cluster whose majority is lost may go on from one survivor."""

    survivor: Annotated[
        str, Field(description="The member to go on from, or `best`: who has most of the log.")
    ] = "best"
    accept_data_loss: Annotated[
        bool,
        Field(description="Must be true: what only the lost members had is gone.", default=False),
    ] = False


class EtcdClusterSpec(Part):
    """What a cluster is asked to be."""

    RULES: ClassVar[tuple[Rule, ...]] = ()

    replicas: Annotated[
        int, msgspec.Meta(ge=0, le=31), Field(description="How many members.", default=3)
    ] = 3
    options: Annotated[
        dict[str, str], Field(description="Flags of etcd, without dashes; empty: a bare flag.")
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
        Storage, Field(description="Where members keep their data.", default=DEFAULT_STORAGE)
    ] = Storage()
    security: Annotated[Security, Field(description="Certificates and logins.")] = Security()
    version: Annotated[
        str, Field(description="Which etcd, as in 3.6.16; the image follows.")
    ] = ""
    paused: Annotated[
        bool, Field(description="Only look and tell; change nothing.", default=False)
    ] = False
    unhealthy_member_grace_period: Annotated[
        str,
        Field(description="How long a member may be away until replaced.", default=DEFAULT_GRACE),
    ] = DEFAULT_GRACE
    quorum_recovery: Annotated[
        QuorumRecovery | None, Field(description="Approval to go on from one survivor.")
    ] = None
    retain_volumes_on_delete: Annotated[
        bool, Field(description="Whether volumes outlive the cluster.", default=False)
    ] = False
