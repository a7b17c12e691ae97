"""Objects for who only looks: one that did not change since is not read anew.

A story looks every half second of its world whether something has come true.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from stateward.kube.codec import Json
from stateward.local.store import Stored


@dataclass(slots=True)
class Eyes:
    """Remembers what each object was when it was looked at last; nobody may change what it shows."""

    _seen: dict[str, tuple[int, Json]] = field(default_factory=dict)

    def see(self, stored: Stored) -> Json:
        """Return an object as plain values."""
        revision, found = self._seen.get(stored.uid, (0, {}))
        if revision != stored.revision:
            found = stored.document()
            self._seen[stored.uid] = (stored.revision, found)
        return found
