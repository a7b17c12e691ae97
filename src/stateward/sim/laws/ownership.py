"""K3 and K10: whose objects an operator writes, and for whom."""

from __future__ import annotations

from typing import Any, Final

from stateward.kube.client import Apply
from stateward.kube.interception import Call
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import EVENTS, LEASES, PODS
from stateward.local.store import Stored
from stateward.sim.laws.custom import Family
from stateward.sim.laws.watchman import Sent, Watchman

#: Seconds between the last look at an object and what is done for it.
_LAG: Final = 0.5
_ENDING: Final = frozenset({"delete", "evict"})
#: What an operator writes about itself, and what it says.
_ITS_OWN: Final = frozenset({EVENTS.name, LEASES.name})


class Ownership:
    """K3: an operator writes and deletes only what belongs to the object that it works for."""

    law = "K3"

    def __init__(self, watchman: Watchman, family: Family, only: str = "") -> None:
        #: The controller that works for such objects; empty: all do.
        self._only = only
        self._book = watchman.book
        self._store = watchman.world.api.store
        self._time = watchman.world.loop.time
        self._family = family
        watchman.on_sent(self._sent)

    def _sent(self, sent: Sent) -> None:
        call = sent.kube
        if call is None or not call.writes or call.resource.name in _ITS_OWN:
            return
        if self._only and sent.controller != self._only:
            return
        if call.resource.name == self._family.custom.resource.name:
            wrong = "" if self._is_its_own(call, sent.about) else "which it does not work for"
        elif sent.about is None:
            wrong = "for nobody"
        elif call.key.namespace != sent.about.namespace:
            wrong = f"for {sent.about}, in another namespace"
        else:
            wrong = self._wrong(call, sent.about)
        if wrong:
            self._book.report(self.law, sent.who, f"{call}, {wrong}")

    def _is_its_own(self, call: Call, about: ObjectKey | None) -> bool:
        """Tell whether it is the object itself, or one beside it that it makes, or owns, and ends.

        What an object owns of its own kind has somebody who works for it: nobody else changes it.
        """
        if about is None or call.key == about:
            return call.key == about
        mine = set(self._family.uids(about))
        if call.verb in _ENDING:
            stored = self._store.get(call.resource.name, call.key)
            return stored is None or stored.uid != call.uid or bool(mine & {*stored.owners})
        return call.verb == "create" and bool(mine & {*_owners(call)})

    def _wrong(self, call: Call, about: ObjectKey) -> str:
        stored = self._store.get(call.resource.name, call.key)
        if call.verb in _ENDING:
            return self._wrong_end(call, about, stored)
        if stored is not None:
            return self._wrong_change(stored, about)
        if _owners(call) and not set(_owners(call)) & set(self._family.uids(about)):
            return f"which {about} would not own"
        return ""

    def _wrong_end(self, call: Call, about: ObjectKey, stored: Stored | None) -> str:
        if stored is None or stored.uid != call.uid:
            return ""  # nothing happens
        if self._known(about) & self._family.roots(stored):
            return ""
        nobodys_pod = call.resource.name == PODS.name and not stored.owners
        named = stored.labels.get(self._family.custom.name_label) == about.name
        return "" if nobodys_pod and named else f"which is not of {about}"

    def _known(self, about: ObjectKey) -> set[str]:
        """Return which object of a name is meant: the newest, and one that has only just gone."""
        uids, now = self._family.uids(about), self._time()
        left = {it: self._family.leaving_since(it) for it in uids}
        return {*uids[-1:], *(it for it, at in left.items() if at is not None and now - at < _LAG)}

    def _wrong_change(self, stored: Stored, about: ObjectKey) -> str:
        """Tell whose it is; what an earlier one of that name left may be taken over."""
        roots, mine = self._family.roots(stored), self._family.uids(about)
        others = [it for it in sorted(roots) if it not in mine and self._family.is_live(it)]
        if others:
            return f"which is of another than {about}"
        known = roots or self._family.custom.uid_label in stored.labels
        speaks = any(it.encode() in stored.text for it in mine)
        named = stored.labels.get(self._family.custom.name_label) == about.name
        return "" if known or speaks or named else f"which is nobody's of {about}"


class NothingForTheLeaving:
    """K10: nothing is made for an object that is going, once its going can be known."""

    law = "K10"

    def __init__(self, watchman: Watchman, family: Family, late: float = 15.0) -> None:
        self._book = watchman.book
        self._store = watchman.world.api.store
        self._family = family
        #: Seconds by which caches may be late.
        self.late = late
        watchman.on_sent(self._sent)

    def _sent(self, sent: Sent) -> None:
        call, about = sent.kube, sent.about
        if call is None or about is None or not call.writes or call.verb in _ENDING:
            return
        name = call.resource.name
        if name in _ITS_OWN or self._store.get(name, call.key) is not None:
            return
        for uid in _owners(call):
            since = self._family.leaving_since(uid)
            if since is not None and sent.at - since > self.late:
                words = f"{call} for {about}, which goes since {since:.3f} s"
                self._book.report(self.law, sent.who, words)


def _owners(call: Call) -> tuple[str, ...]:
    """Return the UIDs of those who would own what a call makes."""
    body: Any = call.body.body if isinstance(call.body, Apply) else call.body
    metadata = body.get("metadata") if isinstance(body, dict) else None
    if not isinstance(metadata, dict):
        return ()
    return tuple(it["uid"] for it in metadata.get("ownerReferences") or ())
