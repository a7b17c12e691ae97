"""Whom a cluster lost and has back: groups are its memory, and a volume without one is forgotten.

Somebody takes the finalizers off a group and deletes it, or takes its owner away. Its claim is
there, with its data. A new group of another name would never find it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stateward.fdb.api import questions
from stateward.fdb.decide.groups.leftovers import Left, is_unmade
from stateward.fdb.decide.held import Held
from stateward.fdb.model.names import ProcessGroupID
from stateward.fdb.views import ClusterView


@dataclass(frozen=True, slots=True)
class Recall:
    """Whose objects are made again, each with its claim; whom to own again; whom not, and why."""

    make: tuple[tuple[ProcessGroupID, str], ...] = ()
    adopt: tuple[str, ...] = ()
    held: tuple[Held, ...] = ()


NOBODY: Final = Recall()


def recall(view: ClusterView, uid: str, left: Left) -> Recall:
    """Return whom a cluster has back."""
    if not left.orphans and not left.lost:
        return NOBODY
    # One without a volume does not say of which cluster it is; before there is a database, and
    # with no other group of ours, it may be of one before.
    ours = {uid, ""} if view.groups or not is_unmade(view) else {uid}
    adopt = tuple(it.name for it in left.orphans if it.former in ours)
    make, held = [], []
    for it in left.lost:
        if it.group is None:
            continue  # not named as any of ours is
        if questions.has_volume(view.spec, it.group.process_class):
            make.append((it.group, it.name))
        else:
            kind = it.group.process_class
            why = f"no process group has it, and the spec gives processes of class {kind} none"
            held.append(Held(it.name, why))
    if not view.groups and view.status.process_groups:
        make = []  # the status names them, and knows more of them
    return Recall(tuple(make), adopt, tuple(held))
