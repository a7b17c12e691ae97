"""UpdatePodConfig: every pod has the files of the config map, and says so."""

from __future__ import annotations

from typing import Final

from stateward.core.outcome import DONE, Outcome, Retry
from stateward.fdb.api import questions
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.cluster.hands.marking import names_of
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.views import ClusterView, GroupView

#: Seconds until pods are looked at again: a node looks for a config map once a minute or so.
_AGAIN: Final = 15.0


class UpdatePodConfig:
    """Says which pods have other files yet; groups that shall go need no new ones."""

    name = "UpdatePodConfig"

    async def run(self, seen: Seen) -> Outcome:
        """Wait for them, and for those that cannot be asked."""
        silent = _concerned(seen.view, GroupConditionType.SIDECAR_UNREACHABLE)
        if silent:
            words = (
                f"{names_of(silent)} cannot be asked about their files: their sidecars are silent"
            )
            return Retry(_AGAIN, "SidecarUnreachable", words)
        old = _concerned(seen.view, GroupConditionType.INCORRECT_CONFIG_MAP)
        if old:
            words = f"pods do not have the newest files yet ({len(old)}): {names_of(old)}"
            return Retry(_AGAIN, "PodsOutdated", words)
        return DONE


def _concerned(view: ClusterView, condition: GroupConditionType) -> list[GroupView]:
    longest = questions.pending_seconds(view.spec)
    return [
        it
        for it in view.unwell
        if it.has(condition)
        and not it.marked
        and it.pod is not None
        and it.pod.terminating_since is None
        and (it.lasts(GroupConditionType.POD_PENDING, view.now) or 0.0) <= longest
    ]
