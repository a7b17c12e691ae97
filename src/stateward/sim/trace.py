"""What happened in a run, in order, and a digest of it: same seed, same digest."""

from __future__ import annotations

import hashlib

from stateward.kube.resources import LEASES
from stateward.local.store import Store, StoreEvent
from stateward.sim.loop import SimLoop

#: Only the end of a run is kept in words; the digest covers all of it.
_KEPT = 5_000


class Trace:
    """The diary of a world."""

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop
        self._digest = hashlib.sha256()
        self.lines: list[str] = []
        self.writes = 0

    @property
    def digest(self) -> str:
        """A short name for everything that happened so far."""
        return self._digest.hexdigest()[:16]

    def follow(self, store: Store, place: str = "") -> None:
        """Write down every change of a store; a place says which one it is of several."""
        words = f" in {place}" if place else ""
        store.listen(lambda event: self._changed(event, words))

    def note(self, text: str, *, in_words: bool = True) -> None:
        """Write down what somebody did."""
        line = f"{self._loop.time():12.6f} {text}"
        self._digest.update(line.encode())
        if in_words:
            self.lines.append(line)
            if len(self.lines) > 2 * _KEPT:
                del self.lines[:_KEPT]

    def _changed(self, event: StoreEvent, place: str) -> None:
        self.writes += 1
        what = f"{event.revision} {event.change.value} {event.resource} {event.now.key}{place}"
        # A lease is renewed every few seconds and says nothing; who reads a trace wants the rest.
        self.note(what, in_words=event.resource != LEASES.name)
        self._digest.update(event.now.text)
