"""CheckClientCompatibility: no upgrade cuts off clients that could not follow it."""

from __future__ import annotations

from typing import Final

from stateward.core.facts import Unknown
from stateward.core.outcome import DONE, Outcome
from stateward.fdb.cluster.hands.saying import waits
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide import clients
from stateward.fdb.decide.clients import VersionChange

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
        # Pods that were made now would be of a version that cannot be, so no step may follow.
        asked = f"from {view.running_version} to {view.spec.version}"
        line = f"{view.running_version.major}.{view.running_version.minor}"
        if change is VersionChange.REFUSED:
            return waits(
                seen,
                self.name,
                _AGAIN,
                "DowngradeRefused",
                f"a database cannot go back {asked}: the older cannot read what was written since",
                hint=f"set spec.version to a release of {line}, or to a later one",
            )
        blocking = clients.blocking(view)
        if isinstance(blocking, Unknown):
            words = f"who uses the database is unknown: {blocking.reason}"
            return waits(seen, self.name, _AGAIN, "ClientsUnknown", words)
        if blocking.value:
            some = ", ".join(f"{it.address} ({it.log_group})" for it in blocking.value[:_SHOWN])
            message = f"{len(blocking.value)} clients could not follow {asked}: {some}"
            hint = (
                f"give clients a library of {view.spec.version} as well; or set"
                " spec.ignoreUpgradabilityChecks to true, and they are cut off"
            )
            return waits(seen, self.name, _AGAIN, "ClientsIncompatible", message, hint=hint)
        return waits(
            seen,
            self.name,
            _AGAIN,
            "UpgradeUnsupported",
            f"an upgrade {asked} restarts all processes at once; this release does not do that yet",
            hint=f"set spec.version to a release of {line}",
        )
