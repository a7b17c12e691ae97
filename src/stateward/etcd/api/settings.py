"""What a spec comes to: every name, size and time that it says, or that we say where it does not.

Asked only of a cluster that has no problems (validation.py): what cannot be read raises ValueError.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from stateward.core.quantity import Quantity
from stateward.core.version import Version
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.spec import EtcdClusterSpec, TlsSecrets
from stateward.etcd.api.status import EtcdClusterStatus
from stateward.etcd.api.storage import DEFAULT_ACCESS_MODES, DEFAULT_SIZE
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectMeta

#: What runs where neither a version nor an image is named.
DEFAULT_VERSION: Final = Version(3, 6, 16)
REPOSITORY: Final = "quay.io/coreos/etcd"
#: The container that is etcd's, and its volume, unless the claim has another name.
CONTAINER: Final = "etcd"
DEFAULT_CLAIM: Final = "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a cluster shall be, complete."""

    image: str
    #: What the image holds; None when its tag does not say and the spec does not either.
    version: Version | None
    headless_service: str
    #: The volume of a pod that holds its data, and the claim template's name.
    claim_name: str
    #: The spec of every member's claim, complete; None: data lies in an emptyDir.
    claim_spec: Json | None
    #: The emptyDir as it was asked for; None: data lies on claims.
    empty_dir: Json | None
    #: How many bytes a member may fill; None: an emptyDir without a limit.
    storage_bytes: int | None
    tls: TlsSecrets
    #: Whether clients must be users.
    auth: bool
    retain_volumes: bool

    @property
    def peers_have_secrets(self) -> bool:
        """True when members show each other certificates that somebody made for them."""
        return bool(self.tls.peer_secret)

    @property
    def clients_use_tls(self) -> bool:
        """True when members speak https to clients."""
        return bool(self.tls.server_secret)

    @property
    def clients_show_certificates(self) -> bool:
        """True when members ask clients for a certificate."""
        return bool(self.tls.client_trusted_ca_secret)


def wish_of(cluster: EtcdCluster) -> EtcdCluster:
    """Return a cluster with nothing but what decides what it shall be.

    Two clusters with equal wishes have the same problems, settings and documents: what is worked
    out from a wish alone may be kept as long as the wish is the same. Of what the cluster is, only
    the version that runs counts, where the spec leaves it open.
    """
    metadata = cluster.metadata
    return EtcdCluster(
        metadata=ObjectMeta(
            name=metadata.name,
            namespace=metadata.namespace,
            uid=metadata.uid,
            # Every edit has a number of its own, also one from true to 1, which Python calls equal.
            generation=metadata.generation,
        ),
        spec=cluster.spec,
        status=EtcdClusterStatus(version=cluster.status.version),
    )


def settings_of(cluster: EtcdCluster) -> Settings:
    """Return what a cluster shall be; raise ValueError when the spec has problems."""
    spec = cluster.spec
    claim = claim_spec_of(spec)
    return Settings(
        image=image_of(spec, cluster.status.version),
        version=version_of(spec, cluster.status.version),
        headless_service=headless_name(cluster),
        claim_name=claim_name_of(spec),
        claim_spec=claim,
        empty_dir=spec.storage.empty_dir,
        storage_bytes=_bytes(claim, spec.storage.empty_dir),
        tls=spec.security.tls,
        auth=spec.security.enable_auth,
        retain_volumes=spec.retain_volumes_on_delete,
    )


def headless_name(cluster: EtcdCluster) -> str:
    """Return what the service is called by which members find each other."""
    given = cluster.spec.headless_service_template.metadata.get("name")
    return str(given) if given else f"{cluster.metadata.name}-headless"


def image_of(spec: EtcdClusterSpec, running: str = "") -> str:
    """Return the image of etcd: the pod template's, or the one of the version."""
    if given := etcd_container(spec).get("image"):
        return str(given)
    return f"{REPOSITORY}:v{version_of(spec, running)}"


def version_of(spec: EtcdClusterSpec, running: str = "") -> Version | None:
    """Return the version that the spec names, or its image; None when neither is to be read.

    Where the spec leaves it open, members that run stay what they are: a new operator with a newer
    default must not restart anybody's etcd.
    """
    if spec.version:
        return Version.parse(spec.version)
    if given := etcd_container(spec).get("image"):
        return tagged_version(str(given))
    return _read(running) or DEFAULT_VERSION


def _read(version: str) -> Version | None:
    try:
        return Version.parse(version)
    except ValueError:
        return None


def tagged_version(image: str) -> Version | None:
    """Return the version that the tag of an image names, or None.

    >>> str(tagged_version("registry:5000/etcd:v3.5.21-0@sha256:aa"))
    '3.5.21'
    >>> tagged_version("registry:5000/etcd")
    """
    _, _, tag = image.partition("@")[0].rpartition("/")[2].partition(":")
    numbers = tag.removeprefix("v").partition("-")[0]  # what follows is how it was packed
    try:
        return Version.parse(numbers)
    except ValueError:
        return None


def etcd_container(spec: EtcdClusterSpec) -> Json:
    """Return what the pod template says of etcd's own container; empty when nothing."""
    some = spec.pod_template.spec.get("containers")
    every = some if isinstance(some, list) else []
    mine = [it for it in every if isinstance(it, dict) and it.get("name") == CONTAINER]
    return mine[0] if mine else {}


def claim_name_of(spec: EtcdClusterSpec) -> str:
    """Return what the volume of a member is called."""
    template = spec.storage.volume_claim_template
    return (template.metadata.get("name") if template else None) or DEFAULT_CLAIM


def claim_spec_of(spec: EtcdClusterSpec) -> Json | None:
    """Return the spec of every member's claim with all that it must say; None without claims."""
    if spec.storage.empty_dir is not None:
        return None
    template = spec.storage.volume_claim_template
    claim: dict[str, Any] = deepcopy(template.spec) if template else {}
    claim["accessModes"] = claim.get("accessModes") or list(DEFAULT_ACCESS_MODES)
    claim["resources"] = resources = dict(claim.get("resources") or {})
    resources["requests"] = {"storage": DEFAULT_SIZE} | (resources.get("requests") or {})
    return claim


def _bytes(claim: Json | None, empty_dir: Json | None) -> int | None:
    said = (empty_dir or {}).get("sizeLimit")
    if claim is not None:
        said = claim["resources"]["requests"]["storage"]
    return None if said is None else Quantity.parse(str(said)).whole()
