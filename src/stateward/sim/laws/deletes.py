"""K1: who deletes says exactly what."""

from __future__ import annotations

from stateward.kube.client import Change
from stateward.kube.meta import ObjectKey
from stateward.local.store import StoreEvent
from stateward.sim.laws.watchman import Sent, Watchman

_ENDING = frozenset({"delete", "evict"})


class UidSafety:
    """K1: a deletion carries the UID of an object that was there under that name."""

    law = "K1"

    def __init__(self, watchman: Watchman) -> None:
        self._book = watchman.book
        self._uids: dict[tuple[str, ObjectKey], list[str]] = {}
        watchman.on_sent(self._sent)
        watchman.world.api.store.listen(self._changed)

    def _changed(self, event: StoreEvent) -> None:
        if event.change is Change.ADDED:
            self._uids.setdefault((event.resource, event.now.key), []).append(event.now.uid)

    def _sent(self, sent: Sent) -> None:
        call = sent.kube
        if call is None or call.verb not in _ENDING or call.dry_run:
            return
        if not call.uid:
            self._book.report(self.law, sent.who, f"{call} without a UID")
        elif call.uid not in self._uids.get((call.resource.name, call.key), ()):
            self._book.report(self.law, sent.who, f"{call} by a UID that no such object ever had")
