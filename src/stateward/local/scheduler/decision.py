"""Where a pod goes: one answer for one picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from stateward.kube.meta import ObjectKey
from stateward.local.scheduler import filters, scores
from stateward.local.scheduler.picture import Picture
from stateward.local.scheduler.views import PodView
from stateward.local.scheduler.volumes import Late


@dataclass(frozen=True, slots=True)
class Place:
    """Run it there."""

    node: str


@dataclass(frozen=True, slots=True)
class Prepare:
    """Have these claims get volumes for that node first."""

    node: str
    claims: tuple[ObjectKey, ...]


@dataclass(frozen=True, slots=True)
class Refuse:
    """It can run nowhere, for now."""

    message: str


Decision: TypeAlias = Place | Prepare | Refuse


def decide(pod: PodView, picture: Picture, prepared: str = "") -> Decision:
    """Return where a pod goes, or why it goes nowhere; ``prepared`` is where its volumes are."""
    if (why := filters.impossible(picture)) is not None and picture.stations:
        return Refuse(why)
    good, refused = filters.refusals(pod, picture)
    if not good:
        return Refuse(filters.message(refused))
    late = [wish for wish in picture.wishes if isinstance(wish, Late)]
    # A node that was chosen before stays chosen, or each volume would be made for another one.
    chosen = {prepared, *(wish.selected_node for wish in late)}
    earlier = next((it for it in good if it.node.name in chosen), None)
    node = (earlier or scores.best(pod, picture, good)).node.name
    return Prepare(node, tuple(wish.claim for wish in late)) if late else Place(node)
