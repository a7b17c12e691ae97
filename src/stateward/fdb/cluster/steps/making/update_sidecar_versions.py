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
from stateward.fdb.model.listing import some_of
from stateward.fdb.views import GroupView
from stateward.kube import conditions as kube

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
        if stuck := _stuck(seen, late):
            return _fails(seen, stuck, late)
        words = f"{len(late)} of {many} process groups have not the programs of"
        words = f"{words} {view.spec.version} yet: {names_of(late)}"
        return Retry(_AGAIN, "UpgradeStaging", words)


def _fails(seen: Seen, stuck: Sequence[GroupView], late: Sequence[GroupView]) -> Blocked:
    """Say the trouble first: a column of a table has no room for more."""
    view, first = seen.view, stuck[0]
    who = some_of([str(it.id) for it in stuck], 1)
    why = _why(seen, first)
    words = f"{who} cannot get the programs of {view.spec.version}{f': {why}' if why else ''}"
    return Blocked(
        "StagingFails",
        f"{words}; nobody is restarted before these have them: {names_of(late)}",
        f"see why with kubectl -n {view.key.namespace} describe pod {first.name} (an image that"
        f" cannot be pulled?); or set spec.version to {view.running_version}",
    )


def _stuck(seen: Seen, late: Sequence[GroupView]) -> list[GroupView]:
    """Return who takes longer than it should: something keeps the new programs from its pod."""
    return [it for it in late if _troubles(it, seen.view.now)]


def _troubles(it: GroupView, now: float) -> list[Is]:
    """Return what keeps them from a pod, the worst first."""
    found = [kind for kind in _WAITED_FOR if (it.lasts(kind, now) or 0.0) > _SLOW]
    return [*found, *([Is.INCORRECT_POD_SPEC] if it.has(Is.INCORRECT_POD_SPEC) else [])]


def _why(seen: Seen, it: GroupView) -> str:
    """Return that in the words of the group itself."""
    every = seen.object_of(it).status.conditions
    found = (kube.find(every, kind) for kind in _troubles(it, seen.view.now))
    return next((one.message for one in found if one is not None), "")
