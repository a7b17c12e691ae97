"""Whether coordinators are found again after their pods were made anew, with other addresses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stateward.core.facts import Unknown
from stateward.fdb.decide.coordinating import coordinators_now, goes_with_its_pod
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.views import ClusterView, GroupView

_GUARD: Final = "coordinators_are_found_again"


def coordinators_are_found_again(view: ClusterView, groups: Sequence[GroupView]) -> Refusal | None:
    """Refuse to make pods anew by whose addresses most coordinators are found.

    Too few would be left for the others to agree who follows: nobody ever finds the database again.
    """
    now = coordinators_now(view)
    if not view.configured or isinstance(now, Unknown):
        return None  # whoever knows no coordinators does not disturb a database anyway
    lost = {at for at in now if any(goes_with_its_pod(at, it) for it in groups)}
    if not lost or len(now) - len(lost) > len(now) // 2:
        return None
    going = ", ".join(str(it.id) for it in groups if any(goes_with_its_pod(at, it) for at in lost))
    return Refusal(
        _GUARD,
        f"most coordinators must be found again after pods were made anew, and {len(lost)} of"
        f" {len(now)} go by the addresses of {going}, which new pods do not have",
        _hint(view, going, len(lost)),
    )


def _hint(view: ClusterView, going: str, many: int) -> str:
    if many > 1 and view.spec.automation_options.deletion_mode == "All":
        return "set spec.automationOptions.deletionMode to Zone"
    some = going if many == 1 else f"one of {going}"
    words = f"name {some} in spec.processGroupsToRemove, so that others coordinate first"
    return words if many == 1 else f"{words}; they must be in other zones"
