"""Bugs about groups that go: what is taken for proof, and what is forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stateward.core.facts import Fact, Known
from stateward.core.outcome import Outcome
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.cluster.steps.removing import remove_process_groups
from stateward.fdb.decide import exclusions, removing
from stateward.fdb.guards.acts import PROOF
from stateward.fdb.model.addresses import Address
from stateward.fdb.status.exclusions import Left, Leftovers
from stateward.fdb.views import ClusterView, GroupView
from stateward.sim.mutants.planting import Patch, bug

#: A proof that nobody gave.
_NOTHING = Known(Left(), 0.0, "a bug")


@bug(
    "M01",
    "a group is taken for empty as soon as any of its processes is excluded",
    "FoundationDB/fdb-kubernetes-operator#1721",
    *("fdb-spare", "fdb-shrink"),
)
def any_is_enough(patch: Patch) -> None:
    """Look at the list of exclusions alone, and at one process of a pod."""
    inner = Leftovers.on

    def on(self: Leftovers, instance: str, processes: int) -> Fact[Left]:
        found = self._roster.value.groups if isinstance(self._roster, Known) else {}
        if any(it.entry.excluded is True for it in found.get(instance, ())):
            return _NOTHING
        return inner(self, instance, processes)

    patch.put(Leftovers, "on", on)


@bug(
    "M02",
    "a group that the status does not show is taken for empty; that it must have been away for"
    " long is taken away too, and so is that all copies must be there",
    "FoundationDB/fdb-kubernetes-operator#1912, #1550",
    *("fdb-lost",),
)
def absent_is_safe(patch: Patch) -> None:
    """Take nobody for nothing."""
    _believe_absent(patch, lambda _instance: True)


@bug(
    "M17",
    "a log that does not report is taken for empty",
    "apple/foundationdb#11026",
    *("fdb-lost-log",),
)
def absent_log_is_safe(patch: Patch) -> None:
    """The same, for logs alone."""
    _believe_absent(patch, lambda instance: instance.startswith("log-"))


def _believe_absent(patch: Patch, believes: Any) -> None:
    inner = Leftovers.on

    def on(self: Leftovers, instance: str, processes: int) -> Fact[Left]:
        found = self._roster.value.groups if isinstance(self._roster, Known) else {}
        if believes(instance) and not found.get(instance):
            return _NOTHING
        return inner(self, instance, processes)

    patch.put(Leftovers, "on", on)
    patch.put(removing, "_trust", lambda _view: "")


@bug(
    "M05",
    "what was proved once is believed for ever, though somebody included the group again",
    "FoundationDB/fdb-kubernetes-operator#2504",
    *("fdb-replace:K:patch foundationdbprocessgroups",),
)
def proved_for_ever(patch: Patch) -> None:
    """Go by what is written in the group."""
    inner = removing._objection  # noqa: SLF001 - that is where it is asked

    def objection(
        view: ClusterView,
        it: GroupView,
        leftovers: removing.Leftovers,
        coordinators: frozenset[Address],
        trust: str,
    ) -> str:
        return "" if it.excluded else inner(view, it, leftovers, coordinators, trust)

    patch.put(removing, "_objection", objection)
    patch.put(removing, "_taken_back", lambda _view, _leftovers: ())
    must = exclusions.must_be_excluded
    patch.put(exclusions, "must_be_excluded", lambda it: not it.excluded and must(it))


@bug(
    "M06",
    "a group is forgotten before it is included",
    "FoundationDB/fdb-kubernetes-operator#2147",
    *("fdb-replace",),
)
def never_include(patch: Patch) -> None:
    """Let go of a group without a look at the list of exclusions."""
    step = remove_process_groups.RemoveProcessGroups

    async def see_off(self: Any, seen: Seen) -> Outcome | None:
        gone: Sequence[GroupView] = [
            it
            for it in seen.view.groups
            if it.leaving and remove_process_groups._is_empty(seen, it)  # noqa: SLF001
        ]
        found: Outcome | None = await self._let_go(seen, gone) if gone else None
        return found

    patch.put(step, "_see_off", see_off)


@bug(
    "M16",
    "a group whose pod has no address yet is taken for one that never held anything",
    "FoundationDB/fdb-kubernetes-operator#1890",
    *("fdb-pending",),
)
def no_address_no_data(patch: Patch) -> None:
    """Let go whoever has not said where it is."""
    inner = removing._objection  # noqa: SLF001 - that is where it is asked

    def objection(
        view: ClusterView,
        it: GroupView,
        leftovers: removing.Leftovers,
        coordinators: frozenset[Address],
        trust: str,
    ) -> str:
        if it.pod is not None and not it.pod.ips:
            return ""
        return inner(view, it, leftovers, coordinators, trust)

    patch.put(removing, "_objection", objection)


@bug(
    "M13",
    "the pod of a former coordinator goes right after the change, when others still look for it",
    "the manual of FoundationDB: old coordinators must stay until all know the new ones",
    *("fdb-replace", "fdb-skip"),
)
def former_goes_at_once(patch: Patch) -> None:
    """Take no time to let others learn of the change."""
    at_once = tuple(it for it in PROOF if it.__name__ != "recovered_long_enough")
    patch.put(removing, "PROOF", at_once)
    patch.put(removing, "_just_coordinated", lambda _view, _it: "")


BUGS = (
    any_is_enough,
    absent_is_safe,
    absent_log_is_safe,
    proved_for_ever,
    never_include,
    no_address_no_data,
    former_goes_at_once,
)
