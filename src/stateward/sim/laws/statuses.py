"""K5, K6 and K7: what an operator says of an object, and how much."""

from __future__ import annotations

from typing import Any, Final

from stateward.kube.client import Change
from stateward.kube.codec import Json
from stateward.kube.interception import Call
from stateward.kube.resources import EVENTS, Resource
from stateward.local.store import StoreEvent
from stateward.sim.laws.watchman import Actor, Watchman

#: Bytes of one custom object, and events that all operators make in one life.
LARGEST: Final = 64 * 1024
MOST_EVENTS: Final = 400
_OFTEN: Final = ("resourceVersion", "managedFields")


class Statuses:
    """K5, K6, K7: the status speaks of a generation that was seen, and changes nothing else."""

    def __init__(self, watchman: Watchman, custom: Resource[Any]) -> None:
        self._book = watchman.book
        self._observed: dict[str, int] = {}
        self._events = 0
        watchman.on_change(custom.name, self._changed)
        watchman.on_change(EVENTS.name, self._said)

    def _changed(self, actor: Actor, event: StoreEvent) -> None:
        if event.change is Change.DELETED:
            return
        uid, now = event.now.uid, event.now.document()
        observed = (now.get("status") or {}).get("observedGeneration", 0)
        if not actor.operates or event.before is None:
            self._observed[uid] = observed
            return
        generation = now["metadata"].get("generation", 0)
        if observed > generation:
            self._report("K5", actor, f"generation {observed} is observed of {generation}")
        if observed < self._observed.get(uid, 0):
            words = f"generation {observed} is observed after {self._observed[uid]}"
            self._report("K5", actor, words)
        self._observed[uid] = observed
        if len(event.now.text) > LARGEST:
            self._report("K7", actor, f"{event.now.key} has {len(event.now.text)} bytes")
        self._check_parts(actor, event.before.document(), now)

    def _check_parts(self, actor: Actor, before: Json, now: Json) -> None:
        call = actor.call
        if not isinstance(call, Call):
            return
        changed = [it for it in ("spec", "status") if before.get(it) != now.get(it)]
        if call.subresource != "status":
            if changed:
                self._report("K6", actor, f"{call} changes {' and '.join(changed)}")
            return
        metadata = [_steady(it["metadata"]) for it in (before, now)]
        if "spec" in changed or metadata[0] != metadata[1]:
            self._report("K6", actor, f"{call} changes more than the status")

    def _said(self, actor: Actor, event: StoreEvent) -> None:
        if event.change is not Change.ADDED or not actor.operates:
            return
        self._events += 1
        if self._events == MOST_EVENTS:
            self._report("K7", actor, f"{MOST_EVENTS} events were made")

    def _report(self, law: str, actor: Actor, sentence: str) -> None:
        self._book.report(law, actor.name, sentence)


def _steady(metadata: Json) -> Json:
    return {name: it for name, it in metadata.items() if name not in _OFTEN}
