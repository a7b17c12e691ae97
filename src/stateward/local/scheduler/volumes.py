"""What the claims of a pod mean for where it may run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

CONFLICT = "node(s) had volume node affinity conflict"
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
    #: Where each free volume that would do can be used.
    free: tuple[tuple[Json, ...], ...]
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
        return Late(claim.key, (terms,), can_be_made=False, selected_node=claim.selected_node)
    class_name, its_class = class_for(claim, classes)
    if claim.volume or its_class is None or its_class.volume_binding_mode != LATE:
        return Impossible("pod has unbound immediate PersistentVolumeClaims")
    free = tuple(volume.node_terms for volume in candidates(claim, class_name, volumes))
    return Late(claim.key, free, its_class.provisioner == LOCAL, claim.selected_node)


def problem_with(wish: Wish, node: NodeView) -> str | None:
    """Return why a node will not do for a claim, or None."""
    match wish:
        case Bound(node_terms=terms):
            return None if _reaches(terms, node) else CONFLICT
        case Late(free=free, can_be_made=can_be_made):
            found = can_be_made or any(_reaches(terms, node) for terms in free)
            return None if found else NONE_LEFT
        case Impossible(why=why):
            return why


def _reaches(terms: tuple[Json, ...], node: NodeView) -> bool:
    return not terms or matches_terms(terms, node.name, node.labels)
