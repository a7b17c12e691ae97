"""A life as a person reads it: who did what and when, what went wrong, and what law it broke.

Renewals of the lease are left out, and what an operator asks in a row stands in one line.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, Final

from stateward.kube.client import Change
from stateward.kube.resources import EVENTS, LEASES, PODS, VOLUME_CLAIMS
from stateward.local.store import StoreEvent
from stateward.sim.lives import Ask, Life
from stateward.sim.products import Peopled, Product, live, product
from stateward.sim.sites import Site

#: Stands before what went wrong.
_MARK: Final = "!!!"

#: Says of an object what is worth telling.
Teller = Callable[[dict[str, Any]], str]

#: Calls that say nothing: renewals, and the writing of events, which are told themselves.
_NOISE: Final = (LEASES.name, EVENTS.name)


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that happened."""

    at: float
    who: str
    what: str
    #: Whether it is what went wrong.
    marked: bool = False

    def __str__(self) -> str:
        mark = _MARK if self.marked else ""
        return f"{self.at:10.3f} {mark:3} {self.who:<11} {self.what}"


class Diary:
    """Listens to a world and writes down what people want to read."""

    def __init__(self, product: Product) -> None:
        self.entries: list[Entry] = []
        self._product = product
        self._tellers = {**_TELLERS, **product.tellers}
        self._pictures: dict[str, str] = {}

    def open(self, it: Peopled) -> None:
        """Begin to listen; nothing in the world changes by it."""
        clock = it.world.loop.time
        for part in it.world.parts:
            part.api.store.listen(partial(self._changed, clock, part.place or "kubernetes"))
            part.weather.listeners.append(
                lambda _, __: self._look_beside(clock(), self._product.pictures(it))
            )

    def _changed(self, clock: Callable[[], float], place: str, event: StoreEvent) -> None:
        now = clock()
        if event.resource == LEASES.name:
            return
        words = _VERBS[event.change]
        told = _told(event, self._tellers)
        if event.resource == EVENTS.name:
            if told:  # what is said again is counted, and not told
                self.entries.append(Entry(now, "  event", told))
        elif told or event.change is not Change.MODIFIED:
            kind = event.resource.partition(".")[0]
            self.entries.append(
                Entry(now, place, f"{kind} {event.now.key} {words} {told}".rstrip())
            )

    def _look_beside(self, now: float, pictures: Iterator[tuple[str, str]]) -> None:
        """Tell what databases look like, when that has changed since the last call."""
        for name, picture in pictures:
            if self._pictures.get(name) != picture:
                self._pictures[name] = picture
                self.entries.append(Entry(now, self._product.name, picture))


_VERBS: Final = {Change.ADDED: "made", Change.MODIFIED: "changed", Change.DELETED: "gone"}


def _told(event: StoreEvent, tellers: Mapping[str, Teller]) -> str:
    """Return what is worth telling of an object; nothing if that has not changed."""
    tell = tellers.get(event.resource)
    if tell is None:
        return ""
    now = tell(json.loads(event.now.text))
    before = tell(json.loads(event.before.text)) if event.before is not None else ""
    return now if now != before or event.change is not Change.MODIFIED else ""


def _tell_pod(it: dict[str, Any]) -> str:
    status = it.get("status", {})
    ready = any(
        c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions", ())
    )
    leaving = ", deleted" if it["metadata"].get("deletionTimestamp") else ""
    where = it["spec"].get("nodeName", "no node")
    return f"{status.get('phase', 'Pending')}{', ready' if ready else ''}{leaving} on {where}"


def _tell_claim(it: dict[str, Any]) -> str:
    leaving = ", deleted" if it["metadata"].get("deletionTimestamp") else ""
    return f"{it.get('status', {}).get('phase', 'Pending')}{leaving}"


def _tell_event(it: dict[str, Any]) -> str:
    return f"{it.get('reason', '')}: {it.get('note', it.get('message', ''))}"


_TELLERS: Final[dict[str, Teller]] = {
    PODS.name: _tell_pod,
    VOLUME_CLAIMS.name: _tell_claim,
    EVENTS.name: _tell_event,
}


# -------------------------------------------------------------------------- telling a life


def tell(ask: Ask) -> tuple[Life, list[str]]:
    """Live a plan and return its life with a timeline."""
    diary = Diary(product(ask.scenario))
    life = live(ask, diary.open)
    entries = [*_from_trace(life), *_from_calls(life), *diary.entries]
    return life, [str(it) for it in sorted(entries, key=lambda it: it.at)]


def _from_trace(life: Life) -> Iterator[Entry]:
    """Tell what users did, what went wrong and who came and went; the rest the diary has."""
    for line in life.lines:
        at, _, text = line.strip().partition(" ")
        who, colon, what = text.partition(": ")
        if text[:1].isdecimal():
            continue  # a change of the store
        if not colon:
            who, _, what = text.partition(" ")
        is_fault = who.startswith("at call") or (who[:2] == "op" and colon == ": ")
        yield Entry(float(at), who, what, marked=is_fault)


def _from_calls(life: Life) -> Iterator[Entry]:
    """Tell every write, and in one line what was read in a row."""
    calls = [it for it in life.calls if not any(f" {noise} " in it.text for noise in _NOISE)]
    for (who, writes, _), together in groupby(calls, key=_in_a_row):
        sites = list(together)
        if writes:
            yield from (Entry(it.at, who, f"#{it.number} {it.text.strip()}") for it in sites)
        else:
            yield Entry(sites[0].at, who, _reads(sites))


def _in_a_row(site: Site) -> tuple[str, bool, int]:
    return site.process, site.writes, int(site.at)


def _reads(sites: list[Site]) -> str:
    numbers = f"#{sites[0].number}"
    if len(sites) > 1:
        numbers += f"-{sites[-1].number}"
    asked = Counter(it.text.partition(" at ")[0].strip() for it in sites)
    told = ", ".join(f"{text} x{n}" if n > 1 else text for text, n in asked.items())
    return f"{numbers} reads: {told}"
