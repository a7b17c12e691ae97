"""What may be done for a process group, and why nothing is: each a value that others carry out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from stateward.kube.meta import ObjectMeta, OwnerReference
from stateward.kube.resources import Resource


@dataclass(frozen=True, slots=True)
class CreateClaim:
    """Make the claim; tied to the cluster, it goes with it."""

    name: ClassVar[str] = "CreateClaim"


@dataclass(frozen=True, slots=True)
class CreateService:
    """Make the service that the group is reached by."""

    name: ClassVar[str] = "CreateService"


@dataclass(frozen=True, slots=True)
class CreatePod:
    """Make the pod; with a service it tells the service's address instead of its own."""

    name: ClassVar[str] = "CreatePod"

    public_ip: str = ""


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete exactly this pod."""

    name: ClassVar[str] = "DeletePod"

    uid: str
    why: str


@dataclass(frozen=True, slots=True)
class DeleteClaim:
    """Delete exactly this claim, with the data on it."""

    name: ClassVar[str] = "DeleteClaim"

    uid: str
    why: str


@dataclass(frozen=True, slots=True)
class DeleteService:
    """Delete exactly this service."""

    name: ClassVar[str] = "DeleteService"

    uid: str
    why: str


@dataclass(frozen=True, slots=True)
class Relabel:
    """Set labels, annotations and owners of an object that is ours; what else is on it stays.

    Also how an object is adopted, and how a claim is tied to its cluster and untied.
    """

    name: ClassVar[str] = "Relabel"

    resource: Resource[Any]
    seen: ObjectMeta
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    #: All owners from then on; None: as they are.
    owners: tuple[OwnerReference, ...] | None = None


@dataclass(frozen=True, slots=True)
class UpdateImages:
    """Give the containers beside fdbserver another image in place, and say so on the pod.

    Only they are started anew: that is how a new version comes to all pods before any process
    changes to it.
    """

    name: ClassVar[str] = "UpdateImages"

    uid: str
    #: The image of each, by where it stands in the pod, as in ``containers/1``.
    images: Mapping[str, str]
    made_from: str
    spec_hash: str


@dataclass(frozen=True, slots=True)
class SyncFiles:
    """Have the sidecar copy what the config map says, so that its pod starts with it."""

    name: ClassVar[str] = "SyncFiles"

    wanted: str


@dataclass(frozen=True, slots=True)
class RenewCertificate:
    """Have the sidecar show the certificate that its secret has by now."""

    name: ClassVar[str] = "RenewCertificate"

    wanted: str


@dataclass(frozen=True, slots=True)
class WakeNode:
    """Have the node show a unified pod what the config map says: its monitor reads it then."""

    name: ClassVar[str] = "WakeNode"

    conf: str


@dataclass(frozen=True, slots=True)
class DropFinalizer:
    """Let the group's object go: nothing is left of it."""

    name: ClassVar[str] = "DropFinalizer"


@dataclass(frozen=True, slots=True)
class Await:
    """Nothing is to be done now; ``after``: nothing wakes us, so look again then."""

    name: ClassVar[str] = "Await"

    reason: str
    message: str
    after: float | None = None


@dataclass(frozen=True, slots=True)
class Refuse:
    """Something is in the way that only a person can move."""

    name: ClassVar[str] = "Refuse"

    reason: str
    message: str
    hint: str


Act: TypeAlias = (
    CreateClaim
    | CreateService
    | CreatePod
    | DeletePod
    | DeleteClaim
    | DeleteService
    | Relabel
    | UpdateImages
    | SyncFiles
    | RenewCertificate
    | WakeNode
    | DropFinalizer
    | Await
    | Refuse
)
