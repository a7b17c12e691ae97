"""What goes on, in a sentence that fits into a column of a table. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stateward.core.outcome import Done, Outcome, Wait
from stateward.fdb.api.status import Progress
from stateward.fdb.decide.tls.stages import Stage
from stateward.fdb.model.listing import cut, some_of
from stateward.fdb.tell.generations import HARMLESS, is_well
from stateward.fdb.views import ClusterView, GroupView

_REST: Final = "nothing to do"
#: How much of a sentence fits into a column of a table.
_COLUMN: Final = 80
_SHOWN: Final = 3
#: Reasons that are true for as long as a stage on the way to TLS lasts, or longer.
_SAID: Final = frozenset({"CertificatesAwaited", "CertificatesUnseen", "CertificateEndsSoon"})
#: Why a cluster is not as asked when all steps are through.
UNWELL: Final = "GroupsUnwell"


def doing(
    view: ClusterView,
    outcomes: Sequence[Outcome],
    *,
    reconciled: bool,
    hushed: bool,
    stage: Stage | None = None,
) -> str:
    """Return the first thing that is not over; ``hushed``: one that is not worth a word was.

    On the way to TLS, or back, it says before that where on it the cluster is.
    """
    where = f"{stage.short}: " if stage is not None else ""
    if words := _first(outcomes, stage):
        return where + short(words)
    if view.spec.skip:
        return "paused: only looking"
    if hushed and view.status.doing not in ("", _REST):
        return view.status.doing
    return _REST if reconciled and not hushed else where + short(_unfinished(view))


def on_the_way(view: ClusterView, outcomes: Sequence[Outcome], stage: Stage) -> Progress:
    """Return how far a cluster is on its way to TLS, or back, and what is waited for there."""
    words = f"{stage.long}; now: {_first(outcomes, stage) or _unfinished(view)}"
    return Progress(step="ChangingTLS", done=stage.number - 1, of=stage.of, message=words)


def _first(outcomes: Sequence[Outcome], stage: Stage | None) -> str:
    """Return the first thing that is not over; what the stage says already gives way to others."""
    every = [it for it in outcomes if not isinstance(it, Done)]
    others = [it for it in every if it.reason not in _SAID] if stage is not None else every
    return next((it.message for it in others or every), "")


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
    """Cut a sentence between words, and between names, where a column ends."""
    return cut(sentence, _COLUMN)
