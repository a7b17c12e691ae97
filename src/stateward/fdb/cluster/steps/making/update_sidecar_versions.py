"""UpdateSidecarVersions: before an upgrade of all at once, pods get the new programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stateward.core.outcome import DONE, Blocked, Outcome, Retry
from stateward.fdb.api.group import GroupConditionType as Is
from stateward.fdb.api.status import Progress
from stateward.fdb.cluster.hands.marking import names_of
from stateward.fdb.cluster.hands.waiting import waiting_for
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.upgrades import judging as upgrades
from stateward.fdb.views import GroupView

#: Seconds until pods are looked at again.
_AGAIN: Final = 15.0
#: Seconds for which a pod may take its time before a person is asked to look at it.
_SLOW: Final = 120.0
_WAITED_FOR: Final = (Is.POD_FAILING, Is.SIDECAR_UNREACHABLE, Is.INCORRECT_CONFIG_MAP)


class UpdateSidecarVersions:
    """Says whose containers beside fdbserver are of another version, or have not brought it yet."""

    name = "UpdateSidecarVersions"

    async def run(self, seen: Seen) -> Outcome:
        """Wait for those groups: their own controller changes the image in place."""
        view = seen.view
        if not view.staging:
            return waiting_for(
                seen,
                Is.INCORRECT_SIDECAR_IMAGE,
                "SidecarsOutdated",
                "have a sidecar of another version",
            )
        late = upgrades.unstaged(view)
        if not late:
            return DONE
        many = len(view.groups)
        seen.book.progress = Progress(step="StagingUpgrade", done=many - len(late), of=many)
        words = f"{len(late)} of {many} process groups have not the programs of"
        words = f"{words} {view.spec.version} yet: {names_of(late)}"
        if stuck := _stuck(seen, late):
            return Blocked(
                "StagingFails",
                f"{words}; nobody is restarted before they have: see {names_of(stuck)}",
                f"see why with kubectl -n {view.key.namespace} describe pod {stuck[0].name} (an"
                f" image that cannot be pulled?); or set spec.version to {view.running_version}",
            )
        return Retry(_AGAIN, "UpgradeStaging", words)


def _stuck(seen: Seen, late: Sequence[GroupView]) -> list[GroupView]:
    """Return who takes longer than it should: something keeps the new programs from its pod."""
    now = seen.view.now
    return [
        it
        for it in late
        if any((it.lasts(kind, now) or 0.0) > _SLOW for kind in _WAITED_FOR)
        or it.has(Is.INCORRECT_POD_SPEC)
    ]
