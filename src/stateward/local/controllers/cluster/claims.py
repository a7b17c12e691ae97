"""Volume claims and volumes: who fits whom, and what is due about either. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from stateward.core.quantity import ZERO, Quantity
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.selector import LabelSelector
from stateward.local.controllers.matching import matches_terms
from stateward.local.documents import Document, StorageClass

#: The one who makes volumes here: folders on this machine.
LOCAL: Final = "stateward.dev/local"
#: Where the scheduler says for which node a volume is to be made.
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
#: Marks a claim whose volume has been found: a volume that is missing afterwards is lost.
BOUND: Final = "pv.kubernetes.io/bind-completed"
#: Marks what was chosen for a claim or a volume, and not by its author.
BOUND_BY_US: Final = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
IS_DEFAULT: Final = "storageclass.kubernetes.io/is-default-class"
#: Classes whose volumes are made when the first pod that uses them is placed.
LATE: Final = "WaitForFirstConsumer"


@dataclass(frozen=True, slots=True)
class Claim:
    """What somebody wants of a volume."""

    key: ObjectKey
    uid: str
    storage: Quantity
    #: None: whatever the default is; empty: no class at all.
    class_name: str | None
    modes: tuple[str, ...]
    volume_mode: str
    selector: LabelSelector
    volume: str
    selected_node: str
    was_bound: bool
    phase: str


@dataclass(frozen=True, slots=True)
class Volume:
    """What there is."""

    name: str
    storage: Quantity
    class_name: str
    modes: tuple[str, ...]
    volume_mode: str
    labels: Mapping[str, str]
    claim: Json | None
    policy: str
    #: Terms of a node selector, one of which a node must meet; none: it is everywhere.
    node_terms: tuple[Json, ...]
    deleting: bool
    phase: str


def claim_of(document: Document) -> Claim:
    """Read a claim."""
    spec, meta = document.spec, document.metadata
    requests = (spec.get("resources") or {}).get("requests") or {}
    return Claim(
        key=meta.key,
        uid=meta.uid,
        storage=amount(requests.get("storage")),
        class_name=spec.get("storageClassName"),
        modes=tuple(spec.get("accessModes") or ()),
        volume_mode=spec.get("volumeMode") or "Filesystem",
        selector=LabelSelector.from_document(spec.get("selector") or {}),
        volume=spec.get("volumeName") or "",
        selected_node=meta.annotations.get(SELECTED_NODE, ""),
        was_bound=BOUND in meta.annotations,
        phase=document.status.get("phase") or "Pending",
    )


def volume_of(document: Document) -> Volume:
    """Read a volume."""
    spec = document.spec
    required = (spec.get("nodeAffinity") or {}).get("required") or {}
    return Volume(
        name=document.metadata.name,
        storage=amount((spec.get("capacity") or {}).get("storage")),
        class_name=spec.get("storageClassName") or "",
        modes=tuple(spec.get("accessModes") or ()),
        volume_mode=spec.get("volumeMode") or "Filesystem",
        labels=document.metadata.labels,
        claim=spec.get("claimRef"),
        policy=spec.get("persistentVolumeReclaimPolicy") or "Retain",
        node_terms=tuple(required.get("nodeSelectorTerms") or ()),
        deleting=document.metadata.deleting,
        phase=document.status.get("phase") or "Pending",
    )


def amount(text: str | int | None) -> Quantity:
    """Return a size; one that is missing or cannot be read is nothing."""
    try:
        return Quantity.parse(str(text))
    except ValueError:
        return ZERO


def claims_of(pod: str, spec: Json) -> Iterator[str]:
    """Yield the names of the volume claims that a pod uses."""
    for volume in spec.get("volumes") or ():
        if claim := volume.get("persistentVolumeClaim"):
            yield claim["claimName"]
        elif volume.get("ephemeral"):
            yield f"{pod}-{volume['name']}"


def class_for(claim: Claim, classes: Iterable[StorageClass]) -> tuple[str, StorageClass | None]:
    """Return the name of a claim's class, and the class if it is there.

    A claim that names none gets the default; of two defaults, the younger one, as in Kubernetes.
    """
    if claim.class_name is not None:
        found = (it for it in classes if it.metadata.name == claim.class_name)
        return claim.class_name, next(found, None)
    defaults = [it for it in classes if it.metadata.annotations.get(IS_DEFAULT) == "true"]
    if not defaults:
        return "", None
    best = max(defaults, key=lambda it: (it.metadata.creation_timestamp, it.metadata.name))
    return best.metadata.name, best


def beyond_us(spec: Json) -> str:
    """Return why no volume can be made for a claim; empty when one can: it would be a folder."""
    wants = [name for name in ("dataSource", "dataSourceRef", "selector") if spec.get(name)]
    if spec.get("volumeMode") == "Block":
        wants.append("volumeMode Block")
    if not wants:
        return ""
    return f"volumes of {LOCAL} are new and empty folders: {', '.join(wants)} cannot be had"


def belongs(volume: Volume, claim: Claim) -> bool:
    """Tell whether a volume is bound to a claim, or kept for it."""
    to = volume.claim
    if to is None:
        return False
    same = (to.get("namespace"), to.get("name")) == tuple(claim.key)
    return same and to.get("uid") in {None, "", claim.uid}


def unfit(volume: Volume, claim: Claim) -> str:
    """Return why a volume that a claim asks for by name will not do; empty when it will."""
    if claim.was_bound or (volume.claim or {}).get("uid"):
        return ""
    if volume.storage < claim.storage:
        return "requested PV is too small"
    if volume.class_name != (claim.class_name or ""):
        return "storageClassName does not match"
    if volume.volume_mode != claim.volume_mode:
        return "incompatible volumeMode"
    return "" if set(claim.modes) <= set(volume.modes) else "incompatible accessMode"


def reaches(volume: Volume, node: str, labels: Mapping[str, str]) -> bool:
    """Tell whether a volume can be used on a node."""
    return not volume.node_terms or matches_terms(volume.node_terms, node, labels)


def fits(volume: Volume, claim: Claim, class_name: str) -> bool:
    """Tell whether a free volume would do for a claim."""
    return (
        not volume.deleting
        and (belongs(volume, claim) or volume.claim is None)
        and volume.class_name == class_name
        and volume.volume_mode == claim.volume_mode
        and set(claim.modes) <= set(volume.modes)
        and volume.storage >= claim.storage
        and claim.selector.matches(volume.labels)
    )


def candidates(claim: Claim, class_name: str, volumes: Iterable[Volume]) -> list[Volume]:
    """Return the volumes that would do, the best first: kept for it, then the smallest."""
    good = [it for it in volumes if fits(it, claim, class_name)]
    return sorted(good, key=lambda it: (not belongs(it, claim), it.storage, it.name))
