"""K2: before something is taken away, the user is asked once more, past the cache."""

from __future__ import annotations

from typing import Final

from stateward.fdb.api.backups.kinds import BACKUPS, RESTORES
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.kube.interception import Call
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, VOLUME_CLAIMS
from stateward.sim.fdb.backups.calls import BackupCall
from stateward.sim.fdb.databases import FdbCall
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.laws.watchman import Actor, Sent

#: Seconds for which an answer counts.
_FRESH: Final = 10.0
_KINDS: Final = frozenset({PODS.name, VOLUME_CLAIMS.name, PROCESS_GROUPS.name})
_ASKED: Final = frozenset({it.name for it in (CLUSTERS, PROCESS_GROUPS, BACKUPS, RESTORES)})


class Intents:
    """Every deletion and every act on a database, each after a read of what is wished."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        #: When a process last asked for an object as it is, for the sake of it.
        self._asked: dict[tuple[str, ObjectKey], float] = {}
        scene.watchman.on_sent(self._sent)

    def _sent(self, sent: Sent) -> None:
        about, call = sent.about, sent.call
        if about is None:
            return
        if isinstance(call, Call) and call.verb == "get":
            if call.resource.name in _ASKED and call.key == about:
                self._asked[sent.who, about] = sent.at
        elif _takes(call):
            asked = self._asked.get((sent.who, about))
            if asked is None or sent.at - asked > _FRESH:
                actor = Actor(sent.who, call, about)
                self._scene.report("K2", actor, f"{call}, and the user was not asked")


def _takes(call: object) -> bool:
    """Tell whether a call takes something away, or cannot be taken back."""
    if isinstance(call, FdbCall | BackupCall):
        return call.writes
    if not isinstance(call, Call) or not call.writes:
        return False
    return call.verb in {"delete", "evict"} and call.resource.name in _KINDS
