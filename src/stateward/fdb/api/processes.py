"""What the pods of each process class are made from, and how many there are."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta

from stateward.kube.codec import Part
from stateward.kube.crd.fields import Field, TemplateMetadata, VolumeClaimSpec

ImageType: TypeAlias = Literal["split", "unified"]
MOST_PARAMETERS = 100


class PodTemplate(Part):
    """What pods are made from; the operator adds what it needs and is not said."""

    metadata: Annotated[TemplateMetadata, Field(description="Labels and annotations.")] = {}
    spec: Annotated[
        dict[str, Any],
        Field(
            description="A pod's spec, or part of one; fdbserver's container is `foundationdb`.",
            preserve_unknown=True,
        ),
    ] = {}


class ClaimTemplate(Part):
    """What the claims of classes with data are made from; a name in it is not used."""

    api_version: Annotated[str, Field(description="Not used.")] = ""
    kind: Annotated[str, Field(description="Not used.")] = ""
    metadata: Annotated[TemplateMetadata, Field(description="Labels and annotations.")] = {}
    spec: Annotated[
        VolumeClaimSpec, Field(description="A claim's spec, or part; not said: 128G.")
    ] = {}
    status: Annotated[dict[str, Any], Field(description="Not used.", preserve_unknown=True)] = {}


class ProcessSettings(Part):
    """What processes of a class are made from; what is not said, `general` says."""

    pod_template: Annotated[PodTemplate | None, Field(description="What pods are made from.")] = (
        None
    )
    volume_claim_template: Annotated[
        ClaimTemplate | None, Field(description="What claims are made from.")
    ] = None
    custom_parameters: Annotated[
        tuple[Annotated[str, Meta(max_length=100)], ...] | None,
        Field(
            description="More arguments of fdbserver, as in knob_max_trace_lines=1000000.",
            list_type="atomic",
            max_items=MOST_PARAMETERS,
        ),
    ] = None


#: Pods of a class; 0: as many as the configuration needs, -1: none.
Count: TypeAlias = Annotated[int, Meta(ge=-1, le=100_000)]


class ProcessCounts(Part, rename=None):
    """How many pods of each class; 0: as many as the configuration needs, -1: none."""

    unset: Annotated[Count, Field(description="Processes that may do anything.")] = 0
    storage: Annotated[Count, Field(description="Storage servers.")] = 0
    transaction: Annotated[Count, Field(description="Logs and what else commits need.")] = 0
    resolution: Annotated[Count, Field(description="Resolvers.")] = 0
    tester: Annotated[Count, Field(description="Deprecated: use test.")] = 0
    test: Annotated[Count, Field(description="Testers.")] = 0
    proxy: Annotated[Count, Field(description="Proxies of both kinds.")] = 0
    commit_proxy: Annotated[Count, Field(description="Proxies for commits.")] = 0
    grv_proxy: Annotated[Count, Field(description="Proxies for versions.")] = 0
    master: Annotated[Count, Field(description="Masters.")] = 0
    stateless: Annotated[Count, Field(description="Whatever keeps no data.")] = 0
    log: Annotated[Count, Field(description="Logs.")] = 0
    cluster_controller: Annotated[Count, Field(description="Cluster controllers.")] = 0
    router: Annotated[Count, Field(description="Routers of logs.")] = 0
    fast_restore: Annotated[Count, Field(description="Restorers.")] = 0
    data_distributor: Annotated[Count, Field(description="Data distributors.")] = 0
    coordinator: Annotated[Count, Field(description="Coordinators that do nothing else.")] = 0
    ratekeeper: Annotated[Count, Field(description="Ratekeepers.")] = 0
    storage_cache: Annotated[Count, Field(description="Caches of storage.")] = 0
    backup: Annotated[Count, Field(description="Workers for backups.")] = 0


# ------------------------------------------------------------------ containers
class ImageConfig(Part):
    """Where an image comes from. Of several, the first that says something counts, per field."""

    version: Annotated[
        str, Meta(max_length=32), Field(description="For this version; empty: for all.")
    ] = ""
    base_image: Annotated[
        str, Meta(max_length=200), Field(description="The image without its tag.")
    ] = ""
    tag: Annotated[
        str, Meta(max_length=128), Field(description="The whole tag; empty: the version.")
    ] = ""
    tag_suffix: Annotated[
        str, Meta(max_length=128), Field(description="What follows the version in a tag.")
    ] = ""


class ContainerOverrides(Part):
    """How one container of every pod is, where it differs from what it would be."""

    enable_liveness_probe: Annotated[
        bool | None, Field(description="Whether it is asked if it lives.")
    ] = None
    enable_readiness_probe: Annotated[
        bool | None, Field(description="Deprecated. Whether it is asked if it is ready.")
    ] = None
    enable_tls: Annotated[bool, Field(description="Whether it speaks TLS.")] = False
    peer_verification_rules: Annotated[
        str, Meta(max_length=10_000), Field(description="Whom it believes, as in S.CN=example.org.")
    ] = ""
    image_configs: Annotated[
        tuple[ImageConfig, ...],
        Field(description="Where its image comes from.", list_type="atomic", max_items=100),
    ] = ()
