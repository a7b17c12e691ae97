"""What goes on, in a sentence that fits into a column of a table. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stateward.core.outcome import Done, Outcome, Wait
from stateward.fdb.model.listing import some_of
from stateward.fdb.tell.generations import HARMLESS, is_well
from stateward.fdb.views import ClusterView, GroupView

_REST: Final = "nothing to do"
#: How much of a sentence fits into a column of a table.
_COLUMN: Final = 80
_SHOWN: Final = 3
#: Why a cluster is not as asked when all steps are through.
UNWELL: Final = "GroupsUnwell"


def doing(view: ClusterView, outcomes: Sequence[Outcome], *, reconciled: bool, hushed: bool) -> str:
    """Return the first thing that is not over; ``hushed``: one that is not worth a word was."""
    for outcome in outcomes:
        if not isinstance(outcome, Done):
            return short(outcome.message)
    if view.spec.skip:
        return "paused: only looking"
    if hushed and view.status.doing not in ("", _REST):
        return view.status.doing
    return _REST if reconciled and not hushed else short(_unfinished(view))


def awaited(
    view: ClusterView, outcomes: Sequence[Outcome], *, reconciled: bool, hushed: bool
) -> Wait | None:
    """Return that groups must become well, where no step has anything to do for them."""
    unwell = [it for it in view.staying() if not is_well(it)]
    is_over = all(isinstance(it, Done) for it in outcomes)
    told = any(it.guard == UNWELL for it in view.status.blockers)
    if reconciled or view.spec.skip or not (unwell and is_over) or (hushed and not told):
        return None
    shown = some_of([_with_why(it) for it in unwell], _SHOWN)
    return Wait(UNWELL, f"waiting until these are well: {shown}")


def _with_why(group: GroupView) -> str:
    wrong = sorted(group.conditions.keys() - HARMLESS)
    return f"{group.id} ({', '.join(wrong) or 'nobody has looked yet'})"


def _unfinished(view: ClusterView) -> str:
    """Say what is not as asked though no step has anything to do for it."""
    unwell = [str(it.id) for it in view.staying() if not is_well(it)]
    if not unwell:
        return "seeing to it that all is as the spec says"
    return f"waiting until these are well: {some_of(unwell, _SHOWN)}"


def short(sentence: str) -> str:
    """Cut a sentence between words where a column ends."""
    if len(sentence) <= _COLUMN:
        return sentence
    whole_words = sentence[:_COLUMN].rsplit(" ", 1)[0]
    return whole_words[: _COLUMN - 1].rstrip(" ;:,") + "…"
