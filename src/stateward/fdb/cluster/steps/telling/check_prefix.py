"""CheckPrefix: a cluster whose process groups could not be told from another's makes none."""

from __future__ import annotations

from typing import Final

from stateward.core.outcome import DONE, Outcome
from stateward.fdb.cluster.hands.saying import waits
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.layouts.sharing import prefix_taken

_AGAIN: Final = 15.0


class CheckPrefix:
    """Ends every pass of who comes second, until its prefix is its own."""

    name = "CheckPrefix"

    async def run(self, seen: Seen) -> Outcome:
        """Say who has it."""
        taken = prefix_taken(seen.view, seen.rivals)
        if not taken:
            return DONE
        prefix = seen.view.spec.process_group_id_prefix
        words = (
            "processGroupIDPrefix must differ in all clusters of a database, and is"
            f" {prefix or 'empty'}: {taken}"
        )
        hint = "give this cluster another processGroupIDPrefix, as the name of its data center"
        return waits(seen, self.name, _AGAIN, "PrefixTaken", words, hint=hint)
