"""The calls of a life, and the places in our code that waited for them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Final

from stateward.sim.network import Asked
from stateward.sim.world import World

#: Where calls come from; what only passes them on is no place.
_PLACES: Final = ("stateward.etcd.", "stateward.fdb.", "stateward.runtime.")
_WIRES: Final = frozenset(
    {
        *("stateward.runtime.fencing", "stateward.runtime.tracking"),
        *("stateward.etcd.moves.fence", "stateward.fdb.cluster.hands.fence"),
        *("stateward.fdb.admin.fdbcli", "stateward.fdb.admin.running"),
    }
)
#: What has a name only for Python.
_NAMELESS: Final = "<"


@dataclass(frozen=True, slots=True)
class Site:
    """One call of an operator: its number, who sent it, what, and from where in our code."""

    number: int
    process: str
    text: str
    #: A stable label of the place in the code that waited for it.
    label: str
    writes: bool
    #: When it was sent, in virtual seconds, and the revision of the store at that moment.
    at: float = 0.0
    revision: int = 0


class Sites:
    """Writes every call down."""

    def __init__(self, world: World, *, record: bool) -> None:
        self.calls: list[Site] = []
        #: Whether it is said where calls come from, which takes time.
        self.record = record
        for part in world.parts:
            part.weather.listeners.append(partial(self._listen, part))

    def _listen(self, world: World, who: str, call: Asked) -> None:
        number, revision = world.weather.calls, world.api.store.revision
        label = label_of(sys._getframe()) if self.record else ""  # noqa: SLF001 - no other way
        site = Site(number, who, str(call), label, call.writes, world.loop.time(), revision)
        self.calls.append(site)


def label_of(frame: FrameType | None) -> str:
    """Return the innermost place of operator code that waits, as ``etcd/moves/objects.py:name``."""
    while frame is not None:
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        is_place = module.startswith(_PLACES) and module not in _WIRES
        if is_place and not name.startswith(_NAMELESS):
            return f"{module.removeprefix('stateward.').replace('.', '/')}.py:{name}"
        frame = frame.f_back
    return ""
