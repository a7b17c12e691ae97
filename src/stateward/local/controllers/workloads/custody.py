"""Who belongs to a workload: what it controls and still selects, and orphans that it selects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from stateward.kube.codec import Json, plain
from stateward.kube.meta import ObjectMeta
from stateward.kube.selector import LabelSelector
from stateward.local.documents import Document


@dataclass(frozen=True, slots=True)
class Custody:
    """Who is kept, who is to be taken in, who is to be let go."""

    kept: tuple[Document, ...] = ()
    adopted: tuple[Document, ...] = ()
    released: tuple[Document, ...] = ()


def _anyone(_candidate: Document) -> bool:
    return True


def judge(
    owner: ObjectMeta,
    selector: LabelSelector,
    owned: Iterable[Document],
    orphans: Iterable[Document],
    fits: Callable[[Document], bool] = _anyone,
) -> Custody:
    """Decide who belongs to an owner; one that is leaving takes nobody in and lets nobody go."""
    mine = tuple(it for it in owned if controls(owner, it.metadata))
    if owner.deleting:
        return Custody(mine)
    kept: list[Document] = []
    released: list[Document] = []
    for it in mine:
        stays = selector.matches(it.metadata.labels) and fits(it)
        (kept if stays else released).append(it)
    adopted = tuple(
        it
        for it in orphans
        if not it.metadata.deleting
        and it.metadata.controller is None
        and selector.matches(it.metadata.labels)
        and fits(it)
    )
    return Custody(tuple(kept), adopted, tuple(released))


def controls(owner: ObjectMeta, child: ObjectMeta) -> bool:
    """Tell whether an object says that this very owner controls it."""
    return child.controller is not None and child.controller.uid == owner.uid


def owners_of(child: ObjectMeta) -> list[Json]:
    """Return the owners of an object as plain values."""
    return [plain(it) for it in child.owner_references]


def without_owner(child: ObjectMeta, uid: str) -> list[Json]:
    """Return the owners of an object but for one."""
    return [it for it in owners_of(child) if it.get("uid") != uid]
