"""Who may go for good: only whom a status of this very pass proves to hold nothing.

What was proved in an earlier pass is proved anew before anything is deleted, since somebody may
have taken the exclusion back. Who goes with what it holds is told when it may, and for how long
that counts, so that somebody who deletes its object does not choose the moment. Coordinators never
go, nor do those who just were. Groups go zone by zone, with a pause between,
and one that does not come to an end holds no other up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from stateward.core.facts import Fact, Unknown
from stateward.fdb.api.automation import Pace
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.api.questions import is_target
from stateward.fdb.decide.coordinating import coordinates
from stateward.fdb.decide.held import BELIEVED, Held, hold, is_tester, order
from stateward.fdb.guards.acts import PROOF
from stateward.fdb.guards.database import can_lose_a_fault_domain, recovered_for
from stateward.fdb.guards.guard import refusals
from stateward.fdb.model.addresses import Address
from stateward.fdb.status.exclusions import Left
from stateward.fdb.views import ClusterView, GroupView

#: What is left on a group of so many processes, by its id: ``Leftovers.on`` of this pass's status.
Leftovers: TypeAlias = Callable[[str, int], Fact[Left]]
#: Whether the proof that a group shows is our own: its object says what anybody wrote there.
Vouched: TypeAlias = Callable[[GroupView], bool]
#: Seconds after which a proof is written anew: half of those for which one is believed.
_FRESH: Final = 60.0
#: Seconds in which a database notices what it lost, and a little more.
_NOTICED: Final = 60
#: Seconds after a change of coordinators, which is a recovery, until nobody looks for the old ones:
#: all who report have learned of the new ones, and files of nodes are as the config map says.
_KNOWN: Final = 120
_TERMINATING: Final = GroupConditionType.RESOURCES_TERMINATING


@dataclass(frozen=True, slots=True)
class RemovalPlan:
    """Who is proved to hold nothing, so that it may be written; whose object may be deleted now."""

    gone: tuple[GroupView, ...] = ()
    delete: tuple[GroupView, ...] = ()
    held: tuple[Held, ...] = ()
    #: Who is let go though something is on it again; who is proved anew, since it was long ago.
    taken_back: tuple[GroupView, ...] = ()
    renew: tuple[GroupView, ...] = ()
    #: Who is let go, and its pod has not begun to.
    going: tuple[GroupView, ...] = ()


def plan(
    view: ClusterView,
    leftovers: Leftovers,
    coordinators: frozenset[Address] | Unknown,
    vouched: Vouched = lambda _group: True,
    refused: frozenset[str] = frozenset(),
) -> RemovalPlan:
    """Return what of the marked groups may go now; after others who could not be deleted, by UID.

    The object of a group may be deleted by somebody before its data has left it. Then what lets
    its pod go is the proof alone, so such a one waits for its turn to be proved as others wait for
    theirs to be deleted.
    """
    gone: list[GroupView] = []
    ready: list[GroupView] = []
    held: list[Held] = []
    trust = _trust(view)
    for it in sorted(view.groups, key=order):
        if not it.marked or _is_going(view, it, vouched):
            continue
        why = _objection(view, it, leftovers, coordinators, trust)
        if why:
            held.append(Held(str(it.id), why))
        elif it.leaving or _is_let_go(it):
            ready.append(it)
        else:
            gone.append(it)
    turn, others = _turn(view, ready, vouched, refused)
    delete = [it for it in turn if not it.leaving]
    going = [it for it in view.groups if it.marked and _is_going(view, it, vouched)]
    old = [it for it in _to_renew(going, vouched) if _is_old(view, it, vouched)]
    if old and can_lose_a_fault_domain(view) is not None:
        old = []
    proved = [it for it in old if not _objection(view, it, leftovers, coordinators, trust)]
    return RemovalPlan(
        gone=(*gone, *(it for it in turn if it.leaving)),
        delete=tuple(it for it in delete if not _is_old(view, it, vouched)),
        held=(*held, *others),
        taken_back=_taken_back(view, leftovers),
        renew=(*proved, *(it for it in delete if _is_old(view, it, vouched))),
        going=tuple(it for it in going if _has_pod(it)),
    )


def _is_going(view: ClusterView, it: GroupView, vouched: Vouched) -> bool:
    """Tell whether nothing keeps a group: its own controller takes away what it has.

    What of it is on its way out needs no turn; what is left when that is gone needs one again.
    """
    ends = it.pod is not None and not _has_pod(it)
    may = not it.skipped or ends or _has_turn(view, it, vouched)
    return it.leaving and _is_let_go(it) and may


def _has_turn(view: ClusterView, it: GroupView, vouched: Vouched) -> bool:
    """Tell whether one that goes with what it holds may do so now.

    Its turn does not last, and is not renewed but given anew: another zone may have gone since.
    """
    if not it.skipped or it.proved_at is None or not vouched(it):
        return False
    return view.now - it.proved_at <= BELIEVED


def _has_pod(it: GroupView) -> bool:
    """Tell whether a group has a pod that does not go yet, and may."""
    return it.pod is not None and it.pod.terminating_since is None and not it.pod.isolated


def _to_renew(going: Sequence[GroupView], vouched: Vouched) -> list[GroupView]:
    """Return who is let go and waits for a proof: its pod has not begun to go, or its claim."""
    some = [it for it in going if not it.skipped]
    return [it for it in some if _has_pod(it) or (it.has_claim and not vouched(it))]


def _is_old(view: ClusterView, it: GroupView, vouched: Vouched) -> bool:
    """Tell whether a group goes by a word that may not be true any more, or never was."""
    if not it.holds_nothing:
        return False
    if it.proved_at is None or not vouched(it):
        return True
    return view.now - it.proved_at > _FRESH


def _taken_back(view: ClusterView, leftovers: Leftovers) -> tuple[GroupView, ...]:
    """Return who is let go by a proof that this pass refutes: somebody may have included it.

    Or somebody wrote that nothing is left on it, and nothing is made any more for one of whom that
    is said. That nobody knows refutes nothing: one whose pod goes does not report.
    """
    found = []
    for it in sorted(view.groups, key=order):
        if not (it.marked and it.excluded) or it.skipped or is_tester(it):
            continue
        if it.pod is None and not it.has_claim:
            continue
        left = leftovers(str(it.id), it.servers)
        if not isinstance(left, Unknown) and not left.value.is_gone:
            found.append(it)
    return tuple(found)


def _is_let_go(it: GroupView) -> bool:
    """Tell whether nothing but its object keeps a group."""
    return it.holds_nothing or is_tester(it)


def _trust(view: ClusterView) -> str:
    """Return why this status proves nothing; empty: it does."""
    return "; ".join(it.message for it in refusals(PROOF, view))


def _objection(
    view: ClusterView,
    it: GroupView,
    leftovers: Leftovers,
    coordinators: frozenset[Address] | Unknown,
    trust: str,
) -> str:
    """Return why a group must not go; nothing: it may."""
    if isinstance(coordinators, Unknown):
        return f"nobody knows who coordinates: {coordinators.reason}"
    if coordinates(view, it, coordinators):
        return "it coordinates"
    if is_target(view.spec.buggify.block_removal, it.id):
        return "buggify.blockRemoval names it"
    if is_tester(it):
        return ""
    if it.skipped:
        return _just_coordinated(view, it)
    if trust:
        return f"the status proves nothing: {trust}"
    left = leftovers(str(it.id), it.servers)
    return left.reason if isinstance(left, Unknown) else left.value.why


def _just_coordinated(view: ClusterView, it: GroupView) -> str:
    """Return why others may still look for one that goes unproved; a proof is never that young.

    One that runs and is not told of may have been overheard.
    """
    runs = it.processes or (it.pod is not None and it.pod.ready)
    found = recovered_for(_KNOWN)(view) if runs else None
    return "" if found is None else f"others may still take it for a coordinator: {found.message}"


# ------------------------------------------------------------------ zone by zone
def _turn(
    view: ClusterView, ready: Sequence[GroupView], vouched: Vouched, refused: frozenset[str]
) -> tuple[Sequence[GroupView], Sequence[Held]]:
    """Return whose turn it is of those that may go, and who has to wait for theirs."""
    if not ready:
        return (), ()
    why = _pause(view, ready, vouched)
    if not why and (refusal := can_lose_a_fault_domain(view)) is not None:
        why = refusal.message
    if why:
        return (), hold(ready, why)
    begun = [it for it in ready if _has_turn(view, it, vouched)]
    chosen = _chosen(view, ready, begun or [it for it in ready if it.uid not in refused] or ready)
    names = {it.name for it in chosen}
    left = [it for it in ready if it.name not in names]
    return chosen, hold(left, "others go first")


def _mode(view: ClusterView, ready: Sequence[GroupView]) -> Pace:
    """Return how many go at a time; whoever goes with what it holds never goes with all others.

    The database needs a while to notice what it lost, so a second zone would go unseen.
    """
    asked = view.spec.automation_options.removal_mode
    return "Zone" if asked == "All" and _loses(view, ready) else asked


def _loses(view: ClusterView, ready: Sequence[GroupView]) -> bool:
    """Tell whether anybody of those that go, or are about to, goes with what it holds."""
    return any(it.skipped for it in (*ready, *(it for it in view.groups if it.leaving)))


def _pause(view: ClusterView, ready: Sequence[GroupView], vouched: Vouched) -> str:
    """Return why nobody goes now: none shall, or somebody has just begun to."""
    options, mode = view.spec.automation_options, _mode(view, ready)
    if mode == "None":
        return "automationOptions.removalMode is None"
    if mode == "All":
        return ""
    going = [it for it in view.groups if it.marked and _is_going(view, it, vouched)]
    if any(not it.has(_TERMINATING) or (it.skipped and _has_pod(it)) for it in going):
        return "a group was deleted, and its pod has not begun to go"
    every = [it.lasts(_TERMINATING, view.now) for it in view.groups if it.marked]
    ages = [it for it in every if it is not None]
    pause = options.wait_between_removals_seconds
    if _loses(view, ready):
        pause = max(pause, _NOTICED)
    if not ages or min(ages) >= pause:
        return ""
    return f"a group has just begun to go, and others wait for {pause} s after it"


def is_past(view: ClusterView, it: GroupView) -> bool:
    """Tell whether a group that is gone may be forgotten: its object tells since when it goes.

    Whoever went with what it held is remembered until the database can have noticed.
    """
    lasts = it.lasts(_TERMINATING, view.now)
    return not it.skipped or lasts is None or lasts >= _NOTICED


def _chosen(
    view: ClusterView, ready: Sequence[GroupView], first: Sequence[GroupView]
) -> Sequence[GroupView]:
    """Return as many as may go at a time: all, those of the fullest zone, or one.

    Some are first. Who was told that it may go with what it holds may do so any moment, so nobody
    else goes meanwhile; and one that Kubernetes does not let go holds no other zone up.
    """
    mode = _mode(view, ready)
    if mode == "All":
        return ready
    zones = Counter(map(_zone, first))
    chosen = min(zones, key=lambda it: (-zones[it], it))
    mine = [it for it in first if _zone(it) == chosen]
    mine += [it for it in ready if _zone(it) == chosen and it not in mine]
    return mine if mode == "Zone" else mine[:1]


def _zone(it: GroupView) -> str:
    """Return where a group is; one that does not say so is alone there."""
    return it.zone or it.name
