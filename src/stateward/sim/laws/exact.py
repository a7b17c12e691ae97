"""K1 and K6 for what is changed: who changes something says exactly what, and as of when."""

from __future__ import annotations

from typing import Any, Final

from stateward.kube.client import Apply, JsonPatch, MergePatch
from stateward.kube.interception import Call
from stateward.kube.resources import EVENTS, LEASES, PODS, VOLUME_CLAIMS
from stateward.sim.laws.watchman import Watchman
from stateward.sim.network import Asked

_CHANGING: Final = frozenset({"patch", "update"})
#: What is made by others: an operator adds a word of its own, whatever else is said there.
_SHARED: Final = frozenset({PODS.name, VOLUME_CLAIMS.name})
_UID_PATH: Final = "/metadata/uid"


class Exactness:
    """K1: a change names the UID that is meant. K6: what rests on a read names its version.

    Both are asked for even where nothing would come of it: that is the habit that makes a late
    write harmless. A single word of a status, as a record of one thing, rests on no version.
    """

    def __init__(self, watchman: Watchman) -> None:
        self._book = watchman.book
        watchman.world.weather.listeners.append(self._sent)

    def _sent(self, who: str, call: Asked) -> None:
        if not isinstance(call, Call) or call.verb not in _CHANGING or not call.writes:
            return
        if call.resource.name == EVENTS.name:
            return
        uid, version = _named(call)
        if not uid and call.resource.name != LEASES.name:
            self._book.report("K1", who, f"{call} without a UID")
        if not version and _rests_on_a_read(call):
            self._book.report("K6", who, f"{call} without the version that it rests on")


def _named(call: Call) -> tuple[bool, bool]:
    """Return whether a change names the object that it means, and a version of it."""
    if isinstance(call.body, JsonPatch):
        tested = (it for it in call.body.operations if it.get("op") == "test")
        return any(it.get("path") == _UID_PATH for it in tested), False
    metadata = _body(call).get("metadata") or {}
    return bool(metadata.get("uid")), bool(metadata.get("resourceVersion"))


def _rests_on_a_read(call: Call) -> bool:
    if call.resource.name in _SHARED:
        return False
    return call.subresource != "status" or len(_body(call).get("status") or {}) > 1


def _body(call: Call) -> dict[str, Any]:
    body: Any = call.body.body if isinstance(call.body, Apply | MergePatch) else call.body
    return body if isinstance(body, dict) else {}
