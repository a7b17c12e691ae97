"""UpdateProcessGroups: what can be changed in place is written into the groups' specs.

Pods do not change by it: those that then differ are made anew by UpdatePods, zone by zone. Whoever
must be replaced and has to wait stays what it is: changed in place it would not find its data.
"""

from __future__ import annotations

import msgspec

from stateward.core.outcome import DONE, Outcome
from stateward.fdb.api.group import FoundationDBProcessGroupSpec
from stateward.fdb.cluster.hands.editing import edit
from stateward.fdb.cluster.hands.marking import names_of
from stateward.fdb.cluster.hands.saying import done
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.groups.replacing import misfits
from stateward.fdb.decide.groups.shape import same_shape
from stateward.fdb.decide.groups.staging import with_programs_of
from stateward.fdb.views import GroupView
from stateward.kube.codec import Json, plain
from stateward.kube.patch import merge_diff


class UpdateProcessGroups:
    """Writes the settings of groups that stay and were not replaced for them."""

    name = "UpdateProcessGroups"

    def __init__(self, tools: Tools) -> None:
        self._client = tools.client

    async def run(self, seen: Seen) -> Outcome:
        """Write what differs."""
        changes: dict[str, Json] = {}
        groups = []
        waiting = {it.group for it in misfits(seen.view, seen.pairs()).held}
        for it, now, wanted in seen.pairs():
            if seen.view.staging:  # pods change otherwise when all have changed to a version
                wanted = with_programs_of(now, wanted)  # noqa: PLW2901 - it is what is wanted now
            elif it.name in waiting:
                continue
            if not same_shape(now, wanted):
                changes[it.name] = shape_difference(now, wanted)
                groups.append(it)
        for it in seen.view.groups:
            stays_so = it.marked or it.name in waiting
            if stays_so and it.name not in changes and (change := _of_leaving(seen, it)):
                changes[it.name] = change
                groups.append(it)
        if not changes:
            return DONE
        found = await edit(self._client, seen.groups, changes)
        words = f"process groups shall be as the spec says now: {names_of(groups)}"
        return found or done("SettingsWritten", words)


def _of_leaving(seen: Seen, it: GroupView) -> Json:
    """Return what changes of a group that shall go.

    What becomes of its volume is asked when the cluster goes, which may be at any time; and while
    it is here it must be able to change to another version, and back.
    """
    now = seen.object_of(it).spec
    wanted = with_programs_of(now, seen.wanted.group(it.id))
    policy = seen.view.spec.deletion_policy
    return shape_difference(now, msgspec.structs.replace(wanted, deletion_policy=policy))


def shape_difference(
    now: FoundationDBProcessGroupSpec, wanted: FoundationDBProcessGroupSpec
) -> Json:
    """Return a merge patch from what a group is to what it shall be; decisions stay."""
    if all(getattr(now, it) == getattr(wanted, it) for it in _FIELDS):
        return {}  # as it is with all of a thousand, nearly always
    old, new = plain(now), plain(wanted)
    found: Json = merge_diff(
        {name: it for name, it in old.items() if name in _NAMES},
        {name: it for name, it in new.items() if name in _NAMES},
    )
    return found


_NAMES = frozenset(
    {
        "processSettings",
        "processGroupIDPrefix",
        "service",
        "serversPerPod",
        "imageType",
        "logGroup",
        "sidecarVariables",
        "deletionPolicy",
    }
)
#: The same as they are called here.
_FIELDS = tuple(
    it.name
    for it in msgspec.structs.fields(FoundationDBProcessGroupSpec)
    if it.encode_name in _NAMES
)
