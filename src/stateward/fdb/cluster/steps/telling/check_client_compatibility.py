"""CheckClientCompatibility: no upgrade cuts off clients that could not follow it."""

from __future__ import annotations

from typing import Final

from stateward.core.facts import Unknown
from stateward.core.outcome import DONE, Outcome, Stop
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide import clients
from stateward.fdb.decide.clients import VersionChange
from stateward.fdb.guards.guard import Refusal

#: Seconds until clients are looked at again.
_AGAIN: Final = 60.0
_SHOWN: Final = 5


class CheckClientCompatibility:
    """Holds a version back that clients, or the database itself, cannot follow."""

    name = "CheckClientCompatibility"

    async def run(self, seen: Seen) -> Outcome:
        """Say who could not follow."""
        view = seen.view
        change = clients.version_change(view)
        if change in (VersionChange.NONE, VersionChange.COMPATIBLE) or not view.configured:
            return DONE
        asked = f"from {view.running_version} to {view.spec.version}"
        if change is VersionChange.REFUSED:
            return self._held(
                seen,
                "DowngradeRefused",
                f"a database cannot go back {asked}: the older cannot read what was written since",
                f"set spec.version to {view.running_version}, or to a later one",
            )
        blocking = clients.blocking(view)
        if isinstance(blocking, Unknown):
            return Stop(
                _AGAIN, "ClientsUnknown", f"who uses the database is unknown: {blocking.reason}"
            )
        if blocking.value:
            some = ", ".join(f"{it.address} ({it.log_group})" for it in blocking.value[:_SHOWN])
            message = f"{len(blocking.value)} clients could not follow {asked}: {some}"
            return Stop(_AGAIN, "ClientsIncompatible", message)
        return self._held(
            seen,
            "UpgradeUnsupported",
            f"an upgrade {asked} restarts all processes at once; this release does not do that yet",
            f"set spec.version to a release of {view.running_version.major}."
            f"{view.running_version.minor}",
        )

    def _held(self, seen: Seen, reason: str, message: str, hint: str) -> Outcome:
        """Go no further: pods that were made now would be of a version that cannot be."""
        seen.book.refuse(self.name, [Refusal(reason, message, hint)])
        return Stop(_AGAIN, reason, message)
