"""Statuses that are not whole: whoever asks hears too late, nothing, or only of some things."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Silence(StrEnum):
    """Why the controller's half is not there at all, as the asker's half calls it."""

    NO_CONTROLLER = "no_cluster_controller"
    UNREACHABLE = "unreachable_cluster_controller"
    TIMEOUT = "status_incomplete_timeout"
    ERROR = "status_incomplete_error"
    OVERLOADED = "server_overloaded"


#: What people are told of each.
WORDS: Final = {
    Silence.NO_CONTROLLER: "Nobody is known to be the cluster controller.",
    Silence.UNREACHABLE: "The cluster controller does not answer.",
    Silence.TIMEOUT: "The status did not come in time.",
    Silence.ERROR: "The status could not be fetched.",
    Silence.OVERLOADED: "The cluster controller has too much to do to tell its status.",
}
#: What is said where a part of the controller's half could not be found out.
_REASONS: Final = {
    "processes": "Cannot retrieve all process status information.",
    "page_cache": "Unknown cache statistics.",
    "data": "Unable to retrieve all data distribution statistics.",
    "workload": "Unable to retrieve all workload statistics.",
}


@dataclass(slots=True)
class Clog:
    """What is missing: all that the controller says, or some of its sections."""

    silence: Silence | None = None
    missing: set[str] = field(default_factory=set)
    #: Processes that could not be asked, though they are listed.
    unasked: set[str] = field(default_factory=set)

    def lose(self, sections: Iterable[str]) -> None:
        """Let some sections be missing."""
        self.missing.update(sections)

    def reasons(self) -> list[str]:
        """Return what a status says of that."""
        found = [_REASONS["processes"]] if self.unasked else []
        return found + [
            _REASONS.get(it, f"Unable to retrieve {it}.") for it in sorted(self.missing)
        ]
