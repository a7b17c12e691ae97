"""What the claims of a pod mean for where it may run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.local.controllers.cluster.claims import (
    LATE,
    LOCAL,
    Claim,
    Volume,
    belongs,
    candidates,
    class_for,
)
from stateward.local.controllers.matching import matches_terms
from stateward.local.documents import StorageClass
from stateward.local.scheduler.views import NodeView

CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
NONE_LEFT = "node(s) didn't find available persistent volumes to bind"


@dataclass(frozen=True, slots=True)
class Impossible:
    """No node will do, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class Bound:
    """The volume is there; it may be tied to some nodes."""

    node_terms: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class Late:
    """The volume is found or made once the pod has a node."""

    claim: ObjectKey
    #: The free volumes that would do, by name, and where each can be used.
    free: tuple[tuple[str, tuple[Json, ...]], ...]
    can_be_made: bool
    selected_node: str = ""


#: What a pod's claim means for it.
Wish: TypeAlias = Impossible | Bound | Late


def wish_of(
    name: str, claim: Claim | None, volumes: Sequence[Volume], classes: Iterable[StorageClass]
) -> Wish:
    """Return what a claim means for the pod that uses it."""
    if claim is None:
        return Impossible(f'persistentvolumeclaim "{name}" not found')
    if claim.phase == "Lost":
        missing = f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume'
        return Impossible(f'{missing} "{claim.volume}"')
    if claim.volume and (claim.phase == "Bound" or claim.selected_node):
        mine = next((v for v in volumes if v.name == claim.volume and belongs(v, claim)), None)
        terms = mine.node_terms if mine is not None else ()
        if claim.phase == "Bound":
            return Bound(terms)
        return Late(
            claim.key,
            ((claim.volume, terms),),
            can_be_made=False,
            selected_node=claim.selected_node,
        )
    class_name, its_class = class_for(claim, classes)
    if claim.volume or its_class is None or its_class.volume_binding_mode != LATE:
        return Impossible("pod has unbound immediate PersistentVolumeClaims")
    good = candidates(claim, class_name, volumes)
    free = tuple((volume.name, volume.node_terms) for volume in good)
    return Late(claim.key, free, its_class.provisioner == LOCAL, claim.selected_node)


def problems_with(wishes: Iterable[Wish], node: NodeView) -> Iterator[str]:
    """Yield why a node will not do for the claims of a pod; a volume is for one of them only."""
    taken: set[str] = set()
    for wish in wishes:
        match wish:
            case Bound(node_terms=terms) if not _reaches(terms, node):
                yield CONFLICT
            case Late(free=free, can_be_made=can_be_made):
                left = (it for it, terms in free if it not in taken and _reaches(terms, node))
                if (name := next(left, None)) is not None:
                    taken.add(name)
                elif not can_be_made:
                    yield NONE_LEFT


def _reaches(terms: tuple[Json, ...], node: NodeView) -> bool:
    return not terms or matches_terms(terms, node.name, node.labels)
