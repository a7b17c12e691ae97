"""What goes on, in a sentence that fits into a column of a table. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stateward.core.outcome import Done, Outcome
from stateward.fdb.tell.generations import is_well
from stateward.fdb.views import ClusterView

_REST: Final = "nothing to do"
#: How much of a sentence fits into a column of a table.
_COLUMN: Final = 80
_SHOWN: Final = 3


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


def _unfinished(view: ClusterView) -> str:
    """Say what is not as asked though no step has anything to do for it."""
    unwell = [str(it.id) for it in view.staying() if not is_well(it)]
    if not unwell:
        return "seeing to it that all is as the spec says"
    more = f" and {len(unwell) - _SHOWN} more" if len(unwell) > _SHOWN else ""
    return f"waiting until these are well: {', '.join(unwell[:_SHOWN])}{more}"


def short(sentence: str) -> str:
    """Cut a sentence between words where a column ends."""
    if len(sentence) <= _COLUMN:
        return sentence
    whole_words = sentence[:_COLUMN].rsplit(" ", 1)[0]
    return whole_words[: _COLUMN - 1].rstrip(" ;:,") + "…"
