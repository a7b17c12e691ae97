"""ReplaceMisconfiguredPods: groups whose shape cannot be changed in place are replaced."""

from __future__ import annotations

from stateward.core.outcome import DONE, Outcome
from stateward.fdb.cluster.marking import mark
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.cluster.tools import Tools
from stateward.fdb.decide import replacing


class ReplaceMisconfiguredPods:
    """Marks them; others take their place before anything leaves them."""

    name = "ReplaceMisconfiguredPods"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, seen: Seen) -> Outcome:
        """Mark as many as may be replaced at a time."""
        pairs = [
            (it, seen.object_of(it).spec, seen.wanted.group(it.id)) for it in seen.view.staying()
        ]
        found = replacing.misfits(seen.view, pairs)
        if not found:
            return DONE
        why = "; ".join(sorted({it.why for it in found}))
        return await mark(self._tools, seen, [it.group for it in found], why)
