"""What one copy means: it is away with its pod, and without a volume it is lost with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from stateward.core.facts import Known
from stateward.fdb.api.questions import keeps_data
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.model.configuration import Redundancy
from stateward.fdb.status.configuration import configuration
from stateward.fdb.views import ClusterView, GroupView

_GUARD: Final = "no_last_copy_goes"


def no_last_copy_goes(view: ClusterView, groups: Iterable[GroupView]) -> Refusal | None:
    """Refuse to make pods anew that take the only copy of something with them."""
    if not view.configured or not _is_single(view):
        return None
    found = [str(it.id) for it in groups if keeps_data(it.process_class) and not it.has_claim]
    if not found:
        return None
    return Refusal(
        _GUARD,
        f"redundancy_mode is single, and {', '.join(found)} must have a volume before its pod is"
        " made anew: the only copy of what it has would go with the pod",
        f"name {', '.join(found)} in processGroupsToRemove, so that data moves to another one"
        " first; or have more copies",
    )


def cost(view: ClusterView, groups: Iterable[GroupView]) -> str:
    """Return what nobody can do while pods are made anew; nothing: all goes on."""
    if not _is_single(view) or not any(keeps_data(it.process_class) for it in groups):
        return ""
    return "; redundancy_mode is single: until they are back, what they have can not be read"


def _is_single(view: ClusterView) -> bool:
    live = configuration(view.database)
    if isinstance(live, Known):
        return live.value.redundancy == Redundancy.SINGLE
    return view.spec.database_configuration.redundancy_mode == Redundancy.SINGLE
